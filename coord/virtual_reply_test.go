package coord_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
)

// For each verb: the service does what was asked, and its answer is lost. Nothing of
// it may be trusted, nothing may be left behind, and the next try works.
func TestLostReplyOf(t *testing.T) {
	t.Parallel()
	session := []coordtest.Shape{coordtest.SessionRenews}
	both := append(session, coordtest.GrantRenews)
	for _, c := range []struct {
		verb   coordtest.Verb
		shapes []coordtest.Shape
		run    func(w *world)
	}{
		{coordtest.VerbOpen, both, lostOpen},
		{coordtest.VerbAcquire, both, lostAcquire},
		{coordtest.VerbRenew, both, lostRenew},
		{coordtest.VerbRelease, both, lostRelease},
		{coordtest.VerbPublish, both, lostPublish},
		{coordtest.VerbDescribe, both, lostDescribe},
		{coordtest.VerbWatch, both, lostWatch},
		{coordtest.VerbEnqueue, session, lostEnqueue},
		{coordtest.VerbWait, session, lostWait},
		{coordtest.VerbLeave, session, lostLeave},
		{coordtest.VerbCreate, session, lostProvision},
		{coordtest.VerbClose, session, lostClose},
	} {
		t.Run(string(c.verb), func(t *testing.T) {
			t.Parallel()
			inShapes(t, coordtest.MemOptions{}, c.run, c.shapes...)
		})
	}
}

// lose makes the next answer to a verb get lost.
func (w *world) lose(v coordtest.Verb) { w.link.Set(v, coordtest.LoseReply(), 1) }

func lostOpen(w *world) {
	w.lose(coordtest.VerbOpen)
	_, err := coord.Open(w.Context(), w.mem.NewDriver(w.link), options())
	w.want("opening", err, coordtest.ErrCut)
	w.lock(w.open(w.mem.NewDriver(w.link), options()), "job")
}

func lostAcquire(w *world) {
	w.lose(coordtest.VerbAcquire)
	l, ok, err := mutex(w.s, "job").TryLock(w.Context())
	w.want("trying", err, coordtest.ErrCut)
	if l != nil || ok {
		w.Error("there is a lease although nobody knows whether it was granted")
	}
	if ids := w.owners("job"); len(ids) != 0 {
		w.Errorf("the service was left with the owners %q", ids)
	}
	w.lock(w.s, "job")
}

func lostRenew(w *world) {
	l := w.lock(w.s, "job")
	n := w.link.Calls(coordtest.VerbRenew)
	before := l.TrustedUntil()
	w.lose(coordtest.VerbRenew)
	w.await(coordtest.VerbRenew, n+1)
	if got := l.TrustedUntil(); !got.Equal(before) {
		w.Errorf("trusted until %v without an answer, it was %v", got, before)
	}
	if got := w.s.State(); got != coord.StateDoubtful {
		w.Errorf("the session is %v, want doubtful", got)
	}
	w.await(coordtest.VerbRenew, n+2)
	if got := w.s.State(); got != coord.StateOpen {
		w.Errorf("after the next renewal the session is %v, want open", got)
	}
	time.Sleep(5 * ttl)
	w.want("Check", l.Check(), nil)
}

func lostRelease(w *world) {
	l := w.lock(w.s, "job")
	w.lose(coordtest.VerbRelease)
	w.want("releasing", l.Release(w.Context()), coordtest.ErrCut)
	w.want("Check", l.Check(), coord.ErrReleased)
	w.lock(w.rival(), "job")
	if _, ok, err := mutex(w.s, "job").TryLock(w.Context()); ok || err != nil {
		w.Errorf("a try against the rival: ok %v, %v, want a miss", ok, err)
	}
}

func lostPublish(w *world) {
	t, err := w.s.Election("top", coord.ElectionOptions{}).Campaign(w.Context(), []byte("first"))
	w.must("campaigning", err)
	w.lose(coordtest.VerbPublish)
	w.want("proclaiming", t.Proclaim(w.Context(), []byte("second")), coordtest.ErrCut)
	w.want("Check", t.Lease().Check(), nil)
	w.must("proclaiming", t.Proclaim(w.Context(), []byte("third")))
	if o := w.mem.Owners(coord.KindElection, "top"); len(o) != 1 || string(o[0].Data) != "third" {
		w.Errorf("the service has %+v, want the last data", o)
	}
}

func lostDescribe(w *world) {
	_, err := w.s.Election("top", coord.ElectionOptions{}).Campaign(w.Context(), []byte("first"))
	w.must("campaigning", err)
	w.lose(coordtest.VerbDescribe)
	_, err = w.s.Election("top", coord.ElectionOptions{}).Leader(w.Context())
	w.want("asking for the leader", err, coordtest.ErrCut)
	l, err := w.s.Election("top", coord.ElectionOptions{}).Leader(w.Context())
	w.must("asking for the leader", err)
	if !l.Led || !l.IsMe {
		w.Errorf("leader %+v, want us", l)
	}
}

// lostWatch: the observation goes on, and what happened meanwhile is in it.
func lostWatch(w *world) {
	rival := w.rival()
	ctx, cancel := context.WithCancel(w.Context())
	defer cancel()
	seen := 0
	for l, err := range w.s.Election("top", coord.ElectionOptions{}).Observe(ctx) {
		switch {
		case err != nil:
			w.Fatalf("observing: %v", err)
		case !l.Led && seen == 0:
			seen++
			w.lose(coordtest.VerbWatch)
			_, err := rival.Election("top", coord.ElectionOptions{}).Campaign(w.Context(), []byte("x"))
			w.must("campaigning", err)
		case l.Led:
			seen++
			cancel()
		}
	}
	if seen != 2 {
		w.Errorf("saw %d of 2 states", seen)
	}
}

func lostEnqueue(w *world) {
	w.semaphore("pool", 1)
	w.lose(coordtest.VerbEnqueue)
	_, err := w.s.Semaphore("pool", coord.SemaphoreOptions{}).Enqueue(w.Context(), 1)
	w.want("enqueueing", err, coordtest.ErrCut)
	if o := w.mem.Owners(coord.KindSemaphore, "pool"); len(o) != 0 {
		w.Errorf("the service was left with the owners %+v", o)
	}
	p, err := w.s.Semaphore("pool", coord.SemaphoreOptions{}).Enqueue(w.Context(), 1)
	w.must("enqueueing", err)
	l, ok, err := p.Wait(w.Context())
	if !ok || err != nil {
		w.Fatalf("waiting: ok %v, %v", ok, err)
	}
	w.want("Check", l.Check(), nil)
}

// lostWait: the place is kept, and what it became is there for the next Wait.
func lostWait(w *world) {
	w.semaphore("pool", 1)
	p, err := w.s.Semaphore("pool", coord.SemaphoreOptions{}).Enqueue(w.Context(), 1)
	w.must("enqueueing", err)
	w.lose(coordtest.VerbWait)
	_, _, err = p.Wait(w.Context())
	w.want("waiting", err, coordtest.ErrCut)
	l, ok, err := p.Wait(w.Context())
	if !ok || err != nil {
		w.Fatalf("waiting again: ok %v, %v", ok, err)
	}
	w.want("Check", l.Check(), nil)
	if o := w.mem.Owners(coord.KindSemaphore, "pool"); len(o) != 1 {
		w.Errorf("the service has the owners %+v, want us once", o)
	}
}

func lostLeave(w *world) {
	w.semaphore("pool", 1)
	p, err := w.s.Semaphore("pool", coord.SemaphoreOptions{}).Enqueue(w.Context(), 1)
	w.must("enqueueing", err)
	w.lose(coordtest.VerbLeave)
	w.want("leaving", p.Leave(w.Context()), coordtest.ErrCut)
	if o := w.mem.Owners(coord.KindSemaphore, "pool"); len(o) != 0 {
		w.Errorf("the service was left with the owners %+v", o)
	}
	p, err = w.s.Semaphore("pool", coord.SemaphoreOptions{}).Enqueue(w.Context(), 1)
	w.must("enqueueing again", err)
	w.must("leaving", p.Leave(w.Context()))
}

func lostProvision(w *world) {
	sem := w.s.Semaphore("pool", coord.SemaphoreOptions{})
	w.lose(coordtest.VerbCreate)
	w.want("creating", sem.Create(w.Context(), 2, nil), coordtest.ErrCut)
	w.lose(coordtest.VerbUpdate)
	w.want("updating", sem.Update(w.Context(), []byte("x")), coordtest.ErrCut)
	d, err := sem.Describe(w.Context())
	w.must("describing", err)
	if d.Limit != 2 || string(d.Data) != "x" {
		w.Errorf("described as %+v, want what was asked", d)
	}
	w.lose(coordtest.VerbDelete)
	w.want("deleting", sem.Delete(w.Context(), false), coordtest.ErrCut)
	_, err = sem.Describe(w.Context())
	w.want("describing what is gone", err, coord.ErrNotFound)
}

func lostClose(w *world) {
	l := w.lock(w.s, "job")
	w.lose(coordtest.VerbClose)
	w.want("closing", w.s.Close(w.Context()), coordtest.ErrCut)
	w.want("Check", l.Check(), coord.ErrClosed)
	if ids := w.owners("job"); len(ids) != 0 {
		w.Errorf("the service was left with the owners %q", ids)
	}
	synctest.Wait()
	w.lock(w.rival(), "job")
}

func (w *world) semaphore(name string, limit uint64) {
	w.Helper()
	w.must("creating the semaphore", w.s.Semaphore(name, coord.SemaphoreOptions{}).Create(w.Context(), limit, nil))
}
