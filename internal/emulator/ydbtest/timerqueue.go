package ydbtest

import (
	"slices"
	"time"
)

// timer is an action of the model at a time.
type timer struct {
	at   time.Time
	fire func()
}

// timers holds the timers of sessions, claims and pings, the soonest first. Timers that are due at the same time fire
// in the order in which they were set.
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

// stop removes a timer. It does nothing if the timer has fired, was stopped or is nil.
func (t *timers) stop(tm *timer) {
	if i := slices.Index(t.due, tm); i >= 0 {
		t.due = slices.Delete(t.due, i, i+1)
	}
}

// next returns when the next timer is due; false if no timer is set.
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
