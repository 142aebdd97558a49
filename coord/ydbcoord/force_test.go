package ydbcoord_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"google.golang.org/grpc"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
	"coordtop/internal/emulator/ydbtest"
)

var (
	unprotected = ydbcoord.Options{ClientsUnprotected: true, Incarnations: true}
	recreates   = ydbcoord.Options{AllowRecreate: true, Incarnations: true}
)

// foreign is the owner of a semaphore as a source shows it.
func (b *bench) foreign(t *testing.T, name string) coord.Foreign {
	t.Helper()
	owners := b.Owners(node, name)
	if len(owners) == 0 {
		t.Fatalf("nobody owns %s", name)
	}
	m := ydbcoord.SemaphoreMember{Session: owners[0].SessionID, Order: owners[0].OrderID}
	n, err := b.nodes(t).Describe(t.Context(), node)
	noError(t, err)
	return coord.Foreign{Name: name, Owner: ydbcoord.OwnerID(m.Session, n.Incarnation), Guard: m.Guard(), Fence: m.Order}
}

func (b *bench) nodes(t *testing.T) *ydbcoord.Nodes {
	t.Helper()
	c, err := ydbcoord.NewClient(ydbcoord.ClientOptions{Conn: b.dial(t, 0), Database: b.Database()})
	noError(t, err)
	return c.Nodes()
}

func (b *bench) make(t *testing.T, name string, limit uint64, data string) {
	t.Helper()
	noError(t, b.CreateSemaphore(node, name, limit, []byte(data)))
}

func TestForceReleaseEndsTheSessionOfAnUnprotectedOwner(t *testing.T) {
	t.Parallel()
	for _, frontEnd := range []int{0, 1} { // the owner's, and another one
		b := start(t, ydbtest.Options{})
		b.make(t, "leader", 1, "")
		owner, next := b.contender(t), b.contender(t)
		if !acquired(owner.lock("m", 0)) || !acquired(owner.campaign("leader", "a")) {
			t.Fatal("it owns nothing")
		}
		next.campaign("leader", "b") // is pending
		d := b.on(t, b.dial(t, frontEnd), unprotected)
		noError(t, d.ForceRelease(t.Context(), b.foreign(t, "m")))
		if m := <-next.got; !acquired(m) {
			t.Errorf("the next is told %v", m)
		}
		if left := b.Owners(node, "m"); len(left) > 0 {
			t.Errorf("m is still owned by %v", left)
		}
		if sessions := b.Sessions(node); len(sessions) != 1 || sessions[0].ID != next.id {
			t.Errorf("the sessions are %+v", sessions)
		}
	}
}

func TestForceReleaseReleasesNothingOfAProtectedOwner(t *testing.T) {
	t.Parallel()
	b := start(t, ydbtest.Options{})
	s := b.kept(t, ydbcoord.Options{})
	l, err := s.Mutex("m", coord.MutexOptions{}).Lock(t.Context())
	noError(t, err)
	err = b.driver(t, unprotected).ForceRelease(t.Context(), b.foreign(t, "m"))
	if !errors.Is(err, coord.ErrRefused) || !strings.Contains(err.Error(), "protected") {
		t.Errorf("got %v", err)
	}
	if owners := b.Owners(node, "m"); len(owners) != 1 || l.Check() != nil {
		t.Errorf("owned by %v, the lease: %v", owners, l.Check())
	}
}

func TestForceReleaseComparesSessionOrderAndNode(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*testing.T, *bench, *contender){
		"the same session, another order id": func(_ *testing.T, _ *bench, c *contender) {
			c.release("leader")
			c.campaign("leader", "a")
		},
		"another session": func(t *testing.T, b *bench, c *contender) {
			c.release("leader")
			b.contender(t).campaign("leader", "b")
		},
		"nobody":  func(_ *testing.T, _ *bench, c *contender) { c.release("leader") },
		"no node": func(t *testing.T, b *bench, _ *contender) { b.anew(t) },
		"another node with the same numbers": func(t *testing.T, b *bench, _ *contender) {
			b.anew(t)
			b.make(t, "leader", 1, "")
			b.contender(t).campaign("leader", "a")
		},
	} {
		for _, o := range []ydbcoord.Options{unprotected, recreates} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				b := start(t, ydbtest.Options{})
				b.make(t, "leader", 1, "")
				owner := b.contender(t)
				owner.campaign("leader", "a")
				f := b.foreign(t, "leader")
				change(t, b, owner)
				owners := b.Owners(node, "leader")
				if err := b.driver(t, o).ForceRelease(t.Context(), f); !errors.Is(err, coord.ErrChanged) {
					t.Errorf("got %v", err)
				}
				if now := b.Owners(node, "leader"); len(now) != len(owners) {
					t.Errorf("owned by %v, before by %v", now, owners)
				}
				for _, s := range b.Sessions(node) {
					if s.SeqNo == math.MaxUint64 {
						t.Errorf("somebody attached to %+v", s)
					}
				}
			})
		}
	}
}

// anew drops the node and makes it again, with numbers that begin anew.
func (b *bench) anew(t *testing.T) {
	t.Helper()
	noError(t, b.nodes(t).Drop(t.Context(), node))
	noError(t, b.CreateNode(node))
}

func TestForceReleaseRecreatesWithLimitAndData(t *testing.T) {
	t.Parallel()
	b := start(t, ydbtest.Options{})
	b.make(t, "pool", 2, "own data")
	one, two, waiting := b.contender(t), b.contender(t), b.contender(t)
	one.campaign("pool", "a")
	two.campaign("pool", "b")
	waiting.campaign("pool", "c")
	noError(t, b.driver(t, recreates).ForceRelease(t.Context(), b.foreign(t, "pool")))
	sem, err := b.Semaphore(node, "pool")
	if err != nil || sem.Limit != 2 || string(sem.Data) != "own data" || len(sem.Owners)+len(sem.Waiters) > 0 {
		t.Errorf("there is %+v, %v", sem, err)
	}
	if m := <-waiting.got; acquired(m) || m.GetAcquireSemaphoreResult() == nil {
		t.Errorf("the waiter is told %v", m)
	}
}

func TestForceReleaseIsNotDoneWhereItMayNotBe(t *testing.T) {
	t.Parallel()
	b := start(t, ydbtest.Options{})
	b.make(t, "leader", 1, "")
	owner := b.contender(t)
	owner.lock("m", 0)
	owner.campaign("leader", "a")
	f, waits := b.foreign(t, "leader"), b.foreign(t, "leader")
	waits.Waiting = true
	for name, c := range map[string]struct {
		o    ydbcoord.Options
		f    coord.Foreign
		want error
	}{
		"not configured":        {ydbcoord.Options{}, f, coord.ErrUnsupported},
		"a wait":                {unprotected, waits, coord.ErrUnsupported},
		"an ephemeral one":      {recreates, b.foreign(t, "m"), coord.ErrUnsupported},
		"an empty guard":        {unprotected, coord.Foreign{Name: "leader"}, coord.ErrInvalid},
		"a guard without order": {unprotected, coord.Foreign{Name: "leader", Guard: "1/"}, coord.ErrInvalid},
	} {
		if err := b.driver(t, c.o).ForceRelease(t.Context(), c.f); !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
	if len(b.Owners(node, "leader")) != 1 || len(b.Owners(node, "m")) != 1 {
		t.Error("something was released")
	}
}

// during calls f when a message that is wanted is about to be sent, once.
func during(want func(*pb.SessionRequest) bool, f func()) grpc.DialOption {
	return grpc.WithStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, cc *grpc.ClientConn, method string,
		streamer grpc.Streamer, opts ...grpc.CallOption) (grpc.ClientStream, error) {
		inner, err := streamer(ctx, desc, cc, method, opts...)
		return &interruptedStream{ClientStream: inner, want: want, f: f}, err
	})
}

type interruptedStream struct {
	grpc.ClientStream
	want func(*pb.SessionRequest) bool
	f    func()
}

func (s *interruptedStream) SendMsg(m any) error {
	if req, ok := m.(*pb.SessionRequest); ok && s.want(req) {
		s.f()
	}
	return s.ClientStream.SendMsg(m)
}

func TestForceReleaseReadsTheOwnerLastThingBeforeItDeletes(t *testing.T) {
	t.Parallel()
	b := start(t, ydbtest.Options{})
	b.make(t, "leader", 1, "")
	owner := b.contender(t)
	owner.campaign("leader", "a")
	changed := during(func(m *pb.SessionRequest) bool { return m.GetCreateSemaphore() != nil }, func() {
		owner.release("leader")
		owner.campaign("leader", "again")
	})
	if err := b.driver(t, recreates, changed).ForceRelease(t.Context(), b.foreign(t, "leader")); !errors.Is(err, coord.ErrChanged) {
		t.Errorf("got %v", err)
	}
	if owners := b.Owners(node, "leader"); len(owners) != 1 || string(owners[0].Data) != "again" {
		t.Errorf("owned by %v", owners)
	}
}

func TestForceReleaseWhoseAnswerIsLostIsUncertain(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]ydbcoord.Options{"session_start": unprotected, "session_stop": unprotected, "delete_semaphore": recreates} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := start(t, ydbtest.Options{})
			b.make(t, "leader", 1, "")
			b.contender(t).campaign("leader", "a")
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			lost := during(func(m *pb.SessionRequest) bool {
				start := m.GetSessionStart()
				return m.GetSessionStop() != nil && name == "session_stop" || m.GetDeleteSemaphore() != nil && name == "delete_semaphore" ||
					start.GetSessionId() > 0 && name == "session_start"
			}, func() {
				b.BlackHole(0, true)
				cancel()
			})
			f := b.foreign(t, "leader")
			if err := b.driver(t, o, lost).ForceRelease(ctx, f); !errors.Is(err, coord.ErrUncertain) {
				t.Errorf("got %v", err)
			}
			b.BlackHole(0, false)
		})
	}
}

func TestForceReleaseRecreatesAlsoWhenTheAnswerOfTheDeletionIsLost(t *testing.T) {
	t.Parallel()
	b := start(t, ydbtest.Options{})
	b.make(t, "leader", 1, "own")
	b.contender(t).campaign("leader", "a")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	b.DropReplies("delete_semaphore_result", 1)
	if err := b.driver(t, recreates).ForceRelease(ctx, b.foreign(t, "leader")); err != nil {
		t.Error(err)
	}
	if sem, err := b.Semaphore(node, "leader"); err != nil || sem.Limit != 1 || string(sem.Data) != "own" || len(sem.Owners) > 0 {
		t.Errorf("there is %+v, %v", sem, err)
	}
}

func TestNothingIsDeletedByThoseWhoMayNotCreateItAgain(t *testing.T) {
	t.Parallel()
	b := start(t, ydbtest.Options{Users: map[string]ydbtest.User{"root": {Password: "x"}, "eraser": {Password: "x", Deny: ydbtest.Write}}})
	b.make(t, "leader", 1, "")
	as := func(user string, o ydbcoord.Options) *ydbcoord.Driver {
		co, err := ydbcoord.ParseURL(b.URL(0))
		noError(t, err)
		co.User, co.Password = user, "x"
		c, err := ydbcoord.NewClient(co)
		noError(t, err)
		t.Cleanup(func() { _ = c.Close(context.Background()) }) // its sessions are closed before
		d, err := c.Driver(node, o)
		noError(t, err)
		return d
	}
	s, err := as("root", ydbcoord.Options{}).OpenSession(t.Context(), coord.SessionOptions{})
	noError(t, err)
	defer s.Abandon()
	must(t, s, coord.Claim{Kind: coord.KindElection, Name: "leader"})
	owner := b.Owners(node, "leader")[0]
	f := coord.Foreign{Name: "leader", Owner: "1", Guard: ydbcoord.SemaphoreMember{Session: owner.SessionID, Order: owner.OrderID}.Guard()}
	if err := as("eraser", recreates).ForceRelease(t.Context(), f); !errors.Is(err, coord.ErrRefused) {
		t.Errorf("got %v", err)
	}
	if len(b.Owners(node, "leader")) != 1 {
		t.Error("it was deleted")
	}
}
