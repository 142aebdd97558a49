package timeline_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coordtop/sources"
	"coordtop/sources/lane"
	"coordtop/ui/timeline"
)

// drawLane draws a random past: terms one after the other, some of them short, with and without a
// gap, and stretches that were not observed.
func drawLane(t *rapid.T) timeline.Lane {
	length := func(most int, what string) time.Duration {
		d := rapid.IntRange(1, most).Draw(t, what)
		return []time.Duration{time.Nanosecond, time.Millisecond, time.Second, time.Minute}[rapid.IntRange(0, 3).Draw(t, "unit")] * time.Duration(d)
	}
	at := now.Add(-time.Duration(rapid.IntRange(1, 40_000).Draw(t, "since")) * time.Second)
	l := timeline.Lane{Lane: lane.Lane{Since: at}, Gap: time.Second, GapPart: 0.25, Trouble: true, Halves: rapid.Bool().Draw(t, "halves")}
	for range rapid.IntRange(0, 30).Draw(t, "terms") {
		if rapid.Bool().Draw(t, "after a gap") {
			at = at.Add(length(90, "gap"))
		}
		if !at.Before(now) {
			break
		}
		end := at.Add(length(90, "term"))
		term := sources.Term{Hue: uint8(rapid.IntRange(0, 3).Draw(t, "hue")), Start: seen(at)}
		if end.Before(now) {
			term.End = seen(end)
		}
		l.Terms = append(l.Terms, term)
		at = end
	}
	if n := len(l.Terms); n == 0 || !l.Terms[n-1].End.At.IsZero() {
		l.Nobody = seen(at)
		if n == 0 {
			l.Nobody = seen(l.Since)
		}
	}
	at = l.Since
	for range rapid.IntRange(0, 4).Draw(t, "dark") {
		from := at.Add(length(200, "light"))
		at = from.Add(length(50, "darkness"))
		if from.After(now) {
			break
		}
		d := sources.Dark{From: from, To: at}
		if at.After(now) {
			d.To = time.Time{}
		}
		l.Dark = append(l.Dark, d)
	}
	for at := l.Since.Add(-time.Hour); len(l.Unread) < 2 && rapid.Bool().Draw(t, "unread"); {
		s := timeline.Span{From: at, To: at.Add(time.Hour + length(200, "unread"))}
		if len(l.Unread) == 0 {
			s.From = time.Time{}
		}
		at = s.To.Add(length(200, "read"))
		l.Unread = append(l.Unread, s)
	}
	return l
}

func drawWindow(t *rapid.T) timeline.Window {
	step := timeline.Zoomed(time.Second, rapid.IntRange(0, 20).Draw(t, "zoom"))
	last := now.Add(-time.Duration(rapid.IntRange(-100, 40_000).Draw(t, "back")) * time.Second)
	return timeline.Ending(last, step, rapid.IntRange(1, 200).Draw(t, "columns"))
}

// drawWindowAt draws a window in which a term of the lane begins, if there is one.
func drawWindowAt(t *rapid.T, l timeline.Lane) timeline.Window {
	w := drawWindow(t)
	if len(l.Terms) == 0 {
		return w
	}
	begins := l.Terms[rapid.IntRange(0, len(l.Terms)-1).Draw(t, "term in the window")].Start.At
	return timeline.Ending(begins.Add(w.Step*time.Duration(rapid.IntRange(0, w.Columns-1).Draw(t, "columns behind it"))), w.Step, w.Columns)
}

func TestPiecesTileTheWindowAndLoseNoTerm(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l, w := drawLane(t), drawWindow(t)
		pieces := l.Pieces(w.Stretch(), now)
		at := w.Start
		for i, p := range pieces {
			if !p.From.Equal(at) || !p.To.After(p.From) {
				t.Fatalf("piece %d is [%v, %v), and the one before ends at %v", i, p.From, p.To, at)
			}
			at = p.To
			mid := p.From.Add(p.To.Sub(p.From) / 2)
			unread := slices.ContainsFunc(l.Unread, func(s timeline.Span) bool { return !mid.Before(s.From) && mid.Before(s.To) })
			dark := slices.ContainsFunc(l.Dark, func(d sources.Dark) bool {
				return !mid.Before(d.From) && (d.To.IsZero() || mid.Before(d.To))
			})
			owner := slices.IndexFunc(l.Terms, func(term sources.Term) bool {
				return !mid.Before(term.Start.At) && (term.End.At.IsZero() || mid.Before(term.End.At))
			})
			want := lane.Free
			switch {
			case unread:
				want = lane.Unread
			case !mid.Before(now):
				want = lane.Blank
			case mid.Before(l.Since):
				want = lane.Unrecorded
			case dark:
				want = lane.Unobserved
			case owner >= 0:
				want = lane.Owned
			case len(l.Terms) > 0 && mid.Before(l.Terms[0].Start.At):
				want = lane.Blank // it was not there yet, as far as anybody knows
			}
			if p.Kind != want || want == lane.Owned && p.Term != owner {
				t.Fatalf("[%v, %v) has the mark %d of term %d, want %d of term %d", p.From, p.To, p.Kind, p.Term, want, owner)
			}
		}
		if !at.Equal(w.End()) {
			t.Fatalf("the pieces end at %v, the window at %v", at, w.End())
		}
		s := l.Sum(w.Stretch(), now)
		var of [lane.Absent + 1]time.Duration
		for _, p := range pieces {
			of[p.Kind] += p.To.Sub(p.From)
		}
		free := of[lane.Free]
		if len(l.Terms) == 0 {
			free = 0 // it is no gap
		}
		if s.Owned != of[lane.Owned] || s.Unseen != of[lane.Unobserved]+of[lane.Unrecorded] || s.Unread != of[lane.Unread] || s.Nobody.Min != free {
			t.Fatalf("the sums are %+v, those of the pieces %v", s, of)
		}
		var owned time.Duration
		for _, share := range l.Shares(w.Stretch(), now) {
			owned += share.Owned
		}
		if owned != s.Owned {
			t.Fatalf("the shares are %v of %v", owned, s.Owned)
		}
	})
}

func TestEveryColumnWithAGapAChangeOrDarknessShowsASign(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := drawLane(t)
		w := drawWindowAt(t, l)
		cells := w.Strip(nil, l, now)
		show := func(what string, from, to time.Time, signs func(timeline.Cell) bool) {
			from, to = sources.Later(from, w.Start), sources.Earlier(sources.Earlier(to, now), w.End())
			if !from.Before(to) {
				return
			}
			first, last := max(w.Column(from)-1, 0), min(w.Column(to)+1, len(cells)-1)
			if !slices.ContainsFunc(cells[first:last+1], signs) {
				t.Fatalf("%s of %v has no sign in columns %d to %d: %q", what, to.Sub(from), first, last, draw(cells))
			}
		}
		for _, p := range l.Pieces(w.Stretch(), now) {
			switch p.Kind {
			case lane.Free:
				show("a gap", p.From, p.To, func(c timeline.Cell) bool {
					return c.Many || c.Kind != timeline.Owned || c.Edge != timeline.Whole
				})
			case lane.Unread:
				show("what was not read", p.From, p.To, func(c timeline.Cell) bool { return c.Kind == timeline.Unread || c.Many })
			case lane.Unobserved, lane.Unrecorded:
				if !p.To.After(l.Since) {
					continue // the first term's column may begin before it was observed
				}
				show("darkness", p.From, p.To, func(c timeline.Cell) bool { return c.Kind != timeline.Owned || c.Many })
			}
		}
		begun := map[int]int{}
		for i, term := range l.Terms {
			if i == 0 || term.Start.At.Before(w.Start) {
				continue
			}
			if c := w.Column(term.Start.At); c < len(cells) {
				if begun[c]++; begun[c] > 1 && !cells[c].Many {
					t.Fatalf("%d terms begin in column %d, which shows one: %q", begun[c], c, draw(cells))
				}
			}
			show("a change", term.Start.At, term.Start.At.Add(1), func(c timeline.Cell) bool { return c.Many || c.Head || c.Kind != timeline.Owned })
		}
	})
}

func TestOnlyTheTermsInTheWindowAreLookedAt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l, w := drawLane(t), drawWindow(t)
		long := l
		for i := range 500 { // that lie far before
			at := l.Since.Add(-time.Duration(1000-i) * time.Hour * 24)
			end := seen(at.Add(time.Hour))
			long.Terms = append(long.Terms, sources.Term{Start: seen(at), End: end})
		}
		long.Terms = append(long.Terms[len(l.Terms):], l.Terms...)
		if w.Start.Before(l.Since) {
			t.Skip("the window reaches further back")
		}
		if got, want := draw(w.Strip(nil, long, now)), draw(w.Strip(nil, l, now)); len(l.Terms) > 0 && !l.Terms[0].Start.At.After(l.Since) && got != want {
			t.Fatalf("with more of a past: %q, without: %q", got, want)
		}
	})
}

func TestCrowdedColumnsLookAsIfAllTermsWerePainted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l, w := drawLane(t), drawWindow(t)
		at := rapid.Int64Range(0, int64(w.Span())).Draw(t, "from")
		handed := rapid.IntRange(0, 4).Draw(t, "no gaps") == 0
		var burst []sources.Term
		for start := w.Start.Add(time.Duration(at)); len(burst) < 60 && start.Before(now); {
			part := rapid.IntRange(0, 4)
			length, gap := w.Step/96*time.Duration(1+part.Draw(t, "length")), w.Step/96*time.Duration(part.Draw(t, "gap"))
			switch {
			case handed:
				gap = 0
			case rapid.IntRange(0, 8).Draw(t, "long gap") == 0:
				gap = w.Step * 5 / 8
			}
			burst = append(burst, sources.Term{Hue: uint8(len(burst) % 3), Start: seen(start), End: seen(start.Add(length))})
			start = start.Add(length + gap)
		}
		l.Unread, l.Since = nil, w.Start.Add(-time.Hour)
		l.Terms, l.Nobody, l.Trouble = burst, sources.Stamp{}, rapid.Bool().Draw(t, "trouble")
		if n := len(burst); n > 0 {
			l.Nobody = burst[n-1].End
		}
		all := l
		all.Terms = slices.Clone(burst)
		got, want := w.Strip(nil, l, now), w.StripOfAll(nil, all, now)
		for i := range want {
			same := got[i].Kind == want[i].Kind && got[i].Head == want[i].Head && got[i].Edge == want[i].Edge
			if got[i].Many { // then nothing else is drawn, but in alarm or not
				same = (got[i].Kind == timeline.Leaderless) == (want[i].Kind == timeline.Leaderless)
			}
			if got[i].Many != want[i].Many || !same {
				t.Fatalf("column %d is %+v with terms left out:\n%q, and %+v with all:\n%q", i, got[i], draw(got), want[i], draw(want))
			}
		}
	})
}

func BenchmarkStripOfALongPast(b *testing.B) {
	for _, n := range []int{64, 20_000} {
		b.Run(map[int]string{64: "terms=64", 20_000: "terms=20000"}[n], func(b *testing.B) {
			l := timeline.Lane{Lane: lane.Lane{Since: now.Add(-time.Duration(n) * time.Minute)}, Trouble: true, Gap: time.Second, GapPart: 0.25, Halves: true}
			for i := range n {
				at := l.Since.Add(time.Duration(i) * time.Minute)
				l.Terms = append(l.Terms, sources.Term{Hue: uint8(i % 3), Start: seen(at), End: seen(at.Add(58 * time.Second))})
			}
			w := timeline.Fit(now, 15*time.Minute, 128)
			var cells []timeline.Cell
			for b.Loop() {
				cells = w.Strip(cells, l, now)
			}
		})
	}
}

func TestSumCountsUnreadTimeBehindNowAsPiecesDo(t *testing.T) {
	t.Parallel()
	w := timeline.Ending(now.Add(9*time.Second), time.Second, 20)
	l := timeline.Lane{Lane: lane.Lane{Since: ago(1000), Terms: []sources.Term{term(0, 900, 0)}, Unread: []timeline.Span{{From: now.Add(time.Second), To: now.Add(3 * time.Second)}}}}
	if s := l.Sum(w.Stretch(), now); s.Unread != 2*time.Second || s.Owned != now.Sub(w.Start) {
		t.Errorf("%v unread and %v owned, want 2s and %v", s.Unread, s.Owned, now.Sub(w.Start))
	}
}
