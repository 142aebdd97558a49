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

// Shown is how a primitive is called where its source is not shown beside it: its name, behind source or
// space where one in another source, or in another space of its own, has the same. ref returns the
// identity of the row in a slot.
func (n Names) Shown(of Ref, ref func(slot int32) Ref) string {
	name, source, space := of.Name, false, false
	for _, slot := range n[of.Name] {
		other := ref(slot)
		source = source || other.Source != of.Source
		space = space || other.Source == of.Source && other.Space != of.Space
	}
	if space {
		name = strings.TrimPrefix(of.Space, "/") + "/" + name
	}
	if source {
		name = of.Source + "/" + name
	}
	return name
}
