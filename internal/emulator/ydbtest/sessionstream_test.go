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

func TestBusyClientOfAShortSessionHasAQuarterOfASecond(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.pings = true
	a := w.attach("a", 0, &pb.SessionRequest_SessionStart{})
	w.expect("a: started 1", "a: ping 1")
	w.after(249 * time.Millisecond)
	w.do(a, pong(1))
	w.expect()
	w.after(time.Millisecond)
	w.expect("a: ping 2")
	w.after(5 * time.Millisecond)
	w.do(a, pong(2))
	w.after(5 * time.Millisecond)
	w.expect("a: ping 3")
	w.after(249 * time.Millisecond)
	w.expect()
	w.after(time.Millisecond)
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
