package ydbsource

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"

	"coordtop/coord"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/sources"
)

func TestElectionShowsLeaderFenceAndData(t *testing.T) {
	t.Parallel()
	r := serve(t, ydbtest.Options{}, "leader")
	r.lead(r.person(), "leader", "host-1:42 since today")
	noError(t, r.UpdateSemaphore(app, "leader", []byte("proclaimed")))
	r.watch(Options{Selections: elections("leader"), Labels: []sources.Attr{{Key: "env", Value: "test"}}}).synced()
	row := r.Row("", "leader", "led", is(sources.StatusLed))
	told := r.Owners(app, "leader")[0]
	o := row.Owners[0]
	if row.Space != app || row.Kind != sources.KindElection || row.Limit != 1 || row.Taken != 1 || row.Ephemeral ||
		string(row.Data.Head) != "proclaimed" || row.Labels[0].Value != "test" || row.Queue.How != sources.Told {
		t.Errorf("%+v", row.Primitive)
	}
	if o.Label != "host-1:42" || o.Fence != told.OrderID || o.NoExpiry || o.Expires.How != sources.Unknown || string(o.Data.Head) != "host-1:42 since today" ||
		o.ID == o.Session || !strings.HasPrefix(o.ID, o.Session+"@") || o.Guard != guardOf(told) || o.Since.How != sources.AtLeast {
		t.Errorf("%+v", o)
	}
}

func TestHandOverIsOneToldChangeOfOwner(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := serve(t, ydbtest.Options{InMemory: true}, "leader")
		first := r.lead(r.person(), "leader", "a")
		r.campaign(r.person(), "leader", "b")
		r.watch(Options{Selections: elections("leader")}).synced()
		r.resign(first)
		e := r.Event(sources.EventOwnerChanged, "leader")
		if e.How != sources.Told || !e.After.IsZero() || e.Previous.Label != "a" || e.Owner.Label != "b" || e.Cause != sources.CauseUnknown {
			t.Errorf("%+v", e)
		}
		row := r.Row("", "leader", "led by b", ledBy("b"))
		if row.Queue.Len != 0 || row.Owners[0].Since.How != sources.Seen {
			t.Errorf("%+v", row.Primitive)
		}
		r.Stop()
	})
}

func TestProclamationOfOwnerAndOfSemaphoreAreTold(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := serve(t, ydbtest.Options{InMemory: true}, "leader")
		term := r.lead(r.person(), "leader", "a")
		r.watch(Options{Selections: elections("leader")}).synced()
		noError(t, term.Proclaim(t.Context(), []byte("a ready")))
		if e := r.Event(sources.EventProclaimed, "leader"); e.Detail != `"a ready"` || e.How != sources.Told {
			t.Errorf("%+v", e)
		}
		noError(t, r.UpdateSemaphore(app, "leader", []byte("of the semaphore")))
		if e := r.Event(sources.EventProclaimed, "leader"); e.Detail != `"of the semaphore"` {
			t.Errorf("%+v", e)
		}
		r.Stop()
	})
}

func TestWaitersAreShownInOrderWithWhatTheyAskFor(t *testing.T) {
	t.Parallel()
	r := serve(t, ydbtest.Options{})
	r.semaphore("quota", 5)
	first, err := r.person().Semaphore("quota", coord.SemaphoreOptions{Data: []byte(`{"label":"worker-1"}`)}).Acquire(t.Context(), 3)
	noError(t, err)
	big, err := r.person().Semaphore("quota", coord.SemaphoreOptions{Data: []byte("worker-2"), Wait: time.Hour}).Enqueue(t.Context(), 4)
	noError(t, err)
	defer big.Leave(t.Context())
	r.watch(Options{Selections: []Selection{{Pattern: "quota", Kind: sources.KindSemaphore}}, PollMax: 100 * time.Millisecond, PollMin: 50 * time.Millisecond}).synced()
	row := r.Row("", "quota", "held", is(sources.StatusHeld))
	if row.Limit != 5 || row.Taken != 3 || len(row.Owners) != 1 || row.Owners[0].Label != "worker-1" || row.Owners[0].Permits != 3 || row.Owners[0].Fence != 0 {
		t.Errorf("%+v", row.Primitive)
	}
	if row.Queue.Len != 1 || row.Queue.Waiters[0].Label != "worker-2" || row.Queue.Waiters[0].Permits != 4 ||
		row.Queue.Waiters[0].Timeout != time.Hour || row.Queue.Waiters[0].Since.How != sources.AtLeast || row.Queue.Waiters[0].Order != first.Fence()+1 && row.Queue.Waiters[0].Order == 0 {
		t.Errorf("%+v", row.Queue)
	}
	small, err := r.person().Semaphore("quota", coord.SemaphoreOptions{Data: []byte("\x1b[31mred")}).Enqueue(t.Context(), 1)
	noError(t, err)
	defer small.Leave(t.Context())
	e := r.Event(sources.EventWaiterJoined, "quota")
	if e.How != sources.Seen || e.After.IsZero() || !strings.HasPrefix(e.Owner.Label, "session ") {
		t.Errorf("a waiter is seen between two looks: %+v", e)
	}
	row = r.Row("", "quota", "with two waiters", func(row *sources.Row, _ *sources.State) bool { return row.Queue.Len == 2 })
	if w := row.Queue.Waiters[1]; w.Since.How != sources.Seen || w.Since.After().IsZero() || w.Timeout != 0 {
		t.Errorf("%+v", w)
	}
}

func TestMutexIsAnEphemeralSemaphoreWithAllPermits(t *testing.T) {
	t.Parallel()
	r := serve(t, ydbtest.Options{})
	r.watch(Options{Selections: []Selection{{Pattern: "job", Kind: sources.KindMutex}}}).synced()
	r.Row("", "job", "free", is(sources.StatusFree))
	l, err := r.person().Mutex("job", coord.MutexOptions{Data: []byte("owner")}).Lock(t.Context())
	noError(t, err)
	if e := r.Expect(sources.EventAcquired, "job"); e.How != sources.Seen || e.Owner.Label != "owner" {
		t.Errorf("%+v", e)
	}
	row := r.Row("", "job", "held", is(sources.StatusHeld))
	if row.Limit != 1 || row.Taken != 1 || row.Kind != sources.KindMutex || !row.Ephemeral || row.Owners[0].Permits != 1 || row.Owners[0].Fence != l.Fence() {
		t.Errorf("%+v", row.Primitive)
	}
	noError(t, l.Release(t.Context()))
	r.Expect(sources.EventReleased, "job")
	r.Row("", "job", "free again", is(sources.StatusFree))
}

func TestMissingSemaphoreKeepsItsRowAndIsCreatedBeforeOurEyes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := serve(t, ydbtest.Options{InMemory: true})
		r.watch(Options{Selections: []Selection{{Pattern: "leader", Kind: sources.KindElection, Expected: true}}}).synced()
		row := r.Row("", "leader", "absent", is(sources.StatusAbsent))
		if !row.Absent || row.Note == "" || !row.Expected || len(row.Owners) != 0 {
			t.Errorf("%+v", row.Primitive)
		}
		r.semaphore("leader", 1)
		if e := r.Expect(sources.EventCreated, "leader"); e.How != sources.Seen || e.After.IsZero() {
			t.Errorf("%+v", e)
		}
		r.lead(r.person(), "leader", "a")
		if e := r.Expect(sources.EventAcquired, "leader"); e.How != sources.Told {
			t.Errorf("%+v", e)
		}
		r.Stop()
	})
}

func TestSemaphoreThatIsNotToBeReadSaysSo(t *testing.T) {
	t.Parallel()
	r := serve(t, ydbtest.Options{Users: map[string]ydbtest.User{"blind": {Password: "p", Deny: ydbtest.Read}}}, "leader")
	o := r.client()
	o.User, o.Password = "blind", "p"
	r.watch(Options{Client: o, Selections: elections("leader")}).synced()
	row := r.Row("", "leader", "unknown", is(sources.StatusUnknown))
	if !strings.Contains(row.Note, "no right") {
		t.Errorf("%+v", row.Primitive)
	}
}

func TestNodesAreFoundAndShownWithoutNames(t *testing.T) {
	t.Parallel()
	r := serve(t, ydbtest.Options{})
	r.node("/local/deep/er/node")
	r.run(r.source(Options{}))
	about := r.About("/local/deep/er/node", "described", func(a sources.About) bool { return attr(a.Config, "session grace period") != "" })
	if len(about.Warnings) != 1 || !strings.Contains(about.Warnings[0], "/local/deep/er/node with semaphore=") || about.Incarnation == "" {
		t.Errorf("%+v", about)
	}
	r.About(app, "described", func(a sources.About) bool { return attr(a.Config, "owner of the node") != "" })
	walked := r.About("/local", "walked", func(a sources.About) bool { return attr(a.Config, "coordination nodes") == "2" })
	if walked.Mode != modeWalk || r.Streams() != 0 {
		t.Errorf("%+v, %d streams", walked, r.Streams())
	}
	r.State("the source to be live", func(*sources.State) bool { return r.Status().Health == sources.HealthLive })
}

func TestNameWithoutNodeIsShownWhereItExists(t *testing.T) {
	t.Parallel()
	r := serve(t, ydbtest.Options{}, "leader")
	r.node("/local/other")
	r.run(r.source(Options{Selections: elections("leader")}))
	row := r.Row("", "leader", "without a leader", is(sources.StatusNoLeader))
	if row.Space != app {
		t.Errorf("%+v", row.Ref)
	}
	r.About("/local/other", "watched", func(a sources.About) bool { return a.Mode == modeWatch })
	if n := len(rowsOf(r.Hub.State())); n != 1 {
		t.Errorf("%d rows", n)
	}
	noError(t, r.CreateSemaphore("/local/other", "leader", 1, nil))
	if e := r.Event(sources.EventCreated, "leader"); e.Ref.Space != "/local/other" {
		t.Errorf("%+v", e)
	}
}

// TestNoListingIsCompleteBeforeEveryNodeIsInIt reads Changes until each scope that was told of is
// complete, as "get" does.
func TestNoListingIsCompleteBeforeEveryNodeIsInIt(t *testing.T) {
	t.Parallel()
	r := serve(t, ydbtest.Options{}, "leader")
	paths := []string{app}
	for i := range 20 {
		path := fmt.Sprintf("/local/node-%d", i)
		r.node(path)
		paths = append(paths, path)
	}
	for what, o := range map[string]Options{
		"found": {Selections: elections("leader")}, "found, no names": {}, "named": {Nodes: paths, Selections: elections("leader")},
	} {
		s := r.source(o)
		noError(t, s.Connect(t.Context()))
		open, complete := map[string]bool{}, 0
		for complete == 0 || len(open) > 0 {
			c, err := s.Next(t.Context())
			noError(t, err)
			if c.Relists {
				open[c.Scope] = true
			}
			if c.Synced {
				delete(open, c.Scope)
				complete++
			}
		}
		if complete < len(paths) {
			t.Errorf("%s: complete with %d listings, and there are %d nodes", what, complete, len(paths))
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestAWalkThatFailedIsNoCompleteListing(t *testing.T) {
	t.Parallel()
	r := serve(t, ydbtest.Options{}, "leader")
	r.FailCalls("ListDirectory", codes.Internal, 1)
	s := r.source(Options{})
	noError(t, s.Connect(t.Context()))
	defer s.Close()
	for {
		c, err := s.Next(t.Context())
		switch {
		case err != nil:
			t.Fatal(err)
		case c.Synced:
			t.Fatalf("told as complete: %+v", c)
		case c.About != nil && len(c.About.Warnings) > 0:
			return
		}
	}
}

func rowsOf(s *sources.State) []*sources.Row {
	var rows []*sources.Row
	for _, row := range s.Rows {
		if row != nil {
			rows = append(rows, row)
		}
	}
	return rows
}

func TestSettingsOfTheNodeAndOurSessionAreTold(t *testing.T) {
	t.Parallel()
	r := serve(t, ydbtest.Options{}, "leader")
	r.watch(Options{Selections: elections("leader", "none")}).synced()
	about := r.About(app, "measured", func(a sources.About) bool {
		return a.RoundTrip > 0 && attr(a.Config, "semaphores") == "2 named, 1 missing"
	})
	if about.Mode != modeWatch || about.Sampling != 0 || attr(about.Config, "self check period") == "" || attr(about.Config, "attach consistency") == "" ||
		len(about.Warnings) != 0 {
		t.Errorf("%+v", about)
	}
	if list := r.Sessions(app); len(list) != 1 || list[0].Description != "coordtop-watch" || list[0].Owns+list[0].Waits != 0 {
		t.Errorf("%+v", list)
	}
	r.Stop()
	if list := r.Sessions(app); len(list) != 0 {
		t.Errorf("left behind: %+v", list)
	}
}
