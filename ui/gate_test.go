package ui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/creack/pty"

	"coordtop/ui/uitest"
)

// sheet is a terminal that keeps what is written; a write waits while it is held.
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

// stuck returns a gate with a write under way that the terminal does not take, and what
// that write returns.
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
		if s.String() != "frame"+restoration {
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
		if s.String() != restoration {
			t.Errorf("written: %q", s)
		}
		s = &sheet{held: make(chan struct{})}
		g = newGate(t.Context(), s, func(error) {})
		g.giveUp()
		g.close() // returns, though restoration is not taken
		close(s.held)
	})
}

// turnsOn finds the modes that are turned on in the output of a program.
var turnsOn = regexp.MustCompile(`\x1b\[\?(\d+)h`)

func TestRestorationTurnsOffAllThatBubbleTeaTurnsOn(t *testing.T) {
	t.Parallel()
	s := uitest.NewScreen(t, 80, 24)
	all := &sheet{}
	ended := make(chan error, 1)
	go func() { // received below
		ended <- Run(t.Context(), Options{Feed: uitest.NewFeed(uitest.State(noon())), Input: s.Input(),
			Output: io.MultiWriter(s, all), Width: 80, Height: 24, Environ: []string{"TERM=xterm-256color", "LANG=C.UTF-8"}})
	}()
	s.Await(t, "READ-ONLY")
	s.Type(t, "\x1b[?2026;2$y\x1b[?2027;2$y/x\rm?") // it has both modes
	s.Await(t, "rows with words")
	s.Type(t, "qq")
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	_, shutdown, found := strings.Cut(all.String(), "rows with words")
	modes := turnsOn.FindAllStringSubmatch(all.String(), -1)
	if !found || len(modes) < 4 {
		t.Fatalf("that was no run of Bubble Tea: %q", all)
	}
	for _, mode := range modes {
		want := "\x1b[?" + mode[1] + "l"
		if mode[1] == "25" {
			want = "\x1b[?25h"
		}
		if !strings.Contains(restoration, want) {
			t.Errorf("restoration lacks %q", want)
		}
	}
	for _, other := range []string{"\x1b[>4m", "\x1b[<1u", "\x1b]2;\a"} {
		if !strings.Contains(shutdown, other) || !strings.Contains(restoration, other) {
			t.Errorf("%q: Bubble Tea ends with %q", other, shutdown)
		}
	}
}

func TestATerminalThatIsGoneEndsRun(t *testing.T) {
	t.Parallel()
	s := uitest.NewScreen(t, 80, 24)
	tty := &sheet{err: syscall.EIO}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	err := Run(ctx, Options{Feed: uitest.NewFeed(uitest.State(noon())), Input: s.Input(),
		Output: tty, Width: 80, Height: 24, Environ: []string{"TERM=xterm-256color"}})
	if !errors.Is(err, errGone) || !errors.Is(err, syscall.EIO) {
		t.Errorf("Run = %v", err)
	}
}

func TestAKeyboardThatIsGoneEndsRun(t *testing.T) {
	t.Parallel()
	s := uitest.NewScreen(t, 80, 24)
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	defer master.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	ended := make(chan error, 1)
	go func() { // received below
		ended <- Run(ctx, Options{Feed: uitest.NewFeed(uitest.State(noon())), Input: tty,
			Output: s, Width: 80, Height: 24, Environ: []string{"TERM=xterm-256color"}})
	}()
	s.Await(t, "READ-ONLY")
	if _, err := master.WriteString("?"); err != nil { // it is read as any terminal
		t.Fatal(err)
	}
	s.Await(t, "rows with words")
	if err := master.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, errGone) {
		t.Errorf("Run = %v", err)
	}
}

func TestInputThatIsNoTerminalMayEnd(t *testing.T) {
	t.Parallel()
	in := strings.NewReader("")
	if got := watched(in, nil); got != io.Reader(in) {
		t.Errorf("it is a %T", got)
	}
}

func TestThatSomebodyEndedRunComesBeforeTheTerminalBeingGone(t *testing.T) {
	t.Parallel()
	hangup := errors.New("hangup")
	ctx, cancel := context.WithCancelCause(t.Context())
	if err := outcome(ctx, errGone, nil); !errors.Is(err, errGone) {
		t.Errorf("got %v", err)
	}
	cancel(hangup)
	if err := outcome(ctx, errGone, nil); !errors.Is(err, hangup) {
		t.Errorf("got %v", err)
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
