package headless

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"coordtop/internal/format"
	"coordtop/sources"
)

// Errors of names that a person typed. They are wrapped in sentences that say more.
var (
	ErrNotFound  = errors.New("not found")
	ErrAmbiguous = errors.New("more than one fits")
)

// matches says whether ref goes by name: SOURCE/NAME or SOURCE/SPACE/NAME. Whole texts
// are compared, since a source's name and a key may both hold slashes. The slash that a path
// of YDB begins with may be left out.
func matches(ref sources.Ref, name string) bool {
	rest, ok := strings.CutPrefix(name, ref.Source+"/")
	return ok && (rest == ref.Name || rest == ref.Space+"/"+ref.Name || rest == strings.TrimPrefix(ref.Space, "/")+"/"+ref.Name)
}

// wanted says whether ref was asked for. No names: everything is. Events of a whole
// source have no name and are always wanted: they say how far the rest can be believed.
func wanted(ref sources.Ref, names []string) bool {
	return len(names) == 0 || ref.Name == "" ||
		slices.ContainsFunc(names, func(name string) bool { return matches(ref, name) })
}

// rows returns the rows that were asked for, by source, space and name.
func rows(s *sources.State, names []string) []*sources.Row {
	var list []*sources.Row
	for _, r := range s.Rows {
		if r != nil && wanted(r.Ref, names) {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b *sources.Row) int {
		return strings.Compare(a.Source+"\x00"+a.Space+"\x00"+a.Name, b.Source+"\x00"+b.Space+"\x00"+b.Name)
	})
	return list
}

// checkNames reports a name that no row has, and one that several have.
func checkNames(list []*sources.Row, names []string) error {
	for _, name := range names {
		var found []string
		for _, r := range list {
			if matches(r.Ref, name) {
				found = append(found, format.Clean(r.Source+"/"+r.Space+"/"+r.Name, 200))
			}
		}
		switch len(found) {
		case 0:
			return fmt.Errorf("%s: %w: no primitive goes by this name; `coordtop get` without a name lists them", format.Clean(name, 200), ErrNotFound)
		case 1:
		default:
			return fmt.Errorf("%s: %w: %s", format.Clean(name, 200), ErrAmbiguous, strings.Join(found, ", "))
		}
	}
	return nil
}
