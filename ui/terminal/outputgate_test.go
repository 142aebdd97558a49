package terminal

import (
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// sheet is a terminal that keeps its output; writes wait while it is held.
type sheet struct {
	held chan struct{} // nil: it reads
	err  error         // what a write returns, if not nil

	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *sheet) Read([]byte) (int, error) { return 0, io.EOF }
func (s *sheet) Close() error             { return nil }
func (s *sheet) Fd() uintptr              { return ^uintptr(0) }

func (s *sheet) Write(b []byte) (int, error) {
	if s.held != nil {
		<-s.held
	}
	if s.err != nil {
		return 0, s.err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(b)
}

func (s *sheet) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

func TestAGatePassesWritesOnInOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &sheet{}
		g := newGate(t.Context(), s, func(err error) { t.Errorf("it is gone: %v", err) })
		for _, text := range []string{"one ", "two ", "three"} {
			if n, err := io.WriteString(g, text); n != len(text) || err != nil {
				t.Errorf("writing %q: %d, %v", text, n, err)
			}
		}
		g.close() // the bubble sees that the goroutine has ended
		if s.String() != "one two three" {
			t.Errorf("written: %q", s)
		}
	})
}

// stuck returns a gate with a write that waits for the terminal, and a channel for the result of that
// write.
func stuck(s *sheet) (*gate, <-chan error) {
	s.held = make(chan struct{})
	g := newGate(context.Background(), s, func(error) {})
	b := []byte("frame")
	ended := make(chan error, 1)
	go func() { // received by the test
		_, err := g.Write(b)
		copy(b, "other") // as Bubble Tea may
		ended <- err
	}()
	synctest.Wait()
	return g, ended
}

func TestAGateThatIsGivenUpFreesItsWriter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &sheet{}
		g, ended := stuck(s)
		select {
		case err := <-ended:
			t.Fatalf("the write has not waited: %v", err)
		default:
		}
		g.giveUp()
		g.giveUp()
		if err := <-ended; !errors.Is(err, errGivenUp) {
			t.Errorf("Write = %v", err)
		}
		if _, err := g.Write([]byte("late")); !errors.Is(err, errGivenUp) {
			t.Errorf("a later Write = %v", err)
		}
		start := time.Now()
		g.close()
		if took := time.Since(start); took != lastPatience {
			t.Errorf("close took %v", took)
		}
		close(s.held) // the bubble sees that the goroutine ends now
		synctest.Wait()
		if s.String() != "frame" {
			t.Errorf("written: %q", s)
		}
	})
}

func TestATerminalThatReadsAgainInTimeIsRestored(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &sheet{}
		g, ended := stuck(s)
		g.giveUp()
		<-ended
		time.AfterFunc(lastPatience/2, func() { close(s.held) })
		g.close()
		if s.String() != "frame"+Restoration {
			t.Errorf("written: %q", s)
		}
	})
}

func TestATerminalIsRestoredThatWasGivenUpBetweenTwoWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &sheet{}
		g := newGate(t.Context(), s, func(error) {})
		g.giveUp()
		g.close()
		if s.String() != Restoration {
			t.Errorf("written: %q", s)
		}
		s = &sheet{held: make(chan struct{})}
		g = newGate(t.Context(), s, func(error) {})
		g.giveUp()
		g.close() // returns, though restoration is not taken
		close(s.held)
	})
}

func TestInputThatIsNoTerminalMayEnd(t *testing.T) {
	t.Parallel()
	in := strings.NewReader("")
	if got := watched(in, nil, nil); got != io.Reader(in) {
		t.Errorf("it is a %T", got)
	}
}

func TestOnlyWhatIsFinalMeansThatATerminalIsGone(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{nil: false, io.EOF: true, syscall.EIO: true, syscall.EPIPE: true, syscall.ENXIO: true,
		syscall.EAGAIN: false, syscall.EINTR: false, errGivenUp: false} {
		if isGone(err) != want {
			t.Errorf("%v: %v", err, isGone(err))
		}
	}
}

func TestAProgramIsAskedThenFreedThenKilled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		endsBy string
		want   []string
	}{
		{name: "it quits", endsBy: "ask", want: []string{"ask 0s"}},
		{name: "its terminal held it", endsBy: "giveUp", want: []string{"ask 0s", "giveUp 500ms"}},
		{name: "it does neither", endsBy: "kill", want: []string{"ask 0s", "giveUp 500ms", "kill 2s"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithCancel(t.Context())
				ended, end := context.WithCancel(t.Context())
				start := time.Now()
				var mu sync.Mutex
				var did []string
				step := func(name string) func() {
					return func() {
						mu.Lock()
						defer mu.Unlock()
						did = append(did, name+" "+time.Since(start).String())
						if name == c.endsBy {
							end()
						}
					}
				}
				stop()
				quit(ctx, ended, step("ask"), step("giveUp"), step("kill"))
				time.Sleep(time.Minute)
				if !slices.Equal(did, c.want) {
					t.Errorf("did %q, want %q", did, c.want)
				}
			})
		})
	}
}
