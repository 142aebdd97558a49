package sources_test

import (
	"testing"
	"time"

	"coordtop/sources"
)

// TestAPushThatWasHeldUpIsNoMoreThanALook has an owner written to, in a stretch in which it may have
// lost the row and taken it again.
func TestAPushThatWasHeldUpIsNoMoreThanALook(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		heldUp time.Duration
		proof  uint64
		want   time.Duration
	}{
		"held up":             {900 * time.Millisecond, 0, 900 * time.Millisecond},
		"prompt":              {0, 0, 0},
		"as prompt as it can": {sources.Promptness, 0, 0},
		"proved":              {900 * time.Millisecond, 7, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inWorld(t, func(w *world) {
				w.start()
				owner := func(left time.Duration) sources.Owner {
					o := leased("a", left)
					o.Proof = c.proof
					return o
				}
				w.list(election("app", owner(time.Minute)))
				time.Sleep(5 * time.Second)
				now := time.Now()
				written := sources.Change{Set: []*sources.Primitive{election("app", owner(time.Minute))}}
				if c.heldUp > 0 {
					written.After, written.At = now.Add(-c.heldUp), now
				}
				w.tell(written)
				time.Sleep(time.Second)
				w.set(election("app"))
				if e := w.last(sources.EventReleased); e.Held.Every != c.want {
					t.Errorf("it was held for %+v, want looks every %v", e.Held, c.want)
				}
			})
		})
	}
}
