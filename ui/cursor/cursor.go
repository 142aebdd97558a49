package cursor

import "slices"

// List is a list of keys with a cursor and a window. The zero List is an empty list
// in a window of no height.
type List[K comparable] struct {
	keys   []K
	cursor K    // the key that was chosen
	moved  bool // by Move or Select: else the cursor stays on the top row
	pos    int  // where the cursor is shown
	top    int  // first visible position
	height int
}

// SetKeys replaces the list. The slice is kept and must not be changed afterwards; its keys are
// unique. SetKeys takes time in proportion to the distance that the cursor moves.
func (l *List[K]) SetKeys(keys []K) {
	l.keys = keys
	switch {
	case len(keys) == 0:
		l.pos = 0
	case !l.moved:
		l.pos, l.cursor = 0, keys[0]
	default:
		l.pos = min(l.pos, len(keys)-1)
		if i, ok := find(keys, l.cursor, l.pos); ok {
			l.pos = i
		}
	}
	l.show()
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
func (l *List[K]) SetHeight(rows int) {
	l.height = max(rows, 0)
	l.show()
}

// Height returns how many rows are visible at most.
func (l *List[K]) Height() int { return l.height }

// Len returns the number of rows.
func (l *List[K]) Len() int { return len(l.keys) }

// Pos returns the position of the cursor, from 0; 0 also where the list is empty.
func (l *List[K]) Pos() int { return l.pos }

// Selected returns the key under the cursor; false where the list is empty.
func (l *List[K]) Selected() (k K, ok bool) {
	if len(l.keys) == 0 {
		return k, false
	}
	return l.keys[l.pos], true
}

// Moved reports whether the person has moved the cursor. Until then it stays on the top row.
func (l *List[K]) Moved() bool { return l.moved }

// Visible returns the keys in the window. It must not be changed.
func (l *List[K]) Visible() []K {
	return l.keys[l.top:min(l.top+l.height, len(l.keys))]
}

// Top returns the position of the first visible row.
func (l *List[K]) Top() int { return l.top }

// Move moves the cursor by n rows, not further than the ends.
func (l *List[K]) Move(n int) {
	if len(l.keys) == 0 {
		return
	}
	l.pos = max(0, min(l.pos+n, len(l.keys)-1))
	l.cursor, l.moved = l.keys[l.pos], true
	l.show()
}

// Select puts the cursor on k, and reports whether it is in the list. If it is not, the
// cursor goes there when k comes.
func (l *List[K]) Select(k K) bool {
	l.cursor, l.moved = k, true
	i := slices.Index(l.keys, k)
	if i < 0 {
		return false
	}
	l.pos = i
	l.show()
	return true
}

// Replace gives a key another name: the cursor goes with it.
func (l *List[K]) Replace(old, k K) {
	if l.cursor == old {
		l.cursor = k
	}
}

// show moves the window as little as needed for the cursor to be in it, and leaves no
// empty space below the list while there are rows above.
func (l *List[K]) show() {
	l.top = min(l.top, l.pos)
	l.top = max(l.top, l.pos-l.height+1)
	l.top = max(0, min(l.top, len(l.keys)-l.height))
}
