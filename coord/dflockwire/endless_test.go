package dflockwire_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord/dflockwire"
	"coordtop/internal/ground/raced"
)

// liar is a server that answers each request with the lines of a test, for ever.
func liar(t *testing.T, answer func(c net.Conn, command string) error) dflockwire.Dialer {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			in := bufio.NewScanner(c)
			for err == nil && in.Scan() {
				command := in.Text()
				in.Scan()
				in.Scan()
				err = answer(c, command)
			}
			_ = c.Close()
		}
	}()
	t.Cleanup(func() { _ = l.Close(); <-done })
	return dflockwire.Dialer{Addr: l.Addr().String(), AnswerTimeout: time.Minute}
}

// endless writes the same again and again until the client has had enough.
func endless(c net.Conn, text string) (err error) {
	for block := []byte(strings.Repeat(text, 1+32<<10/len(text))); err == nil; {
		_, err = c.Write(block)
	}
	return err
}

func TestAnswersWithoutAnEndEndTheConnectionAndTakeNoMemory(t *testing.T) {
	raced.Alone(t, "it measures memory, of which the race detector takes as much as it likes")
	const entry = `{"key":"a/key/that/is/rather/long","owner_conn_id":4,"lease_expires_in_s":29.798158245,"waiters":1},`
	for name, lie := range map[string]struct{ head, again string }{
		"no line end":  {"", "x"},
		"a long key":   {`ok {"connections":1,"locks":[{"key":"`, "k"},
		"a long word":  {`ok {"connections":`, "1"},
		"depth":        {`ok {"connections":1,"other":`, "["},
		"more keys":    {`ok {"connections":1,"locks":[`, entry},
		"other things": {`ok {"connections":1,"kv":[`, `{"a":["b",1,null]},`},
		"blanks":       {`ok {"connections":1,"locks":[`, " "},
	} {
		for _, command := range []string{"ping", "stats"} {
			t.Run(name+" "+command, func(t *testing.T) {
				c := connect(t, liar(t, func(c net.Conn, _ string) error {
					if _, err := c.Write([]byte(lie.head)); err != nil {
						return err
					}
					return endless(c, lie.again)
				}))
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				var err error
				if command == "ping" {
					_, err = c.Ping(t.Context())
				} else {
					_, err = c.Stats(t.Context(), nobody)
				}
				runtime.ReadMemStats(&after)
				is(t, "the answer", err, dflockwire.ErrProtocol)
				<-c.Done()
				if mb := (after.TotalAlloc - before.TotalAlloc) >> 20; mb > 20 {
					t.Errorf("it took %d MB to read", mb)
				}
			})
		}
	}
}

// TestAnAnswerOfStatsMayTakeLongerThanOthers is of a large one, that comes in parts.
func TestAnAnswerOfStatsMayTakeLongerThanOthers(t *testing.T) {
	t.Parallel()
	for parts, want := range map[int]error{3: nil, 60: dflockwire.ErrSilent} {
		synctest.Test(t, func(t *testing.T) {
			ours, theirs := net.Pipe()
			c := connect(t, dflockwire.Dialer{Addr: "x:1", Dial: func(context.Context, string, string) (net.Conn, error) { return ours, nil }})
			done := make(chan struct{})
			defer func() { <-done }()
			go func() {
				defer close(done)
				_, _ = theirs.Read(make([]byte, 100))
				_, err := theirs.Write([]byte(`ok {"connections":1,"locks":[`))
				for i := 0; i < parts && err == nil; i++ {
					time.Sleep(3 * time.Second)
					_, err = fmt.Fprintf(theirs, `{"key":"k%d"},`, i)
				}
				if err == nil {
					_, _ = theirs.Write([]byte("{\"key\":\"last\"}]}\n"))
				}
				_ = theirs.Close()
			}()
			keys := 0
			_, err := c.Stats(t.Context(), func(*dflockwire.Entry) { keys++ })
			is(t, "an answer in parts", err, want)
			if err == nil && keys != parts+1 {
				t.Errorf("%d keys of %d", keys, parts+1)
			}
		})
	}
}
