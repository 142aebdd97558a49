package pgsource

import "time"

// pace says how often to look: seldom enough to cost the server little, often enough where
// something happens (facts/postgres.md, 3.3).
type pace struct {
	min, max time.Duration
	changed  time.Time     // when an owner or a waiter last changed
	cost     time.Duration // of a look, smoothed, without the way to the server
	rows     int           // of pg_locks in the last look
}

const (
	usualPause  = time.Second
	costlyPause = 2 * time.Second
	restless    = 10 * time.Second      // after a change
	costly      = 50 * time.Millisecond // of one look
	manyRows    = 5000
	onePartIn   = 20 // of the time is what looks may take, whatever happens
	leastPause  = 20 * time.Millisecond
)

// took takes note of a look.
func (p *pace) took(cost time.Duration, rows int) {
	p.rows = rows
	if p.cost == 0 {
		p.cost = cost
		return
	}
	p.cost += (cost - p.cost) / 4 // one slow look says little
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
