package pgsource

import (
	"time"

	"coordtop/sources"
)

// pace says how often to look (facts/postgres.md, 3.3).
type pace struct {
	sources.Pace     // its Cost is without the way to the server
	rows         int // of pg_locks in the last look
}

const (
	costlyPause = 2 * time.Second
	costly      = 50 * time.Millisecond // of one look
	manyRows    = 5000
	leastPause  = 20 * time.Millisecond
)

// interval is the pause between the starts of two looks. eager: somebody waits for a lock,
// or one is selected on the screen.
func (p *pace) interval(now time.Time, eager bool) time.Duration {
	if p.rows > manyRows || p.Cost > costly {
		return p.Bound(max(costlyPause, 50*p.Cost))
	}
	return max(p.Pause(now, eager), min(leastPause, p.Max))
}

// floor is the least pause, also after a notification.
func (p *pace) floor() time.Duration { return max(leastPause, p.Floor()) }
