package ydbsource

import (
	"math/rand/v2"
	"slices"
	"time"
)

const (
	resyncRate  = 500                   // how many watches a second are armed after an attach
	resyncBurst = 64                    // how many at once
	resyncStep  = 20 * time.Millisecond // pause between two groups
	resyncDelay = time.Second           // maximum delay before the first group after an outage

	lookEvery    = 50 * time.Millisecond // between two looks at a node: 20 a second
	visibleEvery = 2 * time.Second
	deniedEvery  = 30 * time.Second
	lostAfter    = 5 * time.Second // a look that was not answered may be repeated
	idleTurn     = 250 * time.Millisecond
	scanAtMost   = 512 // how many entries off the screen are considered in one turn
	fairShare    = 4   // one of so many looks is for entries off the screen
)

// pace decides what to read when. The service pushes owners and data, so that only queues and missing semaphores must
// be polled, with at most 20 describes a second for a node. After an attach all watches are armed again, at a faster
// pace. It has no clock.
type pace struct {
	pollMin, pollMax time.Duration
	backlog          []*entry // not read since the attach
	allowed          float64  // how many of the backlog may be read now
	counted          time.Time
	free             time.Time // when the next look may be made
	looks            int
	cursor           int // position in the entries off the screen
}

// ask has the reads that are due now, and the time until the next call.
type ask struct {
	add, look []string // names to watch from now on; names to look at
	next      time.Duration
}

// begin puts all entries into the backlog, those on screen (see node.onScreen) before the rest. Except the first time,
// it waits for a random moment, because many programs may have lost the same service.
func (p *pace) begin(b *nodeState, screen []string, now time.Time) {
	p.pollMin, p.pollMax = b.o.PollMin, b.o.PollMax
	p.backlog = slices.Clone(b.names)
	rand.Shuffle(len(p.backlog), func(i, j int) { p.backlog[i], p.backlog[j] = p.backlog[j], p.backlog[i] })
	rank := map[*entry]int{}
	for i, name := range slices.Backward(screen) {
		rank[b.byName[name]] = i - len(b.names)
	}
	slices.SortStableFunc(p.backlog, func(x, y *entry) int { return rank[x] - rank[y] })
	p.allowed, p.counted = resyncBurst, now
	if b.begun {
		spread := min(resyncDelay, time.Duration(len(b.names))*time.Second/resyncRate)
		p.counted = now.Add(time.Duration(rand.Int64N(int64(spread) + 1)))
	}
	b.begun = true
}

// due returns the reads that are due now.
func (p *pace) due(b *nodeState, screen []string, refresh bool, now time.Time) ask {
	a := ask{next: idleTurn}
	if refresh {
		p.hurry(b, screen)
	}
	if len(p.backlog) > 0 {
		a.add = p.helping(now)
		a.next = max(resyncStep, p.counted.Sub(now))
	}
	if now.Before(p.free) {
		a.next = min(a.next, p.free.Sub(now))
		return a
	}
	e, soonest := p.choose(b, screen, now)
	a.next = min(a.next, soonest)
	if e == nil {
		return a
	}
	p.looks++
	p.free = now.Add(lookEvery)
	a.next = min(a.next, lookEvery)
	e.asking = now
	if e.absent || e.denied {
		a.add = append(a.add, e.Pattern)
	} else {
		a.look = append(a.look, e.Pattern)
	}
	return a
}

// helping removes and returns as much of the backlog as may be read now.
func (p *pace) helping(now time.Time) []string {
	if now.Before(p.counted) {
		return nil
	}
	p.allowed = min(resyncBurst, p.allowed+now.Sub(p.counted).Seconds()*resyncRate)
	p.counted = now
	n := min(int(p.allowed), len(p.backlog))
	p.allowed -= float64(n)
	names := make([]string, n)
	for i, e := range p.backlog[:n] {
		names[i] = e.Pattern
		e.asking = now
	}
	p.backlog = p.backlog[n:]
	return names
}

// hurry makes entries on screen and missing semaphores due at once. If nothing is on screen, it makes all entries due.
func (p *pace) hurry(b *nodeState, screen []string) {
	bare := len(screen) == 1 && screen[0] == ""
	for _, e := range b.names {
		if bare || e.absent || e.denied {
			e.looked = time.Time{}
		}
	}
	for _, name := range screen {
		if e := b.byName[name]; e != nil {
			e.looked = time.Time{}
		}
	}
}

// choose returns the entry to look at now: the selected one; then the visible one with the oldest look; then those off
// the screen in turn. If none is due, soonest is the time until the next call.
func (p *pace) choose(b *nodeState, screen []string, now time.Time) (e *entry, soonest time.Duration) {
	soonest = idleTurn
	if p.looks%fairShare == fairShare-1 {
		if e := p.background(b, now); e != nil {
			return e, 0
		}
	}
	every := p.pollMin
	for i, name := range screen {
		if i > 0 {
			every = max(visibleEvery, p.pollMin)
		}
		x := b.byName[name]
		if x == nil {
			continue
		}
		switch wait := x.wait(every, now); {
		case wait > 0:
			soonest = min(soonest, wait)
		case i == 0:
			return x, 0
		case e == nil || x.looked.Before(e.looked):
			e = x
		}
	}
	if e == nil {
		e = p.background(b, now)
	}
	return e, soonest
}

// background returns the next due entry off the screen, in turn.
func (p *pace) background(b *nodeState, now time.Time) *entry {
	for range min(len(b.names), scanAtMost) {
		p.cursor = (p.cursor + 1) % len(b.names)
		e := b.names[p.cursor]
		if e.wait(p.pollMax, now) <= 0 {
			return e
		}
	}
	return nil
}

// wait returns the time until e is due, if it is looked at once in every.
func (e *entry) wait(every time.Duration, now time.Time) time.Duration {
	switch {
	case !e.asking.IsZero() && now.Sub(e.asking) < lostAfter, !e.got:
		return idleTurn
	case e.denied:
		every = deniedEvery
	case e.absent:
		every = min(e.pause, every)
	}
	return e.looked.Add(every).Sub(now)
}
