package headless

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"coordtop/internal/ground/address"
	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// Errors of names that a person typed. They are wrapped in sentences that say more.
var (
	ErrNotFound  = errors.New("not found")
	ErrAmbiguous = errors.New("more than one fits")
)

// wanted reports whether an event was asked for. Without names every event is. An event of a whole
// source has no name and is always wanted, because the trust in the others depends on it.
func wanted(e *sources.Event, names []string) bool {
	return len(names) == 0 || e.Ref.Name == "" || slices.ContainsFunc(names, func(name string) bool {
		return name == e.Ref.Source || e.Ref.GoesBy(name, false) || e.Ref.GoesByAlias(name, sources.AliasName(e.Alias, e.AliasHow), false)
	})
}

// rows returns the rows that were asked for, by source, space and name.
func rows(s *sources.State, names []string) []*sources.Row {
	list := slices.DeleteFunc(slices.Clone(s.Rows), func(r *sources.Row) bool {
		return r == nil || len(names) > 0 && !slices.Contains(names, r.Source)
	})
	for _, name := range names {
		list = append(list, sources.NamedRows(s.Rows, name, false)...)
	}
	slices.SortFunc(list, func(a, b *sources.Row) int {
		return strings.Compare(a.Source+"\x00"+a.Space+"\x00"+a.Name, b.Source+"\x00"+b.Space+"\x00"+b.Name)
	})
	return slices.Compact(list)
}

// checkNames reports a name that no row has, and one that several have. A source that was not read in
// full may have the name nevertheless; missing reports such a source.
func checkNames(s *sources.State, list []*sources.Row, names []string) error {
	for i, name := range names {
		if isSource(s, name) {
			continue // all of it, however much that is
		}
		switch found := sources.NamedRows(list, name, false); len(found) {
		case 0:
			if readInFull(s, name) {
				return notFound(s, name, i)
			}
		case 1:
		default:
			return fmt.Errorf("%s: %w: %s", format.Clean(name, 200), ErrAmbiguous, strings.Join(paths(found), ", "))
		}
	}
	return nil
}

// readInFull reports whether every source that may have a name was read in full.
func readInFull(s *sources.State, name string) bool {
	return !slices.ContainsFunc(s.Sources, func(src sources.SourceStatus) bool {
		return strings.HasPrefix(name, src.Name+"/") && !complete(s, src)
	})
}

// isSource reports whether a name is that of a whole source.
func isSource(s *sources.State, name string) bool {
	return slices.ContainsFunc(s.Sources, func(src sources.SourceStatus) bool { return src.Name == name })
}

// notFound returns the error about the i-th name, which no row has.
func notFound(s *sources.State, name string, i int) error {
	near := meant(s, name)
	if near == "" {
		source, _, _ := strings.Cut(name, "/")
		near = "; `coordtop get " + format.Clean(format.ShellWord(source), 200) + "` lists them"
	}
	return fmt.Errorf("%s: %w: no primitive goes by this name%s", typedName(s, name, i), ErrNotFound, near)
}

// typedName returns the i-th name, which no row has, for a message. Of a name that resembles none it
// repeats only the source: the rest may be a secret.
func typedName(s *sources.State, name string, i int) string {
	if meant(s, name) != "" {
		return format.Clean(name, 200)
	}
	source, _, _ := strings.Cut(name, "/")
	return fmt.Sprintf("name %d (%s/...)", i+1, format.Clean(source, 100))
}

// FullNames names primitives in full, for people.
func FullNames(refs []sources.Ref) []string {
	names := make([]string, len(refs))
	for i, ref := range refs {
		names[i] = format.Clean(ref.FullName(), maxText)
	}
	return names
}

// path returns the full name of a row, with its alias.
func path(r *sources.Row) string { return format.Clean(r.FullName(), maxText) + aside(r.Alias) }

// paths returns the path of each row.
func paths(list []*sources.Row) []string {
	var names []string
	for _, r := range list {
		names = append(names, path(r))
	}
	return names
}

// NearName returns the known name that a person probably meant by name: one that differs by a typing
// error, else one of which only the end was written; "": none.
func NearName(name string, known ...string) string {
	if near := address.Near(name, known...); near != "" {
		return near
	}
	source, end, _ := strings.Cut(name, "/")
	i := slices.IndexFunc(known, func(k string) bool {
		return end != "" && strings.HasPrefix(k, source+"/") && strings.HasSuffix(k, ":"+end)
	})
	if i < 0 {
		return ""
	}
	return known[i]
}

// meant asks whether the person meant the name of a row; "": none resembles it.
func meant(s *sources.State, name string) string {
	var names []string
	for _, r := range s.Rows {
		if r == nil {
			continue
		}
		names = append(names, r.Source+"/"+r.Name, r.FullName())
		if alias := sources.AliasName(r.Alias, r.AliasHow); alias != "" {
			names = append(names, r.Source+"/"+alias)
		}
	}
	near := NearName(name, names...)
	if near == "" {
		return ""
	}
	return ": did you mean " + format.Clean(near, maxText) + "?"
}

// checkAbsent reports that the only row is of a primitive that does not exist, or that no row was found
// because none of the spaces exists.
func checkAbsent(s *sources.State, list []*sources.Row) error {
	switch {
	case len(list) == 1 && list[0].Absent:
		return fmt.Errorf("%s: %w: the server has none of this name", paths(list)[0], ErrNotFound)
	case len(list) == 0 && noSpaces(s):
		c := s.Scopes[0]
		return fmt.Errorf("%s: %w: the server has nothing at this path", format.Clean(c.Source+"/"+strings.TrimPrefix(c.Name, "/"), maxText), ErrNotFound)
	}
	return nil
}

// noSpaces reports whether no space that the sources name exists at its server.
func noSpaces(s *sources.State) bool {
	return len(s.Scopes) > 0 && !slices.ContainsFunc(s.Scopes, func(c sources.Scope) bool { return !c.About.Absent })
}
