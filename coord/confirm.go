package coord

import (
	"time"

	"coordtop/internal/backoff"
	"coordtop/internal/spawn"
)

// Confirm asks the service now whether the lease is still ours, and not when the next renewal
// is due. It is for a program that sees the primitive by another way, such as a watch, and
// finds another owner there: that report may be older than the grant, or wrong, so it ends
// nothing by itself. Only the service's answer does, as that of any renewal.
//
// It does not block. However often it is called, the requests are paced: the first is sent at
// once, the next ones after pauses that grow up to the usual time between two renewals.
// Where the session is what is renewed, that is renewed. After the lease's end it does nothing.
func (l *Lease) Confirm() {
	spawn.Wake(l.renewed().renewNow)
}

// pacing spreads the renewals that Confirm asks for. It belongs to the keeper's goroutine.
type pacing struct {
	urged  bool // a renewal is to be sent before it is due
	pauses *backoff.Backoff
	pause  time.Duration // no urged renewal before this long after the last one
	last   instant       // sending of the last urged renewal
}

func newPacing(valid time.Duration) pacing {
	return pacing{pauses: backoff.Policy{Min: renewPolicy(valid).Min, Max: valid / 3}.Start()}
}

// left is how long an urged renewal has to wait.
func (p *pacing) left(now instant) time.Duration { return p.pause - now.since(p.last) }

// urge notes that a renewal is wanted now. After a calm time the pauses begin anew.
func (r *renewal) urge() {
	if r.urged {
		return
	}
	if r.k.clock.now().since(r.pacing.last) >= r.k.trusted().valid {
		r.pauses.Reset()
		r.pause = 0
	}
	r.urged = true
}

// sent notes that a renewal is on its way.
func (p *pacing) sent(now instant) {
	if p.urged {
		p.urged, p.last, p.pause = false, now, p.pauses.Next()
	}
}
