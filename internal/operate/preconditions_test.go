package operate_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord"
	"coordtop/coord/rediscoord"
	"coordtop/internal/action"
	"coordtop/internal/localserver"
	"coordtop/internal/operate"
	"coordtop/sources"
)

const (
	election = "app:leader:x"
	mutex    = "app:lock:y"
)

// refused checks that a request is refused with that error, that nothing was written and
// that the text says so.
func (r *rig) refused(q action.Request, want error, says string) {
	r.t.Helper()
	lines := len(r.audit())
	_, err := r.Start(q)
	if !errors.Is(err, want) || !strings.Contains(err.Error(), says) {
		r.t.Errorf("%v: got %v, want %v with %q", q.Verb, err, want, says)
	}
	if more := r.audit()[lines:]; len(more) > 0 {
		r.t.Errorf("%v: the audit has %+v", q.Verb, more)
	}
}

// redis is a client of the server beside ours.
func (r *rig) redis() *redis.Client {
	r.t.Helper()
	o, err := redis.ParseURL(r.url)
	if err != nil {
		r.t.Fatal(err)
	}
	c := redis.NewClient(o)
	r.t.Cleanup(func() { _ = c.Close() })
	return c
}

// occupy makes somebody own a key, and waits until the Hub shows it.
func (r *rig) occupy(key, owner string) {
	r.t.Helper()
	r.occupyFor(time.Minute, key, owner)
}

func (r *rig) occupyFor(ttl time.Duration, key, owner string) {
	r.t.Helper()
	if err := r.redis().Set(context.Background(), key, owner, ttl).Err(); err != nil {
		r.t.Fatal(err)
	}
	r.until(owner+" owns it", func(*sources.State) bool {
		row := r.row(key)
		return row != nil && len(row.Owners) == 1 && row.Owners[0].Label == owner
	})
}

func TestNothingIsSentUnlessWritingIsArmed(t *testing.T) {
	t.Parallel()
	var now atomic.Pointer[time.Time]
	start := time.Now()
	now.Store(&start)
	r := redisRig(t, options{change: func(o *operate.Options, _ *operate.Backend) {
		o.Always, o.Now = false, func() time.Time { return *now.Load() }
	}})
	r.refused(r.ask(action.Try, mutex), operate.ErrNotArmed, "arm it")
	if err := r.Arm("s", ""); err != nil {
		t.Fatal(err)
	}
	if s := r.Status(); !s.CanWrite(start.Add(5*time.Minute-1)) || s.CanWrite(start.Add(5*time.Minute)) {
		t.Errorf("armed until %v, want 5 min", s.Armed.Sub(start))
	}
	r.reaches(r.do(r.ask(action.Try, mutex)), action.Seen)
	r.Disarm()
	r.refused(r.ask(action.Campaign, election), operate.ErrNotArmed, "arm it")
	if err := r.Arm("s", ""); err != nil {
		t.Fatal(err)
	}
	later := start.Add(5 * time.Minute)
	now.Store(&later)
	r.refused(r.ask(action.Campaign, election), operate.ErrNotArmed, "arm it")
	if len(r.Status().Holdings) != 1 {
		t.Errorf("disarming gave up what we hold")
	}
	var acts []string
	for _, rec := range r.audit() {
		acts = append(acts, rec.Action+" "+rec.Stage)
	}
	if got, want := strings.Join(acts, ", "), "arm only, try before, try after, disarm only, arm only"; got != want {
		t.Errorf("the audit has %q, want %q", got, want)
	}
}

func TestDisarmingEndsAlsoWhatHadNoEnd(t *testing.T) {
	t.Parallel()
	r := redisRig(t, options{})
	if !r.Status().Always {
		t.Error("not armed from the start")
	}
	r.Disarm()
	r.refused(r.ask(action.Try, mutex), operate.ErrNotArmed, "arm it")
	if r.Status().CanWrite(time.Now()) {
		t.Error("the status says that writing is possible")
	}
}

func TestAReadOnlySourceIsRefused(t *testing.T) {
	t.Parallel()
	r := redisRig(t, options{change: func(_ *operate.Options, b *operate.Backend) { b.ReadOnly = true }})
	r.refused(r.ask(action.Campaign, election), operate.ErrReadOnly, "read_only")
	if err := r.Arm("s", "s"); !errors.Is(err, operate.ErrReadOnly) {
		t.Errorf("arming it: %v", err)
	}
	for _, c := range r.Choices(r.row(election)) {
		if c.Not == "" {
			t.Errorf("%v is offered", c.Verb)
		}
	}
}

func TestAReadOnlyDriverCanOnlyLook(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	inner, err := rediscoord.New(redisClient(t, server.URL()), rediscoord.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := operate.ReadOnly(inner)
	s, err := coord.Open(ctx, d, coord.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(ctx); err != nil {
			t.Error(err)
		}
	}()
	if _, err := s.Mutex(mutex, coord.MutexOptions{}).Lock(ctx); !errors.Is(err, operate.ErrReadOnly) {
		t.Errorf("locking: %v", err)
	}
	if _, _, err := s.Election(election, coord.ElectionOptions{}).TryCampaign(ctx, nil); !errors.Is(err, operate.ErrReadOnly) {
		t.Errorf("campaigning: %v", err)
	}
	if _, err := s.Semaphore("z", coord.SemaphoreOptions{}).Enqueue(ctx, 1); !errors.Is(err, coord.ErrUnsupported) {
		t.Errorf("queueing: %v", err)
	}
	if err := s.Semaphore("z", coord.SemaphoreOptions{}).Delete(ctx, true); !errors.Is(err, coord.ErrUnsupported) {
		t.Errorf("deleting: %v", err)
	}
	ds, err := d.Open(ctx, coord.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer ds.Abandon()
	if _, ok := ds.(coord.Queuer); ok {
		t.Error("its session queues")
	}
	if _, ok := ds.(coord.Provisioner); ok {
		t.Error("its session makes primitives")
	}
	if _, err := ds.(coord.Describer).Describe(ctx, coord.KindMutex, mutex); err != nil {
		t.Errorf("looking: %v", err)
	}
}

func TestAProtectedSourceNeedsItsNameAndAReason(t *testing.T) {
	t.Parallel()
	r := redisRig(t, options{change: func(_ *operate.Options, b *operate.Backend) { b.Protect = true }})
	q := r.ask(action.Campaign, election)
	r.refused(q, operate.ErrUnconfirmed, "reason")
	q.Reason = "INC-1"
	r.refused(q, operate.ErrNotArmed, "typing its name")
	if err := r.Arm("s", "S"); !errors.Is(err, operate.ErrUnconfirmed) {
		t.Errorf("armed with another name: %v", err)
	}
	if err := r.Arm("s", "s"); err != nil {
		t.Fatal(err)
	}
	r.reaches(r.do(q), action.Seen)
	if last := r.audit(); last[len(last)-1].Reason != "INC-1" {
		t.Errorf("the audit has no reason: %+v", last)
	}
}

func TestTakingOutsideTheDemoNeedsTheNameTyped(t *testing.T) {
	t.Parallel()
	r := redisRig(t, options{change: func(_ *operate.Options, b *operate.Backend) { b.Demo = false }})
	q := r.ask(action.Campaign, election)
	r.refused(q, operate.ErrUnconfirmed, election)
	effect, err := r.Describe(t.Context(), q)
	if err != nil || effect.NeedsName != election || !effect.Danger {
		t.Errorf("described as %+v, %v", effect, err)
	}
	q.Typed = effect.NeedsName
	r.reaches(r.do(q), action.Seen)
	r.reaches(r.do(r.ask(action.Resign, election)), action.Sent, action.Seen) // giving up needs no name
}

func TestNothingIsSentWhenTheRowHasChanged(t *testing.T) {
	t.Parallel()
	r := redisRig(t, options{})
	r.occupy(mutex, "host-a:1")
	q := r.ask(action.Try, mutex)
	free := q
	free.Target.Owner, free.Target.Label = "", ""
	r.occupy(mutex, "host-b:2")
	r.refused(q, operate.ErrChanged, "host-a:1 owned it when you decided, now host-b:2 does; nothing was sent")
	r.refused(free, operate.ErrChanged, "nobody owned it when you decided, now host-b:2 does; nothing was sent")
	if err := r.redis().Del(context.Background(), mutex).Err(); err != nil {
		t.Fatal(err)
	}
	r.until("nobody owns it", func(*sources.State) bool { return len(r.row(mutex).Owners) == 0 })
	r.refused(q, operate.ErrChanged, "host-a:1 owned it when you decided, now nobody does; nothing was sent")
}

// Of a value that is too long to read, no guard is known.
func TestAnOwnerWithoutAGuardIsNotEnded(t *testing.T) {
	t.Parallel()
	ended := false
	r := redisRig(t, options{change: func(_ *operate.Options, b *operate.Backend) {
		b.Crash = func(sources.Ref, sources.OwnerRef) error { ended = true; return nil }
	}})
	if err := r.redis().Set(t.Context(), mutex, strings.Repeat("host-a:1 ", 1<<17), time.Minute).Err(); err != nil {
		t.Fatal(err)
	}
	if o := r.owner(mutex); o.Guard != "" {
		t.Fatalf("its guard is %q", o.Guard)
	}
	r.refused(r.ask(action.Crash, mutex), operate.ErrChanged, "by which a change of owner could be noticed")
	if ended {
		t.Error("it was ended")
	}
}

func TestAnActionThatNobodyKnowsIsRefused(t *testing.T) {
	t.Parallel()
	r := redisRig(t, options{})
	for _, v := range []action.Verb{0, 99} {
		q := r.ask(v, mutex)
		r.refused(q, operate.ErrChanged, "nothing was sent")
		q.Target = action.Target{Ref: q.Target.Ref, Kind: q.Target.Kind}
		r.refused(q, operate.ErrChanged, "nothing was sent")
		if _, err := r.Describe(t.Context(), q); !errors.Is(err, operate.ErrNotPossible) {
			t.Errorf("verb %d is described: %v", v, err)
		}
	}
}

func TestWhatIsNotPossibleIsRefusedWithItsReason(t *testing.T) {
	t.Parallel()
	r := redisRig(t, options{})
	r.occupy(mutex, "host-a:1")
	long, shared, many := r.ask(action.Campaign, election), r.ask(action.Acquire, mutex), r.ask(action.Acquire, mutex)
	long.Data, shared.Mode, many.Permits = make([]byte, 4097-len("ana@desk:1 ")), sources.Shared, 2
	r.refused(long, operate.ErrNotPossible, "4097 bytes")
	r.refused(shared, operate.ErrNotPossible, "share")
	r.refused(many, operate.ErrNotPossible, "permits")
	r.refused(r.ask(action.Try, mutex), operate.ErrTaken, "owned by host-a:1")
	r.refused(r.ask(action.Acquire, election), operate.ErrNotPossible, "campaign")
	r.refused(r.ask(action.Campaign, mutex), operate.ErrNotPossible, "acquire")
	r.refused(r.ask(action.Resign, mutex), operate.ErrNotPossible, "not ours: coordtop gives up only what it took")
	r.refused(r.ask(action.Proclaim, mutex), operate.ErrNotPossible, "only a leader proclaims")
	r.refused(r.ask(action.Proclaim, election), operate.ErrNotPossible, "not ours: nobody owns it")
	r.occupyFor(time.Second, election, "host-b:1")
	r.refused(r.ask(action.Proclaim, election), operate.ErrNotPossible, "not ours: only the leader proclaims")
	r.until("nobody leads", func(*sources.State) bool { return len(r.row(election).Owners) == 0 })
	r.refused(r.ask(action.Crash, mutex), operate.ErrNotPossible, "only in the demo")
	if err := r.redis().Persist(context.Background(), mutex).Err(); err != nil {
		t.Fatal(err)
	}
	r.until("it has no end", func(*sources.State) bool { return r.row(mutex).Owners[0].NoExpiry })
	r.refused(r.ask(action.Acquire, mutex), operate.ErrNotPossible, "no end")
	r.reaches(r.do(r.ask(action.Campaign, election)), action.Seen)
	r.refused(r.ask(action.Campaign, election), operate.ErrNotPossible, "ours already")
}

func TestWithoutAnAuditNothingIsSent(t *testing.T) {
	t.Parallel()
	r := redisRig(t, options{change: func(o *operate.Options, _ *operate.Backend) {
		file := filepath.Join(t.TempDir(), "file")
		if err := operate.NewAuditLog(file, operate.Actor{}).Write(t.Context(), operate.Record{}); err != nil {
			t.Fatal(err)
		}
		o.Audit = operate.NewAuditLog(filepath.Join(file, "audit.jsonl"), operate.Actor{}) // a file is no folder
	}})
	r.refused(r.ask(action.Campaign, election), operate.ErrNoAudit, "nothing was sent")
	if err := r.Arm("s", ""); !errors.Is(err, operate.ErrNoAudit) {
		t.Errorf("armed without a record: %v", err)
	}
	if n, err := r.redis().Exists(context.Background(), election).Result(); n != 0 || err != nil {
		t.Errorf("the key is there: %v, %v", n, err)
	}
	if runs := r.Status().Runs; len(runs) != 0 {
		t.Errorf("it runs: %+v", runs)
	}
}
