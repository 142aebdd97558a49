package rows

import (
	"strings"

	"coordtop/sources"
)

// OrderText says how the list is ordered.
func (x *Index) OrderText() string {
	text := x.Order.String()
	if x.Reverse {
		text += ", reversed"
	}
	if x.Held {
		text += ", held"
	}
	return text
}

func (x *Index) compareText(a, b *sources.Row) int {
	c := strings.Compare(x.Order.text(a), x.Order.text(b))
	if x.Reverse {
		return -c
	}
	return c
}

// placeHeld takes out what is gone and puts what is new at the end; all others keep
// their places as long as the order is held. It reports whether anything changed.
func (x *Index) placeHeld() bool {
	fresh := x.moved[x.heldMore:]
	if len(fresh) == 0 {
		return false
	}
	x.heldMore = len(x.moved)
	next := x.free[0][:0]
	for _, h := range x.Handles {
		if row, _ := x.At(h); row != nil {
			next = append(next, h)
		} else {
			x.entries[h.Slot].placed = false // another row may stand in the slot
		}
	}
	for _, s := range fresh {
		if e := &x.entries[s]; e.listed && !e.placed {
			e.placed = true
			next = append(next, Handle{s, e.gen})
		}
	}
	x.free[0], x.Handles = x.Handles, next
	return true
}
