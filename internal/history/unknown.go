package history

import (
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/lane"
)

// Why is a reason for which nothing is known of a stretch.
type Why uint8

// Screens and reports name them with the words of String.
const (
	NotObserved Why = iota // the recorder ran, but the source did not answer
	NotRecorded            // nobody recorded, or the recorder could not write
	Dropped                // it was recorded, and dropped because of its age or size
)

// String returns "not observed", "not recorded" or "dropped".
func (w Why) String() string { return [...]string{"not observed", "not recorded", "dropped"}[w] }

// Why returns the reason for the hole.
func (h Hole) Why() Why {
	if h.Dropped {
		return Dropped
	}
	return NotRecorded
}

// Unknown is a stretch of which nothing is known, and why.
type Unknown struct {
	sources.Dark
	Why Why
}

// beginning is the time that a recorder needs for its first poll. It counts as not recorded, like the time before.
const beginning = time.Second

// WhyUnknown splits dark stretches, which are ordered by time, at the instants at which their reason changes.
func (l *Lane) WhyUnknown(dark []sources.Dark) (all []Unknown) {
	holes := l.Holes
	for _, d := range dark {
		add := func(to time.Time, why Why) {
			n := len(all) - 1
			joins := n >= 0 && all[n].To.Equal(d.From) && !to.IsZero() && why == NotObserved && to.Sub(d.From) < beginning
			if joins {
				all[n].To = to
			} else {
				all = append(all, Unknown{sources.Dark{From: d.From, To: to}, why})
			}
			d.From = to
		}
		for ; len(holes) > 0 && !before(d.From, holes[0].To); holes = holes[1:] {
		}
		for _, h := range holes {
			if !before(h.From, d.To) && !d.To.IsZero() || !before(d.From, d.To) {
				break
			}
			if d.From.Before(h.From) {
				add(h.From, NotObserved)
			}
			to, why := h.To, h.Why()
			if to.IsZero() || before(d.To, to) {
				to = d.To
			}
			if add(to, why); to.IsZero() {
				break
			}
		}
		if n := len(all); before(d.From, d.To) && (n == 0 || !all[n-1].To.IsZero()) {
			add(d.To, NotObserved)
		}
	}
	return all
}

// Unknowns are the lengths of the unknown time, by Why.
type Unknowns [Dropped + 1]time.Duration

// Unknowns sums up the unknown ones of pieces of the lane, which are in order.
func (l *Lane) Unknowns(pieces []lane.Piece) (sums Unknowns) {
	var dark []sources.Dark
	for _, p := range pieces {
		if p.Kind == lane.Unobserved || p.Kind == lane.Unrecorded {
			dark = append(dark, sources.Dark{From: p.From, To: p.To})
		}
	}
	for _, u := range l.WhyUnknown(dark) {
		sums[u.Why] += u.To.Sub(u.From)
	}
	return sums
}

// String names each reason with its length, such as "not observed 2.0 s, dropped 1m00s"; "" if everything is known.
func (u Unknowns) String() string {
	var texts []string
	for why, d := range u {
		if d > 0 {
			texts = append(texts, Why(why).String()+" "+format.Precise(d))
		}
	}
	return strings.Join(texts, ", ")
}

// before reports whether a lies before b. A zero instant lies after all others.
func before(a, b time.Time) bool { return !a.IsZero() && (b.IsZero() || a.Before(b)) }

// unrecorded returns a Hole in which nobody recorded.
func unrecorded(from, to time.Time) Hole { return Hole{Dark: sources.Dark{From: from, To: to}} }

// holeBetween returns the hole between two runs that contains t, and the run before it; nil if t lies in no hole.
func holeBetween(runs []Run, t time.Time) (before *Run, hole Hole) {
	for i := range runs {
		run := &runs[i]
		switch {
		case !t.Before(run.From) && (run.Live || !t.After(run.To)):
			return nil, Hole{}
		case run.To.Before(t) && (before == nil || run.To.After(before.To)):
			before, hole.From = run, run.To
		case run.From.After(t) && (hole.To.IsZero() || run.From.Before(hole.To)):
			hole.To = run.From
		}
	}
	if hole.To.IsZero() { // t lies after the last run
		return nil, Hole{}
	}
	return before, hole
}
