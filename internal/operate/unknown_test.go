package operate_test

import (
	"context"
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

// held is a rig whose Operator's first request is kept back on its way to the server. With
// may, the Operator has the rights to find out what becomes of it.
func held(t *testing.T, may bool) (r *rig, kept <-chan struct{}, release func()) {
	t.Helper()
	rights := "+evalsha +eval +get +set +exists +del +pexpire +pttl +type"
	if may {
		rights += " +client"
	}
	server := localserver.RedisForTest(t, localserver.RedisOptions{Users: []string{"bob on >hunter2 ~* " + rights}})
	proxy := localserver.ProxyForTest(t, server.Addr())
	r = redisRigAt(t, server.URL(), redisClient(t, server.URL()), options{change: func(_ *operate.Options, b *operate.Backend) {
		b.Open = func(context.Context, string) (coord.Driver, error) {
			return rediscoord.New(redisClient(t, "redis://bob:hunter2@"+proxy.Addr()), rediscoord.Options{RetryDelay: 50 * time.Millisecond})
		}
	}})
	kept, release = proxy.Hold("evalsha")
	t.Cleanup(release)
	return r, kept, release
}

func (r *rig) wait(event <-chan struct{}) {
	r.t.Helper()
	select {
	case <-event:
	case <-time.After(patience):
		r.t.Fatal("waited in vain")
	}
}

// told waits for the event of a run's end.
func (r *rig) told(sub *sources.Subscription, text string) {
	r.t.Helper()
	r.until("it is told: "+text, func(*sources.State) bool {
		events, _ := sub.Events(0)
		for _, e := range events {
			if e.Kind == sources.EventAction && strings.Contains(e.Detail, text) {
				return true
			}
		}
		return false
	})
}

const notKnown = "whether it was taken is not known; it would run out within 30s"

func TestAClaimThatMayStillWinIsNeverMissed(t *testing.T) {
	t.Parallel()
	for _, verb := range []action.Verb{action.Acquire, action.Try} {
		r, kept, _ := held(t, false)
		sub := r.hub.Subscribe(r.hub.State().LastSeq)
		q := r.ask(verb, mutex)
		if verb == action.Acquire {
			q.Wait = 2 * time.Second // longer than it takes to send something
		}
		id := r.do(q)
		r.wait(kept)
		if run := r.reaches(id, action.Unknown); run.Text != notKnown {
			t.Errorf("%v says %q", verb, run.Text)
		}
		lines := r.audit()
		if last := lines[len(lines)-1]; last.Result != "not known" || last.Detail != notKnown {
			t.Errorf("%v: the audit ends with %+v", verb, last)
		}
		r.told(sub, "not known: "+notKnown)
		sub.Close()
	}
}

func TestAClaimIsMissedOnceNothingOfItCanArrive(t *testing.T) {
	t.Parallel()
	r, kept, release := held(t, true)
	q := r.ask(action.Acquire, mutex)
	q.Wait = 2 * time.Second // longer than it takes to send something
	id := r.do(q)
	r.wait(kept)
	r.reaches(id, action.Missed)
	release()
	if err := r.redis().Get(context.Background(), mutex).Err(); err != redis.Nil {
		t.Errorf("the key is there: %v", err)
	}
}

func TestACalledOffClaimThatMayStillWinSaysSo(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(r *rig, id uint64){
		"called off": func(r *rig, id uint64) { r.CallOff(id) },
		"closed":     func(r *rig, _ uint64) { r.close() },
	} {
		r, kept, _ := held(t, false)
		id := r.do(r.ask(action.Acquire, mutex))
		r.wait(kept)
		end(r, id)
		if run := r.reaches(id, action.Unknown); run.Text != notKnown {
			t.Errorf("%s: it says %q", name, run.Text)
		}
		lines := r.audit()
		if last := lines[len(lines)-1]; last.Result != "not known" {
			t.Errorf("%s: the audit ends with %+v", name, last)
		}
	}
}
