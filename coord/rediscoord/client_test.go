package rediscoord_test

import (
	"context"
	"fmt"
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
		noError(t, err)
		if got := c.ClientGetName(b.ctx).Val(); got != want {
			t.Errorf("with Name %q the connection is called %q, want %q", name, got, want)
		}
		c.Close()
	}
	if err := client(t, "redis://alice:pw@"+b.server.Addr()).Ping(b.ctx).Err(); err != nil {
		t.Errorf("a user who may not name connections: %v", err)
	}
}

func TestTheDescriptionOfASessionNamesItsConnections(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	for given, want := range map[string]string{"": " name=nightly_job_ ", "?client_name=mine": " name=mine "} {
		d, err := rediscoord.New(options(t, b.server.URL()+given), rediscoord.Options{})
		noError(t, err)
		s, err := d.Open(b.ctx, coord.SessionOptions{Description: "nightly job\n"})
		noError(t, err)
		if got := b.raw.ClientList(b.ctx).Val(); !strings.Contains(got, want) {
			t.Errorf("with %q no connection has%q: %s", given, want, got)
		}
		noError(t, s.Close(b.ctx))
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
	noError(t, err)
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
		s := b.open(options(t, b.server.URL()+asked), rediscoord.Options{}, time.Minute)
		g := b.must(s, election("k", nil))
		b.renew(g)
		if err := g.Release(b.ctx); err != nil {
			t.Error(err)
		}
	}
}

func TestSentinelLeadsToTheMaster(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	sentinel := localserver.RedisForTest(t, localserver.RedisOptions{Master: b.server.Addr()})
	url := "redis+sentinel://" + sentinel.Addr() + "/main/2"
	g := b.must(b.open(options(t, url), brisk, time.Minute), election("k", nil))
	b.renew(g)
	if v := client(t, b.server.URL()[:len(b.server.URL())-1]+"2").Get(b.ctx, "k").Val(); v == "" {
		t.Error("the key is not at the master, in DB 2")
	}
}
