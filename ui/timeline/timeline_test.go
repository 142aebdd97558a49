package timeline_test

import (
	"strings"
	"testing"
	"time"

	"coordtop/sources"
	"coordtop/sources/lane"
	"coordtop/ui/timeline"
)

// now lies in the middle of a column of ten seconds.
var now = time.Date(2026, 11, 21, 12, 0, 5, 0, time.UTC)

func ago(seconds int) time.Time { return now.Add(-time.Duration(seconds) * time.Second) }

func seen(t time.Time) sources.Stamp { return sources.Stamp{At: t, How: sources.Seen} }

func term(hue uint8, from, to int) sources.Term {
	t := sources.Term{Hue: hue, Start: seen(ago(from))}
	if to > 0 {
		t.End = seen(ago(to))
	}
	return t
}

// draw writes the cells as letters: owners, ! leaderless, - a break, . dark, _ idle, * many.
func draw(cells []timeline.Cell) string {
	var b strings.Builder
	for _, c := range cells {
		switch {
		case c.Many:
			b.WriteByte('*')
		case c.Kind == timeline.Owned && c.Head:
			b.WriteByte('A' + c.Hue)
		case c.Kind == timeline.Owned:
			b.WriteByte('a' + c.Hue)
		default:
			b.WriteByte(" ?_!-.tFx2u"[c.Kind])
		}
	}
	return b.String()
}

func TestStripsSayWhatHappened(t *testing.T) {
	t.Parallel()
	w := timeline.Fit(now, 100*time.Second, 10) // 11:58:30 to 12:00:10
	known := sources.Term{Start: sources.Stamp{At: ago(1000), How: sources.AtLeast}}
	for _, c := range []struct {
		name string
		lane timeline.Lane
		want string
	}{
		{"one owner all the time", timeline.Lane{Lane: lane.Lane{Terms: []sources.Term{known}}}, "Aaaaaaaaaa"},
		{"one owner takes over from another", timeline.Lane{Lane: lane.Lane{Terms: []sources.Term{term(0, 900, 40), term(1, 40, 0)}}}, "AaaaaBbbbb"},
		{"a gap of a fifth of a column", timeline.Lane{Lane: lane.Lane{Terms: []sources.Term{term(0, 900, 43), term(1, 41, 0)}}, Trouble: true}, "Aaaaa-Bbbb"},
		{"a gap of a third of a column", timeline.Lane{Lane: lane.Lane{Terms: []sources.Term{term(0, 900, 44), term(1, 41, 0)}}, Trouble: true}, "Aaaaa!Bbbb"},
		{"a gap over several columns", timeline.Lane{Lane: lane.Lane{Terms: []sources.Term{term(0, 900, 60), term(1, 35, 0)}}, Trouble: true}, "Aaa!!!Bbbb"},
		{"a gap that is no trouble", timeline.Lane{Lane: lane.Lane{Terms: []sources.Term{term(0, 900, 60), term(1, 35, 0)}}}, "Aaa___Bbbb"},
		{"nobody now", timeline.Lane{Lane: lane.Lane{Nobody: seen(ago(25)), Terms: []sources.Term{term(0, 900, 25)}}, Trouble: true}, "Aaaaaaa!!!"},
		{"nobody since a second", timeline.Lane{Lane: lane.Lane{Nobody: seen(ago(1)), Terms: []sources.Term{term(0, 900, 1)}}, Trouble: true}, "Aaaaaaaaa-"},
		{"two changes in a column", timeline.Lane{Lane: lane.Lane{Terms: []sources.Term{term(0, 900, 43), term(1, 43, 38), term(2, 38, 0)}}}, "Aaaaa*Cccc"},
		{"a term hidden by its gap", timeline.Lane{Lane: lane.Lane{Terms: []sources.Term{term(0, 900, 45), term(1, 42, 41), term(0, 30, 0)}}, Trouble: true}, "Aaaaa*Aaaa"},
		{"a new leader after a gap in this column", timeline.Lane{Lane: lane.Lane{Terms: []sources.Term{term(0, 900, 4), term(1, 2, 0)}}, Trouble: true}, "Aaaaaaaaa*"},
		{"first seen in the window", timeline.Lane{Lane: lane.Lane{Since: ago(35), Terms: []sources.Term{{Start: sources.Stamp{At: ago(35), How: sources.AtLeast}}}}}, "......Aaaa"},
		{"appeared in the window", timeline.Lane{Lane: lane.Lane{Terms: []sources.Term{term(0, 35, 0)}}}, "______Aaaa"},
		{"appeared after the first look", timeline.Lane{Lane: lane.Lane{Since: ago(65), Terms: []sources.Term{term(0, 35, 0)}}}, "...___Aaaa"},
		{"nobody at first", timeline.Lane{Lane: lane.Lane{Since: ago(35), Nobody: sources.Stamp{At: ago(35), How: sources.AtLeast}}, Trouble: true}, "......!!!!"},
		{"not observed for a while", timeline.Lane{Lane: lane.Lane{Terms: []sources.Term{known}, Dark: []sources.Dark{{From: ago(60), To: ago(40)}}}}, "Aaa..Aaaaa"},
		{"not observed for a moment", timeline.Lane{Lane: lane.Lane{Terms: []sources.Term{known}, Dark: []sources.Dark{{From: ago(44), To: ago(43)}}}}, "Aaaaa.Aaaa"},
		{"not observed since", timeline.Lane{Lane: lane.Lane{Terms: []sources.Term{known}, Dark: []sources.Dark{{From: ago(25)}}}}, "Aaaaaaa..."},
		{"nobody in the dark is not seen", timeline.Lane{Lane: lane.Lane{Terms: []sources.Term{term(0, 900, 60), term(1, 20, 0)}, Dark: []sources.Dark{{From: ago(60), To: ago(20)}}}, Trouble: true}, "Aaa....Bbb"},
		{"nobody before and after the dark", timeline.Lane{Lane: lane.Lane{Terms: []sources.Term{term(0, 900, 80), term(1, 20, 0)}, Dark: []sources.Dark{{From: ago(60), To: ago(40)}}}, Trouble: true}, "A!!..!!Bbb"},
		{"it does not exist any more", timeline.Lane{Lane: lane.Lane{Absent: ago(1), Terms: []sources.Term{term(0, 900, 25)}}}, "Aaaaaaa__x"},
		{"it has not existed for a while", timeline.Lane{Lane: lane.Lane{Absent: ago(35), Since: ago(35)}}, "......xxxx"},
		{"it did not exist when last seen", timeline.Lane{Lane: lane.Lane{Absent: ago(1), Dark: []sources.Dark{{From: ago(25)}}}}, "       ..."},
		{"it did not exist all the time", timeline.Lane{Lane: lane.Lane{Absent: ago(95), Dark: []sources.Dark{{From: ago(25)}}}}, "xxxxxxx..."},
		{"two own what one may own", timeline.Lane{Lane: lane.Lane{Terms: []sources.Term{known}}, Several: ago(25)}, "Aaaaaaa222"},
		{"two own it for a moment", timeline.Lane{Lane: lane.Lane{Terms: []sources.Term{known}}, Several: ago(1)}, "Aaaaaaaaa2"},
		{"the past is not read", timeline.Lane{Lane: lane.Lane{Since: ago(35), Terms: []sources.Term{{Start: sources.Stamp{At: ago(35), How: sources.AtLeast}}}, Unread: []timeline.Span{{To: ago(35)}}}}, "uuuuuuAaaa"},
		{"a stretch between is not read", timeline.Lane{Lane: lane.Lane{Terms: []sources.Term{term(0, 900, 70), term(1, 35, 0)}, Unread: []timeline.Span{{From: ago(65), To: ago(35)}}}, Trouble: true}, "Aa!uuuBbbb"},
		{"nothing known", timeline.Lane{}, "          "},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if c.lane.Since.IsZero() {
				c.lane.Since = ago(1000)
			}
			c.lane.Gap, c.lane.GapPart = time.Second, 1.0/4
			if got := draw(w.Strip(nil, c.lane, now)); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestAGapIsABlockOnlyIfItIsLongerThanBothLimits(t *testing.T) {
	t.Parallel()
	w := timeline.Fit(now, 100*time.Second, 10) // columns of 10 s
	for _, c := range []struct {
		gap  time.Duration
		part float64
		want string
	}{
		{time.Second, 0.25, "Aaaaa!Bbbb"}, {4 * time.Second, 0.25, "Aaaaa-Bbbb"}, {time.Second, 0.5, "Aaaaa-Bbbb"}, {0, 0, "Aaaaa!Bbbb"},
	} {
		lane := timeline.Lane{Lane: lane.Lane{Since: ago(1000), Terms: []sources.Term{term(0, 900, 44), term(1, 41, 0)}}, Trouble: true, Gap: c.gap, GapPart: c.part}
		if got := draw(w.Strip(nil, lane, now)); got != c.want {
			t.Errorf("with the limits %v and %v a gap of 3 s is drawn as %q, want %q", c.gap, c.part, got, c.want)
		}
	}
}

func TestBeforeTheFirstListingNothingIsObserved(t *testing.T) {
	t.Parallel()
	w := timeline.Fit(now, 100*time.Second, 10)
	if got := draw(w.Strip(nil, timeline.Lane{}, now)); got != ".........." {
		t.Errorf("got %q", got)
	}
}

func TestColumnsAreAnchoredToTheClock(t *testing.T) {
	t.Parallel()
	for _, columns := range []int{1, 10, 47, 128} {
		first := timeline.Fit(now, 15*time.Minute, columns)
		for i := range 300 {
			w := timeline.Fit(now.Add(time.Duration(i)*time.Second), 15*time.Minute, columns)
			if w.Step != first.Step || !w.Start.Equal(w.Start.Truncate(w.Step)) {
				t.Fatalf("%d columns: begins at %v with steps of %v", columns, w.Start, w.Step)
			}
			end := w.Start.Add(w.Span())
			at := now.Add(time.Duration(i) * time.Second)
			if !at.Before(end) || at.Before(end.Add(-w.Step)) {
				t.Fatalf("%v is not in the last column, which ends at %v", at, end)
			}
		}
	}
}

func TestStepIsTheSmallestThatCoversTheSpan(t *testing.T) {
	t.Parallel()
	for columns, want := range map[int]time.Duration{53: 20 * time.Second, 128: 10 * time.Second, 10: 2 * time.Minute, 900: time.Second} {
		if w := timeline.Fit(now, 15*time.Minute, columns); w.Step != want {
			t.Errorf("%d columns: %v, not %v", columns, w.Step, want)
		}
	}
	if w := timeline.Fit(now, time.Hour, 0); len(w.Strip(nil, timeline.Lane{}, now)) != 0 || w.Ticks(9) != nil {
		t.Error("no columns, but something is drawn")
	}
}

func TestTicksStandAtRoundTimesApart(t *testing.T) {
	t.Parallel()
	w := timeline.Fit(now, 15*time.Minute, 53)
	last := -100
	ticks := w.Ticks(9)
	for _, tick := range ticks {
		if tick.Column-last < 9 || tick.Column >= w.Columns {
			t.Errorf("column %d after %d", tick.Column, last)
		}
		if tick.At.Second() != 0 || !tick.At.Equal(w.Start.Add(time.Duration(tick.Column)*w.Step)) {
			t.Errorf("%v at column %d", tick.At, tick.Column)
		}
		last = tick.Column
	}
	if len(ticks) < 3 {
		t.Errorf("%d ticks", len(ticks))
	}
}

func TestNothingIsDrawnAfterNow(t *testing.T) {
	t.Parallel()
	w := timeline.Fit(now, 100*time.Second, 10)
	early := now.Add(-30 * time.Second)
	if got := draw(w.Strip(nil, timeline.Lane{Lane: lane.Lane{Terms: []sources.Term{term(0, 900, 0)}}}, early)); got != "Aaaaaaa   " {
		t.Errorf("got %q", got)
	}
}
