package sources

import (
	"math"
	"time"
)

// Activity counts owner changes and losses by the minute for the last hour. It has a fixed
// size so that a row that flaps costs no more memory than a calm one.
type Activity struct {
	Minute  int32 // Unix minute of the newest count; 0: nothing counted yet
	Cut     bool  // a Keyframe left out the oldest terms of the row
	Changes perMinute
	Losses  perMinute
}

// noActivity stands for the counts of a row that has none. It must not be changed.
var noActivity Activity

// perMinute has the count of each Unix minute at its remainder; at most 255 each.
type perMinute [60]uint8

// add counts at t, unless t is more than an hour before the newest count.
func (a *Activity) add(t time.Time, change, loss bool) {
	m := int32(min(t.Unix()/60, math.MaxInt32-100))
	switch {
	case m <= a.Minute-60 || m < 0:
		return
	case m > a.Minute+60 || a.Minute == 0:
		*a = Activity{Minute: m, Cut: a.Cut}
	case m > a.Minute:
		for i := a.Minute + 1; i <= m; i++ {
			a.Changes[i%60], a.Losses[i%60] = 0, 0
		}
		a.Minute = m
	}
	if change {
		a.Changes.add(m)
	}
	if loss {
		a.Losses.add(m)
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
