package ydbcoord_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
)

func isArming(m *pb.SessionRequest) bool { return m.GetDescribeSemaphore().GetWatchOwners() }
func isDescribe(m *pb.SessionRequest) bool {
	return m.GetDescribeSemaphore() != nil
}

// next takes the next state, which has to be there when nothing moves any more.
func next(t *testing.T, f *ydbcoord.Follower) ydbcoord.SemaphoreState {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	synctest.Wait()
	state, err := f.Next(ctx)
	if err != nil {
		t.Fatalf("nothing to take: %v", err)
	}
	return state
}

// nothing checks that nothing is left to take.
func nothing(t *testing.T, f *ydbcoord.Follower) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	synctest.Wait()
	if state, err := f.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %+v, %v, want nothing", state, err)
	}
}

// followed is an emulator with a semaphore s, which a kept session follows.
func followed(t *testing.T, test func(t *testing.T, b *bench, r *record, s *ydbcoord.Session, f *ydbcoord.Follower)) {
	t.Helper()
	bubble(t, func(t *testing.T, b *bench) {
		noError(t, b.CreateSemaphore(node, "s", 1, nil))
		r := &record{}
		s := b.session(t, ydbcoord.Options{}, r.option())
		keep(t, s)
		f := s.Follow()
		noError(t, f.Add("s"))
		if state := next(t, f); state.Absent || state.Limit != 1 || state.Name != "s" {
			t.Fatalf("first seen as %+v", state)
		}
		test(t, b, r, s, f)
	})
}

func TestFollowerIsToldEachChangeOfOwnersAndData(t *testing.T) {
	t.Parallel()
	followed(t, func(t *testing.T, b *bench, _ *record, s *ydbcoord.Session, f *ydbcoord.Follower) {
		other := b.session(t, ydbcoord.Options{})
		keep(t, other)
		for range 3 {
			g := must(t, other, election("s"))
			if state := next(t, f); len(state.Owners) != 1 || state.Owners[0].Order != g.Info().Fence {
				t.Errorf("acquired: %+v", state)
			}
			noError(t, other.Update(t.Context(), "s", []byte(fmt.Sprint(g.Info().Fence))))
			if state := next(t, f); string(state.Data) != fmt.Sprint(g.Info().Fence) {
				t.Errorf("updated: %+v", state)
			}
			noError(t, g.Release(t.Context()))
			if state := next(t, f); len(state.Owners) != 0 || !state.At.Equal(time.Now()) {
				t.Errorf("released: %+v", state)
			}
			time.Sleep(time.Second)
		}
		nothing(t, f)
	})
}

func TestThereIsNoDescribeStorm(t *testing.T) {
	t.Parallel()
	followed(t, func(t *testing.T, b *bench, r *record, s *ydbcoord.Session, f *ydbcoord.Follower) {
		second := s.Follow()
		noError(t, second.Add("s"))
		synctest.Wait()
		b.Delay(0, 200*time.Millisecond) // the attaches meet describes under way
		for range 3 {
			b.CutStreams()
			time.Sleep(300 * time.Millisecond)
		}
		before := r.count(isDescribe)
		time.Sleep(time.Minute)
		if n := r.count(isDescribe) - before; n > 1 {
			t.Errorf("%d describes in a minute in which nothing happened", n)
		}
		if before > 12 {
			t.Errorf("%d describes for one semaphore and 4 streams", before)
		}
	})
}

func TestAllWhoFollowShareOneWatch(t *testing.T) {
	t.Parallel()
	followed(t, func(t *testing.T, b *bench, r *record, s *ydbcoord.Session, f *ydbcoord.Follower) {
		var all []*ydbcoord.Follower
		for range 10 {
			more := s.Follow()
			noError(t, more.Add("s"))
			all = append(all, more)
		}
		for _, more := range all {
			next(t, more)
		}
		before := r.count(isArming)
		noError(t, b.UpdateSemaphore(node, "s", []byte("x")))
		for _, more := range append(all, f) {
			if state := next(t, more); string(state.Data) != "x" {
				t.Errorf("told %+v", state)
			}
		}
		if n := r.count(isArming) - before; n != 1 {
			t.Errorf("%d describes for one change, want 1", n)
		}
		if sem, err := b.Semaphore(node, "s"); err != nil || sem.Watches != 1 {
			t.Errorf("%d watches, %v", sem.Watches, err)
		}
	})
}

func TestChangesOfWatchesThatAreNotOursAnyMoreAreIgnored(t *testing.T) {
	t.Parallel()
	followed(t, func(t *testing.T, b *bench, r *record, s *ydbcoord.Session, f *ydbcoord.Follower) {
		f.Remove("s")
		before := r.count(isDescribe)
		if err := b.UpdateSemaphore(node, "s", []byte("x")); err != nil { // the forgotten watch fires
			t.Fatal(err)
		}
		synctest.Wait()
		if n := r.count(isDescribe) - before; n != 0 {
			t.Errorf("%d describes of what nobody follows", n)
		}
		noError(t, f.Add("s", "s"))
		next(t, f)
		f.Remove("s")
		if err := f.Add("s"); err != nil { // replaces the watch, which the service tells
			t.Fatal(err)
		}
		next(t, f)
		nothing(t, f)
		before = r.count(isDescribe)
		time.Sleep(time.Minute)
		if n := r.count(isDescribe) - before; n != 0 {
			t.Errorf("%d describes in a minute in which nothing happened", n)
		}
	})
}

func TestWatchesAreArmedAnewAfterEachAttachAndToldAgain(t *testing.T) {
	t.Parallel()
	followed(t, func(t *testing.T, b *bench, r *record, s *ydbcoord.Session, f *ydbcoord.Follower) {
		b.hangAttaches(1)
		b.CutStreams()
		synctest.Wait()
		noError(t, b.UpdateSemaphore(node, "s", []byte("unseen")))
		time.Sleep(ttl * 3 / 4)
		if state := next(t, f); string(state.Data) != "unseen" || s.Status().Number != 2 {
			t.Errorf("told %+v", state)
		}
		noError(t, b.UpdateSemaphore(node, "s", []byte("seen")))
		if state := next(t, f); string(state.Data) != "seen" {
			t.Errorf("told %+v", state)
		}
	})
}

func TestAtMostSixtyFourSemaphoresAreAskedForAtOnce(t *testing.T) {
	t.Parallel()
	bubble(t, func(t *testing.T, b *bench) {
		r := &record{}
		s := b.session(t, ydbcoord.Options{}, r.option())
		keep(t, s)
		f := s.Follow()
		var names []string
		for i := range 1000 {
			names = append(names, fmt.Sprint("s", i))
			noError(t, b.CreateSemaphore(node, names[i], 1, nil))
		}
		b.Delay(0, time.Second)
		noError(t, f.Add(names...))
		synctest.Wait()
		if n := r.count(isArming); n != 64 {
			t.Errorf("%d describes under way, want 64", n)
		}
		b.Delay(0, 0)
		seen := map[string]bool{}
		for len(seen) < len(names) {
			state, err := f.Next(t.Context())
			noError(t, err)
			seen[state.Name] = true
		}
		if n := r.count(isArming); n != 1000 {
			t.Errorf("%d describes for 1000 semaphores", n)
		}
	})
}

func TestLookShowsTheQueueAndLeavesTheWatchAlone(t *testing.T) {
	t.Parallel()
	followed(t, func(t *testing.T, b *bench, r *record, s *ydbcoord.Session, f *ydbcoord.Follower) {
		owner, waiter := b.session(t, ydbcoord.Options{}), b.session(t, ydbcoord.Options{})
		must(t, owner, election("s"))
		next(t, f)
		c := election("s")
		c.Wait, c.Data = time.Second, []byte("me")
		if _, err := waiter.Enqueue(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		nothing(t, f) // the service does not tell of waiters
		armed := r.count(isArming)
		f.Look("s", "not followed")
		want := ydbcoord.SemaphoreMember{Session: b.Waiters(node, "s")[0].SessionID, Order: 2, Count: 1, Data: []byte("me"), Timeout: time.Second}
		state := next(t, f)
		if len(state.Waiters) != 1 || fmt.Sprint(state.Waiters[0]) != fmt.Sprint(want) {
			t.Errorf("the queue is %+v, want %+v", state.Waiters, want)
		}
		if state, err := s.Look(t.Context(), "s"); err != nil || len(state.Waiters) != 1 || len(state.Owners) != 1 {
			t.Errorf("looking: %+v, %v", state, err)
		}
		if state, err := s.Look(t.Context(), "absent"); err != nil || !state.Absent {
			t.Errorf("looking at nothing: %+v, %v", state, err)
		}
		nothing(t, f)
		if r.count(isArming) != armed {
			t.Error("looking armed a watch")
		}
		noError(t, b.UpdateSemaphore(node, "s", []byte("x")))
		next(t, f)
	})
}

func TestFollowingEndsWithTheSessionAndWithClose(t *testing.T) {
	t.Parallel()
	followed(t, func(t *testing.T, b *bench, r *record, s *ydbcoord.Session, f *ydbcoord.Follower) {
		closed, idle := s.Follow(), s.Follow() // which follow nothing
		ends := make(chan error, 4)
		for _, f := range []*ydbcoord.Follower{f, f, closed, idle} {
			go func() { _, err := f.Next(t.Context()); ends <- err }()
		}
		synctest.Wait()
		closed.Close()
		if err := <-ends; !errors.Is(err, coord.ErrClosed) {
			t.Errorf("closed: %v", err)
		}
		if err := closed.Add("s"); !errors.Is(err, coord.ErrClosed) {
			t.Errorf("adding to what is closed: %v", err)
		}
		noError(t, b.ExpireSession(node, b.Sessions(node)[0].ID))
		for range 3 {
			if err := <-ends; !errors.Is(err, coord.ErrLost) {
				t.Errorf("after the session: %v", err)
			}
		}
	})
}

func TestLostAnswerToADescribeIsMadeUpForOnTheNextStream(t *testing.T) {
	t.Parallel()
	followed(t, func(t *testing.T, b *bench, r *record, s *ydbcoord.Session, f *ydbcoord.Follower) {
		b.DropReplies("describe_semaphore_result", 1)
		noError(t, b.UpdateSemaphore(node, "s", []byte("x")))
		nothing(t, f) // its answer is lost, which only a new stream mends
		noError(t, b.FailStreams(node, Ydb.StatusIds_OVERLOADED))
		if state := next(t, f); string(state.Data) != "x" {
			t.Errorf("told %+v", state)
		}
	})
}
