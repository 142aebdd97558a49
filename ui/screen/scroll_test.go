package screen

import (
	"testing"

	"coordtop/ui/keys"
)

func TestScrollMovesByLinesHalvesAndPages(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		do               keys.Intent
		from, page, want int
	}{
		{keys.Up, 5, 4, 4}, {keys.Down, 5, 4, 6}, {keys.HalfUp, 5, 4, 3}, {keys.HalfDown, 0, 4, 2}, {keys.PageDown, 0, 4, 3}, {keys.PageUp, 9, 4, 6},
		{keys.Top, 9, 4, 0}, {keys.Bottom, 0, 4, scrollEnd}, {keys.Up, 0, 4, 0}, {keys.PageUp, 1, 4, 0},
		{keys.HalfDown, 5, 1, 6}, {keys.PageUp, 5, 1, 4}, {keys.PageDown, 5, 0, 6},
	} {
		if got := Scroll(c.from, c.do, c.page); got != c.want {
			t.Errorf("%s from %d in %d lines goes to %d, want %d", c.do, c.from, c.page, got, c.want)
		}
	}
}
