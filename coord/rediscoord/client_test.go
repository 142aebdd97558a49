package rediscoord_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord"
	"coordtop/coord/rediscoord"
	"coordtop/internal/localserver"
)

func TestConnectionsCarryTheNameWhereTheUserMayGiveIt(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{Users: []string{"alice on >pw ~* +ping"}})
	for name, want := range map[string]string{"": "coordtop", "mine": "mine"} {
		o := options(t, b.server.URL())
		o.Name = name
		c, err := rediscoord.NewClient(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.ClientGetName(b.ctx).Val(); got != want {
			t.Errorf("with Name %q the connection is called %q, want %q", name, got, want)
		}
		c.Close()
	}
	if err := client(t, "redis://alice:pw@"+b.server.Addr()).Ping(b.ctx).Err(); err != nil {
		t.Errorf("a user who may not name connections: %v", err)
	}
}

func TestOnConnectRunsOnEachConnectionAndMayRefuseIt(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	o := options(t, b.server.URL())
	refuse := fmt.Errorf("not this one")
	calls := 0
	o.OnConnect = func(context.Context, *redis.Conn) error {
		if calls++; calls == 1 {
			return refuse
		}
		return nil
	}
	c, err := rediscoord.NewClient(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Ping(b.ctx).Err(); err == nil {
		t.Error("a refused connection was used")
	}
	if err := c.Ping(b.ctx).Err(); err != nil || calls != 2 {
		t.Errorf("the second connection: %v after %d calls", err, calls)
	}
}

func TestProtocolIsWhatWasAskedFor(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	for asked, want := range map[string]string{"": "resp=3", "?protocol=2": "resp=2"} {
		c := client(t, b.server.URL()+asked)
		if info := c.Do(b.ctx, "client", "info").String(); !strings.Contains(info, want) {
			t.Errorf("with %q the connection says %s, want %s", asked, info, want)
		}
		s := b.open(options(t, b.server.URL()+asked), rediscoord.Options{FenceSuffix: ":fence"}, time.Minute)
		g := b.must(s, election("k", nil))
		b.renew(g)
		if err := g.Release(b.ctx); err != nil {
			t.Error(err)
		}
	}
}

// cluster starts a Cluster of one node that owns all slots.
func cluster(t *testing.T) (bench, rediscoord.ClientOptions) {
	t.Helper()
	b := setup(t, localserver.RedisOptions{Config: []string{"cluster-enabled yes"}})
	if err := b.raw.Do(b.ctx, "cluster", "addslotsrange", 0, 16383).Err(); err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !strings.Contains(b.raw.ClusterInfo(b.ctx).Val(), "cluster_state:ok") {
		<-tick.C
		if b.ctx.Err() != nil {
			t.Fatal("the Cluster does not come up")
		}
	}
	return b, options(t, "redis+cluster://"+b.server.Addr())
}

func TestClusterServesClaimsAndFencesWithHashTags(t *testing.T) {
	t.Parallel()
	b, address := cluster(t)
	g := b.must(b.open(address, brisk, time.Minute), election("app:leader:x", []byte("d")))
	b.renew(g)
	b.wantOwner("app:leader:x", g, "d")
	fenced := b.open(address, rediscoord.Options{FenceSuffix: ":fence"}, time.Minute)
	f := b.must(fenced, election("{app}:x", nil))
	d, err := fenced.(coord.Describer).Describe(b.ctx, coord.KindElection, "{app}:x")
	if f.Info().Fence != 1 || err != nil || len(d.Owners) != 1 || d.Owners[0].Fence != 1 {
		t.Errorf("the fence is %d, described as %+v, %v", f.Info().Fence, d, err)
	}
	for _, bare := range []string{"app:x", "app:{}x", "app:{x"} {
		_, ok, err := fenced.Acquire(b.ctx, election(bare, nil))
		if ok || !errors.Is(err, coord.ErrRefused) || !strings.Contains(err.Error(), "hash tag") {
			t.Errorf("a fence for %s: ok %v, %v, want ErrRefused that says what is missing", bare, ok, err)
		}
	}
}

// The library's Cluster client sends a command again after a lost reply, unless the
// command refuses. An ACQUIRE that was obeyed twice would miss its own key.
func TestClusterClientNeverSendsAScriptTwice(t *testing.T) {
	t.Parallel()
	b, _ := cluster(t)
	p := localserver.ProxyForTest(t, b.server.Addr())
	host, port, _ := net.SplitHostPort(p.Addr())
	// The node tells its clients the proxy's address, so that all go through it.
	for _, setting := range [][2]string{{"cluster-announce-ip", host}, {"cluster-announce-port", port}} {
		if err := b.raw.ConfigSet(b.ctx, setting[0], setting[1]).Err(); err != nil {
			t.Fatal(err)
		}
	}
	s := b.open(options(t, "redis+cluster://"+p.Addr()), brisk, time.Minute)
	primer := b.must(s, election("primer", nil))
	b.renew(primer)
	before := calls(b)
	lost := p.Lose(localserver.Reply, aScript)
	if _, err := primer.(coord.Renewer).Renew(b.ctx); err == nil {
		t.Error("a renewal whose reply was lost succeeded: it was sent again")
	}
	b.wait(lost)
	if n := calls(b) - before; n != 1 {
		t.Errorf("the script ran %d times, want once", n)
	}
}

// calls is how many scripts the server has run.
func calls(b bench) int {
	b.Helper()
	var n int
	for line := range strings.Lines(b.raw.Info(b.ctx, "commandstats").Val()) {
		if rest, ok := strings.CutPrefix(line, "cmdstat_evalsha:calls="); ok {
			if _, err := fmt.Sscanf(rest, "%d", &n); err != nil {
				b.Fatal(err)
			}
		}
	}
	return n
}

func TestSentinelLeadsToTheMaster(t *testing.T) {
	t.Parallel()
	localserver.NeedsServer(t)
	server, err := exec.LookPath("redis-server")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "redis-sentinel") // the name makes it one
	if err := os.Symlink(server, program); err != nil {
		t.Fatal(err)
	}
	b := setup(t, localserver.RedisOptions{})
	host, port, _ := net.SplitHostPort(b.server.Addr())
	sentinel := localserver.RedisForTest(t, localserver.RedisOptions{
		Program: program,
		Config:  []string{fmt.Sprintf("sentinel monitor main %s %s 1", host, port)},
	})
	url := "redis+sentinel://" + sentinel.Addr() + "/main/2"
	g := b.must(b.open(options(t, url), brisk, time.Minute), election("k", nil))
	b.renew(g)
	if v := client(t, b.server.URL()[:len(b.server.URL())-1]+"2").Get(b.ctx, "k").Val(); v == "" {
		t.Error("the key is not at the master, in DB 2")
	}
}
