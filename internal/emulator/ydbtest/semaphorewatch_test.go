package ydbtest

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
)

func TestDescribeSemaphoreWatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.session("a"), w.session("b")
	w.do(a, create(1, "s", 2, "old"))
	w.do(b, describe(1, "s", "data"))
	w.do(a, describe(2, "s", "owners"))
	w.drop()
	w.do(a, update(3, "s", "old"))
	w.expect("a: update 3 SUCCESS")
	w.do(a, update(4, "s", "new"))
	w.expect("a: update 4 SUCCESS", "b: changed 1 true false")
	w.do(a, update(5, "s", "newer"), acquire(6, "s", 1, 0))
	w.expect("a: update 5 SUCCESS", "a: acquire 6 SUCCESS true", "a: changed 2 false true")
	w.do(a, release(7, "s"), describe(8, "s", "owners"))
	w.expect("a: release 7 SUCCESS true", "a: describe 8 SUCCESS true")
}

func TestWatcherOfBothGetsOneMessageAndLosesBoth(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.session("a")
	w.do(a, create(1, "s", 2), describe(2, "s", "data", "owners"))
	w.drop()
	w.do(a, update(3, "s", "new"), acquire(4, "s", 1, 0))
	w.expect("a: update 3 SUCCESS", "a: changed 2 true false", "a: acquire 4 SUCCESS true")
}

func TestReplacedWatchIsToldBeforeTheNewResult(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.session("a")
	w.do(a, create(1, "s", 2), describe(2, "s", "data"))
	w.drop()
	w.do(a, describe(3, "s", "owners"))
	w.expect("a: changed 2 false false", "a: describe 3 SUCCESS true")
	w.do(a, update(4, "s", "new"), acquire(5, "s", 1, 0))
	w.expect("a: update 4 SUCCESS", "a: acquire 5 SUCCESS true", "a: changed 3 false true")
}

func TestDescribeWithoutFlagsLeavesTheWatchAlone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.session("a")
	w.do(a, create(1, "s", 2), describe(2, "s", "data"), describe(3, "s"), update(4, "s", "new"))
	w.expect("a: create 1 SUCCESS", "a: describe 2 SUCCESS true", "a: describe 3 SUCCESS false",
		"a: update 4 SUCCESS", "a: changed 2 true false")
}

func TestDescribeOfAMissingSemaphoreArmsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.session("a")
	w.do(a, describe(1, "s", "data", "owners"), create(2, "s", 1), acquire(3, "s", 1, 0))
	w.expect("a: describe 1 NOT_FOUND false", "a: create 2 SUCCESS", "a: acquire 3 SUCCESS true")
}

func TestQueueChangesFireNoWatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.session("a"), w.session("b")
	w.do(a, create(1, "s", 2), acquire(2, "s", 2, 0), describe(3, "s", "data", "owners"))
	w.drop()
	w.do(b, acquire(1, "s", 2, 500, "x"), acquire(2, "s", 1, 500, "y"))
	w.after(time.Second)
	w.do(b, acquire(3, "s", 1, forever))
	w.model.hangUp(b)
	w.after(time.Minute)
	w.expect("b: pending 1", "b: acquire 1 ABORTED false", "b: pending 2", "b: acquire 2 SUCCESS false",
		"b: pending 3", "b: end Canceled")
	w.expectState("s", "1*2#1 |")
}

func TestOwnersWatchFiresForEveryChangeOfAnOwner(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.session("a"), w.session("b")
	w.do(b, create(1, "s", 3))
	for i, req := range []*pb.SessionRequest{
		acquire(1, "s", 2, 0), acquire(1, "s", 2, 0, "data"), acquire(1, "s", 1, 0, "data"), release(1, "s"),
	} {
		w.do(b, describe(9, "s", "owners"))
		w.drop()
		w.do(a, req)
		if got := w.lines(); len(got) != 2 || got[1] != "b: changed 9 false true" {
			t.Errorf("change %d: sent %q", i, got)
		}
	}
}

func TestForceDeleteTellsWaitersThenWatchersThenTheCaller(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b, c := w.session("a"), w.session("b"), w.session("c")
	w.do(a, create(1, "s", 1), acquire(2, "s", 1, 0), describe(3, "s", "data"))
	w.do(b, acquire(1, "s", 1, 1000), describe(2, "s", "owners"))
	w.do(c, acquire(1, "s", 1, forever))
	w.drop()
	w.do(c, remove(2, "s", false))
	w.expect("c: delete 2 PRECONDITION_FAILED")
	w.do(c, remove(3, "s", true))
	w.expect("b: acquire 1 ABORTED false", "c: acquire 1 ABORTED false",
		"a: changed 3 true true", "b: changed 2 true true", "c: delete 3 SUCCESS")
	if n := len(w.model.timers.due); n != 3 {
		t.Errorf("%d timers are left, want three pings", n)
	}
	w.do(a, release(4, "s"), create(5, "s", 1), release(6, "s"))
	w.expect("a: release 4 SUCCESS false", "a: create 5 SUCCESS", "a: release 6 SUCCESS false")
	w.after(time.Minute)
	w.expect()
}

func TestOrderIDsGrowOverAllSemaphoresAndDeletions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.session("a")
	w.do(a, create(1, "s", 1), create(2, "q", 1), acquire(3, "s", 1, 0), acquire(4, "q", 1, 0), acquire(5, "s", 1, 0))
	w.do(a, remove(6, "s", true), create(7, "s", 1), acquire(8, "s", 1, 0))
	w.expectState("q", "1*1#2 |")
	w.expectState("s", "1*1#3 |")
}

func TestCreateUpdateAndDeleteAnswerByTheTable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.session("a")
	long, big := strings.Repeat("n", 1025), strings.Repeat("x", largestData+1)
	for _, c := range []struct {
		req  *pb.SessionRequest
		want string
	}{
		{create(1, "s", 0), "create 1 BAD_REQUEST"},
		{create(1, long, 1), "create 1 BAD_REQUEST"},
		{create(1, "s", 1, big), "create 1 BAD_REQUEST"},
		{create(1, long[1:], forever, big[1:]), "create 1 SUCCESS"},
		{create(1, "", 1), "create 1 SUCCESS"},
		{create(1, "s", 1, "data"), "create 1 SUCCESS"},
		{create(1, "s", 1, "data"), "create 1 ALREADY_EXISTS"},
		{create(1, "s", 9), "create 1 ALREADY_EXISTS"},
		{update(1, long, ""), "update 1 BAD_REQUEST"},
		{update(1, "s", big), "update 1 BAD_REQUEST"},
		{update(1, "none", "x"), "update 1 NOT_FOUND"},
		{update(1, "s", "x"), "update 1 SUCCESS"},
		{remove(1, "none", true), "delete 1 NOT_FOUND"},
		{remove(1, long, true), "delete 1 NOT_FOUND"},
		{remove(1, "s", false), "delete 1 SUCCESS"},
		{remove(1, "s", false), "delete 1 NOT_FOUND"},
	} {
		w.do(a, c.req)
		if got := w.lines(); len(got) != 1 || got[0] != "a: "+c.want {
			t.Errorf("%v: sent %q, want %q", c.req, got, c.want)
		}
	}
}

func TestRefusedUpdateChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.session("a")
	w.do(a, create(1, "s", 1, "data"), describe(2, "s", "data"), update(3, "s", strings.Repeat("x", largestData+1)))
	w.expect("a: create 1 SUCCESS", "a: describe 2 SUCCESS true", "a: update 3 BAD_REQUEST")
	if got := string(w.tablet().semaphores["s"].data); got != "data" {
		t.Errorf("the data is %d bytes now", len(got))
	}
}

func TestDescriptionHasWhatTheWireHas(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b, c := w.session("a"), w.session("b"), w.session("c")
	w.do(a, create(1, "s", 3, "about"), acquire(2, "s", 2, 7000, "mine"))
	w.do(b, acquire(1, "s", 2, 5000, "soon"))
	w.do(c, acquire(1, "s", 1, forever))
	w.model.drain()
	w.do(a, describe(3, "s"))
	d := w.model.drain()[0].msg.GetDescribeSemaphoreResult().GetSemaphoreDescription()
	if d.GetName() != "s" || string(d.GetData()) != "about" || d.GetLimit() != 3 || d.GetCount() != 2 || d.GetEphemeral() {
		t.Errorf("described %v", d)
	}
	owners, waiters := d.GetOwners(), d.GetWaiters()
	if len(owners) != 1 || owners[0].GetSessionId() != 1 || owners[0].GetOrderId() != 1 || owners[0].GetCount() != 2 ||
		owners[0].GetTimeoutMillis() != 0 || string(owners[0].GetData()) != "mine" {
		t.Errorf("owners %v", owners)
	}
	if len(waiters) != 2 || waiters[0].GetOrderId() != 2 || waiters[0].GetTimeoutMillis() != 5000 ||
		string(waiters[0].GetData()) != "soon" || waiters[1].GetOrderId() != 3 || waiters[1].GetTimeoutMillis() != forever {
		t.Errorf("waiters %v", waiters)
	}
	w.do(a, &pb.SessionRequest{Request: &pb.SessionRequest_DescribeSemaphore_{
		DescribeSemaphore: &pb.SessionRequest_DescribeSemaphore{Name: "s"},
	}})
	d = w.model.drain()[0].msg.GetDescribeSemaphoreResult().GetSemaphoreDescription()
	if len(d.GetOwners()) != 0 || len(d.GetWaiters()) != 0 || d.GetCount() != 2 {
		t.Errorf("described %v without being asked", d)
	}
}

func TestOwnersHaveAnOrderOnlyOnDemand(t *testing.T) {
	t.Parallel()
	for _, inOrder := range []bool{false, true} {
		w := newWorld(t)
		w.model.ownersInOrder = inOrder
		a := w.session("a")
		w.do(a, create(1, "s", 8))
		for range 8 {
			w.do(w.session("b"), acquire(1, "s", 1, 0))
		}
		w.drop()
		w.do(a, describe(2, "s"))
		owners := w.model.drain()[0].msg.GetDescribeSemaphoreResult().GetSemaphoreDescription().GetOwners()
		sorted := slices.IsSortedFunc(owners, func(a, b *pb.SemaphoreSession) int {
			return cmp.Compare(a.GetOrderId(), b.GetOrderId())
		})
		if len(owners) != 8 || sorted != inOrder {
			t.Errorf("in order %t: %v", inOrder, owners)
		}
	}
}

func TestSessionsOwnActionsFireItsOwnWatchAndLostOnesFireNone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.session("a")
	w.do(a, create(1, "s", 1), describe(2, "s", "data", "owners"))
	b := w.attach("b", 0, &pb.SessionRequest_SessionStart{SessionId: 1})
	w.drop()
	if n := len(w.tablet().semaphores["s"].watches); n != 0 {
		t.Errorf("%d watches have outlived their stream", n)
	}
	w.do(b, update(3, "s", "new"), describe(4, "s", "data"), update(5, "s", "newer"))
	w.expect("b: update 3 SUCCESS", "b: describe 4 SUCCESS true", "b: update 5 SUCCESS", "b: changed 4 true false")
	if n := len(w.tablet().semaphores["s"].watches); n != 0 {
		t.Errorf("%d watches are left", n)
	}
}
