package timeline_test

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coordtop/sources"
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
	l := timeline.Lane{Since: at, Gap: time.Second, GapPart: 0.25, Trouble: true, Halves: rapid.Bool().Draw(t, "halves")}
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

func TestPiecesTileTheWindowAndLoseNoTerm(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l, w := drawLane(t), drawWindow(t)
		pieces := w.Pieces(l, now)
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
			want := timeline.Idle
			switch {
			case unread:
				want = timeline.Unread
			case !mid.Before(now):
				want = timeline.Blank
			case dark, mid.Before(l.Since):
				want = timeline.Dark
			case owner >= 0:
				want = timeline.Owned
			case len(l.Terms) > 0 && mid.Before(l.Terms[0].Start.At):
				want = timeline.Blank // it was not there yet, as far as anybody knows
			}
			if p.Mark != want || want == timeline.Owned && p.Term != owner {
				t.Fatalf("[%v, %v) has the mark %d of term %d, want %d of term %d", p.From, p.To, p.Mark, p.Term, want, owner)
			}
		}
		if !at.Equal(w.End()) {
			t.Fatalf("the pieces end at %v, the window at %v", at, w.End())
		}
		s := w.Sum(l, now)
		blank := time.Duration(0)
		for _, p := range pieces {
			if p.Mark == timeline.Blank {
				blank += p.To.Sub(p.From)
			}
		}
		if got := s.Owned + s.Nobody + s.Unseen + s.Unread + blank; got != w.Span() {
			t.Fatalf("the sums are %v of %v", got, w.Span())
		}
		var owned time.Duration
		for _, share := range w.Shares(l, now) {
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
		l, w := drawLane(t), drawWindow(t)
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
		for _, p := range w.Pieces(l, now) {
			switch p.Mark {
			case timeline.Idle:
				show("a gap", p.From, p.To, func(c timeline.Cell) bool {
					return c.Many || c.Mark != timeline.Owned || c.Edge != timeline.Whole
				})
			case timeline.Unread:
				show("what was not read", p.From, p.To, func(c timeline.Cell) bool { return c.Mark == timeline.Unread || c.Many })
			case timeline.Dark:
				if !p.To.After(l.Since) {
					continue // the first term's column may begin before it was observed
				}
				show("darkness", p.From, p.To, func(c timeline.Cell) bool { return c.Mark != timeline.Owned || c.Many })
			}
		}
		for i, term := range l.Terms {
			if i == 0 || term.Start.At.Before(w.Start) {
				continue
			}
			show("a change", term.Start.At, term.Start.At.Add(1), func(c timeline.Cell) bool { return c.Many || c.Head || c.Mark != timeline.Owned })
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

func BenchmarkStripOfALongPast(b *testing.B) {
	for _, n := range []int{64, 20_000} {
		b.Run(map[int]string{64: "terms=64", 20_000: "terms=20000"}[n], func(b *testing.B) {
			l := timeline.Lane{Since: now.Add(-time.Duration(n) * time.Minute), Trouble: true, Gap: time.Second, GapPart: 0.25, Halves: true}
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
