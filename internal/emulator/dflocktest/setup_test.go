package dflocktest_test

import (
	"bufio"
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"coordtop/internal/emulator/dflocktest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// bubble runs a test against an in-memory server, in virtual time.
func bubble(t *testing.T, o dflocktest.Options, test func(*testing.T, *dflocktest.Server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		o.InMemory = true
		s := start(t, o)
		test(t, s)
	})
}

func start(t *testing.T, o dflocktest.Options) *dflocktest.Server {
	t.Helper()
	s, err := dflocktest.Start(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// raw is a connection as bytes would have it.
type raw struct {
	net.Conn
	t      *testing.T
	reader *bufio.Reader
}

func dial(t *testing.T, s *dflocktest.Server) *raw {
	t.Helper()
	c, err := s.Dial(context.WithoutCancel(t.Context()), "tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return &raw{c, t, bufio.NewReader(c)}
}

func (c *raw) send(bytes string) {
	_, _ = c.Write([]byte(bytes)) // the server may have closed; then reading says so
}

// read returns the next line without LF, or "closed".
func (c *raw) read() string {
	line, err := c.reader.ReadString('\n')
	if err != nil {
		return "closed"
	}
	return strings.TrimSuffix(line, "\n")
}

// ask sends a request and reads its reply.
func (c *raw) ask(command, key, argument string) string {
	c.send(command + "\n" + key + "\n" + argument + "\n")
	return c.read()
}

func (c *raw) want(want, command, key, argument string) {
	c.t.Helper()
	if got := c.ask(command, key, argument); got != want {
		c.t.Fatalf("%s %s %q: got %q, want %q", command, key, argument, got, want)
	}
}

// acquire gets a lock, or a permit where limit is more than 1, at once and returns the nonce.
func (c *raw) acquire(key, argument string) string {
	c.t.Helper()
	reply := c.ask("l", key, "0 "+argument)
	fields := strings.Fields(reply)
	if len(fields) != 3 || fields[0] != "ok" {
		c.t.Fatalf("acquiring %s: got %q", key, reply)
	}
	return fields[1]
}

func since(t *testing.T, begin time.Time, want time.Duration) {
	t.Helper()
	if got := time.Since(begin); got != want {
		t.Errorf("it took %v, want %v", got, want)
	}
}
