package sources

import (
	"slices"
	"time"
)

// admit returns a Change as the Hub takes it in and records it: with times on the wall clock,
// with owners called by the rules of the source, and with an error that is nothing but its
// text and what it is. It needs no lock: a regular expression may take its time. Values of the
// source are copied before they are completed, and not copied where nothing is missing.
func (f *hubSource) admit(c Change) Change {
	c.At, c.After, c.Decided = wallTime(c.At), wallTime(c.After), nil
	if c.Down != nil {
		c.Down = Recordable(c.Down)
	}
	if c.About != nil {
		about := *c.About
		about.Started = wallTime(about.Started)
		c.About = &about
	}
	c.Unseen = slices.Clone(c.Unseen)
	for i := range c.Unseen {
		c.Unseen[i].From, c.Unseen[i].To = wallTime(c.Unseen[i].From), wallTime(c.Unseen[i].To)
	}
	own := false
	for i, p := range c.Set {
		if len(f.owners) == 0 && onWallClock(p) {
			continue
		}
		if !own {
			c.Set, own = slices.Clone(c.Set), true
		}
		c.Set[i] = f.admitPrimitive(p)
	}
	return c
}

// admitPrimitive returns a copy of p with times on the wall clock and readable owners.
func (f *hubSource) admitPrimitive(p *Primitive) *Primitive {
	n := *p
	n.Owners = slices.Clone(p.Owners)
	n.Queue.Waiters, n.Candidates = f.admitWaiters(p.Queue.Waiters), f.admitWaiters(p.Candidates)
	for i := range n.Owners {
		n.Owners[i].Label = f.owners.Label(n.Owners[i].Label)
	}
	n.OnWallClock()
	return &n
}

// OnWallClock takes the monotonic readings out of every time in p. A source that calls it
// before it hands p over spares the Hub a copy.
func (p *Primitive) OnWallClock() {
	eachTime(p, func(t *time.Time) bool {
		if wall := wallTime(*t); wall != *t { // what was handed over is not written to
			*t = wall
		}
		return true
	})
}

func (f *hubSource) admitWaiters(list []Waiter) []Waiter {
	list = slices.Clone(list)
	for i := range list {
		list[i].Label = f.owners.Label(list[i].Label)
	}
	return list
}

// onWallClock reports whether every time in p is one that wallTime leaves as it is.
func onWallClock(p *Primitive) bool {
	return eachTime(p, func(t *time.Time) bool { return *t == wallTime(*t) })
}

// eachTime calls f with every time in p until one call returns false. It reports whether all
// of them returned true.
func eachTime(p *Primitive, f func(*time.Time) bool) bool {
	if !f(&p.At) || !f(&p.Queue.At) {
		return false
	}
	for i := range p.Owners {
		o := &p.Owners[i]
		if !f(&o.Since.At) || !f(&o.Expires.At) || !f(&o.Renewed.At) {
			return false
		}
	}
	for _, list := range [][]Waiter{p.Queue.Waiters, p.Candidates} {
		for i := range list {
			if !f(&list[i].Since.At) {
				return false
			}
		}
	}
	return true
}
