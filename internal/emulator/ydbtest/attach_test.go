package ydbtest

import (
	"strings"
	"testing"
	"time"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
)

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
