package operate_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/coord/pgcoord"
	"coordtop/internal/action"
	"coordtop/internal/localserver"
	"coordtop/internal/operate"
	"coordtop/sources"
)

// other opens a session of another program on the rig's Postgres.
func (r *rig) other() *coord.Session {
	r.t.Helper()
	ctx := context.Background()
	d, err := pgcoord.New(r.url, pgcoord.Options{})
	if err != nil {
		r.t.Fatal(err)
	}
	s, err := coord.Open(ctx, d, coord.SessionOptions{Description: "other"})
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		if err := s.Close(ctx); err != nil {
			r.t.Error(err)
		}
		if err := d.Close(ctx); err != nil {
			r.t.Error(err)
		}
	})
	return s
}

const pair = "17:-4" // a mutex of the Postgres rig

func TestAcquireStandsInTheQueueUntilItsTurn(t *testing.T) {
	t.Parallel()
	r := postgresRig(t, options{})
	lease, err := r.other().Mutex(pair, coord.MutexOptions{}).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r.owner(pair)
	q := r.ask(action.Acquire, pair)
	q.Wait = time.Hour
	id := r.do(q)
	r.until("we wait", func(*sources.State) bool { return r.row(pair).Queue.Len == 1 })
	r.until("our place is told", func(*sources.State) bool { return r.run(id).Place == 1 })
	if h := r.Status().Holdings; len(h) != 1 || !h[0].Waiting || !h[0].GivesUp.Equal(h[0].Since.Add(time.Hour)) {
		t.Errorf("we hold %+v", h)
	}
	effect, err := r.Describe(t.Context(), action.Request{Verb: action.Resign, Target: r.ask(action.Resign, pair).Target})
	if err != nil || !strings.Contains(strings.Join(effect.Lines, " "), "leave the queue") {
		t.Errorf("resigning is described as %+v, %v", effect, err)
	}
	if err := lease.Release(context.Background()); err != nil {
		t.Fatal(err)
	}
	r.reaches(id, action.Seen)
	if h := r.Status().Holdings; len(h) != 1 || h[0].Waiting || h[0].Fence == 0 || h[0].RunsOut {
		t.Errorf("we hold %+v", h)
	}
}

func TestWhatIsCalledOffLeavesNothingInTheQueue(t *testing.T) {
	t.Parallel()
	url := localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL()
	for name, end := range map[string]func(r *rig, id uint64){
		"by the menu":   func(r *rig, id uint64) { r.CallOff(id) },
		"by a resign":   func(r *rig, _ uint64) { r.reaches(r.do(r.ask(action.Resign, pair)), action.Seen) },
		"by the end":    func(r *rig, _ uint64) { r.close() },
		"by its time":   nil,
		"by letting go": func(r *rig, _ uint64) { r.LetRunOut(); r.close() },
	} {
		t.Run(name, func(t *testing.T) {
			r := postgresRigAt(t, url, options{}) // one after the other: they share the lock
			if _, err := r.other().Mutex(pair, coord.MutexOptions{}).Lock(t.Context()); err != nil {
				t.Fatal(err)
			}
			r.owner(pair)
			q := r.ask(action.Acquire, pair)
			if end == nil {
				q.Wait = 300 * time.Millisecond
				if run := r.reaches(r.do(q), action.Missed); run.Text != "gave up waiting after 300ms" {
					t.Errorf("it says %q", run.Text)
				}
			} else {
				id := r.do(q)
				r.until("we wait", func(*sources.State) bool { return r.row(pair).Queue.Len == 1 })
				end(r, id)
				r.reaches(id, action.Dropped)
			}
			r.until("the queue is empty", func(*sources.State) bool { return r.row(pair).Queue.Len == 0 })
			if o := r.owner(pair); !strings.HasPrefix(o.Label, "other") {
				t.Errorf("%s owns it", o.Label)
			}
		})
	}
}

func TestAMutexIsShared(t *testing.T) {
	t.Parallel()
	r := postgresRig(t, options{change: func(_ *operate.Options, b *operate.Backend) {
		b.Call = func(q action.Request) string { return q.Verb.String() + " " + q.Mode.String() }
	}})
	if _, err := r.other().Mutex(pair, coord.MutexOptions{Mode: coord.Shared}).Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.owner(pair)
	q := r.ask(action.Try, pair)
	if e, err := r.Describe(t.Context(), q); err != nil || !e.TakesMode || !strings.HasPrefix(e.Lines[0], "You will hold") {
		t.Errorf("taking it alone is described as %+v, %v", e, err)
	}
	q.Mode = sources.Shared
	e, err := r.Describe(t.Context(), q)
	if text := strings.Join(e.Lines, " "); err != nil || !strings.Contains(text, "others may own it too, none exclusively") || !strings.Contains(text, "at once") {
		t.Errorf("sharing it is described as %q, %v", text, err)
	}
	r.reaches(r.do(q), action.Seen)
	r.until("two own it", func(*sources.State) bool { return len(r.row(pair).Owners) == 2 })
	resign := r.ask(action.Resign, pair)
	r.reaches(r.do(resign), action.Seen)
	r.until("one owns it", func(*sources.State) bool { return len(r.row(pair).Owners) == 1 })
	for _, rec := range r.audit() {
		if rec.Mode != "shared" || !strings.HasSuffix(rec.Call, " shared") {
			t.Errorf("the audit has %+v", rec)
		}
	}
}

func TestOnlyWhatCanBeSharedIsOfferedSo(t *testing.T) {
	t.Parallel()
	r := redisRig(t, options{})
	q := r.ask(action.Acquire, mutex)
	if e, err := r.Describe(t.Context(), q); err != nil || e.TakesMode {
		t.Errorf("a mutex of Redis is described as %+v, %v", e, err)
	}
	q.Mode = sources.Shared
	r.refused(q, operate.ErrNotPossible, "cannot share")
}

func TestATryMissesWhereAnotherWasFaster(t *testing.T) {
	t.Parallel()
	var r *rig
	r = redisRig(t, options{change: func(_ *operate.Options, b *operate.Backend) {
		open := b.Open
		b.Open = func(ctx context.Context, space string) (coord.Driver, error) { // after all guards
			if err := r.redis().Set(ctx, mutex, "faster:1", time.Minute).Err(); err != nil {
				return nil, err
			}
			return open(ctx, space)
		}
	}})
	if run := r.reaches(r.do(r.ask(action.Try, mutex)), action.Missed); run.Text != "it is taken" {
		t.Errorf("it says %q", run.Text)
	}
	if h := r.Status().Holdings; len(h) != 0 {
		t.Errorf("we hold %+v", h)
	}
}

func TestACrashIsFollowedToTheNextLeader(t *testing.T) {
	t.Parallel()
	var r *rig
	r = redisRig(t, options{change: func(_ *operate.Options, b *operate.Backend) {
		b.Crash = func(_ sources.Ref, owner sources.OwnerRef) error { // as if the key ran out, and another won
			if owner.Label != "host-a:1" {
				t.Errorf("asked to crash %+v", owner)
			}
			if err := r.redis().Del(context.Background(), election).Err(); err != nil {
				return err
			}
			return r.redis().Set(context.Background(), election, "host-b:2", time.Minute).Err()
		}
	}})
	r.occupy(election, "host-a:1")
	if run := r.reaches(r.do(r.ask(action.Crash, election)), action.Seen); !strings.Contains(run.Text, "host-b:2 leads now") {
		t.Errorf("it says %q", run.Text)
	}
}

func TestACrashIsFollowedUntilTheLeaseOfTheDeadRunsOut(t *testing.T) {
	t.Parallel()
	r := redisRig(t, options{change: func(o *operate.Options, b *operate.Backend) {
		o.Patience = 3 * time.Second
		b.Crash = func(sources.Ref, sources.OwnerRef) error { return nil }
	}})
	r.occupyFor(4*time.Second, election, "host-a:1")
	if run := r.reaches(r.do(r.ask(action.Crash, election)), action.Seen); !strings.Contains(run.Text, "nobody leads it now") {
		t.Errorf("it says %q", run.Text)
	}
}

func TestWhoComesNextIsSaidAsSurelyAsItIsKnown(t *testing.T) {
	t.Parallel()
	r := postgresRig(t, options{})
	ours := r.do(r.ask(action.Acquire, pair))
	r.ends(ours)
	for range 2 {
		waiting := make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		m := r.other().Mutex(pair, coord.MutexOptions{})
		go func() { _, err := m.Lock(ctx); waiting <- err }() // joined below
		t.Cleanup(func() { cancel(); <-waiting })
		r.until("one more waits", func(*sources.State) bool { return r.row(pair).Queue.Len > 0 })
	}
	says := func(want string) func(*sources.State) bool {
		return func(*sources.State) bool {
			effect, err := r.Describe(t.Context(), action.Request{Verb: action.Resign, Target: r.ask(action.Resign, pair).Target})
			return err == nil && r.row(pair).Queue.Len == 2 && strings.Contains(effect.Next, want)
		}
	}
	r.until("the order is inferred", says("the order of the queue is inferred"))
	ref := r.ask(action.Acquire, pair).Target.Ref
	r.hub.Focus([]sources.Ref{ref}, ref)
	r.until("the order is told", says("is first in the queue"))
}
