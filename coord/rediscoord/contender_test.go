package rediscoord_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"coordtop/coord"
	"coordtop/internal/localserver"
)

// contender does what LeaderService does, as facts about it tell: its three scripts over
// a connection that shares nothing with our driver.
type contender struct {
	conn net.Conn
	in   *bufio.Reader
	id   string
}

const (
	theirAcquire = `if redis.call("EXISTS", KEYS[1]) == 1 then return 0 end
redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2]) return 1`
	theirRenew   = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end return 0`
	theirRelease = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`
)

func newContender(t *testing.T, addr string) *contender {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	noError(t, err)
	t.Cleanup(func() { conn.Close() })
	return &contender{conn, bufio.NewReader(conn), uuid.NewString()}
}

// eval sends one EVAL in RESP and reads the number that comes back.
func (c *contender) eval(script, key string, args ...string) (int, error) {
	var b strings.Builder
	words := append([]string{"EVAL", script, "1", key}, args...)
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	if _, err := io.WriteString(c.conn, b.String()); err != nil {
		return 0, err
	}
	line, err := c.in.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if !strings.HasPrefix(line, ":") {
		return 0, fmt.Errorf("the server said %q", line)
	}
	return strconv.Atoi(strings.TrimSpace(line[1:]))
}

func TestOurCandidateAndALeaderServiceLeadInTurnAndNeverTogether(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	const key, terms = "app:leader:jobs", 25
	const ttl = 5 * time.Second
	var leaders atomic.Int32
	lead := func(who string, renewed func() bool) {
		if n := leaders.Add(1); n != 1 {
			t.Errorf("%s leads as one of %d", who, n)
		}
		if !renewed() {
			t.Errorf("%s leads and cannot renew", who)
		}
		leaders.Add(-1)
	}
	theirs := newContender(t, b.server.Addr())
	ours := b.direct(ttl)
	var wg sync.WaitGroup
	wg.Go(func() {
		for range terms {
			theirs.campaign(t, key, ttl, lead)
		}
	})
	wg.Go(func() {
		for i := range terms {
			g, ok, err := ours.Acquire(b.ctx, forever(election(key, []byte(strconv.Itoa(i)))))
			if err != nil || !ok {
				t.Errorf("our campaign: ok %v, %v", ok, err)
				return
			}
			lead("our candidate", func() bool {
				_, err := g.(coord.Renewer).Renew(b.ctx)
				return err == nil && g.(coord.Publisher).Publish(b.ctx, []byte("busy")) == nil
			})
			if err := g.Release(b.ctx); err != nil {
				t.Errorf("our resigning: %v", err)
			}
		}
	})
	wg.Wait()
	if v := b.value(key); v != "" {
		t.Errorf("the key is left behind: %q", v)
	}
}

// campaign polls until it leads, leads, and resigns.
func (c *contender) campaign(t *testing.T, key string, ttl time.Duration, lead func(string, func() bool)) {
	px := strconv.FormatInt(ttl.Milliseconds(), 10)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		n, err := c.eval(theirAcquire, key, c.id, px)
		if err != nil {
			t.Errorf("their try: %v", err)
			return
		}
		if n == 1 {
			break
		}
		<-tick.C
	}
	lead("theirs", func() bool {
		n, err := c.eval(theirRenew, key, c.id, px)
		return err == nil && n == 1
	})
	if n, err := c.eval(theirRelease, key, c.id); err != nil || n != 1 {
		t.Errorf("their release: %d, %v", n, err)
	}
}

func TestTheirScriptsWorkOnOurValueAndOursLeaveTheirsAlone(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	const key = "app:leader:jobs"
	theirs, ours := newContender(t, b.server.Addr()), b.direct(time.Minute)

	g := b.must(ours, election(key, []byte("host-1:77 with more")))
	value := b.value(key)
	if n, err := theirs.eval(theirRenew, key, value, "90000"); err != nil || n != 1 {
		t.Errorf("their renewal of our value: %d, %v", n, err)
	}
	if left := b.raw.PTTL(b.ctx, key).Val(); left <= time.Minute {
		t.Errorf("after it the key runs out in %v", left)
	}
	if n, err := theirs.eval(theirRelease, key, value); err != nil || n != 1 {
		t.Errorf("their release of our value: %d, %v", n, err)
	}

	if n, err := theirs.eval(theirAcquire, key, theirs.id, "60000"); err != nil || n != 1 {
		t.Fatalf("their try: %d, %v", n, err)
	}
	if _, err := g.(coord.Renewer).Renew(b.ctx); err == nil {
		t.Error("we renewed what is theirs")
	}
	late := b.direct(time.Minute)
	if _, ok, err := late.Acquire(b.ctx, election(key, nil)); ok || err != nil {
		t.Errorf("our try of what is theirs: ok %v, %v", ok, err)
	}
	if v := b.value(key); v != theirs.id {
		t.Errorf("the key holds %q, want their id", v)
	}
}

func TestValueWithoutDataIsABareUUIDWithPXAsTheirs(t *testing.T) {
	t.Parallel()
	b := setup(t, localserver.RedisOptions{})
	b.must(b.direct(30*time.Second), election("k", nil))
	id, err := uuid.Parse(b.value("k"))
	if err != nil || id.Version() != 4 {
		t.Errorf("the value is version %d (%v), want a UUIDv4 and nothing else", id.Version(), err)
	}
	if left := b.raw.PTTL(b.ctx, "k").Val(); left <= 20*time.Second || left > 30*time.Second {
		t.Errorf("the key runs out in %v, want 30 s", left)
	}
}
