package app

import (
	"encoding/binary"

	"fmt"
	"io"
	"net"

	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"coordtop/internal/ground/raced"
	"coordtop/internal/localserver"
)

// liar passes the messages of a Postgres on, until the client has asked its nth question:
// then it says something else, for as long as it is listened to.
type liar struct {
	listener net.Listener
	target   string
	after    int // 0: it lies from the first byte on
	lie      func(net.Conn)
	running  sync.WaitGroup
	lied     chan struct{} // has an element when it has
}

func lies(t *testing.T, target string, after int, lie func(net.Conn)) *liar {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &liar{listener: listener, target: target, after: after, lie: lie, lied: make(chan struct{}, 1)}
	l.running.Go(func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			l.running.Go(func() { l.serve(c) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		l.running.Wait()
	})
	return l
}

func (l *liar) serve(client net.Conn) {
	defer client.Close()
	_ = client.SetDeadline(time.Now().Add(longEnough))
	if l.after == 0 {
		l.tell(client)
		return
	}
	server, err := net.Dial("tcp", l.target)
	if err != nil {
		return
	}
	defer server.Close()
	var back sync.WaitGroup
	back.Go(func() { _, _ = io.Copy(client, server) })
	come := l.passOn(client, server)
	_ = server.Close()
	back.Wait()
	if come {
		l.tell(client)
	}
}

func (l *liar) tell(client net.Conn) {
	select {
	case l.lied <- struct{}{}:
	default:
	}
	l.lie(client)
}

// passOn passes messages of the client on; true: the time has come.
func (l *liar) passOn(client, server net.Conn) bool {
	head := make([]byte, 5)
	first, asked := 1, 0
	for {
		if _, err := io.ReadFull(client, head[first:]); err != nil {
			return false
		}
		body := make([]byte, binary.BigEndian.Uint32(head[1:])-4)
		if _, err := io.ReadFull(client, body); err != nil {
			return false
		}
		if first == 0 && (head[0] == 'S' || head[0] == 'Q') {
			if asked++; asked == l.after {
				return true
			}
		}
		if _, err := server.Write(append(append([]byte{}, head[first:]...), body...)); err != nil {
			return false
		}
		first = 0
	}
}

// message is one message of a server, with this as the length of its body.
func message(kind byte, length int, body string) string {
	head := binary.BigEndian.AppendUint32([]byte{kind}, uint32(length+4))
	return string(head) + body
}

func whole(kind byte, body string) string { return message(kind, len(body), body) }

// endlessly writes what text returns until nobody reads any more.
func endlessly(text func(i int) string) func(net.Conn) {
	return func(c net.Conn) {
		var b []byte
		for i := 0; ; {
			for b = b[:0]; len(b) < 1<<18; i++ {
				b = append(b, text(i)...)
			}
			if _, err := c.Write(b); err != nil {
				return
			}
		}
	}
}

// once writes a text and then reads until the client leaves.
func once(text string) func(net.Conn) {
	return func(c net.Conn) {
		if _, err := io.WriteString(c, text); err == nil {
			_, _ = io.Copy(io.Discard, c)
		}
	}
}

// then writes a text before something else.
func then(text string, f func(net.Conn)) func(net.Conn) {
	return func(c net.Conn) {
		if _, err := io.WriteString(c, text); err == nil {
			f(c)
		}
	}
}

var same = func(text string) func(int) string { return func(int) string { return text } }

const (
	answerBegins = "1\x00\x00\x00\x042\x00\x00\x00\x04" // ParseComplete, BindComplete
	ready        = "Z\x00\x00\x00\x05I"
)

// liesOfPostgres are what a server may say instead of an answer.
func liesOfPostgres() map[string]func(net.Conn) {
	column := whole('T', "\x00\x01a\x00"+strings.Repeat("\x00", 18))
	return map[string]func(net.Conn){
		"a message of 2 GB":               once(message('D', 1<<31-5, "")),
		"a message of less than nothing":  once(message('D', -5, "")),
		"an endless message":              then(message('D', 1<<31-5, ""), endlessly(same("xxxxxxxxxxxxxxxx"))),
		"endless rows":                    then(answerBegins+column, endlessly(same(whole('D', "\x00\x01\x00\x00\x00\x01x")))),
		"endless rows without columns":    then(answerBegins+column, endlessly(same(whole('D', "\x00\x00")))),
		"a row of 65535 columns":          then(answerBegins+column, endlessly(same(whole('D', "\xff\xff"+strings.Repeat("\xff", 4*65535))))),
		"65535 columns":                   once(answerBegins + whole('T', "\xff\xff"+strings.Repeat("\x00", 19*65535))),
		"columns that are not there":      once(answerBegins + whole('T', "\xff\xffa\x00")),
		"an endless error":                then(message('E', 1<<31-5, "SERROR\x00CXX000\x00M"), endlessly(same("lies lies lies "))),
		"errors without end":              endlessly(same(whole('E', "SERROR\x00CXX000\x00Mno\x00\x00"))),
		"an error of 5 MB":                once(whole('E', "SERROR\x00CXX000\x00M"+strings.Repeat("no\nand ", 700_000)+"\x00\x00") + ready),
		"notices without end":             endlessly(same(whole('N', "SNOTICE\x00C00000\x00M"+strings.Repeat("x", 1000)+"\x00\x00"))),
		"parameters without end":          endlessly(func(i int) string { return whole('S', fmt.Sprintf("name%d\x00%01000d\x00", i, i)) }),
		"notifications without end":       endlessly(same(whole('A', "\x00\x00\x00\x01coordtop\x00"+strings.Repeat("x", 1000)+"\x00"))),
		"answers to nothing without end":  endlessly(same(ready)),
		"a web server":                    once("HTTP/1.1 400 Bad Request\r\n\r\n"),
		"garbage":                         endlessly(func(i int) string { return strconv.Itoa(i * 7919) }),
		"a copy":                          then(message('H', 3, "\x00\x00\x00"), endlessly(same(whole('d', strings.Repeat("x", 1000))))),
		"nothing at all":                  once(""),
		"a login that hashes for an hour": once(whole('R', "\x00\x00\x00\x0ascram-sha-256\x00\x00") + whole('R', "\x00\x00\x00\x0br=x,s=eA==,i=2147483647")),
		"passwords asked for without end": endlessly(same(whole('R', "\x00\x00\x00\x03"))),
	}
}

// mostForALie is what a lying server may cost.
const mostForALie = 100 << 20

func TestALyingPostgresCostsItsOwnSourceAnError(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "three processes start for each lie, and their memory is measured")
	p := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	honest := holds(t, "watch", p.URL())
	honest.out.await(t, func(s string) bool { return strings.Contains(s, "synced") })
	usual := localserver.PeakMemory(t, honest.cmd.Process.Pid)
	honest.signals(syscall.SIGINT)
	honest.ends(0)
	for what, lie := range liesOfPostgres() {
		for _, after := range []int{0, 1, 9} {
			t.Run(fmt.Sprintf("%s instead of answer %d", what, after), func(t *testing.T) {
				t.Parallel()
				l := lies(t, p.Addr(), after, lie)
				h := holds(t, "watch", strings.Replace(p.URL(), p.Addr(), l.listener.Addr().String(), 1))
				text := h.out.await(t, func(s string) bool { return strings.Contains(s, "source_down") })
				if strings.Contains(text, `\\n`) || len(text) > 8000 {
					t.Errorf("it says %.2000q", text)
				}
				if peak := localserver.PeakMemory(t, h.cmd.Process.Pid); peak > usual+mostForALie {
					t.Errorf("it takes %d MB, %d MB without lies", peak>>20, usual>>20)
				}
				h.signals(syscall.SIGINT)
				h.ends(0)
			})
		}
	}
}
