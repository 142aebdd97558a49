package ui

import (
	"testing"

	"coordtop/ui/uitest"
)

func TestAnOwnerOfBlanksIsSeenInTheListAndInFull(t *testing.T) {
	t.Parallel()
	d := hand(uitest.Led("a", "   ", noon()))
	d.shows(t, `"   "`)
	d.press("enter")
	d.shows(t, `"   "`)
}
