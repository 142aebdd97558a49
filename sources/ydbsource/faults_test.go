package ydbsource

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/sources"
)

// contest is what the fault tests start with: a leads over the first front end, which is
// also the source's, and b waits over the second.
type contest struct {
	*rig
	a *coord.Term
	b <-chan *coord.Term
}

const leaseTTL = 2 * time.Second

func contend(t *testing.T) *contest {
	t.Helper()
	r := serve(t, ydbtest.Options{}, "leader")
	c := &contest{rig: r, a: r.lead(r.session(0, leaseTTL), "leader", "a")}
	c.b = r.campaign(r.session(1, testLimit), "leader", "b")
	r.watch(Options{Selections: elections("leader")}).synced()
	r.Row("", "leader", "led by a", ledBy("a"))
	return c
}

// guarded looks at a's lease after everything that happens in the service, and fails the
// test if it is trusted at a moment when the service does not hold it. The function that
// it returns waits until the service has let go of it.
func (c *contest) guarded() (wait func()) {
	r, l := c.rig, c.a.Lease()
	ctx, cancel := context.WithCancel(context.Background())
	gone := make(chan struct{})
	go func() { // joined by the clean-up
		defer close(gone)
		err := r.Await(ctx, func() bool {
			return !slices.ContainsFunc(r.Owners(app, "leader"), func(o ydbtest.Link) bool { return o.OrderID == l.Fence() })
		})
		if err == nil && l.Check() == nil {
			r.t.Errorf("the lease is trusted until %v, and the service has let go of it", l.TrustedUntil())
		}
	}()
	r.t.Cleanup(func() { cancel(); <-gone })
	return func() {
		r.t.Helper()
		select {
		case <-gone:
		case <-time.After(testLimit):
			r.t.Fatal("the service does not let go of the lease")
		}
	}
}

func ledBy(label string) func(*sources.Row, *sources.State) bool {
	return func(row *sources.Row, s *sources.State) bool {
		return row.Status(s) == sources.StatusLed && row.Owners[0].Label == label
	}
}

// pushed reports whether e was told at its instant, or with a stretch because the machine was too
// busy to prove that.
func pushed(e sources.Event) bool {
	return e.How == sources.Told && e.After.IsZero() || e.How == sources.Seen && e.At.Sub(e.After) > sources.Promptness
}

// back waits for the truth on the screen, and tells how long it took.
func (c *contest) back(since time.Time, leader string) {
	c.t.Helper()
	c.Row("", "leader", "led by "+leader, ledBy(leader))
	c.t.Logf("the truth is back after %v", time.Since(since).Round(time.Millisecond))
}

// ours is the session of the source.
func (r *rig) ours() ydbtest.Session {
	r.t.Helper()
	for _, s := range r.Sessions(app) {
		if s.Description == observer {
			return s
		}
	}
	r.t.Fatal("the source has no session")
	return ydbtest.Session{}
}

func TestCutConnectionIsStaleAtOnceAndBackAtOnce(t *testing.T) {
	t.Parallel()
	c := contend(t)
	c.guarded()
	cut := time.Now()
	c.CutConnections(0)
	c.Event(sources.EventSynced, "") // it was lost and is complete again
	c.back(cut, "a")
	c.NoOwnerEvents()
	if err := c.a.Lease().Check(); err != nil {
		t.Errorf("a cut costs no lease: %v", err)
	}
}

func TestServerThatIsAwayIsStaleUntilItIsBack(t *testing.T) {
	t.Parallel()
	c := contend(t)
	released := c.guarded()
	cut := time.Now()
	c.Refuse(0, true)
	c.Row("", "leader", "stale", is(sources.StatusStale))
	t.Logf("stale after %v", time.Since(cut).Round(time.Millisecond))
	released()
	down := c.Event(sources.EventSourceDown, "")
	if !strings.Contains(down.Detail, "closes the connection") && !strings.Contains(down.Detail, "no answer") && !strings.Contains(down.Detail, "nothing listens") &&
		!strings.Contains(down.Detail, "cannot connect") && !strings.Contains(down.Detail, "broke") {
		t.Errorf("%+v", down)
	}
	c.await("b to lead", func() bool { return string(c.Owners(app, "leader")[0].Data) == "b" })
	back := time.Now()
	c.Refuse(0, false)
	e := c.Event(sources.EventOwnerChanged, "leader")
	if e.Owner.Label != "b" || e.How == sources.Told || e.After.IsZero() || e.After.After(cut.Add(time.Second)) {
		t.Errorf("it happened unseen: %+v", e)
	}
	c.back(back, "b")
}

func TestBlackHoleIsStaleWithinTheLimitAndBackAfterIt(t *testing.T) {
	t.Parallel()
	c := contend(t)
	released := c.guarded()
	hole := time.Now()
	c.BlackHole(0, true)
	c.Row("", "leader", "stale", is(sources.StatusStale))
	t.Logf("stale after %v", time.Since(hole).Round(time.Millisecond))
	released()
	c.await("b to lead", func() bool {
		return len(c.Owners(app, "leader")) == 1 && string(c.Owners(app, "leader")[0].Data) == "b"
	})
	c.State("the source to say so", func(s *sources.State) bool {
		return s.Sources[0].Err != nil && strings.Contains(s.Sources[0].Err.Error(), "no answer")
	})
	back := time.Now()
	c.BlackHole(0, false)
	c.back(back, "b")
}

func TestExpiredSessionOfOursIsAnotherSession(t *testing.T) {
	t.Parallel()
	c := contend(t)
	c.guarded()
	before := c.ours()
	expired := time.Now()
	noError(t, c.ExpireSession(app, before.ID))
	c.Event(sources.EventSynced, "")
	c.back(expired, "a")
	if now := c.ours(); now.ID == before.ID {
		t.Errorf("session %d again", now.ID)
	}
	c.NoOwnerEvents()
}

func TestExpiredSessionOfTheLeaderIsAChangeOfOwner(t *testing.T) {
	t.Parallel()
	c := contend(t)
	id := c.Owners(app, "leader")[0].SessionID
	expired := time.Now()
	noError(t, c.ExpireSession(app, id))
	e := c.Event(sources.EventOwnerChanged, "leader")
	if e.Previous.Label != "a" || e.Owner.Label != "b" || !pushed(e) || e.Cause != sources.CauseUnknown {
		t.Errorf("%+v", e)
	}
	c.back(expired, "b")
	<-c.a.Context().Done()
	t.Logf("the leader knew it after %v", time.Since(expired).Round(time.Millisecond))
}

func TestDroppedSemaphoreIsDeletedAndCreatedAgain(t *testing.T) {
	t.Parallel()
	c := contend(t)
	dropped := time.Now()
	noError(t, c.DeleteSemaphore(app, "leader"))
	e := c.Event(sources.EventReleased, "leader")
	// In a stretch that is no instant the owner may have given it up before.
	unproved := e.Cause == sources.CauseUnknown && !e.After.IsZero() && pushed(e)
	if e.Cause != sources.CauseDeleted && !unproved || e.Previous.Label != "a" {
		t.Errorf("%+v", e)
	}
	c.Event(sources.EventDeleted, "leader")
	c.Row("", "leader", "absent", is(sources.StatusAbsent))
	t.Logf("gone from the screen after %v", time.Since(dropped).Round(time.Millisecond))
	<-c.a.Context().Done()
	t.Logf("the leader knew it after %v", time.Since(dropped).Round(time.Millisecond))
	if term, ok := <-c.b; ok { // a claim that waits is made again after ABORTED, and ends at NOT_FOUND
		t.Fatalf("b leads a semaphore that was deleted: %+v", term)
	}
	created := time.Now()
	c.semaphore("leader", 1)
	c.Event(sources.EventCreated, "leader")
	c.lead(c.session(1, testLimit), "leader", "c")
	if e := c.Event(sources.EventAcquired, "leader"); e.Owner.Label != "c" {
		t.Errorf("%+v", e)
	}
	c.back(created, "c")
}

func TestDroppedNodeHasNothingInItUntilItIsBack(t *testing.T) {
	t.Parallel()
	c := contend(t)
	nodes := c.nodes()
	dropped := time.Now()
	noError(t, nodes.Drop(t.Context(), app))
	if e := c.Event(sources.EventReleased, "leader"); e.Cause != sources.CauseDeleted || e.How != sources.Inferred {
		t.Errorf("%+v", e)
	}
	row := c.Row("", "leader", "absent", is(sources.StatusAbsent))
	if !row.Absent || !strings.Contains(row.Note, "coordination node") {
		t.Errorf("%+v", row.Primitive)
	}
	t.Logf("gone from the screen after %v", time.Since(dropped).Round(time.Millisecond))
	about := c.About(app, "missing", func(a sources.About) bool { return a.Mode == modeMissing })
	if len(about.Warnings) != 1 || c.Status().Health != sources.HealthLive {
		t.Errorf("%+v, %v", about, c.Status().Health)
	}
	<-c.a.Context().Done()
	created := time.Now()
	c.node(app)
	c.semaphore("leader", 1)
	c.lead(c.session(1, testLimit), "leader", "c")
	c.Event(sources.EventCreated, "leader")
	c.back(created, "c")
	if now := c.Row("", "leader", "there", is(sources.StatusLed)); now.Incarnation == row.Incarnation {
		t.Errorf("the same incarnation %q", now.Incarnation)
	}
}

func TestWrongPasswordIsRefusedAndSaysSo(t *testing.T) {
	t.Parallel()
	r := serve(t, ydbtest.Options{Users: map[string]ydbtest.User{"ann": {Password: "right"}}}, "leader")
	for user, want := range map[string]string{"": "wants a password: give user: and password_env", "ann": "refuses the password of ann"} {
		o := r.client()
		o.User, o.Password = user, "wrong"
		s := r.source(Options{Client: o, Nodes: []string{app}, Selections: elections("leader")})
		began := time.Now()
		err := s.Connect(t.Context())
		if !errors.Is(err, sources.ErrRefused) || !errors.Is(err, sources.ErrCredentials) || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "wrong") {
			t.Errorf("%q: %v", user, err)
		}
		t.Logf("refused after %v: %v", time.Since(began).Round(time.Millisecond), err)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	o := r.client()
	o.User, o.Password = "ann", "right"
	began := time.Now()
	r.watch(Options{Client: o, Selections: elections("leader")}).synced()
	r.Row("", "leader", "without a leader", is(sources.StatusNoLeader))
	t.Logf("on the screen %v after the right password", time.Since(began).Round(time.Millisecond))
}

func TestNodeWithoutAnyRightSaysWhatToGrant(t *testing.T) {
	t.Parallel()
	r := serve(t, ydbtest.Options{Users: map[string]ydbtest.User{"ann": {Password: "p", Deny: ydbtest.Read | ydbtest.Write | ydbtest.Erase}}}, "leader")
	o := r.client()
	o.User, o.Password = "ann", "p"
	r.watch(Options{Client: o, Selections: elections("leader")})
	r.State("the source to be refused", func(*sources.State) bool {
		err := r.Status().Err
		return errors.Is(err, sources.ErrRefused) && !errors.Is(err, sources.ErrCredentials) && strings.Contains(err.Error(), "grant select_row")
	})
}
