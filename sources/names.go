package sources

import (
	"slices"
	"strings"
)

// Names maps a name to the slots of its rows: several sources, or several spaces of one source, may have the same name.
// It must be made with make.
type Names map[string][]int32

// Add adds a row with this name.
func (n Names) Add(name string, slot int) { n[name] = append(n[name], int32(slot)) }

// Remove removes a row with this name.
func (n Names) Remove(name string, slot int) {
	if slots := slices.DeleteFunc(n[name], func(s int32) bool { return s == int32(slot) }); len(slots) > 0 {
		n[name] = slots
	} else {
		delete(n, name)
	}
}

// InSource returns the display name of a primitive beside its source: its name, with its space in front if another
// primitive of the source has the same name. ref returns the identity of the row in a slot.
func (n Names) InSource(of Ref, ref func(slot int32) Ref) string {
	for _, slot := range n[of.Name] {
		if other := ref(slot); other.Source == of.Source && other.Space != of.Space {
			return strings.TrimPrefix(of.Space, "/") + "/" + of.Name
		}
	}
	return of.Name
}

// Shown returns the display name of a primitive without its source: the result of InSource, with the source in front if
// another source also has the name.
func (n Names) Shown(of Ref, ref func(slot int32) Ref) string {
	name := n.InSource(of, ref)
	if slices.ContainsFunc(n[of.Name], func(slot int32) bool { return ref(slot).Source != of.Source }) {
		name = of.Source + "/" + name
	}
	return name
}

// FullName returns SOURCE/SPACE/NAME, without the leading slash of a YDB path.
func (ref Ref) FullName() string { return ref.Source + "/" + ref.InSource() }

// InSource returns SPACE/NAME, or NAME if there is no space.
func (ref Ref) InSource() string {
	if ref.Space == "" {
		return ref.Name
	}
	return strings.TrimPrefix(ref.Space, "/") + "/" + ref.Name
}

// AliasName returns the alias by which a person may name a primitive. It returns "" without an alias, and for a
// guessed one, which is shown but not accepted as a name.
func AliasName(alias string, how Known) string {
	if how == Inferred {
		return ""
	}
	return alias
}

// GoesBy reports whether name means ref: as SOURCE/NAME, as SOURCE/SPACE/NAME, or, if alone is true, as NAME. It
// compares whole texts, because a source's name and a key may both contain slashes.
func (ref Ref) GoesBy(name string, alone bool) bool {
	rest, ok := strings.CutPrefix(name, ref.Source+"/")
	return ref.Name != "" && (alone && name == ref.Name || ok && (rest == ref.Name || rest == ref.InSource() || rest == ref.Space+"/"+ref.Name))
}

// GoesByAlias does the same as GoesBy with an AliasName in place of the name.
func (ref Ref) GoesByAlias(name, alias string, alone bool) bool {
	ref.Name = alias
	return ref.GoesBy(name, alone)
}

// Named returns the items of a list that a person means by a name: those with this name, else those with this alias.
// The function of returns the identity of an item and its AliasName.
func Named[T any](list []T, name string, alone bool, of func(T) (Ref, string)) []T {
	var named, aliased []T
	for _, one := range list {
		switch ref, alias := of(one); {
		case ref.GoesBy(name, alone):
			named = append(named, one)
		case ref.GoesByAlias(name, alias, alone):
			aliased = append(aliased, one)
		}
	}
	if len(named) > 0 {
		return named
	}
	return aliased
}

// NamedRows does the same as Named for rows, some of which may be nil.
func NamedRows(list []*Row, name string, alone bool) []*Row {
	return Named(list, name, alone, func(r *Row) (ref Ref, alias string) {
		if r == nil {
			return ref, ""
		}
		return r.Ref, AliasName(r.Alias, r.AliasHow)
	})
}
