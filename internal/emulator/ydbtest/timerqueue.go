package ydbtest

import (
	"slices"
	"time"
)

// timer is one thing that the model does by itself at a moment.
type timer struct {
	at   time.Time
	fire func()
}

// timers holds what is due later, the soonest first: sessions that expire, claims that time
// out, pings. Those due at the same moment fire in the order in which they were set.
type timers struct{ due []*timer }

func (t *timers) set(at time.Time, fire func()) *timer {
	tm := &timer{at: at, fire: fire}
	i, _ := slices.BinarySearchFunc(t.due, at, func(o *timer, at time.Time) int {
		if o.at.After(at) {
			return 1
		}
		return -1
	})
	t.due = slices.Insert(t.due, i, tm)
	return tm
}

// stop takes a timer out. One that has fired, was stopped or is nil is no matter.
func (t *timers) stop(tm *timer) {
	if i := slices.Index(t.due, tm); i >= 0 {
		t.due = slices.Delete(t.due, i, i+1)
	}
}

// next says when the next timer is due; false: there is none.
func (t *timers) next() (time.Time, bool) {
	if len(t.due) == 0 {
		return time.Time{}, false
	}
	return t.due[0].at, true
}

func (t *timers) pop() *timer {
	tm := t.due[0]
	t.due = slices.Delete(t.due, 0, 1)
	return tm
}
