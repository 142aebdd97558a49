package screen

import "coordtop/ui/keys"

// scrollEnd is further than any text goes; drawing brings it back to the last page.
const scrollEnd = 1 << 20

// Scroll is where an intent scrolls to from at, in a view of so many lines.
func Scroll(at int, i keys.Intent, page int) int {
	switch i {
	case keys.Up:
		at--
	case keys.Down:
		at++
	case keys.HalfUp:
		at -= page / 2
	case keys.HalfDown:
		at += page / 2
	case keys.PageUp:
		at -= page - 1
	case keys.PageDown:
		at += page - 1
	case keys.Top:
		at = 0
	case keys.Bottom:
		at = scrollEnd
	}
	return min(max(at, 0), scrollEnd)
}
