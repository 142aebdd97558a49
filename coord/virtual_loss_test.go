package coord_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
)

// Release and the news of the loss come at the same instant.
func TestReleaseThatRacesTheLossHurtsNobody(t *testing.T) {
	t.Parallel()
	for _, push := range []bool{false, true} {
		t.Run(fmt.Sprintf("push %v", push), func(t *testing.T) {
			t.Parallel()
			inShapes(t, coordtest.MemOptions{Push: push}, func(w *world) {
				for i := range 50 {
					raceReleaseAndLoss(w, fmt.Sprint("job", i))
				}
			}, coordtest.SessionRenews, coordtest.GrantRenews)
		})
	}
}

func raceReleaseAndLoss(w *world, name string) {
	s, rival := w.rival(), w.rival()
	defer s.Abandon()
	defer rival.Abandon()
	l := w.lock(s, name)
	next := w.hold(rival, name)
	time.Sleep(time.Second)
	owner := l.Owner()
	time.AfterFunc(time.Second, func() { w.mem.Expire(coord.KindMutex, name, owner) })
	time.Sleep(time.Second)
	if err := l.Release(w.Context()); err != nil {
		w.Errorf("%s: releasing what is being lost: %v", name, err)
	}
	got := <-next
	w.must("the rival's Lock", got.err)
	if cause := context.Cause(l.Context()); !errors.Is(cause, coord.ErrReleased) && !errors.Is(cause, coord.ErrLost) {
		w.Errorf("%s: cause %v, want ErrReleased or ErrLost", name, cause)
	}
	time.Sleep(3 * ttl)
	w.want("the rival's Check", got.lease.Check(), nil)
	if ids := w.owners(name); len(ids) != 1 || ids[0] != got.lease.Owner() {
		w.Errorf("%s: the service has the owners %q, want the rival %q", name, ids, got.lease.Owner())
	}
}

// A claim must not overtake the release before it, which would then hit it.
func TestNextClaimWaitsForTheReleaseBeforeIt(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		l := w.lock(w.s, "job")
		w.link.Set(coordtest.VerbRelease, coordtest.Hang(), 0)
		released := make(chan error, 1)
		go func() { released <- l.Release(w.Context()) }()
		w.await(coordtest.VerbRelease, 1)
		next := w.hold(w.s, "job")
		synctest.Wait()
		select {
		case got := <-next:
			w.Fatalf("a claim overtook the release before it: %v, %v", got.lease, got.err)
		default:
		}
		w.link.Clear()
		w.must("releasing", <-released)
		got := <-next
		w.must("the next claim", got.err)
		time.Sleep(3 * ttl)
		w.want("Check of the next lease", got.lease.Check(), nil)
		if ids := w.owners("job"); len(ids) != 1 || ids[0] != got.lease.Owner() {
			w.Errorf("the service has the owners %q, we trust %q", ids, got.lease.Owner())
		}
	})
}
