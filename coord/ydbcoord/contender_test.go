package ydbcoord_test

import (
	"context"
	"errors"
	"math"
	"testing"
	"testing/synctest"

	"github.com/ydb-platform/ydb-go-genproto/Ydb_Coordination_V1"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
)

// contender speaks as @ydbjs/coordination does (packages/coordination/src there): no
// protection key, sequence number 0, requests one after the other.
type contender struct {
	t    *testing.T
	call Ydb_Coordination_V1.CoordinationService_SessionClient
	id   uint64
	last uint64
	got  chan *pb.SessionResponse // all but pings
}

func (b *bench) contender(t *testing.T) *contender {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	call, err := Ydb_Coordination_V1.NewCoordinationServiceClient(b.dial(t, 1)).Session(ctx)
	noError(t, err)
	c := &contender{t: t, call: call, got: make(chan *pb.SessionResponse, 100)}
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done })
	c.send(&pb.SessionRequest{Request: &pb.SessionRequest_SessionStart_{
		SessionStart: &pb.SessionRequest_SessionStart{Path: node, TimeoutMillis: 30_000},
	}})
	go func() {
		defer close(done)
		for {
			msg, err := call.Recv()
			if err != nil {
				return
			}
			if p := msg.GetPing(); p != nil {
				// The next Recv returns the error of the stream.
				_ = call.Send(&pb.SessionRequest{Request: &pb.SessionRequest_Pong{Pong: &pb.SessionRequest_PingPong{Opaque: p.GetOpaque()}}})
				continue
			}
			c.got <- msg
		}
	}()
	c.id = (<-c.got).GetSessionStarted().GetSessionId()
	return c
}

func (c *contender) send(m *pb.SessionRequest) {
	c.t.Helper()
	noError(c.t, c.call.Send(m))
}

// acquire is Semaphore.acquire; the last message about it tells whether it is ours.
func (c *contender) acquire(a *pb.SessionRequest_AcquireSemaphore) *pb.SessionResponse {
	c.t.Helper()
	c.last++
	a.ReqId = c.last
	c.send(&pb.SessionRequest{Request: &pb.SessionRequest_AcquireSemaphore_{AcquireSemaphore: a}})
	return <-c.got
}

// lock is Mutex.lock, tryLock with a wait of 0.
func (c *contender) lock(name string, wait uint64) *pb.SessionResponse {
	c.t.Helper()
	return c.acquire(&pb.SessionRequest_AcquireSemaphore{Name: name, Count: math.MaxUint64, Ephemeral: true, TimeoutMillis: wait})
}

// campaign is Election.campaign.
func (c *contender) campaign(name, data string) *pb.SessionResponse {
	c.t.Helper()
	return c.acquire(&pb.SessionRequest_AcquireSemaphore{Name: name, Count: 1, Data: []byte(data), TimeoutMillis: math.MaxUint64})
}

func (c *contender) release(name string) {
	c.t.Helper()
	c.last++
	c.send(&pb.SessionRequest{Request: &pb.SessionRequest_ReleaseSemaphore_{
		ReleaseSemaphore: &pb.SessionRequest_ReleaseSemaphore{ReqId: c.last, Name: name},
	}})
	<-c.got
}

// proclaim is Leadership.proclaim.
func (c *contender) proclaim(name, data string) {
	c.t.Helper()
	c.last++
	c.send(&pb.SessionRequest{Request: &pb.SessionRequest_UpdateSemaphore_{
		UpdateSemaphore: &pb.SessionRequest_UpdateSemaphore{ReqId: c.last, Name: name, Data: []byte(data)},
	}})
	<-c.got
}

// leader is Election.leader: the data of the first owner.
func (c *contender) leader(name string) string {
	c.t.Helper()
	c.last++
	c.send(&pb.SessionRequest{Request: &pb.SessionRequest_DescribeSemaphore_{
		DescribeSemaphore: &pb.SessionRequest_DescribeSemaphore{ReqId: c.last, Name: name, IncludeOwners: true},
	}})
	owners := (<-c.got).GetDescribeSemaphoreResult().GetSemaphoreDescription().GetOwners()
	if len(owners) == 0 {
		return ""
	}
	return string(owners[0].GetData())
}

func acquired(m *pb.SessionResponse) bool { return m.GetAcquireSemaphoreResult().GetAcquired() }

func TestMutexIsTheOneOfTheOtherClients(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		theirs, ours := b.contender(t), b.kept(t, ydbcoord.Options{})
		if !acquired(theirs.lock("m", 0)) {
			t.Fatal("theirs did not get what was free")
		}
		m := ours.Mutex("m", coord.MutexOptions{})
		if _, ok, err := m.TryLock(t.Context()); ok || err != nil {
			t.Fatalf("ours beside theirs: ok %v, %v", ok, err)
		}
		got := make(chan *coord.Lease)
		go func() {
			l, err := m.Lock(t.Context())
			if err != nil {
				t.Error(err)
			}
			got <- l
		}()
		synctest.Wait()
		theirs.release("m")
		l := <-got
		if acquired(theirs.lock("m", 0)) {
			t.Error("theirs beside ours")
		}
		if pending := theirs.lock("m", math.MaxUint64); pending.GetAcquireSemaphorePending() == nil {
			t.Errorf("theirs waits with %v", pending)
		}
		noError(t, l.Release(t.Context()))
		if !acquired(<-theirs.got) {
			t.Error("theirs did not get what we released")
		}
	})
}

func TestElectionIsTheOneOfTheOtherClients(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		if err := b.CreateSemaphore(node, "e", 1, nil); err != nil { // as their candidates need it
			t.Fatal(err)
		}
		theirs, ours := b.contender(t), b.kept(t, ydbcoord.Options{MirrorProclamations: true})
		e := ours.Election("e", coord.ElectionOptions{})
		if !acquired(theirs.campaign("e", "theirs")) {
			t.Fatal("theirs did not win alone")
		}
		l, err := e.Leader(t.Context())
		if err != nil || !l.Led || l.IsMe || string(l.Data) != "theirs" || l.Owner != ydbcoord.OwnerID(theirs.id, "") {
			t.Errorf("ours sees %+v, %v", l, err)
		}
		theirs.proclaim("e", "their word")
		if d, err := ours.Semaphore("e", coord.SemaphoreOptions{}).Describe(t.Context()); err != nil || string(d.Data) != "their word" {
			t.Errorf("ours sees %+v, %v", d, err)
		}
		won := make(chan *coord.Term)
		go func() {
			term, err := e.Campaign(t.Context(), []byte("ours"))
			if err != nil {
				t.Error(err)
			}
			won <- term
		}()
		synctest.Wait()
		theirs.release("e")
		term := <-won
		if data := theirs.leader("e"); data != "ours" {
			t.Errorf("theirs sees %q", data)
		}
		noError(t, term.Proclaim(t.Context(), []byte("our word")))
		if data := theirs.leader("e"); data != "our word" {
			t.Errorf("theirs sees %q as the leader's", data)
		}
		if sem, err := b.Semaphore(node, "e"); err != nil || string(sem.Data) != "our word" {
			t.Errorf("in the semaphore's own data theirs sees %q, %v", sem.Data, err)
		}
		noError(t, term.Resign(t.Context()))
		if data := theirs.leader("e"); data != "" {
			t.Errorf("theirs sees %q after the resignation", data)
		}
	})
}

func TestThiefWithoutTheKeyHasOurStreamForAMomentAndNothingElse(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		s := b.session(t, ydbcoord.Options{})
		g := must(t, s, mutex("m"))
		call, err := Ydb_Coordination_V1.NewCoordinationServiceClient(b.dial(t, 0)).Session(t.Context())
		noError(t, err)
		err = call.Send(&pb.SessionRequest{Request: &pb.SessionRequest_SessionStart_{SessionStart: &pb.SessionRequest_SessionStart{
			Path: node, SessionId: b.Sessions(node)[0].ID, SeqNo: 1, TimeoutMillis: 1000,
		}}})
		if err != nil {
			t.Fatal(err)
		}
		if msg, err := call.Recv(); err != nil || msg.GetFailure() == nil {
			t.Errorf("the thief got %v, %v", msg, err)
		}
		synctest.Wait()
		if s.Err() != nil || g.Err() != nil || s.Status().Number != 2 || !s.Status().Attached {
			t.Errorf("the session: %v, %+v, its grant: %v", s.Err(), s.Status(), g.Err())
		}
	})
}

func TestForeignWordsOfErrorsAreShortAndKnownByTheirStatus(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		s := b.session(t, ydbcoord.Options{})
		err := s.Create(t.Context(), "s", 0, nil)
		status, ok := errors.AsType[*ydbcoord.StatusError](err)
		if !ok || !errors.Is(err, coord.ErrRefused) || len(status.Error()) > 250 {
			t.Errorf("got %v", err)
		}
	})
}
