package operate

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/suspend"
)

// Arm makes writing possible for five minutes. For a protected source, typed must be its name; for others it is
// ignored. Arm writes a line to the audit, waits for the disk as Start does, and returns an error if the line cannot be
// written. After the five minutes, unfinished actions are called off as by Disarm.
func (o *Operator) Arm(source, typed string) error {
	b, ok := o.options.Backends[source]
	switch {
	case !ok:
		return fmt.Errorf("%w: nothing can be sent to %s, which is no source of the config here", ErrNotPossible, source)
	case b.ReadOnly:
		return fmt.Errorf("%w: the config says read_only for %s", ErrReadOnly, source)
	case b.Protect && typed != source:
		return fmt.Errorf("%w: %s is protected: type its name to arm", ErrUnconfirmed, source)
	}
	if !o.enter() {
		return ErrClosed
	}
	defer o.running.Done()
	if err := o.noteSwitch("arm", source); err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.callOffUnarmedLocked(errOver) // refresh may not have noticed the end of the previous arming yet
	o.writing.armed = arming{at: o.options.Now(), slept: o.options.Slept()}
	if b.Protect {
		o.writing.unlocked[source] = o.writing.armed
	}
	o.publishLocked()
	return nil
}

// Disarm makes writing impossible at once, even if it was armed without an end. It calls off waiting claims and
// requests that are on their way; a lease that is granted nevertheless is given back. Leases that we hold are kept.
// Disarm waits until the audit has a line about it, see Start.
func (o *Operator) Disarm() {
	o.disarm()
	if !o.enter() {
		return // Close calls everything off anyway
	}
	defer o.running.Done()
	// Disarming needs no permission, so it happens even if the audit cannot be written; the next action returns the
	// error of the audit.
	_ = o.noteSwitch("disarm", "")
}

// enter makes Close wait until the caller has called running.Done. It returns false if Close has begun.
func (o *Operator) enter() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return false
	}
	o.running.Add(1)
	return true
}

func (o *Operator) disarm() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writing.always, o.writing.armed = false, arming{}
	clear(o.writing.unlocked)
	o.callOffUnarmedLocked(errDisarmed)
	o.publishLocked()
}

// next returns the time until the next arming ends, at most about a second, so that a suspend of the machine is noticed
// within a second.
func (w *writing) next() time.Duration {
	next := backoff.UntilTurn(w.now())
	for _, a := range append(slices.Collect(maps.Values(w.unlocked)), w.armed) {
		if end := w.endOf(a); !end.IsZero() {
			next = min(next, end.Sub(w.now()))
		}
	}
	return next
}

// writing records which sources are armed, and until when. Operator.mu guards it.
type writing struct {
	now      func() time.Time
	slept    func() time.Duration
	always   bool // armed without an end
	armed    arming
	unlocked map[string]arming // by protected source: when its name was last typed
}

// arming is the instant at which writing was last armed. The zero arming means that it is not armed.
type arming struct {
	at    time.Time
	slept time.Duration // Options.Slept at that time
}

// until returns the time until which writing is armed; zero if it is not armed.
func (w *writing) until() time.Time { return w.endOf(w.armed) }

// endOf returns the end of an arming; zero if it has ended or never began. Time in which the machine was suspended
// counts, because nobody watches a suspended machine. If slept cannot measure it, the wall clock decides, which is
// wrong only after somebody has set it.
func (w *writing) endOf(a arming) time.Time {
	if a.at.IsZero() {
		return time.Time{}
	}
	now := w.now()
	passed := now.Sub(a.at)
	slept := asleepFor(w.slept()-a.slept, passed, now.Round(0).Sub(a.at.Round(0)))
	if passed+slept >= action.ArmedFor {
		return time.Time{}
	}
	return a.at.Add(action.ArmedFor - slept)
}

// asleepFor returns how long the machine was suspended while the monotonic clock advanced by passed, the wall clock by
// wall, and suspend.Slept by slept.
func asleepFor(slept, passed, wall time.Duration) time.Duration {
	if slept = max(slept, wall-passed); slept > suspend.Noise {
		return slept
	}
	return 0
}

// refuses returns the reason why nothing may be sent to a source now; nil if it is armed.
func (w *writing) refuses(source string, b *Backend) error {
	if !w.always && w.until().IsZero() {
		return fmt.Errorf("%w: arm it first", ErrNotArmed)
	}
	// A protected source has its own arming, because arming another source, which needs no name, must not prolong it.
	typed, ok := w.unlocked[source]
	if b.Protect && (!ok || !w.always && w.endOf(typed).IsZero()) {
		return fmt.Errorf("%w for %s, which is protected: arm it by typing its name", ErrNotArmed, source)
	}
	return nil
}

// noteSwitch writes a line about arming or disarming to the audit.
func (o *Operator) noteSwitch(what, source string) error {
	if o.options.Audit == nil {
		return fmt.Errorf("%w: there is nowhere to write it", ErrNoAudit)
	}
	return o.options.Audit.Write(o.life, Record{ID: o.options.Audit.id(), Stage: Only, Action: what, Source: source})
}
