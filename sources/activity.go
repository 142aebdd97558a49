package sources

import "time"

// activity counts owner changes by the minute for the last hour. It has a fixed size
// so that a row that flaps costs no more memory than a calm one.
type activity struct {
	minute int64 // Unix minute of counts[minute%60]; 0: nothing counted yet
	counts [60]uint8
}

// add counts one change at t. Changes older than an hour before the newest are
// dropped; a minute holds at most 255.
func (a *activity) add(t time.Time) {
	m := t.Unix() / 60
	switch {
	case m <= a.minute-60:
		return
	case m > a.minute+60 || a.minute == 0:
		a.counts = [60]uint8{}
		a.minute = m
	case m > a.minute:
		for i := a.minute + 1; i <= m; i++ {
			a.counts[i%60] = 0
		}
		a.minute = m
	}
	if c := &a.counts[m%60]; *c < 255 {
		*c++
	}
}

// since counts the changes of the last `within`, to the minute, an hour at most.
func (a *activity) since(now time.Time, within time.Duration) int {
	last := now.Unix() / 60
	first := max(last-int64(min(within, time.Hour)/time.Minute)+1, a.minute-59, 0)
	n := 0
	for m := first; m <= min(last, a.minute); m++ {
		n += int(a.counts[m%60])
	}
	return n
}
