package coordtest

import (
	"cmp"
	"slices"
	"time"

	"coordtop/coord"
)

// life is the remaining time of a session or a grant at the service. The zero life never ends.
type life struct {
	ttl     time.Duration
	expires time.Time
	timer   *time.Timer
}

// startLocked begins a life of ttl. The timer only wakes the service; the deadline decides whether the life is over.
func (m *Mem) startLocked(l *life, ttl time.Duration, now time.Time) {
	l.ttl, l.expires = ttl, now.Add(ttl)
	l.timer = time.AfterFunc(ttl, func() { m.do(func(time.Time) {}) })
}

func (l *life) extend(now time.Time) {
	l.expires = now.Add(l.ttl)
	l.timer.Reset(l.ttl)
}

func (l *life) stop() {
	if l.timer != nil {
		l.timer.Stop()
	}
}

func (l *life) over(now time.Time) bool {
	return l.timer != nil && !now.Before(l.expires)
}

// runOutLocked ends everything that has expired by now, each at its own deadline, earliest first. One pass for each
// kind is enough, because serving a waiter does not shorten any life.
func (m *Mem) runOutLocked(now time.Time) {
	var sessions []*remote
	for _, r := range m.sessions {
		sessions = append(sessions, r)
	}
	for _, r := range overdue(sessions, now, func(r *remote) (*life, string) { return &r.life, r.id }) {
		m.endSessionLocked(r, r.life.expires, coord.ErrExpired)
	}
	var grants []*entry
	for _, it := range m.items {
		grants = append(grants, it.owners...)
	}
	for _, e := range overdue(grants, now, func(e *entry) (*life, string) { return &e.life, e.owner }) {
		m.endLocked(e, e.life.expires, coord.ErrExpired)
	}
}

// overdue returns those elements of all that have expired by now, ordered by deadline, then by name.
func overdue[T any](all []T, now time.Time, of func(T) (*life, string)) []T {
	all = slices.DeleteFunc(all, func(x T) bool { l, _ := of(x); return !l.over(now) })
	slices.SortFunc(all, func(a, b T) int {
		x, nameX := of(a)
		y, nameY := of(b)
		return cmp.Or(x.expires.Compare(y.expires), cmp.Compare(nameX, nameY))
	})
	return all
}
