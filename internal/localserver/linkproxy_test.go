package localserver_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"coordtop/internal/localserver"
)

// echo serves lines back and tells every line that reached it.
func echo(t *testing.T) (addr string, heard <-chan string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 100)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for in := bufio.NewScanner(c); in.Scan(); {
					lines <- in.Text()
					if _, err := io.WriteString(c, in.Text()+"\n"); err != nil {
						return
					}
				}
			}()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return l.Addr().String(), lines
}

// caller is one client link through a proxy.
type caller struct {
	t    *testing.T
	conn net.Conn
	in   *bufio.Reader
}

func call(t *testing.T, p *localserver.Proxy) caller {
	t.Helper()
	c, err := net.Dial("tcp", p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return caller{t, c, bufio.NewReader(c)}
}

func (c caller) say(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.conn, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

func (c caller) hear(patience time.Duration) (string, error) {
	c.t.Helper()
	if err := c.conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		c.t.Fatal(err)
	}
	return c.in.ReadString('\n')
}

func (c caller) mustHear(want string) {
	c.t.Helper()
	if got, err := c.hear(patience); err != nil || got != want+"\n" {
		c.t.Fatalf("heard %q (%v), want %q", got, err, want)
	}
}

func TestProxyForwardsAndCutResetsUntilResume(t *testing.T) {
	t.Parallel()
	addr, _ := echo(t)
	p := localserver.ProxyForTest(t, addr)
	c := call(t, p)
	c.say("one")
	c.mustHear("one")
	if n := p.Links(); n != 1 {
		t.Errorf("%d links are up, want 1", n)
	}
	p.Cut()
	if _, err := c.hear(patience); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after Cut: %v, want a broken link", err)
	}
	if late, err := net.Dial("tcp", p.Addr()); err == nil { // the reset may even be faster
		defer late.Close()
		if err := late.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if _, err := late.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a new link during Cut: %v, want it broken", err)
		}
	}
	eventually(t, "no link is left", func() bool { return p.Links() == 0 })
	p.Resume()
	again := call(t, p)
	again.say("two")
	again.mustHear("two")
}

func TestProxyBlackHoleHoldsBytesUntilResumeEvenOfACallerWhoLeft(t *testing.T) {
	t.Parallel()
	addr, heard := echo(t)
	p := localserver.ProxyForTest(t, addr)
	stays, leaves := call(t, p), call(t, p)
	for _, c := range []caller{stays, leaves} {
		c.say("hello")
		c.mustHear("hello")
		<-heard
	}
	p.BlackHole()
	come := p.Await("stays")
	stays.say("stays")
	<-come
	if got, err := stays.hear(50 * time.Millisecond); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("heard %q (%v) out of the black hole, want silence", got, err)
	}
	leaves.say("leaves")
	leaves.conn.Close()
	select {
	case line := <-heard:
		t.Errorf("%q passed the black hole", line)
	default:
	}
	p.Resume()
	stays.mustHear("stays")
	if a, b := <-heard, <-heard; a == b || (a != "leaves" && b != "leaves") {
		t.Errorf("the server heard %q and %q, want also what was sent by the one who left", a, b)
	}
	eventually(t, "the link that was left is over", func() bool { return p.Links() == 1 })
}

func TestProxyLosesOneHalfOfAnExchange(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		half  localserver.Half
		heard bool
	}{{localserver.Request, false}, {localserver.Reply, true}} {
		addr, heard := echo(t)
		p := localserver.ProxyForTest(t, addr)
		lost := p.Lose(c.half, "precious")
		link := call(t, p)
		link.say("other")
		link.mustHear("other")
		<-heard
		link.say("a precious one")
		if got, err := link.hear(patience); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("half %d: heard %q (%v), want a broken link", c.half, got, err)
		}
		<-lost
		select {
		case <-heard:
			if !c.heard {
				t.Error("the lost request reached the server")
			}
		default:
			if c.heard {
				t.Error("the request whose reply was lost did not reach the server")
			}
		}
		again := call(t, p)
		again.say("a precious one")
		again.mustHear("a precious one")
	}
}

func TestProxyForgetsLossesThatHaveNotHappened(t *testing.T) {
	t.Parallel()
	addr, _ := echo(t)
	p := localserver.ProxyForTest(t, addr)
	p.Lose(localserver.Request, "precious")
	p.Forget()
	c := call(t, p)
	c.say("a precious one")
	c.mustHear("a precious one")
}

func TestProxyDelaysBothDirections(t *testing.T) {
	t.Parallel()
	addr, _ := echo(t)
	p := localserver.ProxyForTest(t, addr)
	p.Delay(30 * time.Millisecond)
	c := call(t, p)
	start := time.Now()
	c.say("slow")
	c.mustHear("slow")
	if took := time.Since(start); took < 60*time.Millisecond {
		t.Errorf("there and back took %v, want at least twice the delay", took)
	}
}

func TestFrozenLinksPassNothingAndNewOnesAreServed(t *testing.T) {
	t.Parallel()
	addr, heard := echo(t)
	p := localserver.ProxyForTest(t, addr)
	frozen := call(t, p)
	frozen.say("before")
	<-heard
	p.Freeze()
	frozen.say("lost")
	fresh := call(t, p)
	fresh.say("new")
	if got := <-heard; got != "new" {
		t.Errorf("the server was sent %q, want the line of the new link", got)
	}
}

func TestHalfClosedLinksStillCarryRequests(t *testing.T) {
	t.Parallel()
	addr, heard := echo(t)
	p := localserver.ProxyForTest(t, addr)
	c := call(t, p)
	c.say("before")
	<-heard
	if _, err := c.in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	p.HalfClose()
	if _, err := c.in.ReadByte(); !errors.Is(err, io.EOF) {
		t.Errorf("the client reads %v, want a polite end", err)
	}
	c.say("after")
	if got := <-heard; got != "after" {
		t.Errorf("the server was sent %q", got)
	}
}
