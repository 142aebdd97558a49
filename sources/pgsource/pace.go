package pgsource

import (
	"slices"
	"time"
)

// pace says how often to look: seldom enough to cost the server little, often enough where
// something happens (facts/postgres.md, 3.3).
type pace struct {
	min, max time.Duration
	changed  time.Time     // when an owner or a waiter last changed
	cost     time.Duration // of a look, without the way to the server: the least of the recent ones
	recent   [recentLooks]time.Duration
	looks    int // counts them
	rows     int // of pg_locks in the last look
}

// recentLooks is how many looks in a row must be slow before they count as costly. A stall
// of this machine or of the way looks like a costly look, and an average would remember one
// of half a second for many looks, each of them seconds apart by then.
const recentLooks = 3

const (
	usualPause  = time.Second
	costlyPause = 2 * time.Second
	restless    = 10 * time.Second      // after a change
	costly      = 50 * time.Millisecond // of one look
	manyRows    = 5000
	onePartIn   = 20 // of the time is what looks may take, whatever happens
	leastPause  = 20 * time.Millisecond
)

// note records what a look cost.
func (p *pace) note(cost time.Duration, rows int) {
	p.rows = rows
	p.recent[p.looks%recentLooks] = cost
	p.looks++
	p.cost = slices.Min(p.recent[:min(p.looks, recentLooks)])
}

// interval is the pause between the starts of two looks. eager: somebody waits for a lock,
// or one is selected on the screen.
func (p *pace) interval(now time.Time, eager bool) time.Duration {
	pause := usualPause
	switch {
	case p.rows > manyRows || p.cost > costly:
		pause = max(costlyPause, 50*p.cost)
	case eager || now.Sub(p.changed) < restless:
		pause = p.min
	}
	return min(max(pause, p.min, p.floor()), p.max)
}

// floor is the least pause, also after a notification.
func (p *pace) floor() time.Duration { return max(leastPause, onePartIn*p.cost) }
