package ydbtest

import (
	"strings"
	"testing"
	"time"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
)

func TestAcquireRefusesInTheServicesOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.session("a")
	w.do(a, create(1, "s", 2), ephemeral(acquire(2, "e", 1, 0)))
	w.drop()
	big := strings.Repeat("x", largestData+1)
	for _, c := range []struct {
		name string
		req  *pb.SessionRequest
		want string
	}{
		{"a count of zero comes before all", acquire(9, "none", 0, 1<<62, big), "BAD_REQUEST false"},
		{"a timeout above a day", acquire(9, "none", 1, 24*3600*1000+1), "BAD_REQUEST false"},
		{"data above a MiB", acquire(9, "none", 1, 0, big), "BAD_REQUEST false"},
		{"a missing semaphore", acquire(9, "none", 1, 0), "NOT_FOUND false"},
		{"an ephemeral claim on a persistent one", ephemeral(acquire(9, "s", 3, 0)), "PRECONDITION_FAILED false"},
		{"a persistent claim on an ephemeral one", acquire(9, "e", 1, 0), "PRECONDITION_FAILED false"},
		{"a count above the limit", acquire(9, "s", 3, 0), "BAD_REQUEST false"},
		{"data of a MiB and a timeout of a day are allowed", acquire(9, "s", 1, 24*3600*1000, big[1:]), "SUCCESS true"},
	} {
		w.do(a, c.req)
		if got := w.lines(); len(got) != 1 || got[0] != "a: acquire 9 "+c.want {
			t.Errorf("%s: sent %q, want %q", c.name, got, c.want)
		}
	}
}

func TestAcquireAtOnceSendsNoPending(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.session("a")
	w.do(a, create(1, "s", 2), describe(2, "s", "owners"), acquire(3, "s", 2, 5000))
	w.expect("a: create 1 SUCCESS", "a: describe 2 SUCCESS true", "a: acquire 3 SUCCESS true", "a: changed 2 false true")
	w.expectState("s", "1*2#1 |")
}

func TestAcquireRepeat(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.session("a")
	w.do(a, create(1, "s", 2), acquire(2, "s", 1, 0, "x"), describe(3, "s", "owners"))
	w.drop()
	w.do(a, acquire(4, "s", 1, 0, "x"))
	w.expect("a: acquire 4 SUCCESS true")
	w.do(a, acquire(5, "s", 1, 0, "y"))
	w.expect("a: acquire 5 SUCCESS true", "a: changed 3 false true")
	w.expectState("s", "1*1#1 |")
}

func TestAcquireUpgradeIsRefusedAndChangesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.session("a")
	w.do(a, create(1, "s", 5), acquire(2, "s", 2, 0, "x"), describe(3, "s", "owners"))
	w.drop()
	w.do(a, acquire(4, "s", 3, forever, "y"))
	w.expect("a: acquire 4 BAD_REQUEST false")
	w.expectState("s", "1*2#1 |")
}

func TestAcquireDowngradeServesTheQueueBeforeTheWatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b, c := w.session("a"), w.session("b"), w.session("c")
	w.do(a, create(1, "s", 3), acquire(2, "s", 3, 0))
	w.do(b, acquire(1, "s", 1, forever))
	w.do(c, acquire(1, "s", 1, forever), describe(2, "s", "owners"))
	w.drop()
	w.do(a, acquire(3, "s", 1, 0))
	w.expect("a: acquire 3 SUCCESS true", "b: acquire 1 SUCCESS true", "c: acquire 1 SUCCESS true", "c: changed 2 false true")
	w.expectState("s", "1*1#1 2*1#2 3*1#3 |")
}

func TestSemaphoreViaDecreaseFiresWatchesAlways(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.session("a")
	w.do(a, create(1, "s", 3), acquire(2, "s", 3, 0), describe(3, "s", "owners"))
	w.drop()
	w.do(a, acquire(4, "s", 2, 0))
	w.expect("a: acquire 4 SUCCESS true", "a: changed 3 false true")
}

func TestAcquireTimeoutAnswersSuccessNotAcquired(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.session("a"), w.session("b")
	w.do(a, create(1, "s", 1), acquire(2, "s", 1, 0))
	w.do(b, acquire(1, "s", 1, 500))
	w.expect("a: create 1 SUCCESS", "a: acquire 2 SUCCESS true", "b: pending 1")
	w.after(499 * time.Millisecond)
	w.expect()
	w.after(time.Millisecond)
	w.expect("b: acquire 1 SUCCESS false")
	w.expectState("s", "1*1#1 |")
}

func TestTryFailsIfAnybodyWaitsEvenIfItWouldFit(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b, c := w.session("a"), w.session("b"), w.session("c")
	w.do(a, create(1, "s", 3), acquire(2, "s", 2, 0))
	w.do(b, acquire(1, "s", 2, forever))
	w.drop()
	w.do(c, acquire(1, "s", 1, 0))
	w.expect("c: acquire 1 SUCCESS false")
	w.expectState("s", "1*2#1 | 2*2#2")
}

// AcquireSharedBlocked of tablet_ut.cpp: the first of the queue blocks smaller claims.
func TestHeadOfTheQueueBlocksSmallerClaims(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b, c := w.session("a"), w.session("b"), w.session("c")
	w.do(a, create(1, "s", 3), acquire(2, "s", 2, 0))
	w.do(b, acquire(1, "s", 2, forever))
	w.do(c, acquire(1, "s", 1, forever))
	w.drop()
	w.do(a, release(3, "s"))
	w.expect("a: release 3 SUCCESS true", "b: acquire 1 SUCCESS true", "c: acquire 1 SUCCESS true")
	w.expectState("s", "2*2#2 3*1#3 |")
}

func TestWaiterDowngradeKeepsItsPlaceAndMayBeServed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b, c := w.session("a"), w.session("b"), w.session("c")
	w.do(a, create(1, "s", 3), acquire(2, "s", 2, 0))
	w.do(b, acquire(1, "s", 3, forever))
	w.do(c, acquire(1, "s", 1, forever))
	w.drop()
	w.do(b, acquire(2, "s", 2, forever, "new"))
	w.expect("b: acquire 1 ABORTED false", "b: pending 2")
	w.expectState("s", "1*2#1 | 2*2#2 3*1#3")
	w.do(b, acquire(3, "s", 1, forever, "newer"))
	w.expect("b: acquire 2 ABORTED false", "b: acquire 3 SUCCESS true")
	if got := string(w.tablet().semaphores["s"].owners[1].data); got != "newer" {
		t.Errorf("the new owner's data is %q", got)
	}
	w.expectState("s", "1*2#1 2*1#2 | 3*1#3")
}

func TestWaiterUpgradeIsRefusedAndTheOldClaimStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.session("a"), w.session("b")
	w.do(a, create(1, "s", 3), acquire(2, "s", 3, 0))
	w.do(b, acquire(1, "s", 1, forever))
	w.drop()
	w.do(b, acquire(2, "s", 2, forever))
	w.expect("b: acquire 2 BAD_REQUEST false")
	w.do(a, release(3, "s"))
	w.expect("a: release 3 SUCCESS true", "b: acquire 1 SUCCESS true")
}

func TestWaiterChangesTimeoutToZero(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b, c := w.session("a"), w.session("b"), w.session("c")
	w.do(a, create(1, "s", 3), acquire(2, "s", 2, 0))
	w.do(b, acquire(1, "s", 2, forever))
	w.do(c, acquire(1, "s", 1, forever))
	w.drop()
	w.do(b, acquire(2, "s", 2, 0))
	w.expect("b: acquire 1 ABORTED false", "b: acquire 2 SUCCESS false", "c: acquire 1 SUCCESS true")
	w.expectState("s", "1*2#1 3*1#3 |")
}

func TestWaiterTriesAgainAndFitsAsFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.session("a"), w.session("b")
	w.do(a, create(1, "s", 3), acquire(2, "s", 2, 0))
	w.do(b, acquire(1, "s", 2, forever))
	w.drop()
	w.do(b, acquire(2, "s", 1, 0))
	w.expect("b: acquire 1 ABORTED false", "b: acquire 2 SUCCESS true")
}

func TestSupersedingRestartsTheTimer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.session("a"), w.session("b")
	w.do(a, create(1, "s", 1), acquire(2, "s", 1, 0))
	w.do(b, acquire(1, "s", 1, 1000))
	w.after(900 * time.Millisecond)
	w.do(b, acquire(2, "s", 1, 1000))
	w.drop()
	w.after(999 * time.Millisecond)
	w.expect()
	w.after(time.Millisecond)
	w.expect("b: acquire 2 SUCCESS false")
}

func TestOwnerIsNotLostByItsAcquireTimeout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.session("a"), w.session("b")
	w.do(a, create(1, "s", 1), acquire(2, "s", 1, 0))
	w.do(b, acquire(1, "s", 1, 1000))
	w.do(a, release(3, "s"))
	w.drop()
	w.after(time.Minute)
	w.expect()
	w.expectState("s", "2*1#2 |")
}

func TestTimerOfAnEarlierClaimDoesNotEndALaterOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.session("a"), w.session("b")
	w.do(a, create(1, "s", 1), acquire(2, "s", 1, 0))
	w.do(b, acquire(1, "s", 1, 1000))
	w.do(a, release(3, "s"))
	w.do(b, release(2, "s"))
	w.do(a, acquire(4, "s", 1, 0))
	w.do(b, acquire(3, "s", 1, forever))
	w.drop()
	w.after(time.Minute)
	w.do(a, release(5, "s"))
	w.expect("a: release 5 SUCCESS true", "b: acquire 3 SUCCESS true")
}

func TestAcquireBeforeTimeoutViaRelease(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.session("a"), w.session("b")
	w.do(a, create(1, "s", 1), acquire(2, "s", 1, 0))
	w.do(b, acquire(1, "s", 1, 500))
	w.drop()
	w.after(400 * time.Millisecond)
	w.do(a, release(3, "s"))
	w.expect("a: release 3 SUCCESS true", "b: acquire 1 SUCCESS true")
}

func TestAcquireBeforeTimeoutViaSessionTimeout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.attach("a", 0, &pb.SessionRequest_SessionStart{TimeoutMillis: 400})
	b := w.session("b")
	w.do(a, create(1, "s", 1), acquire(2, "s", 1, 0))
	w.do(b, acquire(1, "s", 1, 500))
	w.model.hangUp(a)
	w.drop()
	w.after(399 * time.Millisecond)
	w.expect()
	w.after(time.Millisecond)
	w.expect("b: acquire 1 SUCCESS true")
}

func TestAcquireBeforeTimeoutViaModeChange(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.session("a"), w.session("b")
	w.do(a, create(1, "s", 2), acquire(2, "s", 2, 0))
	w.do(b, acquire(1, "s", 1, 500))
	w.drop()
	w.after(400 * time.Millisecond)
	w.do(a, acquire(3, "s", 1, 0))
	w.expect("a: acquire 3 SUCCESS true", "b: acquire 1 SUCCESS true")
}

func TestInfiniteClaimOutlivesADay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.session("a"), w.session("b")
	w.do(a, create(1, "s", 1), acquire(2, "s", 1, 0))
	w.do(b, acquire(1, "s", 1, forever))
	w.drop()
	w.after(25 * time.Hour)
	w.expect()
	w.expectState("s", "1*1#1 | 2*1#2")
}

func TestReleaseOfNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.session("a")
	w.do(a, create(1, "s", 1), release(2, "s"), release(3, "none"), release(4, strings.Repeat("n", 2*longestName)))
	w.expect("a: create 1 SUCCESS", "a: release 2 SUCCESS false", "a: release 3 SUCCESS false", "a: release 4 SUCCESS false")
}

func TestReleaseByOwnerPromotesThenFiresWatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.session("a"), w.session("b")
	w.do(a, create(1, "s", 1), acquire(2, "s", 1, 0), describe(3, "s", "owners"))
	w.do(b, acquire(1, "s", 1, forever))
	w.drop()
	w.do(a, release(4, "s"))
	w.expect("a: release 4 SUCCESS true", "b: acquire 1 SUCCESS true", "a: changed 3 false true")
}

func TestAcquireWaiterReleaseAbortsTheClaimAndServesTheRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b, c := w.session("a"), w.session("b"), w.session("c")
	w.do(a, create(1, "s", 2), acquire(2, "s", 1, 0), describe(3, "s", "owners"))
	w.do(b, acquire(1, "s", 2, forever))
	w.do(c, acquire(1, "s", 1, forever))
	w.drop()
	w.do(b, release(2, "s"))
	w.expect("b: acquire 1 ABORTED false", "b: release 2 SUCCESS true", "c: acquire 1 SUCCESS true", "a: changed 3 false true")
}

func TestReleaseOfAWaiterInTheMiddleFiresNoWatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b, c := w.session("a"), w.session("b"), w.session("c")
	w.do(a, create(1, "s", 1), acquire(2, "s", 1, 0), describe(3, "s", "owners", "data"))
	w.do(b, acquire(1, "s", 1, forever))
	w.do(c, acquire(1, "s", 1, forever))
	w.do(c, release(2, "s"))
	w.drop()
	w.do(b, release(2, "s"))
	w.expect("b: acquire 1 ABORTED false", "b: release 2 SUCCESS true")
}

// SemaphoreReleaseReacquire of tablet_ut.cpp guards a bug of old servers.
func TestWaiterThatReleasedMayComeBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.session("a"), w.session("b")
	w.do(a, create(1, "s", 1), acquire(2, "s", 1, 0))
	w.do(b, acquire(1, "s", 1, forever), release(2, "s"), acquire(3, "s", 1, forever))
	w.drop()
	w.expectState("s", "1*1#1 | 2*1#3")
	w.do(a, release(3, "s"))
	w.expect("a: release 3 SUCCESS true", "b: acquire 3 SUCCESS true")
}

func TestEphemeralSemaphoreLivesWithItsOwners(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.session("a"), w.session("b")
	w.do(a, ephemeral(acquire(1, "e", forever, 0)), update(2, "e", "data"), describe(3, "e", "data"))
	w.do(b, ephemeral(acquire(1, "e", 1, forever)), create(2, "e", 1), remove(3, "e", true), describe(4, "e", "owners"))
	w.expect("a: acquire 1 SUCCESS true", "a: update 2 SUCCESS", "a: describe 3 SUCCESS true",
		"b: pending 1", "b: create 2 PRECONDITION_FAILED", "b: delete 3 PRECONDITION_FAILED", "b: describe 4 SUCCESS true")
	w.do(a, release(4, "e"))
	w.expect("a: release 4 SUCCESS true", "b: acquire 1 SUCCESS true", "b: changed 4 false true")
	w.do(b, release(5, "e"))
	w.expect("b: release 5 SUCCESS true", "a: changed 3 true true")
	w.expectState("e", "none")
}
