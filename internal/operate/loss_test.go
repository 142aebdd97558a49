package operate_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
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

// cuttable is a rig whose Operator reaches its server through a proxy; the Hub does not.
func cuttable(t *testing.T, ttl time.Duration) (*rig, *localserver.Proxy) {
	t.Helper()
	var proxy *localserver.Proxy
	r := redisRig(t, options{change: func(_ *operate.Options, b *operate.Backend) {
		b.Open = func(context.Context, string) (coord.Driver, error) {
			client := redisClient(t, "redis://"+proxy.Addr()+"/0")
			return rediscoord.New(client, rediscoord.Options{TTL: ttl, RetryDelay: 50 * time.Millisecond})
		}
		b.Crash = func(sources.Ref, sources.OwnerRef) error { return errors.New("no such process") }
	}})
	u, err := url.Parse(r.url)
	if err != nil {
		t.Fatal(err)
	}
	proxy = localserver.ProxyForTest(t, u.Host)
	t.Cleanup(func() { // before the proxy ends: what closes must find it black still, or gone
		r.close()
	})
	return r, proxy
}

func TestALostLeaseIsToldWithItsCauseBeforeAnotherCanHaveIt(t *testing.T) {
	t.Parallel()
	r, proxy := cuttable(t, 4*time.Second)
	sub := r.hub.Subscribe(0)
	defer sub.Close()
	id := r.do(r.ask(action.Campaign, election))
	r.reaches(id, action.Seen)
	us := r.owner(election)
	proxy.BlackHole()
	run := r.reaches(id+1, action.Failed)
	if !strings.Contains(run.Text, "lost after") || !strings.Contains(run.Text, coord.ErrExpired.Error()) || run.Request.Verb != action.Campaign {
		t.Errorf("it says %v %q", run.Request.Verb, run.Text)
	}
	var free time.Time
	r.until("the key is free", func(*sources.State) bool {
		events, _ := sub.Events(0)
		for _, e := range events {
			if e.Kind.EndsOwner() && e.Previous.ID == us.ID {
				free = e.At
			}
		}
		return !free.IsZero()
	})
	lines := r.audit()
	lost := lines[len(lines)-1]
	if lost.Action != "lost" || lost.OwnerBefore != us.ID || lost.Result != "failed" {
		t.Errorf("the audit ends with %+v", lost)
	}
	if !lost.At.Before(free) {
		t.Errorf("told at %v, the server gave it away by %v", lost.At, free)
	}
	r.until("nothing is held", func(*sources.State) bool { return len(r.Status().Holdings) == 0 })
}

func TestAnEndAfterAnActionThatFailedIsNotOurs(t *testing.T) {
	t.Parallel()
	r, proxy := cuttable(t, time.Minute)
	r.occupy(mutex, "host-a:1")
	r.reaches(r.do(r.ask(action.Crash, mutex)), action.Failed)
	r.reaches(r.do(r.ask(action.Try, election)), action.Seen)
	r.owner(election)
	proxy.BlackHole()
	r.reaches(r.do(r.ask(action.Resign, election)), action.Failed)
	for _, name := range []string{mutex, election} {
		r.redis().Del(t.Context(), name)
		r.free(name)
		if last := r.lastTerm(name); last.How == sources.Ours {
			t.Errorf("the end of %s is told as ours: %+v", name, last)
		}
	}
}

func TestALeaseThatWasTakenAwayIsLost(t *testing.T) {
	t.Parallel()
	r := redisRig(t, options{change: func(_ *operate.Options, b *operate.Backend) { b.Renew = 100 * time.Millisecond }})
	id := r.do(r.ask(action.Campaign, election))
	r.reaches(id, action.Seen)
	r.occupy(election, "thief:1")
	if run := r.reaches(id+1, action.Failed); !strings.Contains(run.Text, coord.ErrLost.Error()) {
		t.Errorf("it says %q", run.Text)
	}
	if o := r.owner(election); o.Label != "thief:1" {
		t.Errorf("%s owns it: we gave away what was not ours", o.Label)
	}
}

// The next renewal is twenty minutes away.
func TestALossThatOurWatchShowsIsFoundBeforeTheNextRenewal(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(*rig){
		"overwritten": func(r *rig) { r.occupy(election, "thief:1") },
		"deleted":     func(r *rig) { r.redis().Del(context.Background(), election) },
		"flushed":     func(r *rig) { r.redis().FlushAll(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := localserver.RedisForTest(t, localserver.RedisOptions{})
			client := redisClient(t, server.URL())
			r := redisRigAt(t, server.URL(), client, options{change: func(_ *operate.Options, b *operate.Backend) {
				b.Open = func(context.Context, string) (coord.Driver, error) {
					return rediscoord.New(client, rediscoord.Options{TTL: time.Hour})
				}
			}})
			id := r.do(r.ask(action.Campaign, election))
			r.reaches(id, action.Seen)
			take(r)
			if run := r.reaches(id+1, action.Failed); !run.Lost || !strings.Contains(run.Text, coord.ErrLost.Error()) {
				t.Errorf("it says %q", run.Text)
			}
		})
	}
}

func TestCloseEndsAlsoWhenTheServerDoesNotAnswer(t *testing.T) {
	t.Parallel()
	r, proxy := cuttable(t, 30*time.Second)
	r.reaches(r.do(r.ask(action.Campaign, election)), action.Seen)
	r.occupy(mutex, "host-a:1")
	r.reaches(r.do(r.ask(action.Acquire, mutex)), action.Waiting)
	proxy.BlackHole()
	began := time.Now()
	err := r.Close()
	took := time.Since(began)
	t.Logf("closed after %v: %v", took, err)
	if took > patience/2 { // 2 s is promised; a slow machine may take longer, an unbounded end does
		t.Errorf("it took %v", took)
	}
	if err == nil {
		t.Error("it says that all was given back")
	}
	ends := map[string]string{} // the order of the two is not ours
	for _, line := range r.audit() {
		if line.Stage == operate.After {
			ends[line.Action] = line.Result + ", " + line.Reason
		}
	}
	if ends["resign"] != "failed, coordtop ended" {
		t.Errorf("the audit says of the lease %q", ends["resign"])
	}
	if ends["acquire"] != "not known, " && ends["acquire"] != "called off, " { // a try may have been on its way
		t.Errorf("the audit says of the claim that waited %q", ends["acquire"])
	}
}

func TestCloseGivesBackWhatWeHold(t *testing.T) {
	t.Parallel()
	r := redisRig(t, options{})
	r.reaches(r.do(r.ask(action.Campaign, election)), action.Seen)
	r.reaches(r.do(r.ask(action.Acquire, mutex)), action.Seen)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := r.redis().Exists(context.Background(), election, mutex).Result(); n != 0 || err != nil {
		t.Errorf("%d keys are left: %v", n, err)
	}
	if _, err := r.Start(action.Request{Verb: action.Campaign, Target: action.Target{Ref: sources.Ref{Source: "s"}}}); !errors.Is(err, operate.ErrClosed) {
		t.Errorf("started after the end: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
}

func TestLeasesThatShallRunOutAreLeftAlone(t *testing.T) {
	t.Parallel()
	r := redisRig(t, options{})
	r.reaches(r.do(r.ask(action.Campaign, election)), action.Seen)
	us := r.owner(election)
	r.LetRunOut()
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	value, err := r.redis().Get(context.Background(), election).Bytes()
	if err != nil || rediscoord.OwnerOf(value).ID != us.ID {
		t.Errorf("the key has %q (%v), want ours", value, err)
	}
	if ttl, err := r.redis().PTTL(context.Background(), election).Result(); err != nil || ttl <= 0 {
		t.Errorf("it never runs out: %v, %v", ttl, err)
	}
	lines := r.audit()
	if last := lines[len(lines)-1]; !strings.Contains(last.Detail, "runs out") {
		t.Errorf("the audit ends with %+v", last)
	}
}

func TestAStaleRowRefusesAllButResign(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	u, err := url.Parse(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	proxy := localserver.ProxyForTest(t, u.Host)
	r := redisRigAt(t, server.URL(), redisClient(t, "redis://"+proxy.Addr()+"/0"), options{change: func(o *operate.Options, _ *operate.Backend) {
		o.Patience = 3 * time.Second // a busy machine has to see the campaign within it
	}})
	r.reaches(r.do(r.ask(action.Campaign, election)), action.Seen)
	proxy.BlackHole()
	r.until("the source is silent", func(s *sources.State) bool { return s.Scopes[0].Health == sources.HealthStale })
	r.refused(r.ask(action.Acquire, mutex), operate.ErrNotPossible, "old")
	r.reaches(r.do(r.ask(action.Resign, election)), action.Unseen)
	if err := r.redis().Get(context.Background(), election).Err(); !errors.Is(err, redis.Nil) {
		t.Errorf("still there: %v", err)
	}
}
