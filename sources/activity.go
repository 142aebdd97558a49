package sources

import (
	"math"
	"time"
)

// activity counts owner changes and losses by the minute for the last hour. It has a fixed
// size so that a row that flaps costs no more memory than a calm one.
type activity struct {
	minute  int32 // Unix minute of the newest count; 0: nothing counted yet
	cut     bool  // a Keyframe left out the oldest terms of the row
	changes perMinute
	losses  perMinute
}

// noActivity stands for the counts of a row that has none. It must not be changed.
var noActivity activity

// perMinute has the count of each Unix minute at its remainder; at most 255 each.
type perMinute [60]uint8

// add counts at t, unless t is more than an hour before the newest count.
func (a *activity) add(t time.Time, change, loss bool) {
	m := int32(min(t.Unix()/60, math.MaxInt32-100))
	switch {
	case m <= a.minute-60 || m < 0:
		return
	case m > a.minute+60 || a.minute == 0:
		*a = activity{minute: m, cut: a.cut}
	case m > a.minute:
		for i := a.minute + 1; i <= m; i++ {
			a.changes[i%60], a.losses[i%60] = 0, 0
		}
		a.minute = m
	}
	if change {
		a.changes.add(m)
	}
	if loss {
		a.losses.add(m)
	}
}

func (p *perMinute) add(m int32) {
	if c := &p[m%60]; *c < 255 {
		*c++
	}
}

// since counts what happened in the minutes of the clock that within covers, rounded up, the
// running one included and an hour at most. newest is the minute of the newest count.
func (p *perMinute) since(newest int32, now time.Time, within time.Duration) int {
	last := now.Unix() / 60
	minutes := int64((min(within, time.Hour) + time.Minute - 1) / time.Minute)
	first := max(last-minutes+1, int64(newest)-59, 0)
	n := 0
	for m := first; m <= min(last, int64(newest)); m++ {
		n += int(p[m%60])
	}
	return n
}
