package sources_test

import (
	"fmt"
	"testing"
	"time"

	"coordtop/sources"
)

// pool is a semaphore of 10 permits read now, of which some are taken.
func pool(taken uint64) *sources.Primitive {
	p := election("pool")
	p.Kind, p.Limit, p.Taken = sources.KindSemaphore, 10, taken
	return p
}

func levels(r *sources.Row) string {
	text := ""
	for l := range r.Levels() {
		text += fmt.Sprintf("%d/%d ", l.Taken, l.High)
		if l.Gone {
			text += "absent "
		}
	}
	return text
}

func TestCountOfASemaphoreIsKeptWithTheHighestOfWhatChangesFast(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(pool(3))
		time.Sleep(10 * time.Second)
		w.tell(sources.Change{Set: []*sources.Primitive{pool(10)}})
		time.Sleep(time.Second)
		w.tell(sources.Change{Set: []*sources.Primitive{pool(4)}})
		before := w.row("pool")
		time.Sleep(10 * time.Second)
		w.tell(sources.Change{Set: []*sources.Primitive{pool(4)}})
		w.tell(sources.Change{Set: []*sources.Primitive{pool(5)}})
		if got, want := levels(w.row("pool")), "3/3 4/10 5/5 "; got != want {
			t.Errorf("levels are %q, not %q", got, want)
		}
		if got, want := levels(before), "3/3 4/10 "; got != want {
			t.Errorf("the published levels became %q, not %q", got, want)
		}
	})
}

func TestACountThatChangesIsAChangeOfItsRow(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		counted := func(taken uint64, waiting int) *sources.Primitive {
			p := pool(taken)
			p.OwnersHow, p.LimitHow, p.Queue = sources.Unknown, sources.Told, sources.Queue{How: sources.Told, Len: waiting}
			return p
		}
		w.list(counted(3, 0))
		for i, p := range []*sources.Primitive{counted(4, 0), counted(4, 1), counted(2, 0)} {
			time.Sleep(time.Second)
			w.tell(sources.Change{Set: []*sources.Primitive{p}})
			if got, want := w.row("pool").Changes(time.Now(), time.Hour), []int{1, 1, 2}[i]; got != want {
				t.Errorf("after look %d it changed %d times, want %d", i, got, want)
			}
		}
	})
}

func TestACountTellsWhenItsSemaphoreDidNotExist(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		absent := pool(0)
		absent.Absent = true
		w.list(pool(0))
		for _, p := range []*sources.Primitive{absent, pool(2)} {
			time.Sleep(time.Second)
			w.tell(sources.Change{Set: []*sources.Primitive{p}})
		}
		if got, want := levels(w.row("pool")), "0/0 0/0 absent 2/2 "; got != want {
			t.Errorf("levels are %q, not %q", got, want)
		}
	})
}

func TestCountsAreBoundedAndThoseOfOneOwnerAreNotKept(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(pool(0), election("led", leased("a", time.Hour)))
		for i := range uint64(2000) {
			time.Sleep(5 * time.Second)
			w.tell(sources.Change{Set: []*sources.Primitive{pool(i % 9)}, Alive: []string{"main"}})
		}
		n, oldest := 0, time.Time{}
		for l := range w.row("pool").Levels() {
			if n++; n == 1 {
				oldest = l.At
			}
		}
		if n > 513 || time.Since(oldest) < 20*time.Minute {
			t.Errorf("%d levels of %v are kept", n, time.Since(oldest))
		}
		if got := levels(w.row("led")); got != "" {
			t.Errorf("an election has the levels %q", got)
		}
	})
}

func TestNoRenewalIsLateWhileTheServerIsSilentForLonger(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("led", leased("a", 3*time.Second)))
		for range 5 { // renewed once a second
			time.Sleep(time.Second)
			w.tell(sources.Change{Set: []*sources.Primitive{election("led", leased("a", 3*time.Second))}, Alive: []string{"main"}})
		}
		w.script.Silence(true)
		time.Sleep(2900 * time.Millisecond) // just before the scope is stale
		w.settle()
		if got := w.row("led").StatusAt(w.hub.State(), time.Now()); got != sources.StatusLed {
			t.Errorf("the owner is called %q though nobody was heard", got)
		}
		time.Sleep(time.Second)
		w.settle()
		if got := w.status("led"); got != sources.StatusStale {
			t.Errorf("a silent server's row is %q", got)
		}
	})
}

func TestWhatARowSaysIsKnownUpToWhenItsServerWasHeard(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list(election("led", leased("a", time.Hour)))
		heard := time.Now()
		known := func() time.Time { return w.row("led").KnownAt(w.hub.State(), time.Now()) }
		if got := known(); !got.Equal(heard) {
			t.Errorf("a row just read is known up to %v", time.Since(got))
		}
		w.script.Silence(true)
		time.Sleep(20 * time.Second)
		w.settle()
		if got := known(); got.Before(heard) || got.Sub(heard) > time.Second {
			t.Errorf("after 20 s of silence the row is known up to %v ago", time.Since(got))
		}
	})
}
