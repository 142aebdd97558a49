package operate_test

import (
	"context"
	"maps"
	"slices"
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

// says waits until a run that waits has such a text.
func (r *rig) says(id uint64, text string) {
	r.t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		run := r.run(id)
		if run.Phase == action.Waiting && strings.Contains(run.Text, text) {
			return
		}
		if run.Phase.Over() {
			r.t.Fatalf("run %d is %v (%s), want that it waits and says %q", id, run.Phase, run.Text, text)
		}
		select {
		case <-r.Wake():
		case <-limit.C:
			r.t.Fatalf("run %d says %q, want %q", id, run.Text, text)
		}
	}
}

func TestAWaitingCampaignOutlivesARestartAndSaysSo(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{Keep: true})
	r := redisRigAt(t, server.URL(), redisClient(t, server.URL()), options{})
	r.occupy(election, "host-a:1")
	sub := r.hub.Subscribe(r.hub.State().LastSeq)
	defer sub.Close()
	id := r.do(r.ask(action.Campaign, election))
	r.reaches(id, action.Waiting)
	server.Kill()
	r.says(id, "still waiting: ")
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.redis().Del(context.Background(), election)
	if run := r.reaches(id, action.Seen); run.Text != "we lead" {
		t.Errorf("it says %q", run.Text)
	}
	told := map[string]int{}
	r.until("the end is told", func(*sources.State) bool {
		events, _ := sub.Events(0)
		for _, e := range events {
			if e.Kind == sources.EventAction {
				told[e.Detail]++
			}
		}
		return slices.ContainsFunc(slices.Collect(maps.Keys(told)), campaignSucceeded)
	})
	troubles := 0
	for text, n := range told {
		if strings.Contains(text, "campaign by ana@desk from 10.0.0.9:4711: still waiting: ") {
			troubles++
		}
		if n != 1 {
			t.Errorf("%q was told %d times", text, n)
		}
	}
	if troubles == 0 {
		t.Errorf("no event says that it waits on: %v", told)
	}
}

func TestAWaitingClaimEndsWithARefusal(t *testing.T) {
	t.Parallel()
	r := redisRig(t, options{})
	r.occupy(mutex, "host-a:1")
	id := r.do(r.ask(action.Acquire, mutex))
	r.reaches(id, action.Waiting)
	_, err := r.redis().TxPipelined(context.Background(), func(p redis.Pipeliner) error {
		p.Del(context.Background(), mutex)
		p.HSet(context.Background(), mutex, "a", "b")
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if run := r.reaches(id, action.Failed); !strings.Contains(run.Text, "hash") {
		t.Errorf("it says %q, want that it is a hash", run.Text)
	}
}

// A server that is away when the claim begins is waited for as well.
func TestAWaitingClaimOutlivesAServerThatCannotBeReached(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	var proxy *localserver.Proxy
	r := redisRigAt(t, server.URL(), redisClient(t, server.URL()), options{change: func(_ *operate.Options, b *operate.Backend) {
		b.Open = func(context.Context, string) (coord.Driver, error) {
			return rediscoord.New(redisClient(t, "redis://"+proxy.Addr()), rediscoord.Options{RetryDelay: 50 * time.Millisecond})
		}
	}})
	proxy = localserver.ProxyForTest(t, server.Addr())
	t.Cleanup(func() { r.close() })
	proxy.Cut()
	id := r.do(r.ask(action.Acquire, mutex))
	r.says(id, "still waiting: ")
	q := r.ask(action.Campaign, election)
	q.Wait = 100 * time.Millisecond
	if run := r.reaches(r.do(q), action.Missed); !strings.Contains(run.Text, "gave up waiting") {
		t.Errorf("a wait that ran out says %q", run.Text)
	}
	if run := r.reaches(r.do(r.ask(action.Try, election)), action.Failed); run.Text == "" {
		t.Error("a try that failed does not say why")
	}
	proxy.Resume()
	r.reaches(id, action.Seen)
}
