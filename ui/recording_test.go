package ui

import (
	"fmt"
	"testing"

	"coordtop/sources"
	"coordtop/ui/dialog"
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

func TestTheHeaderSaysWhoSawWhatIsShownAndThatItIsOldOnAnyScreen(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	text, old := "seen by host-7\x1b[2J, 0.2s ago", false
	d := drive(newTestFeed(uitest.State(noon(), a)), Options{Width: 120, Height: 24, Seen: func() (string, bool) { return text, old }})
	d.shows(t, "seen by host-7")
	d.showsNot(t, "\x1b[2J")
	narrow := drive(newTestFeed(uitest.State(noon(), a)), Options{Width: 60, Height: 24, Seen: func() (string, bool) { return text, old }})
	narrow.showsNot(t, "seen by")
	text, old = "OLD: the recorder on host-7 is silent", true
	d.pass(1)
	d.shows(t, "OLD: the recorder on host-7 is silent")
	d.showsNot(t, "live")
	narrow.pass(1)
	narrow.shows(t, "OLD: the recorder")
}

func TestTheSilenceOfARecorderIsNotThatOfItsSources(t *testing.T) {
	t.Parallel()
	a, b, _ := three()
	st := uitest.State(noon(), a, b)
	for i := range st.Sources {
		st.Sources[i].Health, st.Sources[i].Err = sources.HealthStale, fmt.Errorf("%w: host-7 recorded until noon", sources.ErrUnseen)
	}
	d := drive(newTestFeed(st), Options{Width: 120, Height: 24, Seen: func() (string, bool) { return "OLD", true }})
	d.shows(t, "all STALE")
	d.showsNot(t, "down")
	d.showsNot(t, "more about sources")
	d.showsNot(t, "does not answer")
}

// lookingFeed is a Feed whose own look has other rows.
type lookingFeed struct {
	*testFeed
	own dialog.Latest
}

func (f lookingFeed) Own() dialog.Latest { return f.own }

func TestADialogReadsTheRowsThatTheBoardSawItself(t *testing.T) {
	t.Parallel()
	a, b, _ := three()
	own := newTestFeed(uitest.State(noon(), b))
	f := newFeeds(Options{Feed: lookingFeed{newTestFeed(uitest.State(noon(), a)), own}})
	if f.latest() != dialog.Latest(own) || f.shown().State() == own.State() {
		t.Error("dialogs read the rows of the other program")
	}
}
