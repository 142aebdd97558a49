package rediscoord_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/coord/rediscoord"
	"coordtop/internal/emulator/liartest"
	"coordtop/internal/ground/respwire"
	"coordtop/internal/localserver"
)

// TestLyingServerIsNamed opens sessions where something else than a Redis, or than a
// Sentinel, answers.
func TestLyingServerIsNamed(t *testing.T) {
	t.Parallel()
	master := func(text string) liartest.Answer { return liartest.About("sentinel get-master", liartest.Always(text)) }
	tests := []struct {
		name     string
		answer   liartest.Answer
		topology rediscoord.Topology
		says     string
	}{
		{"a map in answer to HELLO", liartest.About("hello", liartest.Always("%2147483647\r\n")), rediscoord.Single, "is not a Redis server"},
		{"an array in answer to PING", liartest.About("ping", liartest.Always("*2147483647\r\n")), rediscoord.Single, "is not a Redis server"},
		{"a map to a Sentinel's HELLO", liartest.About("hello", liartest.Always("%2147483647\r\n")), rediscoord.Sentinel, "is not a Redis server"},
		{"a master without an address", master("*0\r\n"), rediscoord.Sentinel, "is not a Sentinel"},
		{"a master without a port", master("*1\r\n+a\r\n"), rediscoord.Sentinel, "is not a Sentinel"},
		{"a master at no port", master("*2\r\n+a\r\n+99999\r\n"), rediscoord.Sentinel, "is not a Sentinel"},
		{"a master with an endless name", master("*2\r\n" + liartest.Text(strings.Repeat("h", 1<<20)) + "+1\r\n"), rediscoord.Sentinel, "is not a Sentinel"},
		{"a master that is a list", master("*2\r\n*1\r\n+a\r\n*0\r\n"), rediscoord.Sentinel, ""},
		{"a master without end", master("*2147483647\r\n"), rediscoord.Sentinel, "is not a Redis server"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			liar := liartest.RedisForTest(t, tt.answer)
			err := openAndClaim(t, rediscoord.ClientOptions{Topology: tt.topology, Addrs: []string{liar.Addr()}, Master: masterOf(tt.topology)})
			if err == nil || !strings.Contains(err.Error(), tt.says) {
				t.Fatal(err)
			}
			if tt.says == "is not a Redis server" && !errors.As(err, new(*respwire.Error)) {
				t.Errorf("%v is no respwire.Error", err)
			}
		})
	}
}

func masterOf(topology rediscoord.Topology) string {
	if topology == rediscoord.Sentinel {
		return "main"
	}
	return ""
}

// openAndClaim returns what went wrong first.
func openAndClaim(t *testing.T, o rediscoord.ClientOptions) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	d, err := rediscoord.New(o, brisk)
	noError(t, err)
	s, err := d.Open(ctx, coord.SessionOptions{TTL: time.Minute})
	if err != nil {
		return err
	}
	defer s.Abandon()
	_, _, err = s.Acquire(ctx, election("k", nil))
	return err
}

// TestSentinelThatNotifiesOfNonsenseIsAskedAgain has a Sentinel say that the master was switched as no
// Sentinel says it, after it led to a real master.
func TestSentinelThatNotifiesOfNonsenseIsAskedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	host, port, _ := net.SplitHostPort(b.server.Addr())
	asked := make(chan struct{}, 100)
	for _, malformed := range []string{">0\r\n", ">1\r\n+message\r\n", ">3\r\n+message\r\n+switch-master\r\n+main\r\n", "*0\r\n", ">3\r\n:1\r\n:2\r\n:3\r\n"} {
		liar := liartest.RedisForTest(t, liartest.About("sentinel get-master", func(w io.Writer, _ []string) error {
			select {
			case asked <- struct{}{}:
			default:
			}
			return liartest.Say(w, "*2\r\n"+liartest.Text(host)+liartest.Text(port))
		}).
			But("subscribe", func(w io.Writer, command []string) error {
				return errors.Join(liartest.Honest(w, command), liartest.Say(w, malformed))
			}))
		s := b.open(rediscoord.ClientOptions{Topology: rediscoord.Sentinel, Master: "main", Addrs: []string{liar.Addr()}, DialTimeout: patience}, brisk, time.Minute)
		g := b.must(s, election("k"+fmt.Sprintf("%q", malformed), nil))
		for range 3 { // the session's dial, the listener's, and what it asks once it has subscribed
			<-asked
		}
		b.renew(g)
	}
}

// TestSwitchedMasterIsLeft has a Sentinel switch the master while the old one goes on
// serving: its connections are dropped without waiting for one of them to fail.
func TestSwitchedMasterIsLeft(t *testing.T) {
	t.Parallel()
	old, next := setup(t, localserver.RedisOptions{}), setup(t, localserver.RedisOptions{})
	current := make(chan string, 1)
	current <- old.server.Addr()
	subscribed, switched := make(chan struct{}, 10), make(chan struct{})
	liar := liartest.RedisForTest(t, liartest.About("sentinel get-master", func(w io.Writer, _ []string) error {
		addr := <-current
		current <- addr
		host, port, _ := net.SplitHostPort(addr)
		return liartest.Say(w, "*2\r\n"+liartest.Text(host)+liartest.Text(port))
	}).But("subscribe", func(w io.Writer, command []string) error {
		if err := liartest.Honest(w, command); err != nil {
			return err
		}
		subscribed <- struct{}{}
		<-switched
		return liartest.Say(w, ">3\r\n$7\r\nmessage\r\n"+liartest.Text("+switch-master")+liartest.Text("main a 1 b 2"))
	}))
	s := old.open(rediscoord.ClientOptions{Topology: rediscoord.Sentinel, Master: "main", Addrs: []string{liar.Addr()}, Name: "leaver", DialTimeout: patience}, brisk, time.Minute)
	old.must(s, election("k", nil))
	<-subscribed
	<-current
	current <- next.server.Addr()
	close(switched)
	for strings.Contains(old.raw.ClientList(old.ctx).Val(), "name=leaver ") {
		if err := old.ctx.Err(); err != nil {
			t.Fatal("the connections to the old master stay")
		}
	}
}
