package ui

import (
	"testing"

	"coordtop/ui/uitest"
)

func TestARecordingThatStoppedIsSaidInTheHeaderAndWhyAmongTheSources(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	text, stopped := "recorded without a WAL", false
	d := drive(newTestFeed(uitest.State(noon(), a)), Options{Width: 80, Height: 24, Recording: func() (string, bool) { return text, stopped }})
	d.showsNot(t, "NOT RECORDED")
	text, stopped = "recording stopped at 12:31: no space left on device", true
	d.pass(1)
	d.shows(t, "NOT RECORDED")
	d.press("o")
	d.shows(t, "recording stopped at 12:31: no space left on device")
	text, stopped = "", false
	d.pass(1)
	d.showsNot(t, "NOT RECORDED")
	d.showsNot(t, "recording stopped")
}
