package ui

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/ground/raced"
	"coordtop/internal/history/historytest"
	"coordtop/internal/history/recordtest"
	"coordtop/internal/history/sqlite"
	"coordtop/ui/screen"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// afterTheHour drives a Timeline at three o'clock of rows that memory knows since a minute, with the
// file of the hour behind it.
func afterTheHour(t *testing.T) *driver {
	t.Helper()
	store, _ := recordtest.File(t, hour(t))
	st := uitest.State(at(3*time.Hour), uitest.Led(historytest.Billing().Name, "host-7", at(3*time.Hour)), uitest.Led(historytest.Search().Name, "host-7", at(3*time.Hour)))
	st.Scopes[0].Since = at(3*time.Hour - time.Minute)
	d := drive(newTestFeed(st), Options{Width: 160, Height: 48, History: store})
	d.feed.Pass(at(3 * time.Hour).Sub(d.feed.Now()))
	d.answer(d.send(terminal.SecondMsg{}))
	d.answer(d.send(key("3")))
	if d.cursor() != historytest.Billing().Name {
		t.Fatalf("the cursor is on %s:\n%s", d.cursor(), d.text())
	}
	return d
}

func TestJumpsFindEveryChangeOfTheRecording(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "seven thousand transactions take half a minute then")
	d := afterTheHour(t)
	changes := []time.Duration{3*time.Hour - time.Minute}
	for _, l := range historytest.Leaders() {
		for _, at := range []time.Duration{l.Start, l.End} {
			if at > 0 && !slices.Contains(changes, at) {
				changes = append(changes, at)
			}
		}
	}
	slices.Sort(changes)
	goes := func(key rune, want time.Duration) {
		t.Helper()
		d.answer(d.send(tea.KeyPressMsg{Code: key, Text: string(key)}))
		if got := screen.CursorAt(&d.Scene); !got.Equal(at(want)) {
			t.Fatalf("%c goes to %v, not %v:\n%s", key, got.Sub(at(0)), want, d.text())
		}
	}
	windows := []string{"", "w8", "w1"} // of any length
	for _, step := range windows {
		for _, k := range step {
			d.answer(d.send(tea.KeyPressMsg{Code: k, Text: string(k)}))
		}
		for _, change := range slices.Backward(changes) {
			goes('[', change)
		}
		goes('[', changes[0])
		d.shows(t, "no change before is known")
		for _, change := range changes[1:] {
			goes(']', change)
		}
		d.answer(d.send(key("0")))
	}
	// of any lane: the last is the second leader of search
	d.answer(d.send(key("{")))
	d.answer(d.send(key("{")))
	d.shows(t, "changed")
	last := screen.CursorAt(&d.Scene)
	if !last.Before(at(time.Hour)) || last.Before(at(50*time.Minute)) {
		t.Errorf("the last change of any lane is at %v", last)
	}
	seen := 0
	for ; last.After(at(changes[0])) && seen < 100; seen++ {
		d.answer(d.send(key("{")))
		next := screen.CursorAt(&d.Scene)
		if !next.Before(last) {
			t.Fatalf("{ goes from %v to %v", last, next)
		}
		last = next
	}
	if seen < len(changes)-2 || !last.Equal(at(changes[0])) {
		t.Errorf("after %d changes of any lane it is at %v", seen, last)
	}
}

func TestMarksOfEarlierRunsStandBelowTheLanes(t *testing.T) {
	t.Parallel()
	d := afterTheHour(t)
	d.answer(d.send(key("w")))
	d.answer(d.send(key("4")))
	d.press(":")
	d.typed("at 00:40")
	d.answer(d.send(key("enter")))
	for _, want := range []string{"■ leases down", "C clock set", "S coordtop started"} {
		d.shows(t, want)
	}
	d.press(":")
	d.typed("at 00:20")
	d.answer(d.send(key("enter")))
	d.shows(t, "00:20:00  cursor   ■ leases down")
}

func TestARecordingThatWasNotBegunHoldsNothing(t *testing.T) {
	t.Parallel()
	store := sqlite.NewReader(filepath.Join(t.TempDir(), "history.db"))
	defer func() { _ = store.Close() }()
	d := drive(newTestFeed(uitest.State(noon(), uitest.Led("a", "host-b", noon()))), Options{Width: 160, Height: 48, History: store})
	d.answer(d.send(key("3")))
	d.answer(d.send(key("H")))
	d.shows(t, "not observed")
	d.showsNot(t, "read")
}
