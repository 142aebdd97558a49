package ydbtest

import (
	"testing"
	"time"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
)

func TestSessionTimeoutAfterDetach(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.session("a"), w.session("b")
	w.do(a, create(1, "s", 1), acquire(2, "s", 1, 0), create(3, "q", 1), describe(4, "s", "owners"))
	w.do(b, acquire(1, "q", 1, 0), acquire(2, "s", 1, forever), describe(3, "s", "owners"))
	w.do(a, acquire(5, "q", 1, forever))
	w.model.hangUp(a)
	w.drop()
	w.after(30*time.Second - time.Millisecond)
	w.expect()
	w.after(time.Millisecond)
	w.expect("b: acquire 2 SUCCESS true", "b: changed 3 false true")
	w.expectState("q", "2*1#2 |")
	w.attach("c", 0, &pb.SessionRequest_SessionStart{SessionId: 1})
	w.expect("c: failure SESSION_EXPIRED", "c: end OK")
}

func TestTimeoutOfZeroExpiresWithTheStream(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.attach("a", 0, &pb.SessionRequest_SessionStart{})
	w.model.hangUp(a)
	w.after(0)
	w.drop()
	if len(w.tablet().sessions) != 0 {
		t.Error("the session lives")
	}
}

// The trap of facts/ydb.md section 3: a refused attach leaves an immortal owner.

func TestQueueTimerRunsWhileDetached(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.session("a"), w.session("b")
	w.do(a, create(1, "s", 1), acquire(2, "s", 1, 0))
	w.do(b, acquire(1, "s", 1, 1000))
	w.model.hangUp(b)
	w.after(time.Second)
	w.expectState("s", "1*1#1 |")
}

func TestStopTellsTheStopperBeforeTheOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.session("a"), w.session("b")
	w.do(a, create(1, "s", 1), acquire(2, "s", 1, 0), describe(3, "s", "owners"))
	w.do(b, acquire(1, "s", 1, forever), describe(2, "s", "owners"))
	w.drop()
	w.do(a, stop(), ping(1))
	w.expect("a: stopped 1", "a: end OK", "b: acquire 1 SUCCESS true", "b: changed 2 false true")
	w.attach("c", 0, &pb.SessionRequest_SessionStart{SessionId: 1})
	w.expect("c: failure SESSION_EXPIRED", "c: end OK")
}

func TestStopNeedsNoRight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	st := w.model.open(0, Erase)
	w.names[st] = "a"
	w.do(st, sessionStart(&pb.SessionRequest_SessionStart{}), stop())
	w.expect("a: started 1", "a: stopped 1", "a: end OK")
}

func TestSessionTimeoutAfterReboot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.attach("a", 0, &pb.SessionRequest_SessionStart{TimeoutMillis: 5000, SeqNo: 9})
	b := w.attach("b", 0, &pb.SessionRequest_SessionStart{TimeoutMillis: 30_000, SeqNo: 9})
	w.do(a, create(1, "s", 1), acquire(2, "s", 1, 0))
	w.do(b, acquire(1, "s", 1, 20_000))
	w.after(10 * time.Second)
	w.drop()
	w.tablet().restart()
	w.expect("a: failure UNAVAILABLE", "a: end OK", "b: failure UNAVAILABLE", "b: end OK")
	w.after(15*time.Second - time.Millisecond)
	w.expectState("s", "1*1#1 | 2*1#2")
	w.after(time.Millisecond)
	w.expectState("s", "2*1#2 |")
	w.attach("c", 0, &pb.SessionRequest_SessionStart{SessionId: 2, SeqNo: 0, TimeoutMillis: 1000})
	w.expect("c: started 2")
}

func TestQueueTimersStartAfreshWithTheTablet(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.session("a"), w.session("b")
	w.do(a, create(1, "s", 1), acquire(2, "s", 1, 0))
	w.do(b, acquire(1, "s", 1, 20_000))
	w.after(15 * time.Second)
	w.tablet().restart()
	w.after(20*time.Second - time.Millisecond)
	w.expectState("s", "1*1#1 | 2*1#2")
	w.after(time.Millisecond)
	w.expectState("s", "1*1#1 |")
}

func TestGraceIsBoundedByItsSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		selfCheck, grace uint32
		want             time.Duration
	}{
		{0, 0, 10 * time.Second}, {0, 60_000, 30 * time.Second}, {0, 1, 2 * time.Second},
		{60_000, 1, 11 * time.Second}, {100, 1, 1500 * time.Millisecond}, {0, 12_000, 12 * time.Second},
	} {
		tab := newTablet(nil, &pb.Config{SelfCheckPeriodMillis: c.selfCheck, SessionGracePeriodMillis: c.grace})
		if got := tab.grace(); got != c.want {
			t.Errorf("self check %d, grace %d: %v, want %v", c.selfCheck, c.grace, got, c.want)
		}
	}
}

func TestSessionTimeoutAfterUnregister(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.session("a")
	b := w.attach("b", 1, &pb.SessionRequest_SessionStart{TimeoutMillis: 30_000})
	w.drop()
	w.tablet().loseRegistration(0)
	w.expect("a: failure BAD_SESSION", "a: end OK")
	w.do(b, ping(1))
	w.expect("b: pong 1")
	w.after(29 * time.Second)
	w.attach("c", 0, &pb.SessionRequest_SessionStart{SessionId: 1, TimeoutMillis: 30_000})
	w.expect("c: started 1")
}

func TestExpiredSessionIsToldToItsStreamFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.session("a"), w.session("b")
	w.do(a, create(1, "s", 1), acquire(2, "s", 1, 0))
	w.do(b, acquire(1, "s", 1, forever))
	w.drop()
	w.tablet().expire(w.tablet().sessions[1])
	w.expect("a: failure SESSION_EXPIRED", "a: end OK", "b: acquire 1 SUCCESS true")
	if len(w.model.timers.due) != 1 {
		t.Errorf("%d timers are left, want the ping of b", len(w.model.timers.due))
	}
}

func TestSemaphoreSessionFailures(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	none := w.model.open(0, Erase)
	reader := w.model.open(0, Read)
	writer := w.model.open(0, Write)
	w.names[none], w.names[reader], w.names[writer] = "eraser", "reader", "writer"
	for _, st := range []*stream{none, reader, writer} {
		w.do(st, sessionStart(&pb.SessionRequest_SessionStart{}))
	}
	w.drop()
	w.do(reader, acquire(1, "s", 0, 0), release(2, "s"), create(3, "s", 0), update(4, "s", ""), remove(5, "s", false), describe(6, "s"))
	w.expect("reader: acquire 1 UNAUTHORIZED false", "reader: release 2 UNAUTHORIZED false", "reader: create 3 UNAUTHORIZED",
		"reader: update 4 UNAUTHORIZED", "reader: delete 5 UNAUTHORIZED", "reader: describe 6 NOT_FOUND false")
	w.do(writer, create(1, "s", 1), describe(2, "s", "data"), remove(3, "s", true))
	w.expect("writer: create 1 SUCCESS", "writer: describe 2 UNAUTHORIZED false", "writer: delete 3 UNAUTHORIZED")
	w.do(none, remove(1, "s", true), acquire(2, "s", 1, 0))
	w.expect("eraser: delete 1 SUCCESS", "eraser: acquire 2 UNAUTHORIZED false")
}

func TestLimitsOfStreamsSessionsAndSemaphores(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.limits = Limits{Streams: 3, Sessions: 2, Semaphores: 1}
	a := w.session("a")
	b := w.session("b")
	w.attach("c", 0, &pb.SessionRequest_SessionStart{})
	w.expect("c: failure PRECONDITION_FAILED", "c: end OK")
	w.model.hangUp(b)
	w.attach("b2", 0, &pb.SessionRequest_SessionStart{SessionId: 2})
	w.expect("b: end Canceled", "b2: started 2")
	w.do(a, create(1, "s", 1), create(2, "q", 1), ephemeral(acquire(3, "e", 1, 0)))
	w.expect("a: create 1 SUCCESS", "a: create 2 PRECONDITION_FAILED", "a: acquire 3 PRECONDITION_FAILED false")
	w.open("d", 0)
	if w.model.open(0, Read) != nil {
		t.Error("a fourth stream was let in")
	}
}

func TestDropNodeFailsStreamsAndForgetsEverything(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.session("a")
	b := w.session("b")
	w.do(a, create(1, "s", 1), acquire(2, "s", 1, 0))
	w.do(b, acquire(1, "s", 1, 1000))
	w.drop()
	if err := w.model.dropNode(nodePath); err != nil {
		t.Fatal(err.text)
	}
	w.expect("a: failure UNAVAILABLE", "a: end OK", "b: failure UNAVAILABLE", "b: end OK")
	if n := len(w.model.timers.due); n != 0 {
		t.Errorf("%d timers are left", n)
	}
	w.attach("c", 0, &pb.SessionRequest_SessionStart{SessionId: 1})
	w.expect("c: failure NOT_FOUND", "c: end OK")
	if err := w.model.createNode(nodePath, nil); err != nil {
		t.Fatal(err.text)
	}
	w.attach("d", 0, &pb.SessionRequest_SessionStart{})
	w.expect("d: started 1")
}
