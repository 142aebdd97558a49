package dflocksource

import (
	"time"

	"coordtop/sources"
)

// lease is the lease of an owner, as far as listings show it.
type lease struct {
	owner             uint64
	from, to          time.Time     // the lease ends between these
	told              sources.Stamp // the same, as published
	shortest, longest time.Duration // bounds of its length; 0 if no beginning of it was seen
	renewed           sources.Stamp
}

// jitter is the largest difference between two readings of the same end, in addition to the duration of the readings.
const jitter = 10 * time.Millisecond

// moved reports whether the lease has another end than at the last reading. By the new reading, it ends between from
// and to. A reading of the same end replaces the last one, because the two clocks drift apart.
func (l *lease) moved(from, to time.Time) bool {
	if from.After(l.to.Add(jitter)) || to.Before(l.from.Add(-jitter)) {
		return true
	}
	l.from, l.to = from, to
	return false
}

// tell sets the published end to the last reading.
func (l *lease) tell() { l.told = sources.StampBetween(l.from, l.to, sources.Told) }

// sharper reports whether the end is known much more exactly than it was published, because the first reading was slow.
// In that case it also sets the published end. Otherwise the published end stays, because a difference would look like
// a renewal.
func (l *lease) sharper() bool {
	doubt, told := l.to.Sub(l.from), l.told.After()
	if told.IsZero() || l.told.At.Sub(told)-doubt <= 5*jitter {
		return false
	}
	to := sources.Earlier(l.to, l.told.At)
	l.told = sources.StampBetween(to.Add(-doubt), to, sources.Told)
	return true
}

// learn narrows down the length of a lease that began after one instant and before another, which is a whole number of
// seconds.
func (l *lease) learn(after, before time.Time) {
	shortest := (l.from.Sub(before) + time.Second - 1).Truncate(time.Second)
	longest := l.to.Sub(after).Truncate(time.Second)
	if l.longest < shortest || longest < l.shortest || l.longest == 0 {
		l.shortest, l.longest = shortest, longest // the length has changed
		return
	}
	l.shortest, l.longest = max(l.shortest, shortest), min(l.longest, longest)
}

// length returns the length of the lease, or 0 if unknown.
func (l *lease) length() time.Duration {
	if l.shortest != l.longest {
		return 0
	}
	return l.longest
}
