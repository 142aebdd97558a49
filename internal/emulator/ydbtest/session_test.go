package ydbtest

import (
	"strings"
	"testing"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
)

func TestFirstMessageMustBeSessionStart(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.do(w.open("a", 0), ping(1))
	w.expect("a: end InvalidArgument")
	w.do(w.open("b", 0), &pb.SessionRequest{})
	w.expect("b: end InvalidArgument")
}

func TestSessionStartIsJudgedByPathRightsAndLimits(t *testing.T) {
	t.Parallel()
	long := func(n int) string { return strings.Repeat("x", n) }
	for _, c := range []struct {
		name   string
		start  *pb.SessionRequest_SessionStart
		rights Rights
		want   string
	}{
		{"no components", &pb.SessionRequest_SessionStart{Path: "//"}, Read, "BAD_REQUEST"},
		{"missing path", &pb.SessionRequest_SessionStart{Path: "/local/none"}, Read, "NOT_FOUND"},
		{"no node", &pb.SessionRequest_SessionStart{Path: "/local"}, Read, "NOT_FOUND"},
		{"missing path comes before rights", &pb.SessionRequest_SessionStart{Path: "/local/none"}, 0, "NOT_FOUND"},
		{"no right at all", &pb.SessionRequest_SessionStart{}, 0, "UNAUTHORIZED"},
		{"timeout above 30 minutes", &pb.SessionRequest_SessionStart{TimeoutMillis: 1_800_001}, Read, "BAD_REQUEST"},
		{"infinite timeout", &pb.SessionRequest_SessionStart{TimeoutMillis: forever}, Read, "BAD_REQUEST"},
		{"long description", &pb.SessionRequest_SessionStart{Description: long(1025)}, Read, "BAD_REQUEST"},
		{"long key", &pb.SessionRequest_SessionStart{ProtectionKey: []byte(long(17))}, Read, "BAD_REQUEST"},
		{"unknown session", &pb.SessionRequest_SessionStart{SessionId: 7}, Read, "SESSION_EXPIRED"},
		{"all at their limits", &pb.SessionRequest_SessionStart{TimeoutMillis: 1_800_000, Description: long(1024), ProtectionKey: []byte(long(16))}, Erase, ""},
	} {
		w := newWorld(t)
		st := w.model.open(0, c.rights)
		w.names[st] = "a"
		w.do(st, sessionStart(c.start))
		want := []string{"a: failure " + c.want, "a: end OK"}
		if c.want == "" {
			want = []string{"a: started 1"}
		}
		if got := w.lines(); strings.Join(got, ",") != strings.Join(want, ",") {
			t.Errorf("%s: sent %q, want %q", c.name, got, want)
		}
	}
}

func TestStartedComesBeforeTheFirstPing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pings = true
	a := w.attach("a", 0, &pb.SessionRequest_SessionStart{TimeoutMillis: 3000})
	w.expect("a: started 1", "a: ping 1")
	w.after(999 * time.Millisecond)
	w.do(a, pong(1), ping(77))
	w.expect("a: pong 77")
	w.after(time.Millisecond)
	w.expect("a: ping 2")
	w.after(time.Second)
	w.expect("a: failure TIMEOUT", "a: end OK")
}

func TestPingPeriodFollowsTheSessionTimeout(t *testing.T) {
	t.Parallel()
	for millis, want := range map[uint64]time.Duration{
		0: 10 * time.Millisecond, 29: 10 * time.Millisecond, 3000: time.Second, 3002: time.Second,
		15_000: 5 * time.Second, 15_003: 5 * time.Second, 1_800_000: 5 * time.Second, forever: 5 * time.Second,
	} {
		if got := pingPeriod(millis); got != want {
			t.Errorf("timeout %d ms: period %v, want %v", millis, got, want)
		}
	}
}

func TestPongMustCarryTheOutstandingNumber(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.attach("a", 0, &pb.SessionRequest_SessionStart{TimeoutMillis: 3000})
	w.do(a, pong(1), pong(0))
	w.expect("a: started 1")
	w.do(a, pong(1))
	w.expect("a: failure BAD_REQUEST", "a: end OK")
	b := w.attach("b", 0, &pb.SessionRequest_SessionStart{SessionId: 1, TimeoutMillis: 3000})
	w.do(b, pong(0))
	w.expect("b: started 1", "b: failure BAD_REQUEST", "b: end OK")
}

func TestWrongMessagesFailTheStreamAndDetachTheSession(t *testing.T) {
	t.Parallel()
	for name, req := range map[string]*pb.SessionRequest{
		"second start": sessionStart(&pb.SessionRequest_SessionStart{}),
		"empty":        {},
		"unsupported 5": {Request: &pb.SessionRequest_Unsupported_5{
			Unsupported_5: &pb.Unsupported{},
		}},
		"unsupported 15": {Request: &pb.SessionRequest_Unsupported_15{
			Unsupported_15: &pb.Unsupported{},
		}},
	} {
		w := newWorld(t)
		a := w.session("a")
		w.do(a, req, ping(1))
		if got := strings.Join(w.lines(), ","); got != "a: failure BAD_REQUEST,a: end OK" {
			t.Errorf("%s: sent %q", name, got)
		}
		if s := w.tablet().sessions[1]; s == nil || s.attached != nil {
			t.Errorf("%s: the session is %+v, want it detached", name, s)
		}
	}
}

func TestHalfCloseDetachesAndEndsWithCancelled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a := w.session("a")
	w.model.hangUp(a)
	w.expect("a: end Canceled")
	w.after(29_999 * time.Millisecond)
	w.attach("b", 0, &pb.SessionRequest_SessionStart{SessionId: 1, TimeoutMillis: 30_000})
	w.expect("b: started 1")
}

func TestHangUpBeforeTheStartLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.model.hangUp(w.open("a", 0))
	w.expect("a: end Canceled")
	if len(w.model.streams) != 0 || len(w.tablet().sessions) != 0 {
		t.Errorf("%d streams and %d sessions are left", len(w.model.streams), len(w.tablet().sessions))
	}
}

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

func TestAttachOutOfSequence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	start := func(seqNo uint64) *pb.SessionRequest_SessionStart {
		return &pb.SessionRequest_SessionStart{SessionId: 1, SeqNo: seqNo, TimeoutMillis: 1000}
	}
	first := start(42)
	first.SessionId = 0
	a := w.attach("a", 0, first)
	w.expect("a: started 1")
	for _, frontEnd := range []int{0, 1} {
		w.attach("b", frontEnd, start(41))
		w.expect("b: failure BAD_SESSION", "b: end OK")
	}
	w.do(a, ping(1))
	w.expect("a: pong 1")
	w.model.hangUp(a)
	w.drop()
	w.attach("c", 0, start(41))
	w.expect("c: failure BAD_SESSION", "c: end OK")
	w.attach("d", 0, start(42))
	w.expect("d: started 1")
}

func TestSessionStealing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, owned, asked string
		frontEnd           int
		want               []string
	}{
		{"any key, same front end", "", "k", 0, []string{"a: failure BAD_SESSION", "a: end OK", "b: started 1"}},
		{"any key, other front end", "", "k", 1, []string{"a: failure BAD_SESSION", "a: end OK", "b: started 1"}},
		{"same key, same front end", "k", "k", 0, []string{"a: failure BAD_SESSION", "a: end OK", "b: started 1"}},
		{"same key, other front end", "k", "k", 1, []string{"a: failure BAD_SESSION", "a: end OK", "b: started 1"}},
		{"other key, same front end kicks the owner", "k", "l", 0, []string{"a: failure BAD_SESSION", "a: end OK", "b: failure BAD_SESSION", "b: end OK"}},
		{"other key, other front end", "k", "l", 1, []string{"b: failure BAD_SESSION", "b: end OK"}},
		{"no key, other front end", "k", "", 1, []string{"b: failure BAD_SESSION", "b: end OK"}},
	} {
		w := newWorld(t)
		w.attach("a", 0, &pb.SessionRequest_SessionStart{TimeoutMillis: 1000, ProtectionKey: []byte(c.owned)})
		w.drop()
		w.attach("b", c.frontEnd, &pb.SessionRequest_SessionStart{SessionId: 1, TimeoutMillis: 1000, ProtectionKey: []byte(c.asked)})
		if got := w.lines(); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s: sent %q, want %q", c.name, got, c.want)
		}
	}
}

func TestKeyGivenToAnUnprotectedSessionIsNotStored(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.session("a")
	w.attach("b", 0, &pb.SessionRequest_SessionStart{SessionId: 1, ProtectionKey: []byte("k")})
	w.drop()
	w.attach("c", 0, &pb.SessionRequest_SessionStart{SessionId: 1})
	w.expect("b: failure BAD_SESSION", "b: end OK", "c: started 1")
}

// The trap of facts/ydb.md section 3: a refused attach leaves an immortal owner.
func TestRefusedAttachAtTheSameFrontEndLeavesAnOwnerThatDoesNotExpire(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	key := []byte("k")
	a := w.attach("a", 0, &pb.SessionRequest_SessionStart{TimeoutMillis: 1000, ProtectionKey: key})
	w.do(a, create(1, "s", 1), acquire(2, "s", 1, 0))
	w.attach("b", 0, &pb.SessionRequest_SessionStart{SessionId: 1, TimeoutMillis: 1000})
	w.drop()
	w.after(time.Hour)
	w.expectState("s", "1*1#1 |")
	w.attach("c", 1, &pb.SessionRequest_SessionStart{SessionId: 1, TimeoutMillis: 2000, ProtectionKey: key})
	w.expect("c: started 1")
}

func TestAttachOverwritesTimeoutAndDescription(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.session("a")
	b := w.attach("b", 0, &pb.SessionRequest_SessionStart{SessionId: 1, TimeoutMillis: 100, Description: "new"})
	s := w.tablet().sessions[1]
	if s.timeoutMillis != 100 || s.description != "new" {
		t.Errorf("the session has %d ms and %q", s.timeoutMillis, s.description)
	}
	w.model.hangUp(b)
	w.after(100 * time.Millisecond)
	if len(w.tablet().sessions) != 0 {
		t.Error("the session lives")
	}
}

func TestReattachKeepsLinksAndDropsWatchesAndAnswers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b := w.session("a"), w.session("b")
	w.do(a, create(1, "s", 1), acquire(2, "s", 1, 0), create(3, "q", 1))
	w.do(b, acquire(1, "s", 1, forever), acquire(2, "q", 1, 0), describe(3, "s", "owners", "data"))
	w.model.hangUp(b)
	w.drop()
	w.do(a, release(4, "s"))
	w.expect("a: release 4 SUCCESS true")
	c := w.attach("c", 1, &pb.SessionRequest_SessionStart{SessionId: 2, TimeoutMillis: 30_000})
	w.expect("c: started 2")
	w.expectState("s", "2*1#2 |")
	w.expectState("q", "2*1#3 |")
	w.do(c, acquire(9, "s", 1, forever))
	w.expect("c: acquire 9 SUCCESS true")
	w.do(a, update(5, "s", "new"))
	w.expect("a: update 5 SUCCESS")
}

func TestReattachedWaiterKeepsItsPlaceAndIsNotAnsweredForTheOldRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	a, b, c := w.session("a"), w.session("b"), w.session("c")
	w.do(a, create(1, "s", 1), acquire(2, "s", 1, 0))
	w.do(b, acquire(1, "s", 1, forever))
	w.do(c, acquire(1, "s", 1, forever))
	b2 := w.attach("b2", 0, &pb.SessionRequest_SessionStart{SessionId: 2, TimeoutMillis: 30_000})
	w.drop()
	w.do(b2, acquire(7, "s", 1, forever))
	w.expect("b2: pending 7")
	w.expectState("s", "1*1#1 | 2*1#2 3*1#3")
	w.do(a, release(3, "s"))
	w.expect("a: release 3 SUCCESS true", "b2: acquire 7 SUCCESS true")
}

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
	b := w.session("b")
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
	if w.model.timers.due.Len() != 1 {
		t.Errorf("%d timers are left, want the ping of b", w.model.timers.due.Len())
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
	if n := w.model.timers.due.Len(); n != 0 {
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

func TestStoppedTimersStayOut(t *testing.T) {
	t.Parallel()
	var ts timers
	now := time.Unix(0, 0)
	var fired string
	early := ts.set(now, func() { fired += "early" })
	ts.set(now.Add(2), func() { fired += "c" })
	ts.set(now.Add(1), func() { fired += "a" })
	ts.set(now.Add(1), func() { fired += "b" })
	ts.stop(early)
	ts.stop(early)
	ts.stop(nil)
	for range 3 {
		ts.pop().fire()
	}
	if _, ok := ts.next(); ok || fired != "abc" {
		t.Errorf("fired %q, more: %t", fired, ok)
	}
}

func TestFailuresCarryAnIssueForPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.attach("a", 0, &pb.SessionRequest_SessionStart{Path: "/local/none"})
	f := w.model.drain()[0].msg.GetFailure()
	if f.GetStatus() != Ydb.StatusIds_NOT_FOUND || len(f.GetIssues()) != 1 || f.GetIssues()[0].GetMessage() == "" {
		t.Errorf("the failure is %v", f)
	}
}
