package table

import "slices"

// Table is a list of keys with a cursor and a window. The zero Table is an empty list
// in a window of no height.
type Table[K comparable] struct {
	keys   []K
	cursor K    // the key that was chosen
	chosen bool // false until there was a row to choose
	moved  bool // by Move, First, Last or Select: else the cursor stays on the top row
	pos    int  // where the cursor is shown
	top    int  // first visible position
	height int
}

// SetKeys replaces the list. The slice is kept and must not be changed afterwards;
// each key stands in it once. It takes time in proportion to the distance of the
// cursor from where it was.
func (t *Table[K]) SetKeys(keys []K) {
	t.keys = keys
	switch {
	case len(keys) == 0:
		t.pos = 0
	case !t.moved:
		t.pos = 0
		t.cursor, t.chosen = keys[0], true
	default:
		t.pos = min(t.pos, len(keys)-1)
		if i, ok := find(keys, t.cursor, t.pos); ok {
			t.pos = i
		}
	}
	t.show()
}

// find returns the position of k, looking outwards from near: rows rarely move far.
func find[K comparable](keys []K, k K, near int) (int, bool) {
	for d := 0; near-d >= 0 || near+d < len(keys); d++ {
		if i := near + d; i < len(keys) && keys[i] == k {
			return i, true
		}
		if i := near - d; i >= 0 && keys[i] == k {
			return i, true
		}
	}
	return 0, false
}

// SetHeight sets how many rows are visible. Less than 0 is 0.
func (t *Table[K]) SetHeight(rows int) {
	t.height = max(rows, 0)
	t.show()
}

// Height is how many rows are visible at most.
func (t *Table[K]) Height() int { return t.height }

// Len is the number of rows.
func (t *Table[K]) Len() int { return len(t.keys) }

// Pos is the position of the cursor, from 0; 0 also where the list is empty.
func (t *Table[K]) Pos() int { return t.pos }

// Selected returns the key under the cursor; false where the list is empty.
func (t *Table[K]) Selected() (k K, ok bool) {
	if len(t.keys) == 0 {
		return k, false
	}
	return t.keys[t.pos], true
}

// Moved reports whether the person has put the cursor somewhere. Until then it stays on
// the top row, whichever that is.
func (t *Table[K]) Moved() bool { return t.moved }

// Visible returns the keys in the window. It must not be changed.
func (t *Table[K]) Visible() []K {
	return t.keys[t.top:min(t.top+t.height, len(t.keys))]
}

// Move moves the cursor by n rows, not further than the ends.
func (t *Table[K]) Move(n int) { t.moveTo(t.pos + n) }

// Page moves the cursor by a window, or half of one, up (-1) or down (1).
func (t *Table[K]) Page(direction int, half bool) {
	n := max(t.height-1, 1)
	if half {
		n = max(t.height/2, 1)
	}
	t.Move(direction * n)
}

// First moves the cursor to the top of the list.
func (t *Table[K]) First() { t.moveTo(0) }

// Last moves the cursor to the end of the list.
func (t *Table[K]) Last() { t.moveTo(len(t.keys) - 1) }

// Select puts the cursor on k, and reports whether it is in the list. If it is not, the
// cursor goes there when k comes.
func (t *Table[K]) Select(k K) bool {
	t.cursor, t.chosen, t.moved = k, true, true
	i := slices.Index(t.keys, k)
	if i < 0 {
		return false
	}
	t.pos = i
	t.show()
	return true
}

// Replace tells that a key is now known by another name: the cursor goes with it.
func (t *Table[K]) Replace(old, k K) {
	if t.chosen && t.cursor == old {
		t.cursor = k
	}
}

func (t *Table[K]) moveTo(i int) {
	if len(t.keys) == 0 {
		return
	}
	t.pos = max(0, min(i, len(t.keys)-1))
	t.cursor, t.chosen, t.moved = t.keys[t.pos], true, true
	t.show()
}

// show moves the window as little as needed for the cursor to be in it, and leaves no
// empty space below the list while there are rows above.
func (t *Table[K]) show() {
	t.top = min(t.top, t.pos)
	t.top = max(t.top, t.pos-t.height+1)
	t.top = max(0, min(t.top, len(t.keys)-t.height))
}
