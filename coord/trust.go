package coord

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"coordtop/internal/ground/suspend"
)

// clock reads the time in which trust is measured: the monotonic clock plus the time the machine was suspended. On most
// systems a suspend stops the monotonic clock, but not the clock of the service.
type clock struct {
	asleep func() time.Duration // since some origin; only differences mean anything
}

// instant is one reading of a clock.
type instant struct {
	at     time.Time
	asleep time.Duration
}

// now reads the time asleep first, so that a suspend between the two readings is rather counted twice than left out.
func (c clock) now() instant {
	asleep := c.asleep()
	return instant{at: time.Now(), asleep: asleep}
}

// since returns the time from an earlier instant to i, including the time asleep.
func (i instant) since(earlier instant) time.Duration {
	d := i.at.Sub(earlier.at)
	slept := i.asleep - earlier.asleep
	switch {
	case slept <= suspend.Noise: // the margin covers it
		return d
	case d > math.MaxInt64-slept: // Sub saturates at the same value
		return math.MaxInt64
	}
	return d + slept
}

// trust is a Window of the service with our margin and pace. The zero trust is
// over.
type trust struct {
	asked  instant
	valid  time.Duration // how long, from asked, the service counts us as the owner
	margin time.Duration
	every  time.Duration // from asked to the next renewal
}

// left returns for how long trust still lasts; zero or less if it is over.
func (t trust) left(now instant) time.Duration { return t.valid - t.margin - now.since(t.asked) }

// over reports whether trust has ended. At the deadline it has.
func (t trust) over(now instant) bool { return t.left(now) <= 0 }

// until returns the end of trust on the local clock.
func (t trust) until(now instant) time.Time { return now.at.Add(t.left(now)) }

// due returns the time until a renewal is due; zero or less if it is due now.
func (t trust) due(now instant) time.Duration { return t.every - now.since(t.asked) }

// trustIn returns the trust that a driver's answer w gives. earliest was read before the request, and former is the
// trust until then. If the window is older than the request, the time asleep is taken from former, because earliest
// would hide a suspend between the two. If w names no window, the error wraps ErrRefused.
func trustIn(w Window, earliest instant, former trust, o SessionOptions) (trust, error) {
	if w.Valid <= 0 || w.Asked.IsZero() {
		return trust{}, fmt.Errorf("the driver named no window: %w", ErrRefused)
	}
	asked := instant{at: w.Asked, asleep: earliest.asleep}
	switch {
	case time.Now().Before(w.Asked): // the driver's bug: nothing is sent in the future
		asked.at = earliest.at
	case w.Asked.Before(earliest.at):
		asked.asleep = min(earliest.asleep, former.asked.asleep)
	}
	margin := o.marginOf(w.Valid)
	every := w.RenewIn
	every = cmp.Or(max(every, 0), w.Valid/3)
	if o.RenewEvery > 0 {
		every = min(every, o.RenewEvery)
	}
	every = min(every, (w.Valid-margin)/2) // a second try must fit
	return trust{asked: asked, valid: w.Valid, margin: margin, every: every}, nil
}

// marginOf returns the margin for a window: that of the options, or the default.
func (o SessionOptions) marginOf(valid time.Duration) time.Duration {
	if o.Margin > 0 {
		return o.Margin
	}
	return DefaultMargin(valid)
}

// DefaultMargin returns the margin of a window if SessionOptions.Margin is 0.
func DefaultMargin(window time.Duration) time.Duration {
	return min(max(window/20, 100*time.Millisecond), window/4)
}

// Check returns ErrInvalid for options that no driver can keep.
func (o SessionOptions) Check() error {
	for _, d := range []struct {
		name string
		d    time.Duration
	}{{"TTL", o.TTL}, {"RenewEvery", o.RenewEvery}, {"Margin", o.Margin}, {"StartTimeout", o.StartTimeout}} {
		if d.d < 0 {
			return fmt.Errorf("%w: %s is negative (%v)", ErrInvalid, d.name, d.d)
		}
	}
	if o.TTL > 0 {
		return o.checkRoom(o.TTL)
	}
	return nil
}

// checkRoom refuses options that do not fit into a window.
func (o SessionOptions) checkRoom(valid time.Duration) error {
	margin := o.marginOf(valid)
	if margin >= valid {
		return fmt.Errorf("%w: a Margin of %v leaves nothing of a window of %v", ErrInvalid, margin, valid)
	}
	if room := (valid - margin) / 2; o.RenewEvery > room {
		return fmt.Errorf("%w: RenewEvery of %v leaves no room for a second try in a window of %v with a margin of %v: at most %v",
			ErrInvalid, o.RenewEvery, valid, margin, room)
	}
	return nil
}
