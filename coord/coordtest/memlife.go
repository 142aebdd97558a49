package coordtest

import (
	"cmp"
	"slices"
	"time"

	"coordtop/coord"
)

// life is the time a session or a grant has left at the service. The zero life
// never ends.
type life struct {
	ttl     time.Duration
	expires time.Time
	timer   *time.Timer
}

// startLocked begins a life of ttl. The timer only makes the service look; what is
// over is decided by the deadline.
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

// runOutLocked ends what ran out by now, each at its own deadline, earliest first.
// It goes on until nothing is left: serving a waiter does not shorten anybody's life,
// so one pass is enough for each kind.
func (m *Mem) runOutLocked(now time.Time) {
	var sessions []*remote
	for _, r := range m.sessions {
		if r.life.over(now) {
			sessions = append(sessions, r)
		}
	}
	slices.SortFunc(sessions, func(a, b *remote) int {
		return cmp.Or(a.life.expires.Compare(b.life.expires), cmp.Compare(a.id, b.id))
	})
	for _, r := range sessions {
		m.endSessionLocked(r, r.life.expires, coord.ErrExpired)
	}
	var grants []*entry
	for _, it := range m.items {
		for _, e := range it.owners {
			if e.life.over(now) {
				grants = append(grants, e)
			}
		}
	}
	slices.SortFunc(grants, func(a, b *entry) int {
		return cmp.Or(a.life.expires.Compare(b.life.expires), cmp.Compare(a.owner, b.owner))
	})
	for _, e := range grants {
		m.endLocked(e, e.life.expires, coord.ErrExpired)
	}
}
