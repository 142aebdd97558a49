package timeline

import "time"

// StripOfAll is Strip, but paints all terms of crowded columns.
func (w Window) StripOfAll(dst []Cell, l Lane, now time.Time) []Cell {
	return w.strip(dst, w.inWindow(l, now), now)
}
