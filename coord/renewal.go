package coord

import (
	"context"
	"time"

	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/spawn"
)

// renewal is the part of a keeper that sends renewals. It runs on the keeper's goroutine, but each request has its own
// goroutine, so that a request that hangs delays nothing.
type renewal struct {
	k       *keeper
	answers chan answer
	running bool    // a request is under way
	sent    instant // when that was sent
	late    bool    // the request is late, and that was reported
	backoff *backoff.Backoff
	rest    time.Duration // no request until this long after rested
	rested  instant
	pacing  // paces the requests of Confirm
}

type answer struct {
	window Window
	err    error
	before instant
}

func newRenewal(k *keeper) *renewal {
	valid := k.trust.valid
	urged := backoff.Policy{Min: renewPolicy(valid).Min, Max: valid / 3}
	return &renewal{k: k, answers: make(chan answer, 1), backoff: renewPolicy(valid).Start(), pacing: pacing{pauses: urged.Start()}}
}

// renewPolicy returns the pauses between the tries within one window: short at first, because most failures pass, and
// never so long that the window ends between two tries.
func renewPolicy(valid time.Duration) backoff.Policy {
	return backoff.Policy{Min: min(100*time.Millisecond, valid/32), Max: valid / 16}
}

// wake returns the time for which the keeper may sleep.
func (r *renewal) wake() time.Duration {
	t, now := r.k.trusted(), r.k.clock.now()
	d := min(t.left(now), longestSleep)
	switch {
	case !r.running:
		d = min(d, r.dueIn(t, now))
	case !r.late:
		d = min(d, r.lateIn(t, now))
	}
	return max(d, 0)
}

// lateIn returns the time until the request under way counts as late, an eighth of the window after it was sent.
func (r *renewal) lateIn(t trust, now instant) time.Duration { return t.valid/8 - now.since(r.sent) }

func (r *renewal) dueIn(t trust, now instant) time.Duration {
	due := t.due(now)
	if r.urged {
		due = min(due, r.left(now))
	}
	return max(due, r.rest-now.since(r.rested))
}

// act sends a renewal that is due, or reports that the one under way is late.
func (r *renewal) act() {
	t, now := r.k.trusted(), r.k.clock.now()
	switch {
	case !r.running && r.dueIn(t, now) <= 0:
		r.start(t, now)
	case r.running && !r.late && r.lateIn(t, now) <= 0:
		r.late = true
		r.k.health.failed(r.k, errLate)
	}
}

// start sends a renewal. Each try gets half of the remaining time, so that one lost request leaves time for others, but
// never so little that a slow service could not answer.
func (r *renewal) start(t trust, before instant) {
	r.running, r.late, r.sent = true, false, before
	r.pacing.sent(before)
	try, cancel := context.WithTimeout(r.k.ctx, max(t.left(before)/2, t.valid/16))
	spawn.Go(r.k.ctx, &r.k.asking, func() { // run waits for it
		defer cancel()
		var w Window
		err := spawn.Call(try, func() (err error) {
			w, err = r.k.renewer.Renew(try)
			return err
		})
		r.answers <- answer{window: w, err: err, before: before}
	})
}

func (r *renewal) handle(a answer) {
	r.running = false
	err := a.err
	if err == nil {
		err = r.k.accept(a)
	}
	if err != nil {
		r.k.refuse(err)
	}
	if r.k.ctx.Err() != nil {
		return
	}
	// Pause after good answers as well, because a window may be due for renewal as soon as it arrives, and requests
	// must not follow each other without a pause.
	r.rest, r.rested = r.backoff.Next(), r.k.clock.now()
	if err != nil {
		r.k.health.failed(r.k, err)
		return
	}
	r.backoff.Reset()
	r.k.health.confirmed(r.k)
}

// Confirm renews now instead of when the next renewal is due. It is for a program that follows the primitive in another
// way, for example by a watch, and finds another owner there. That report may be older than the grant, or wrong, so
// Confirm alone ends nothing; only the service's answer to the renewal does.
//
// It does not block. However often it is called, the requests are paced: the first is sent at once, and the pause
// before each next one grows until it reaches the usual time between two renewals. If the session is the Renewer, the
// session is renewed. After the lease's end Confirm does nothing.
func (l *Lease) Confirm() {
	spawn.Wake(l.renewed().renewNow)
}

// pacing limits how often the renewals of Confirm are sent. Only the keeper's goroutine uses it.
type pacing struct {
	urged  bool // a renewal is to be sent before it is due
	pauses *backoff.Backoff
	pause  time.Duration // no urged renewal until this long after the last one
	last   instant       // when the last urged renewal was sent
}

// left returns the rest of the pause before a renewal that Confirm asked for.
func (p *pacing) left(now instant) time.Duration { return p.pause - now.since(p.last) }

// urge notes that a renewal is wanted now. If the last call is long ago, the pauses start short again.
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

// sent notes that a renewal is being sent.
func (p *pacing) sent(now instant) {
	if p.urged {
		p.urged, p.last, p.pause = false, now, p.pauses.Next()
	}
}
