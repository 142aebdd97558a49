package ui

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/history"
	"coordtop/internal/history/historytest"
	"coordtop/internal/history/recordtest"
	"coordtop/internal/history/sqlite"
	"coordtop/sources"
	"coordtop/ui/screen"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// recording is a recording of one lane, which writes down what it is asked for.
type recording struct {
	lane  history.Lane
	asked []history.Span
	err   error
}

func (r *recording) Runs(context.Context) ([]history.Run, error) { return nil, r.err }

func (r *recording) Totals(context.Context, history.Span) ([]history.Total, error) { return nil, r.err }

// Events returns the next beginning of a term around an instant.
func (r *recording) Events(_ context.Context, at time.Time, before, _ int, of history.EventFilter) (events []history.Event, err error) {
	for _, t := range r.lane.Terms {
		if slices.Contains(of.Refs, r.lane.Ref) && t.Start.At.Before(at) == (before > 0) {
			events = append(events, history.Event{Event: sources.Event{Ref: r.lane.Ref, At: t.Start.At, Kind: sources.EventOwnerChanged}})
		}
	}
	if before > 0 {
		return events[max(len(events)-1, 0):], r.err
	}
	return events[:min(len(events), 1)], r.err
}

func (r *recording) Lanes(_ context.Context, refs []sources.Ref, span history.Span) ([]history.Lane, error) {
	r.asked = append(r.asked, span)
	lanes := make([]history.Lane, len(refs))
	for i, ref := range refs {
		if lanes[i].Ref = ref; ref != r.lane.Ref {
			continue
		}
		lanes[i] = r.lane
		lanes[i].Terms = nil
		for _, t := range r.lane.Terms {
			if t.Start.At.Before(span.To) && (t.End.At.IsZero() || t.End.At.After(span.From)) {
				lanes[i].Terms = append(lanes[i].Terms, t)
			}
		}
	}
	return lanes, r.err
}

// answer lets the commands of an Update answer, and those of what follows.
func (d *driver) answer(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.BatchMsg:
		for _, c := range msg {
			d.answer(c)
		}
	case pastMsg:
		d.answer(d.send(msg))
	}
}

// recorded drives a Timeline of one row that memory knows since 11:50, led by host-b, and a
// recording of two days in which host-c and host-a led before.
func recorded() (*driver, *recording) {
	at := func(d time.Duration) sources.Stamp { return sources.Stamp{At: noon().Add(-d), How: sources.Seen} }
	term := func(who string, hue uint8, from, to time.Duration) sources.Term {
		t := sources.Term{Owner: sources.OwnerRef{ID: who, Label: who}, Hue: hue, Start: at(from), Cause: sources.CauseExpired, How: sources.Told}
		if to > 0 {
			t.End = at(to)
		}
		return t
	}
	p := uitest.Led("a", "host-b", noon())
	st := uitest.State(noon(), p)
	st.Scopes[0].Since = noon().Add(-10 * time.Minute)
	live := term("host-b", 0, 10*time.Minute, 0)
	live.Start.How = sources.AtLeast
	st.Rows[0].Terms = []sources.Term{live}
	r := &recording{lane: history.Lane{Ref: p.Ref, Kind: p.Kind, Since: noon().Add(-48 * time.Hour), Terms: []sources.Term{
		term("host-c", 0, 47*time.Hour, 20*time.Hour), term("host-a", 1, 20*time.Hour, 13*time.Minute), term("host-b", 2, 12*time.Minute, 0)}}}
	d := drive(uitest.NewFeed(st), Options{Width: 160, Height: 48, History: r})
	d.Events.Since = noon().Add(-24 * time.Hour)
	d.answer(d.send(key("3")))
	return d, r
}

// lane is the line of a lane.
func (d *driver) lane(t *testing.T, name string) string {
	t.Helper()
	for _, l := range d.lines() {
		if strings.HasPrefix(l, " "+name+" ") {
			return l
		}
	}
	t.Fatalf("there is no lane %s:\n%s", name, d.text())
	return ""
}

func TestTheTimelineShowsWhatWasRecordedBeforeMemoryBegins(t *testing.T) {
	t.Parallel()
	d, r := recorded()
	if len(r.asked) != 1 || d.asked.running {
		t.Fatalf("asked for %v", r.asked)
	}
	lane := d.lane(t, "a")
	// host-b has the letter that it has in the list, and its term began before memory did
	if strings.Contains(lane, "┄") || !strings.Contains(lane, "B━") || strings.Index(lane, "B━") > strings.Index(lane, "A━") {
		t.Errorf("the lane is %q", lane)
	}
	d.answer(d.send(key("[")))
	d.shows(t, "host-b   11:48:00.0 to now")
	d.shows(t, "before: B host-a, gap 60 s")
	before := len(r.asked)
	d.answer(d.send(key("h")))
	if len(r.asked) != before {
		t.Errorf("a column further it asks for %v", r.asked[before:])
	}
	for range 3 {
		d.answer(d.send(key("H")))
	}
	for i := 1; i < len(r.asked); i++ {
		if r.asked[i].To.After(r.asked[i-1].From) {
			t.Errorf("%v was asked for after %v", r.asked[i], r.asked[i-1])
		}
	}
	for _, want := range []time.Duration{20 * time.Hour, 47 * time.Hour} {
		d.answer(d.send(key("[")))
		if got := noon().Sub(screen.CursorAt(&d.Scene)); got != want {
			t.Errorf("the change before is %v ago, not %v", got, want)
		}
	}
	d.answer(d.send(key("[")))
	d.shows(t, "no change before is known")
}

func TestWhatWasNotReadYetIsNeitherNobodyNorNotObserved(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, readout, legend string
		err                   error
		w, h                  int
	}{
		{"being read", "reading what is recorded before 11:50:00.0", "? being read", nil, 160, 48},
		{"being read, on a small screen", "reading what is recorded before 11:50:00.0", "? being read", nil, 80, 24},
		{"not to be read", "before 11:50:00.0 could not be read: it is damaged", "? could not be read", errors.New("it is damaged"), 160, 48},
		{"not to be read, on a small screen", "before 11:50:00.0 could not be read: it is damaged", "? could not be read", errors.New("it is damaged"), 80, 24},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			d, r := recorded()
			d.answer(d.send(tea.WindowSizeMsg{Width: c.w, Height: c.h}))
			d.Time.Past, r.err = nil, c.err
			cmd := d.send(key("H"))
			if c.err != nil {
				d.answer(cmd)
			}
			d.shows(t, c.readout)
			d.shows(t, c.legend)
			if n := strings.Count(d.text(), strings.TrimPrefix(c.legend, "? ")); n < 2 {
				t.Errorf("it is not said of all lanes:\n%s", d.text())
			}
			lane := d.lane(t, "a")
			if !strings.Contains(lane, "?░░") || strings.ContainsAny(lane, "┄!A") {
				t.Errorf("the lane is %q", lane)
			}
			for _, wrong := range []string{"not observed", "not recorded", "nobody was seen"} {
				if strings.Contains(d.text(), wrong) {
					t.Errorf("it says %q:\n%s", wrong, d.text())
				}
			}
			if c.err == nil {
				d.answer(cmd)
				d.shows(t, "host-a")
				if lane := d.lane(t, "a"); strings.Contains(lane, "░") {
					t.Errorf("when it is read the lane is %q", lane)
				}
			}
		})
	}
}

// afterTheHour drives a Timeline at three o'clock of rows that memory knows since a minute, with the
// file of the hour behind it.
func afterTheHour(t *testing.T) *driver {
	t.Helper()
	store, _ := recordtest.File(t, hour(t))
	st := uitest.State(at(3*time.Hour), uitest.Led(historytest.Billing().Name, "host-7", at(3*time.Hour)), uitest.Led(historytest.Search().Name, "host-7", at(3*time.Hour)))
	st.Scopes[0].Since = at(3*time.Hour - time.Minute)
	d := drive(uitest.NewFeed(st), Options{Width: 160, Height: 48, History: store})
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
	for _, step := range []string{"", "w8", "w1"} { // in windows of any length
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
	d.shows(t, "00:20:00  cursor   [ change before 00:10:04.0   ] next change 00:51:30.0   ■ leases down")
}

func TestARecordingThatWasNotBegunHoldsNothing(t *testing.T) {
	t.Parallel()
	store := sqlite.Open(filepath.Join(t.TempDir(), "history.db"))
	defer func() { _ = store.Close() }()
	d := drive(uitest.NewFeed(uitest.State(noon(), uitest.Led("a", "host-b", noon()))), Options{Width: 160, Height: 48, History: store})
	d.answer(d.send(key("3")))
	d.answer(d.send(key("H")))
	d.shows(t, "not observed")
	d.showsNot(t, "read")
}

func TestTheFirstWindowFitsWhatIsKnown(t *testing.T) {
	t.Parallel()
	p := uitest.Led("a", "host-b", noon())
	before := func(d time.Duration) time.Time { return noon().Add(-d) }
	lane := func(since, dark time.Duration) *history.Lane {
		l := &history.Lane{Ref: p.Ref, Kind: p.Kind, Since: before(since)}
		if dark > 0 { // nobody recorded until now
			l.Dark = []sources.Dark{{From: before(dark), To: noon()}}
		}
		return l
	}
	for _, c := range []struct {
		name     string
		lane     *history.Lane
		runs     time.Duration
		from, to time.Duration // the length of the window
	}{
		{"nothing is recorded, and it has just begun", nil, 0, 2 * time.Minute, 3 * time.Minute},
		{"nothing is recorded, and it runs for ten minutes", nil, 10 * time.Minute, 10 * time.Minute, 12 * time.Minute},
		{"nothing is recorded, and it runs for a day", nil, 24 * time.Hour, 15 * time.Minute, 25 * time.Minute},
		{"it was recorded a minute ago, for a day", lane(24*time.Hour, time.Minute), 0, 15 * time.Minute, 25 * time.Minute},
		{"it was recorded for the first time five minutes ago", lane(5*time.Minute, 0), 0, 5 * time.Minute, 12 * time.Minute},
		{"it was recorded an hour ago", lane(24*time.Hour, time.Hour), 0, 2 * time.Minute, 3 * time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := Options{Width: 160, Height: 48}
			if c.lane != nil {
				o.History = &recording{lane: *c.lane}
			}
			d := drive(uitest.NewFeed(uitest.State(noon(), p)), o)
			d.Events.Since = before(c.runs)
			d.State.Scopes[0].Since = before(c.runs)
			d.answer(d.send(key("3")))
			if got := screen.TimeWindow(&d.Scene).Span(); got < c.from || got > c.to {
				t.Errorf("it shows %v, not %v to %v:\n%s", got, c.from, c.to, d.text())
			}
		})
	}
}

func TestARecordingThatCannotBeReadIsSaidAndRests(t *testing.T) {
	t.Parallel()
	d, r := recorded()
	r.err = errors.New("it is damaged")
	d.answer(d.send(key("H")))
	d.answer(d.send(key("H")))
	d.shows(t, "the recording cannot be read: it is damaged")
	n := len(r.asked)
	d.answer(d.send(key("h")))
	if len(r.asked) != n {
		t.Error("it is asked again at once")
	}
	r.err = nil
	d.feed.Pass(6 * time.Second)
	d.answer(d.send(terminal.SecondMsg{}))
	if len(r.asked) != n+1 {
		t.Errorf("it was asked %d times more", len(r.asked)-n)
	}
}
