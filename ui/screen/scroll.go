package screen

import "coordtop/ui/keys"

// scrollEnd is further than any text goes; drawing brings it back to the last page.
const scrollEnd = 1 << 20

// Scroll is where an intent moves to from at, in a view or a list of so many lines: a page keeps one
// of them in sight.
func Scroll(at int, i keys.Intent, page int) int {
	switch i {
	case keys.Up:
		at--
	case keys.Down:
		at++
	case keys.HalfUp:
		at -= max(page/2, 1)
	case keys.HalfDown:
		at += max(page/2, 1)
	case keys.PageUp:
		at -= max(page-1, 1)
	case keys.PageDown:
		at += max(page-1, 1)
	case keys.Top:
		at = 0
	case keys.Bottom:
		at = scrollEnd
	}
	return min(max(at, 0), scrollEnd)
}
