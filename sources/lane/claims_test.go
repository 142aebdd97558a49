package lane

import (
	"slices"
	"time"

	"pgregory.net/rapid"
)

// holds reports whether a length lies between the bounds; of lawless worlds where these are not marked.
func holds(i Interval, n int, lawless bool) bool {
	return lawless && i.Every > 0 || i.Min <= ticks(n) && ticks(n) <= i.Max
}

// claims is what is computed of a story, for the whole of it and for a window.
type claims struct {
	story  *story
	window [2]int
	held   []Interval
	gaps   []Gap
	within []Gap // the parts in the window of those that were seen
	shares []Share
	sum    Sum
}

func (s *story) claims(from, to int) claims {
	now := tick(s.now)
	c := claims{story: s, window: [2]int{from, to}, sum: s.lane.Sum(Span{From: tick(from), To: tick(to)}, now), gaps: slices.Collect(s.lane.Gaps(Span{From: tick(0), To: now}))}
	for i := range s.lane.Terms {
		c.held = append(c.held, s.lane.Length(i, now))
	}
	c.shares = s.lane.Shares(Span{From: tick(from), To: tick(to)}, now)
	for g := range s.lane.Gaps(Span{From: tick(from), To: tick(to)}) {
		if g.Seen {
			c.within = append(c.within, g)
		}
	}
	return c
}

// gap is where one lies in a world.
func (c *claims) gap(cells []state, g *Gap) (from, to int) {
	i := c.story.term(g)
	_, from = run(cells, c.story.spans[i][1])
	to = c.story.now
	if i+1 < len(c.story.spans) {
		to, _ = run(cells, c.story.spans[i+1][0])
	}
	return from, to
}

// term is the index of the one that a gap follows.
func (s *story) term(g *Gap) int {
	for i := range s.lane.Terms {
		if &s.lane.Terms[i] == g.Before {
			return i
		}
	}
	panic("a gap behind no term")
}

// check compares the claims with a world.
func (c *claims) check(t *rapid.T, cells []state, lawless bool) {
	s := c.story
	for i, held := range c.held {
		if from, to := run(cells, s.spans[i][1]); !holds(held, min(to, s.now)-from, lawless) {
			t.Fatalf("term %d %+v lasts %v, and %d in %v", i, s.lane.Terms[i], held, to-from, cells)
		}
	}
	for i := range c.gaps {
		g := &c.gaps[i]
		if after := s.lane.GapAfter(s.term(g), tick(s.now)); after.Unbroken != g.Unbroken || after.Sum != g.Sum || after.Seen != g.Seen || after.Last != g.Last {
			t.Fatalf("the gap %+v is %+v behind its term", g, after)
		}
		from, to := c.gap(cells, g)
		all, unbroken, last := free(cells, from, to)
		if !holds(g.Sum, all, lawless) || g.Seen && !holds(g.Unbroken, unbroken, lawless) || !holds(Interval{Min: g.Last, Max: Endless, Every: g.Sum.Every}, last, lawless) || g.Seen && all == 0 {
			t.Fatalf("the gap %+v is %d in all, %d unbroken, %d up to its end in %v", g, all, unbroken, last, cells)
		}
	}
	longest, w := 0, c.window
	for i := range c.within {
		from, to := c.gap(cells, &c.within[i])
		_, unbroken, _ := free(cells, max(from, w[0]), min(to, w[1]))
		longest = max(longest, unbroken)
	}
	if len(c.within) > 0 && !holds(c.sum.Longest, longest, lawless) || len(c.within) != c.sum.Gaps {
		t.Fatalf("%+v: the longest gap is %d in %v", c.sum, longest, cells)
	}
	c.checkShares(t, cells, lawless)
	first := s.now
	if len(s.spans) > 0 {
		first = s.spans[0][0]
	}
	all, _, _ := free(cells, max(first, w[0]), w[1])
	if !holds(c.sum.Nobody, all, lawless) {
		t.Fatalf("%+v: nobody owned it for %d of %v in %v", c.sum, all, w, cells)
	}
	if whole, _, _ := free(cells, w[0], w[1]); !holds(c.sum.Vacant(), whole, lawless) {
		t.Fatalf("%+v: nobody owned it for %d of %v, also before the first term, in %v", c.sum, whole, w, cells)
	}
	if owned := w[1] - w[0] - all; !lawless && c.sum.Owned > ticks(owned) {
		t.Fatalf("%+v: it was owned for %d of %v in %v", c.sum, owned, w, cells)
	}
}

// checkShares compares what each owner had of the window with a world.
func (c *claims) checkShares(t *rapid.T, cells []state, lawless bool) {
	var owned time.Duration
	for i := range c.shares {
		share, longest, of, w := &c.shares[i], 0, 0, c.window
		for term, span := range c.story.spans {
			if x := &c.story.lane.Terms[term]; x.Hue == share.Hue && x.Start.At.Before(tick(w[1])) && (x.End.How == Unknown || x.End.At.After(tick(w[0]))) {
				of = cells[span[1]]
				first, _ := run(cells, span[0])
				_, last := run(cells, span[1])
				for at := max(first, w[0]); at < min(last, w[1]); at++ {
					if from, to := run(cells, at); cells[at] == of { // one in doubt may have been several
						longest = max(longest, min(to, w[1])-max(from, w[0]))
					}
				}
			}
		}
		had := 0
		for _, cell := range cells[c.window[0]:c.window[1]] {
			if cell == of {
				had++
			}
		}
		if owned += share.Owned; !holds(share.Longest, longest, lawless) || !lawless && share.Owned > ticks(had) {
			t.Fatalf("%+v of the window %v: it had %d, and %d at a stretch, in %v", share, c.window, had, longest, cells)
		}
	}
	if owned != c.sum.Owned {
		t.Fatalf("the shares are %v of %v", owned, c.sum.Owned)
	}
}
