package sources

import (
	"slices"
	"strings"
)

// Names has the slots of rows by name alone: several sources, or several spaces of one, may have the
// same. The zero value takes none; make it.
type Names map[string][]int32

// Add takes a row of a name up.
func (n Names) Add(name string, slot int) { n[name] = append(n[name], int32(slot)) }

// Remove drops a row of a name.
func (n Names) Remove(name string, slot int) {
	if slots := slices.DeleteFunc(n[name], func(s int32) bool { return s == int32(slot) }); len(slots) > 0 {
		n[name] = slots
	} else {
		delete(n, name)
	}
}

// InSource is how a primitive is called beside its source: its name, behind its space where another of
// the source has it too. ref returns the identity of the row in a slot.
func (n Names) InSource(of Ref, ref func(slot int32) Ref) string {
	for _, slot := range n[of.Name] {
		if other := ref(slot); other.Source == of.Source && other.Space != of.Space {
			return strings.TrimPrefix(of.Space, "/") + "/" + of.Name
		}
	}
	return of.Name
}

// Shown is how it is called alone: as InSource, behind its source where another one has the name too.
func (n Names) Shown(of Ref, ref func(slot int32) Ref) string {
	name := n.InSource(of, ref)
	if slices.ContainsFunc(n[of.Name], func(slot int32) bool { return ref(slot).Source != of.Source }) {
		name = of.Source + "/" + name
	}
	return name
}

// FullName is SOURCE/SPACE/NAME, without the slash that a path of YDB begins with.
func (ref Ref) FullName() string { return ref.Source + "/" + ref.InSource() }

// InSource is SPACE/NAME, or NAME where there is no space.
func (ref Ref) InSource() string {
	if ref.Space == "" {
		return ref.Name
	}
	return strings.TrimPrefix(ref.Space, "/") + "/" + ref.Name
}

// AliasName is the alias by which a person may name a primitive; "": it has none, or only a guess,
// which is shown and names nothing.
func AliasName(alias string, how Known) string {
	if how == Inferred {
		return ""
	}
	return alias
}

// GoesBy reports whether a person means ref by SOURCE/NAME, SOURCE/SPACE/NAME, or by NAME where that
// may stand alone. Whole texts are compared, since a source's name and a key may both hold slashes.
func (ref Ref) GoesBy(name string, alone bool) bool {
	rest, ok := strings.CutPrefix(name, ref.Source+"/")
	return ref.Name != "" && (alone && name == ref.Name || ok && (rest == ref.Name || rest == ref.InSource() || rest == ref.Space+"/"+ref.Name))
}

// GoesByAlias is GoesBy with an AliasName in place of the name.
func (ref Ref) GoesByAlias(name, alias string, alone bool) bool {
	ref.Name = alias
	return ref.GoesBy(name, alone)
}

// Named returns those of a list that a person means by a name: the ones that go by it, else the ones
// whose alias it is. of returns the identity of one and its AliasName.
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

// NamedRows is Named of rows, of which some may be nil.
func NamedRows(list []*Row, name string, alone bool) []*Row {
	return Named(list, name, alone, func(r *Row) (ref Ref, alias string) {
		if r == nil {
			return ref, ""
		}
		return r.Ref, AliasName(r.Alias, r.AliasHow)
	})
}
