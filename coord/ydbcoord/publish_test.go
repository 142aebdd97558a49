package ydbcoord_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
)

// led is an emulator where a session, which is kept, leads the election e.
func led(t *testing.T, o ydbcoord.Options, test func(t *testing.T, b *bench, r *record, g coord.Grant)) {
	t.Helper()
	bubble(t, func(t *testing.T, b *bench) {
		noError(t, b.CreateSemaphore(node, "e", 1, []byte("about")))
		r := &record{}
		s := b.session(t, o, r.option())
		keep(t, s)
		test(t, b, r, must(t, s, election("e")))
	})
}

func publish(t *testing.T, g coord.Grant, data string) error {
	t.Helper()
	return g.(coord.Publisher).Publish(t.Context(), []byte(data))
}

func TestProclamationIsAClaimWithoutAWaitAndSeenByThoseWhoFollow(t *testing.T) {
	t.Parallel()
	led(t, ydbcoord.Options{}, func(t *testing.T, b *bench, r *record, g coord.Grant) {
		f := b.session(t, ydbcoord.Options{}).Follow()
		noError(t, f.Add("e"))
		next(t, f)
		noError(t, publish(t, g, "news"))
		state := next(t, f)
		if len(state.Owners) != 1 || string(state.Owners[0].Data) != "news" || string(state.Data) != "about" {
			t.Errorf("seen as %+v", state)
		}
		var last *pb.SessionRequest_AcquireSemaphore
		for _, m := range r.requests() {
			if isAcquire(m) {
				last = m.GetAcquireSemaphore()
			}
			if m.GetUpdateSemaphore() != nil {
				t.Error("the semaphore's data was written unasked")
			}
		}
		if last.GetTimeoutMillis() != 0 || last.GetCount() != 1 || string(last.GetData()) != "news" {
			t.Errorf("sent %v", last)
		}
	})
}

func TestMirroredProclamationIsAlsoInTheSemaphoresData(t *testing.T) {
	t.Parallel()
	led(t, ydbcoord.Options{MirrorProclamations: true}, func(t *testing.T, b *bench, _ *record, g coord.Grant) {
		noError(t, publish(t, g, "news"))
		d, err := b.session(t, ydbcoord.Options{}).Describe(t.Context(), coord.KindElection, "e")
		if err != nil || string(d.Data) != "news" || string(d.Owners[0].Data) != "news" {
			t.Errorf("described as %+v, %v", d, err)
		}
	})
}

func TestMutexIsPublishedWithoutItsSemaphoresData(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		g := must(t, b.session(t, ydbcoord.Options{MirrorProclamations: true}), mutex("m"))
		noError(t, publish(t, g, "news"))
		if sem, err := b.Semaphore(node, "m"); err != nil || len(sem.Data) != 0 || string(sem.Owners[0].Data) != "news" {
			t.Errorf("it is %+v, %v", sem, err)
		}
	})
}

func TestProclamationOfADeposedLeaderIsGivenBack(t *testing.T) {
	t.Parallel()
	led(t, ydbcoord.Options{}, func(t *testing.T, b *bench, r *record, g coord.Grant) {
		b.Delay(0, 300*time.Millisecond) // the guard does not hear of it before the proclamation is sent
		noError(t, b.DeleteSemaphore(node, "e"))
		noError(t, b.CreateSemaphore(node, "e", 1, nil))
		if err := publish(t, g, "late"); !errors.Is(err, coord.ErrLost) {
			t.Errorf("published: %v, want ErrLost", err)
		}
		time.Sleep(time.Second)
		if owners := b.Owners(node, "e"); len(owners) != 0 {
			t.Errorf("owners %+v are left", owners)
		}
		if !errors.Is(g.Err(), coord.ErrLost) {
			t.Errorf("the grant: %v", g.Err())
		}
		if n := r.count(isRelease); n != 1 {
			t.Errorf("%d releases, want 1", n)
		}
	})
}

func TestProclamationThatNobodyWaitsForLeavesNoOwnerUnawares(t *testing.T) {
	t.Parallel()
	led(t, ydbcoord.Options{}, func(t *testing.T, b *bench, r *record, g coord.Grant) {
		b.Delay(0, 300*time.Millisecond)
		noError(t, b.DeleteSemaphore(node, "e"))
		noError(t, b.CreateSemaphore(node, "e", 1, nil))
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		if err := g.(coord.Publisher).Publish(ctx, []byte("late")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("published: %v", err)
		}
		time.Sleep(2 * time.Second)
		if owners := b.Owners(node, "e"); len(owners) != 0 {
			t.Errorf("owners %+v are left", owners)
		}
	})
}

func TestProclamationAfterAnotherWasElectedChangesNothing(t *testing.T) {
	t.Parallel()
	led(t, ydbcoord.Options{}, func(t *testing.T, b *bench, _ *record, g coord.Grant) {
		other := b.session(t, ydbcoord.Options{})
		keep(t, other)
		b.Delay(0, 300*time.Millisecond)
		noError(t, b.DeleteSemaphore(node, "e"))
		noError(t, b.CreateSemaphore(node, "e", 1, nil))
		claim := election("e")
		claim.Data = []byte("next")
		got := acquiring(t.Context(), other, claim)
		synctest.Wait()
		if err := publish(t, g, "late"); !errors.Is(err, coord.ErrLost) {
			t.Errorf("published: %v, want ErrLost", err)
		}
		if a := <-got; !a.ok {
			t.Fatalf("got %+v", a)
		}
		if o := b.Owners(node, "e"); len(o) != 1 || string(o[0].Data) != "next" {
			t.Errorf("owners %+v", o)
		}
	})
}

func TestProclamationsOfTheCoreAreTellingOfOneTerm(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		s := b.kept(t, ydbcoord.Options{CreateElections: true})
		term, err := s.Election("e", coord.ElectionOptions{}).Campaign(t.Context(), []byte("one"))
		noError(t, err)
		b.CutStreams()
		if err := term.Proclaim(t.Context(), []byte("two")); err != nil { // on the next stream
			t.Fatal(err)
		}
		l, err := s.Election("e", coord.ElectionOptions{}).Leader(t.Context())
		if err != nil || !l.IsMe || string(l.Data) != "two" || l.Fence != term.Lease().Fence() {
			t.Errorf("the leader is %+v, %v", l, err)
		}
	})
}
