package ui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/ui/screen"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// recording is a recording of one lane, which writes down what it is asked for.
type recording struct {
	lane   history.Lane
	more   []history.Lane
	totals []history.Total
	asked  []history.Span
	most   int // lanes in one go
	err    error
}

func (r *recording) Runs(context.Context) ([]history.Run, error) { return nil, r.err }

func (r *recording) Dark(context.Context, history.Span) ([]history.DarkChange, error) {
	return nil, r.err
}

func (r *recording) Totals(context.Context, history.Span) ([]history.Total, error) {
	return r.totals, r.err
}

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
	r.asked, r.most = append(r.asked, span), max(r.most, len(refs))
	lanes := make([]history.Lane, len(refs))
	for i, ref := range refs {
		if lanes[i].Ref = ref; ref != r.lane.Ref {
			if at := slices.IndexFunc(r.more, func(l history.Lane) bool { return l.Ref == ref }); at >= 0 {
				lanes[i] = r.more[at]
			}
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
	case pastMsg, sumMsg, partiesMsg, mutesMsg:
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
	d := drive(newTestFeed(st), Options{Width: 160, Height: 48, History: r})
	d.Events.Since, r.asked = noon().Add(-24*time.Hour), nil // what the list asked for
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
	if len(r.asked) != 1 || d.past.running {
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

func TestTheDetailShowsWhatWasRecordedBeforeMemoryBegins(t *testing.T) {
	t.Parallel()
	d, r := recorded()
	d.answer(d.send(key("2")))
	d.Time, r.asked = screen.TimelineState{Reads: true}, nil
	d.answer(d.send(key("enter")))
	d.showsNot(t, "TERMS") // as of a semaphore
	strip := d.lines()[slices.IndexFunc(d.lines(), func(l string) bool { return strings.Contains(l, "OWNERS in") })+2]
	if strings.ContainsAny(strip, "┄░?") || !strings.Contains(strip, "B━") || strings.Index(strip, "B━") > strings.Index(strip, "A━") {
		t.Errorf("the strip is %q", strip)
	}
	if want := (history.Span{From: noon().Add(-45 * time.Minute), To: noon()}); len(r.asked) != 1 || r.asked[0] != want {
		t.Errorf("asked for %v, want %v once", r.asked, want)
	}
	r.err = errors.New("it is damaged")
	d.Time.Past = nil
	d.answer(d.send(key("j")))
	d.shows(t, "░")
	d.shows(t, "the recording cannot be read: it is damaged")
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
			d := drive(newTestFeed(uitest.State(noon(), p)), o)
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

// TestLanesAreReadWhileTheRecordingIsSummedUp keeps back the sums: of a month of a team they take a minute.
func TestLanesAreReadWhileTheRecordingIsSummedUp(t *testing.T) {
	t.Parallel()
	d, r := recorded()
	sums := 0
	var answer func(cmd tea.Cmd)
	answer = func(cmd tea.Cmd) {
		if cmd == nil {
			return
		}
		switch msg := cmd().(type) {
		case tea.BatchMsg:
			for _, c := range msg {
				answer(c)
			}
		case pastMsg:
			if msg.totalsOf.Columns > 0 {
				sums++
				return
			}
			answer(d.send(msg))
		case sumMsg:
			answer(d.send(msg))
		}
	}
	answer(d.send(key("3")))
	before := len(r.asked)
	for range 4 {
		answer(d.send(key("H")))
	}
	if sums != 1 || len(r.asked) <= before {
		t.Errorf("the recording was summed up %d times, and lanes were read %d times after", sums, len(r.asked)-before)
	}
}
