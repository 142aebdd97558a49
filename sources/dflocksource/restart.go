package dflocksource

import (
	"time"

	"coordtop/internal/dflockwire"
)

// usualMemory is how long a server remembers a key that nobody uses (--gc-max-idle), unless it
// was told otherwise: then the first key that it forgets shows that.
const usualMemory = time.Minute

// forgotten notes that the server forgot a key: for how long it was unused when it was last listed.
func (t *table) forgotten(r *row) {
	if r.unused.IsZero() {
		t.memory = 0
	}
	t.memory = min(t.memory, max(0, t.asked.Sub(r.unused)))
}

// restarted reports whether the server has lost its memory since the last listing. The new one
// is the first after the connection broke. A key that has stayed as it was shows that there was
// no restart, whatever the other keys show.
func (t *table) restarted(s *dflockwire.Stats) bool {
	away := s.Answered.Sub(t.answered)
	var highest uint64
	for _, r := range t.rows {
		highest = max(highest, r.owner)
	}
	var missing, lower, owned int
	for _, r := range t.rows {
		if r.unused.IsZero() && r.taken == 0 || t.asked.IsZero() {
			continue // it was never listed
		}
		l := r.next
		if l.here && l.taken == 0 && l.idle > away {
			return false
		}
		unused := away // at most so long, if it was given back at once
		if r.taken == 0 {
			unused = s.Answered.Sub(r.unused)
		}
		if r.here && !l.here && unused < t.memory {
			missing++
		}
		if r.owner == 0 || !l.here {
			continue
		}
		owned++
		held := r.lease
		switch {
		case l.owner == r.owner && !held.moved(s.Asked.Add(l.left), s.Answered.Add(l.left)), l.owner > highest:
			return false
		case l.owner != 0 && l.owner < t.lowest && r.waiters == 0: // who waited may have been connected for longer than the owner
			lower++
		}
	}
	return missing > 0 || lower > 1 && lower == owned
}
