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

func election(s *coord.Session) *coord.Election {
	return s.Election("boss", coord.ElectionOptions{Poll: 500 * time.Millisecond})
}

func (w *world) campaign(s *coord.Session, data string) *coord.Term {
	w.Helper()
	t, err := election(s).Campaign(w.Context(), []byte(data))
	if err != nil {
		w.Fatalf("campaigning: %v", err)
	}
	return t
}

// observer is a loop over Observe that puts what it is given into a channel.
type observer struct {
	seen chan coord.Leader
	errs chan error
	stop context.CancelFunc
}

func (w *world) observe(s *coord.Session) *observer {
	ctx, cancel := context.WithCancel(w.Context())
	o := &observer{seen: make(chan coord.Leader, 100), errs: make(chan error, 1), stop: cancel}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer close(o.seen)
		for l, err := range election(s).Observe(ctx) {
			if err != nil {
				o.errs <- err
				continue
			}
			o.seen <- l
		}
	}()
	w.Cleanup(func() { cancel(); <-done })
	w.settle()
	return o
}

// settle lets a poll and whatever follows from it happen.
func (w *world) settle() {
	time.Sleep(600 * time.Millisecond)
	synctest.Wait()
}

// next is the one leader that was yielded since the last call.
func (w *world) next(o *observer, what string) coord.Leader {
	w.Helper()
	w.settle()
	if len(o.seen) != 1 {
		w.Fatalf("%s: %d leaders yielded, want 1", what, len(o.seen))
	}
	return <-o.seen
}

func show(l coord.Leader) string {
	return fmt.Sprintf("led %v, known %v, me %v, %s", l.Led, l.Known, l.IsMe, l.Data)
}

func (w *world) is(what string, l coord.Leader, want string) {
	w.Helper()
	if got := show(l); got != want {
		w.Errorf("%s: %s, want %s", what, got, want)
	}
	if l.Context == nil {
		w.Errorf("%s: no context", what)
	}
}

// inBothShapesWatchedAndPolled runs f where the service tells of changes and where it
// does not.
func inBothShapesWatchedAndPolled(t *testing.T, f func(w *world)) {
	t.Helper()
	t.Run("watched", func(t *testing.T) { t.Parallel(); inBothShapes(t, f) })
	t.Run("polled", func(t *testing.T) {
		t.Parallel()
		inBothShapes(t, func(w *world) {
			w.s = w.open(coordtest.Hide(w.mem.NewDriver(w.link), coordtest.CanWatch), options())
			f(w)
		})
	})
}

func TestObserveFollowsLeadersAndTheirProclamations(t *testing.T) {
	t.Parallel()
	inBothShapesWatchedAndPolled(t, func(w *world) {
		o, rival := w.observe(w.s), w.rival()
		nobody := w.next(o, "at first")
		w.is("at first", nobody, "led false, known true, me false, ")

		term := w.campaign(rival, "one")
		first := w.next(o, "elected")
		w.is("elected", first, "led true, known true, me false, one")
		w.want("nobody's context", context.Cause(nobody.Context), coord.ErrLeaderChanged)
		if first.Owner != term.Lease().Owner() || first.Fence != term.Lease().Fence() {
			w.Errorf("owner %q, fence %d", first.Owner, first.Fence)
		}

		w.want("Proclaim", term.Proclaim(w.Context(), []byte("two")), nil)
		second := w.next(o, "proclaimed")
		w.is("proclaimed", second, "led true, known true, me false, two")
		if second.Context != first.Context || first.Context.Err() != nil {
			w.Error("a proclamation is not another leader: the context goes on")
		}
		w.settle()
		w.want("Proclaim of the same", term.Proclaim(w.Context(), []byte("two")), nil)
		w.settle()
		if len(o.seen) != 0 {
			w.Errorf("yielded %d that do not differ", len(o.seen))
		}

		w.want("Resign", term.Resign(w.Context()), nil)
		w.is("resigned", w.next(o, "resigned"), "led false, known true, me false, ")
		w.want("the leader's context", context.Cause(first.Context), coord.ErrLeaderChanged)

		w.campaign(rival, "three")
		again := w.next(o, "a new term of the same")
		o.stop()
		synctest.Wait()
		w.want("the context after the loop", context.Cause(again.Context), coord.ErrObservationEnded)
	})
}

func TestObserveSeesThatWeLeadOurselvesAndUntilWhen(t *testing.T) {
	t.Parallel()
	inBothShapesWatchedAndPolled(t, func(w *world) {
		term := w.campaign(w.s, "we")
		o := w.observe(w.s)
		me := w.next(o, "we lead")
		w.is("we lead", me, "led true, known true, me true, we")
		w.link.Set(coordtest.VerbRenew, coordtest.Drop(), 0)
		_, cause := w.ended(term.Lease())
		synctest.Wait()
		if !errors.Is(context.Cause(me.Context), coord.ErrExpired) || cause != context.Cause(me.Context) {
			w.Errorf("our context as a leader ended with %v, the lease with %v", context.Cause(me.Context), cause)
		}
	})
}

func TestObserveNoticesThatItIsUsAlsoAfterTheServiceToldIt(t *testing.T) {
	t.Parallel()
	inBothShapesWatchedAndPolled(t, func(w *world) {
		o := w.observe(w.s)
		w.is("at first", w.next(o, "at first"), "led false, known true, me false, ")
		// The answer to the campaign comes long after the service tells everybody.
		w.link.Set(coordtest.VerbAcquire, coordtest.DelayReply(2*time.Second), 1)
		done := make(chan *coord.Term, 1)
		go func() { done <- w.campaign(w.s, "we") }()
		w.is("told", w.next(o, "told"), "led true, known true, me false, we")
		term := <-done
		me := w.next(o, "answered")
		w.is("answered", me, "led true, known true, me true, we")
		if me.Context.Err() != nil {
			w.Error("the context has ended")
		}
		w.want("Resign", term.Resign(w.Context()), nil)
		synctest.Wait()
		w.want("our context as a leader", context.Cause(me.Context), coord.ErrReleased)
	})
}

func TestContextOfALeaderEndsWhileTheBodyBlocksOnIt(t *testing.T) {
	t.Parallel()
	inBothShapesWatchedAndPolled(t, func(w *world) {
		rival := w.rival()
		w.campaign(rival, "one")
		time.AfterFunc(time.Minute, rival.Abandon)
		start := time.Now()
		seen := 0
		for l, err := range election(w.s).Observe(w.Context()) {
			if err != nil {
				w.Fatal(err)
			}
			if seen++; seen == 2 {
				w.is("after it", l, "led false, known true, me false, ")
				break
			}
			<-l.Context.Done()
			w.want("cause", context.Cause(l.Context), coord.ErrLeaderChanged)
		}
		if took := time.Since(start); took < time.Minute {
			w.Errorf("ended after %v", took)
		}
	})
}

func TestPolledObservationSaysThatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		w.s = w.open(coordtest.Hide(w.mem.NewDriver(w.link), coordtest.CanWatch), options())
		term := w.campaign(w.rival(), "one")
		o := w.observe(w.s)
		known := w.next(o, "at first")
		w.link.Set(coordtest.VerbDescribe, coordtest.Fail(nil), 0)
		time.Sleep(time.Minute)
		unknown := w.next(o, "cut off")
		w.is("cut off", unknown, "led false, known false, me false, ")
		if unknown.Context != known.Context || known.Context.Err() != nil {
			w.Error("nothing is known to have changed, and the context ended")
		}
		w.link.Clear()
		time.Sleep(10 * time.Second)
		w.is("back", w.next(o, "back"), "led true, known true, me false, one")
		if known.Context.Err() != nil {
			w.Error("the same leader, and the context ended")
		}
		w.link.Set(coordtest.VerbDescribe, coordtest.Fail(nil), 0)
		w.settle()
		<-o.seen
		w.want("Resign", term.Resign(w.Context()), nil)
		w.link.Clear()
		time.Sleep(10 * time.Second)
		w.is("back again", w.next(o, "back again"), "led false, known true, me false, ")
		w.want("the context of who left meanwhile", context.Cause(known.Context), coord.ErrLeaderChanged)
	})
}

func TestObserveYieldsAFinalErrorOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		hidden coordtest.Ability
		want   error
	}{
		"refused":               {coordtest.CanWatch, coord.ErrRefused},
		"watch refused":         {0, coord.ErrRefused},
		"it cannot tell at all": {coordtest.CanWatch | coordtest.CanDescribe, coord.ErrUnsupported},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBothShapes(t, func(w *world) {
				w.link.Set(coordtest.VerbDescribe, coordtest.Fail(coord.ErrRefused), 0)
				w.link.Set(coordtest.VerbWatch, coordtest.Fail(coord.ErrRefused), 0)
				s := w.open(coordtest.Hide(w.mem.NewDriver(w.link), c.hidden), options())
				n := 0
				for _, err := range election(s).Observe(w.Context()) {
					w.want("error", err, c.want)
					n++
				}
				if n != 1 {
					w.Errorf("yielded %d times", n)
				}
			})
		})
	}
}

func TestObservationEndsQuietlyWithItsSession(t *testing.T) {
	t.Parallel()
	inBothShapesWatchedAndPolled(t, func(w *world) {
		w.campaign(w.rival(), "one")
		o := w.observe(w.s)
		l := w.next(o, "at first")
		w.s.Abandon()
		synctest.Wait()
		if _, more := <-o.seen; more || len(o.errs) != 0 {
			w.Error("yielded something after the end")
		}
		w.want("the leader's context", context.Cause(l.Context), coord.ErrObservationEnded)
	})
}

func TestLeaderTellsWhoLeadsNow(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		look := func(s *coord.Session) coord.Leader {
			l, err := election(s).Leader(w.Context())
			w.want("Leader", err, nil)
			return l
		}
		w.is("nobody", look(w.s), "led false, known true, me false, ")
		w.link.Set(coordtest.VerbDescribe, coordtest.LoseReply(), 1)
		_, err := election(w.s).Leader(w.Context())
		w.want("without an answer", err, coordtest.ErrCut)
		rival := w.rival()
		term := w.campaign(rival, "one")
		other, me := look(w.s), look(rival)
		w.is("another", other, "led true, known true, me false, one")
		w.is("ourselves", me, "led true, known true, me true, one")
		w.want("nobody follows another", context.Cause(other.Context), coord.ErrObservationEnded)
		if me.Context != term.Context() {
			w.Error("our own leadership has another context than the term")
		}
	})
}

func TestLeaderIsNotKnownWhereTheBackendCannotTell(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		s := w.open(coordtest.Hide(w.mem.NewDriver(nil), coordtest.CanWatch|coordtest.CanDescribe), options())
		l, err := election(s).Leader(w.Context())
		w.want("Leader", err, nil)
		w.is("not ours", l, "led false, known false, me false, ")
		w.campaign(s, "one")
		l, err = election(s).Leader(w.Context())
		w.want("Leader", err, nil)
		w.is("ours", l, "led true, known true, me true, ")
	})
}

func TestObserveGoesOnWithALeaderWhoMayNotTrustItselfAnyMore(t *testing.T) {
	t.Parallel()
	inBothShapesWatchedAndPolled(t, func(w *world) {
		if w.s.Caps().OneFate {
			return // the session is over then, and the observation with it
		}
		w.campaign(w.s, "we")
		o := w.observe(w.s)
		me := w.next(o, "we lead")
		w.link.Set(coordtest.VerbRenew, coordtest.HangReply(), 0) // renews, and we do not know
		w.link.Set(coordtest.VerbRelease, coordtest.Fail(nil), 0)
		time.Sleep(ttl - margin)
		still := w.next(o, "trust is over")
		w.is("trust is over", still, "led true, known true, me false, we")
		if me.Context.Err() == nil || still.Context.Err() != nil {
			w.Errorf("contexts: ours %v, that of the leader the service knows %v", me.Context.Err(), still.Context.Err())
		}
	})
}

func TestObserveTellsANewTermOfTheSameOwnerByItsFence(t *testing.T) {
	t.Parallel()
	inShape(t, coordtest.SessionRenews, func(w *world) {
		w.s = w.open(coordtest.Hide(w.mem.NewDriver(nil), coordtest.CanWatch), options())
		rival := w.rival()
		term := w.campaign(rival, "one")
		o := w.observe(w.s)
		first := w.next(o, "at first")
		w.want("Resign", term.Resign(w.Context()), nil) // and back, between two looks
		w.campaign(rival, "one")
		second := w.next(o, "again")
		if second.Owner != first.Owner || second.Context == first.Context {
			w.Errorf("owners %q and %q, same context: %v", first.Owner, second.Owner, second.Context == first.Context)
		}
		w.want("the first term's context", context.Cause(first.Context), coord.ErrLeaderChanged)
	})
}

func TestElectionThatDoesNotExistIsLedByNobody(t *testing.T) {
	t.Parallel()
	inBothShapes(t, func(w *world) {
		s := w.open(coordtest.Hide(w.mem.NewDriver(w.link), coordtest.CanWatch), options())
		w.link.Set(coordtest.VerbDescribe, coordtest.Fail(coord.ErrNotFound), 0)
		l, err := election(s).Leader(w.Context())
		w.want("Leader", err, nil)
		w.is("Leader", l, "led false, known true, me false, ")
		w.is("Observe", w.next(w.observe(s), "at first"), "led false, known true, me false, ")
	})
}
