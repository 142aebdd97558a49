package timeline

import "time"

// StripOfAll is Strip, but paints all terms of crowded columns.
func (w Window) StripOfAll(dst []Cell, l Lane, now time.Time) []Cell {
	l.Lane = l.Within(w.Stretch())
	return w.strip(dst, l, now)
}
