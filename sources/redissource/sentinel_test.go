package redissource

import (
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
	"coordtop/internal/localserver"
	"coordtop/sources"
)

// sentinel starts a Sentinel that watches a master under the name main.
func sentinel(t *testing.T, master string) *localserver.Redis {
	t.Helper()
	return localserver.RedisForTest(t, localserver.RedisOptions{Master: master})
}

func TestSentinelLeadsToTheMasterAndToTheNext(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.RedisOptions{Config: []string{"repl-diskless-sync-delay 0"}}, held)
	next := serve(t, localserver.RedisOptions{})
	host, port, _ := strings.Cut(r.server.Addr(), ":")
	next.do("REPLICAOF", host, port)
	s := sentinel(t, r.server.Addr())
	c := rediscoord.ClientOptions{Topology: rediscoord.Sentinel, Master: "main", Addrs: []string{s.Addr()}}
	watch(t, r, Options{Client: c, Selections: leaders()}).synced()
	if about := r.mode(modeTracking); about.Role != "master" {
		t.Errorf("about: %+v", about)
	}
	r.State("the replica to have it", func(*sources.State) bool { return r.do("WAIT", "1", "1000") == int64(1) })
	r.State("the Sentinel to know the replica", func(*sources.State) bool { return knowsReplica(t, s.Addr()) })
	r.server.Kill()
	r.Event(sources.EventSourceDown, "")
	if e := r.Event(sources.EventRestarted, ""); !strings.HasPrefix(e.Detail, "another server: "+next.server.Addr()+": run ") {
		t.Errorf("%+v", e)
	}
	r.synced()
	r.Row("", "app:leader:x", "led at the new master", led)
	r.NoOwnerEvents()
}

// TestADeadMasterIsNamedAndNotTheSentinels ends or stops a master that nobody can replace.
func TestADeadMasterIsNamedAndNotTheSentinels(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*rig) error{
		"killed": func(r *rig) error { r.server.Kill(); return nil }, "frozen": func(r *rig) error { return r.server.Freeze() },
	} {
		for _, host := range []string{"127.0.0.1", "localhost"} {
			t.Run(name+" "+host, func(t *testing.T) {
				t.Parallel()
				r := serve(t, localserver.RedisOptions{}, held)
				_, port, _ := strings.Cut(r.server.Addr(), ":")
				s := sentinel(t, net.JoinHostPort(host, port))
				c := rediscoord.ClientOptions{Topology: rediscoord.Sentinel, Master: "main", Addrs: []string{s.Addr()}}
				watch(t, r, Options{Client: c, Selections: leaders(), Silence: time.Second}).synced()
				noError(t, end(r))
				e := r.Event(sources.EventSourceDown, "")
				c.DialTimeout = time.Second // of a frozen one no answer comes
				err := connect(t, c, leaders()...)
				for _, text := range []string{e.Detail, err.Error()} {
					if !strings.Contains(text, `the master "main" at `) || !strings.Contains(text, ":"+port) || !strings.Contains(text, "a failover is awaited") || strings.Contains(text, s.Addr()) {
						t.Errorf("%q", text)
					}
				}
				if name == "killed" && !strings.Contains(err.Error(), net.JoinHostPort(host, port)) {
					t.Error(err)
				}
			})
		}
	}
}

func TestUnknownMasterIsRefused(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.RedisOptions{})
	s := sentinel(t, r.server.Addr())
	err := connect(t, rediscoord.ClientOptions{Topology: rediscoord.Sentinel, Master: "other", Addrs: []string{s.Addr()}}, leaders()...)
	if err == nil || !strings.Contains(err.Error(), `know no master "other"`) {
		t.Error(err)
	}
}

func knowsReplica(t *testing.T, addr string) bool {
	t.Helper()
	c := redis.NewSentinelClient(&redis.Options{Addr: addr, DisableIdentity: true})
	defer c.Close()
	list, err := c.Replicas(t.Context(), "main").Result()
	noError(t, err)
	return len(list) > 0
}
