package backoff

import (
	"context"
	"math/rand/v2"
	"time"
)

// Policy describes a sequence of pauses. The zero value is usable: 100 ms, doubling,
// up to 5 s.
type Policy struct {
	Min time.Duration // first pause before jitter; 0: 100 ms
	Max time.Duration // longest pause before jitter; 0: 5 s, never less than Min
}

func (p Policy) bounds() (lowest, highest time.Duration) {
	lowest, highest = p.Min, p.Max
	if lowest <= 0 {
		lowest = 100 * time.Millisecond
	}
	if highest <= 0 {
		highest = 5 * time.Second
	}
	return lowest, max(lowest, highest)
}

// Backoff is one running sequence. It is not safe for concurrent use.
type Backoff struct {
	policy Policy
	next   time.Duration
}

// Start begins a sequence.
func (p Policy) Start() *Backoff { return &Backoff{policy: p} }

// Next returns the pause to make now and lengthens the one after it. The pause is
// drawn evenly from the upper half of the step: between step/2 and step.
func (b *Backoff) Next() time.Duration {
	lowest, highest := b.policy.bounds()
	step := min(max(b.next, lowest), highest)
	b.next = 2 * step
	return step/2 + rand.N(step/2+1)
}

// Reset restarts the sequence after a success.
func (b *Backoff) Reset() { b.next = 0 }

// Wait sleeps for Next and returns nil, or the context's error as soon as it ends.
func (b *Backoff) Wait(ctx context.Context) error { return Sleep(ctx, b.Next()) }

// Sleep blocks for d and returns nil, or the context's error as soon as it ends. It does not block if d is not
// positive.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// UntilTurn returns the time from now until the next half second of the clock: 12:00:00.5, 12:00:01.5 and so on. All
// work that is done about once a second waits for this time, so that an idle program wakes only once a second. The
// result lies between 10 ms and 1.01 s.
func UntilTurn(now time.Time) time.Duration {
	const phase, slack = time.Second / 2, 10 * time.Millisecond // a timer may be early by the wall clock, which is being adjusted
	d := now.Add(-phase).Truncate(time.Second).Add(time.Second + phase).Sub(now.Round(0))
	if d < slack {
		d += time.Second
	}
	return d
}
