package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"coordtop/internal/ground/raced"
	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// changing is an election whose leaders follow each other up to noon: one every so often, with a
// gap of 3 s before each, or a third of it.
func changing(name string, every time.Duration, leaders int, i int) *sources.Row {
	p := uitest.Led(name, "host-1", noon())
	row := uitest.Row(p, i)
	row.Terms = nil
	for n := leaders; n > 0; n-- {
		start := noon().Add(-time.Duration(n) * every)
		t := sources.Term{Owner: sources.OwnerRef{ID: fmt.Sprint(n), Label: fmt.Sprintf("host-%d", n%3), Fence: uint64(100 - n)}, Hue: uint8(n % 3),
			Start: sources.Stamp{At: start, How: sources.Seen}, End: sources.Stamp{At: start.Add(every - min(3*time.Second, every/3)), How: sources.Seen}, Cause: sources.CauseExpired, How: sources.Told}
		if n == 1 {
			t.End, t.Cause, t.How = sources.Stamp{}, sources.CauseUnknown, sources.Unknown
		}
		row.Terms = append(row.Terms, t)
	}
	row.Terms[0].Start = sources.Stamp{At: noon().Add(-25 * time.Hour), How: sources.AtLeast}
	return row
}

// lanes drives a Timeline of rows, all of which were observed for a day.
func lanes(w, h int, rows ...*sources.Row) *driver {
	st := uitest.State(noon())
	st.Rows, st.Scopes[0].Since = rows, noon().Add(-24*time.Hour)
	for i, r := range rows {
		r.Slot = i
	}
	d := drive(newTestFeed(st), Options{Width: w, Height: h})
	d.Events.Since = noon().Add(-24 * time.Hour) // so the window is as long as it can be
	d.press("s", "n", "3")
	return d
}

func TestTheTimelineGoesFromChangeToChange(t *testing.T) {
	t.Parallel()
	d := lanes(160, 48, changing("a", 100*time.Second, 5, 0), changing("b", 70*time.Second, 3, 1))
	at := func(want time.Duration) {
		t.Helper()
		if got := noon().Sub(screen.CursorAt(&d.Scene)); got != want {
			t.Errorf("the cursor is %v before noon, not %v:\n%s", got, want, d.text())
		}
	}
	at(0)
	for _, step := range []struct {
		key  string
		want time.Duration
	}{
		{"[", 100 * time.Second}, {"[", 103 * time.Second}, {"]", 100 * time.Second}, {"{", 103 * time.Second}, {"{", 140 * time.Second},
		{"}", 103 * time.Second}, {"h", 113 * time.Second}, {"l", 103 * time.Second}, {"0", 0}, {"[", 100 * time.Second}, {"j", 100 * time.Second}, {"[", 140 * time.Second}, {"[", 143 * time.Second},
	} {
		d.press(step.key)
		at(step.want)
	}
	d.shows(t, "no leader") // of b, three seconds before its third leader
	d.press("]")
	d.shows(t, "before: ")
	d.shows(t, "fence 98")
	d.press("k")
	if d.cursor() != "a" {
		t.Errorf("the cursor of the list is on %s", d.cursor())
	}
}

func TestWhoPansLeavesThePresentAndIsToldSo(t *testing.T) {
	t.Parallel()
	d := lanes(160, 48, changing("a", 100*time.Second, 20, 0))
	d.shows(t, "follow on")
	d.press("H")
	d.shows(t, "follow off")
	d.shows(t, "the window stays here: 0 goes to now, f follows again")
	before := screen.TimeWindow(&d.Scene)
	d.pass(60)
	if got := screen.TimeWindow(&d.Scene); got != before {
		t.Errorf("it moved from %v to %v", before, got)
	}
	d.press("f")
	d.shows(t, "follow on")
	d.press("-")
	wide := screen.TimeWindow(&d.Scene)
	if wide.Step <= before.Step || !wide.End().After(d.Now) {
		t.Errorf("zoomed out it shows %v in steps of %v", wide.Span(), wide.Step)
	}
	d.press("[", "[", "[")
	column := wide.Column(screen.CursorAt(&d.Scene))
	d.press("+", "+", "+")
	if near := screen.TimeWindow(&d.Scene); near.Column(screen.CursorAt(&d.Scene)) != column {
		t.Errorf("the cursor went from column %d to %d", column, near.Column(screen.CursorAt(&d.Scene)))
	}
	d.press("w", "4")
	if got := screen.TimeWindow(&d.Scene).Span(); got < time.Hour || got > 2*time.Hour {
		t.Errorf("the window of an hour shows %v", got)
	}
	for text, want := range map[string]string{"at 11:50": "11:50:00", "at 25:00": "no time", "window x": "no length", "at 2026-01-01 10:00": "Jan 1 10:00:00"} {
		d.press(":")
		d.typed(text)
		d.press("enter")
		d.shows(t, want)
	}
}

func TestLanesAreOrderedAndHiddenByWhatTheWindowShows(t *testing.T) {
	t.Parallel()
	calm, often, long := changing("calm", time.Hour*30, 1, 0), changing("often", 100*time.Second, 8, 1), changing("long", 10*time.Minute, 2, 2)
	long.Expected, often.Expected = true, true
	long.Terms[0].End.At = noon().Add(-14 * time.Minute)
	d := lanes(160, 48, calm, often, long)
	names := func() string {
		var all []string
		for _, h := range d.Time.Lanes.Visible() {
			row, _ := d.Rows.At(h)
			all = append(all, row.Name)
		}
		return strings.Join(all, " ")
	}
	for _, c := range []struct {
		keys []string
		want string
	}{
		{nil, "calm long often"}, {[]string{"s", "c"}, "often long calm"}, {[]string{"s", "g"}, "long often calm"}, {[]string{"!"}, "long often"},
		{[]string{"s", "l"}, "long often"}, {[]string{"w", "1"}, "often"}, {[]string{"!"}, "calm long often"},
	} {
		d.press(c.keys...)
		if got := names(); got != c.want {
			t.Errorf("after %v: %q, not %q", c.keys, got, c.want)
		}
	}
}

func TestANoteStandsBelowTheLanes(t *testing.T) {
	t.Parallel()
	d := lanes(160, 48, changing("a", 100*time.Second, 5, 0))
	d.press("M")
	d.typed("deploy 7")
	d.press("enter")
	d.shows(t, "takes no notes")
	var about []time.Time
	failed := error(nil)
	d.options.Note = func(text string, at time.Time) error {
		about = append(about, at)
		d.feed.Tell(sources.Event{Kind: sources.EventNote, How: sources.Ours, At: at, Detail: text})
		return failed
	}
	note := func(text string) {
		d.press("M")
		d.typed(text)
		d.press("enter")
		d.send(terminal.WakeMsg{})
	}
	note("deploy 7")
	d.shows(t, "noted now: deploy 7")
	d.shows(t, "M deploy 7")
	d.press("left")
	cursor := screen.CursorAt(&d.Scene)
	note("it began here")
	d.shows(t, "noted at "+paint.TimeOfDay(cursor, d.Now)+": it began here")
	failed = errors.New("the audit cannot be written")
	d.press("0")
	note("lost")
	d.shows(t, "noted now, on this screen only: the audit cannot be written")
	if len(about) != 3 || !about[0].Equal(d.Now) || !about[1].Equal(cursor) || !cursor.Before(d.Now) || !about[2].Equal(d.Now) {
		t.Errorf("noted about %v, the cursor was at %v", about, cursor)
	}
}

func TestAFollowingTimelineCostsFewBytes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it draws five hundred frames")
	}
	raced.Alone(t, "it draws five hundred frames in one goroutine and counts bytes")
	for _, c := range []struct {
		window   string
		changing int // one in so many lanes changes all the time, the others do not
		limit    int // bytes a second
	}{{"3", 5, 500}, {"3", 1, 500}, {"1", 5, 4000}, {"1", 1, 4000}} {
		var rows []*sources.Row
		for i := range 40 {
			leaders := 1
			if i%c.changing == 0 {
				leaders = 60
			}
			rows = append(rows, changing(fmt.Sprintf("lane-%02d", i), time.Duration(100+13*i)*time.Second, leaders, i))
		}
		d := lanes(160, 48, rows...)
		d.press("w", c.window)
		w := newWire(160, 48)
		w.frame(t, d)
		const seconds = 60
		total := 0
		for range seconds {
			d.feed.Pass(time.Second)
			d.send(terminal.SecondMsg{})
			total += w.frame(t, d)
			d.send(terminal.ColumnMsg{})
			total += w.frame(t, d)
		}
		if n := len(d.Time.Lanes.Visible()); n != len(rows) {
			t.Errorf("%d lanes are shown, not %d", n, len(rows))
		}
		t.Logf("%s, one lane in %d changes: %d bytes a second", screen.TimeWindow(&d.Scene).Span(), c.changing, total/seconds)
		if total > c.limit*seconds {
			t.Errorf("%d bytes in %d s, not %d a second", total, seconds, c.limit)
		}
	}
}

func TestLanesHaveTheLinesOfTheLegendOrItThose(t *testing.T) {
	t.Parallel()
	var rows []*sources.Row
	for i := range 60 {
		rows = append(rows, changing(fmt.Sprintf("lane-%02d", i), 100*time.Second, 5, i))
	}
	for _, c := range []struct{ w, h, lanes, other int }{{160, 48, 40, 30}, {80, 48, 40, 30}, {80, 24, 10, 16}, {160, 60, 42, 52}, {60, 15, 11, 11}} {
		d := lanes(c.w, c.h, rows...)
		for _, want := range []int{c.lanes, c.other, c.lanes} {
			if got := len(d.Time.Lanes.Visible()); got != want {
				t.Errorf("%dx%d: %d lanes are shown, not %d:\n%s", c.w, c.h, got, want, d.text())
			}
			if text := d.text(); c.h >= 24 && (!strings.Contains(text, "ALL LANES  ") || strings.Contains(text, "SELECTED LANE") != (want == min(c.lanes, c.other)) || !strings.Contains(text, "host-1   11:58:20.0 to now")) {
				t.Errorf("%dx%d, %d lanes: sums, legend or readout are missing:\n%s", c.w, c.h, want, text)
			}
			d.press("tab")
		}
	}
}

func TestTheLeaseOfALaneIsDrawnOnlyWhereItWasKnown(t *testing.T) {
	t.Parallel()
	row := changing("a", 100*time.Second, 1, 0)
	row.Terms[0].Start = sources.Stamp{At: noon().Add(-5 * time.Minute), How: sources.Seen}
	row.Owners[0].Lease = 10 * time.Minute
	d := lanes(160, 48, row)
	lease := func() string {
		_, line, _ := strings.Cut(d.text(), "lease left")
		line, _, _ = strings.Cut(line, "\n")
		return strings.TrimRight(line, " ")
	}
	if line := lease(); strings.Contains(line, d.Theme.Dark+d.Theme.Dark) {
		t.Fatalf("all of it was observed: %q", line)
	}
	d.State.Scopes[0].Dark = []sources.Dark{{From: noon().Add(-3 * time.Minute), To: noon().Add(-2 * time.Minute)}}
	d.send(terminal.SecondMsg{})
	line := lease()
	_, behind, dotted := strings.Cut(line, d.Theme.Dark)
	if !dotted || strings.ContainsFunc(behind, func(r rune) bool { return strings.ContainsRune(strings.Join(d.Theme.Eighths[:], ""), r) }) {
		t.Errorf("the lease is drawn over and behind three minutes of darkness, in which nothing was seen of it: %q\n%s", line, d.text())
	}
}

// TestTheLeaseOfALaneHasDotsWhereRenewalsAreNotKept is about a leader that was seen to begin, and of whose renewals the
// last two are kept.
func TestTheLeaseOfALaneHasDotsWhereRenewalsAreNotKept(t *testing.T) {
	t.Parallel()
	row := changing("a", 100*time.Second, 1, 0)
	row.Terms[0].Start = sources.Stamp{At: noon().Add(-5 * time.Minute), How: sources.Seen}
	row.Owners[0].Lease = 30 * time.Second
	d := lanes(160, 48, row)
	for _, ago := range []time.Duration{30 * time.Second, 10 * time.Second} {
		d.feed.Tell(sources.Event{Kind: sources.EventRenewed, Ref: row.Ref, At: noon().Add(-ago), Owner: row.Terms[0].Owner, LeaseLeft: 10 * time.Second})
	}
	d.send(terminal.WakeMsg{})
	_, line, _ := strings.Cut(d.text(), "lease left")
	line, _, _ = strings.Cut(line, "\n")
	dots, teeth, _ := strings.Cut(strings.TrimSpace(line), d.Theme.Dark+d.Theme.Eighths[5])
	if len([]rune(dots)) < 20 || strings.ContainsAny(dots, strings.Join(d.Theme.Eighths[:], "")) || len([]rune(teeth)) < 3 {
		t.Errorf("what is known of the lease is %q", line)
	}
}

func TestTheLegendOfASmallScreenNamesTheOwnerThatOwnedLongest(t *testing.T) {
	t.Parallel()
	var rows []*sources.Row
	for i := range 12 {
		rows = append(rows, changing(fmt.Sprintf("lane-%02d", i), 100*time.Second, 5, i))
	}
	d := lanes(80, 24, rows...)
	d.shows(t, "lease left")
	d.shows(t, "C host-2")
	d.shows(t, ", 1 more owner")
}

func TestTheTimelineOfAnHourIsAsItWasTold(t *testing.T) {
	t.Parallel()
	hour := storyHour(t)
	events, _ := hour.Events(1 << 20)
	open := func(o Options, keys ...string) *driver {
		d := drive(newTestFeed(hour.State()), o)
		d.feed.Pass(hour.Now().Sub(d.feed.Now()))
		d.feed.Tell(events...)
		d.send(terminal.SecondMsg{})
		d.send(terminal.ColumnMsg{})
		d.press(append([]string{"s", "n", "3"}, keys...)...)
		return d
	}
	for _, c := range []struct {
		file string
		w, h int
		keys []string
	}{
		{"hour-160x48.txt", 160, 48, []string{"w", "4", "G", "k", "["}},
		{"hour-100x30.txt", 100, 30, []string{"j", "j", "w", "2", "["}},
		{"hour-80x24.txt", 80, 24, []string{"G", "k", "w", "1", "[", "["}},
	} {
		golden(t, c.file, open(Options{Width: c.w, Height: c.h}, c.keys...).text())
	}
	d := open(Options{}, "w", "4", "g")
	changes := 0
	for _, h := range d.Rows.Handles {
		if row, _ := d.Rows.At(h); row.Kind == sources.KindElection {
			sum, _ := screen.SumLane(&d.Scene, row, screen.TimeWindow(&d.Scene), nil)
			changes += sum.Changes
		}
	}
	if changes != hourChanges {
		t.Errorf("%d changes are shown, %d were told", changes, hourChanges)
	}
	d.press("g", "j", "enter") // connections
	d.shows(t, "OWNERS")
	d.shows(t, "C host-62")
	d.press("esc")
	for _, c := range []struct{ row, at, says string }{
		{"connections", "12:50:20.1", "B host-61"},
		{"billing/cron", "12:10:04", "no leader   12:10:00.0 to 12:10:08.0  8.0 s   before: A host-1"},
		{"billing/cron", "12:11", "B host-2   12:10:08.0 to now"},
		{"search/indexer", "12:20:03", "A host-1   12:20:02.8 to 12:20:03.5  700 ms"},
		{"mail/digest", "12:27", "not observed from 12:24:59.5 to 12:29:00.0, 4m00s"},
		{"mail/digest", "12:30", "gap not observed"},
		{"payments/settle", "12:40:00.1", "no leader   12:40:00.0 to 12:40:00.3  300 ms"},
		{"shard-1/owner", "12:49", "no leader   12:48:00.0 to 12:49:30.0  90 s"},
		{"connections", "12:50:10", "3 of 3 taken   from 12:50:00.0 to 12:50:20.0"},
	} {
		d.press("g")
		for range 10 {
			if d.cursor() != c.row {
				d.press("j")
			}
		}
		d.press(":")
		d.typed("at " + c.at)
		d.press("enter")
		d.shows(t, c.says)
	}
}

func TestTheLegendCountsOnlyWhatWasObserved(t *testing.T) {
	t.Parallel()
	hour := storyHour(t)
	for _, c := range []struct {
		name   string
		w, h   int
		window string
		wants  []string
	}{
		{"a window with a silence in it", 160, 48, "4", []string{"taken on average", "┄ not observed          1", "full for 20 s"}},
		{"nobody observed the window", 160, 48, "1", []string{"nothing is known of this window", "no gap seen"}},
		{"nobody observed the window, on a small screen", 80, 24, "1", []string{"ALL LANES  changes 0", "not known up to 112 s", "no gap seen"}},
	} {
		d := drive(newTestFeed(hour.State()), Options{Width: c.w, Height: c.h})
		d.feed.Pass(hour.Now().Sub(d.feed.Now()))
		d.press("s", "n", "3", "g", "j", ":")
		d.typed("at 12:27")
		d.press("enter", "w", c.window)
		if d.cursor() != "connections" {
			t.Fatalf("%s: the cursor is on %s", c.name, d.cursor())
		}
		for _, want := range c.wants {
			d.shows(t, want)
		}
	}
}
