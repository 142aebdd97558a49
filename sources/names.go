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
