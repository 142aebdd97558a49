package ui

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// record keeps what is written.
type record struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (r *record) Write(b []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.Write(b)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.buf.String()
}

// gone is a terminal that has gone away.
type gone struct{}

func (gone) Read([]byte) (int, error)  { return 0, io.EOF }
func (gone) Write([]byte) (int, error) { return 0, syscall.EIO }
func (gone) Close() error              { return nil }
func (gone) Fd() uintptr               { return ^uintptr(0) }

// turnsOn finds the modes that are turned on in the output of a program.
var turnsOn = regexp.MustCompile(`\x1b\[\?(\d+)h`)

func TestRestorationTurnsOffAllThatBubbleTeaTurnsOn(t *testing.T) {
	t.Parallel()
	s := uitest.NewScreen(t, 80, 24)
	all := &record{}
	ended := make(chan error, 1)
	go func() { // received below
		ended <- Run(t.Context(), Options{Feed: newTestFeed(uitest.State(noon())), Input: s.Input(),
			Output: io.MultiWriter(s, all), Width: 80, Height: 24, Environ: []string{"TERM=xterm-256color", "LANG=C.UTF-8"}})
	}()
	s.Await(t, "READ-ONLY")
	s.Type(t, "\x1b[?2026;2$y\x1b[?2027;2$y/x\rm?") // it has both modes
	s.Await(t, "SIGNS")
	s.Type(t, "qq")
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	_, shutdown, found := strings.Cut(all.String(), "SIGNS")
	modes := turnsOn.FindAllStringSubmatch(all.String(), -1)
	if !found || len(modes) < 4 {
		t.Fatalf("that was no run of Bubble Tea: %q", all)
	}
	for _, mode := range modes {
		want := "\x1b[?" + mode[1] + "l"
		if mode[1] == "25" {
			want = "\x1b[?25h"
		}
		if !strings.Contains(terminal.Restoration, want) {
			t.Errorf("restoration lacks %q", want)
		}
	}
	for _, other := range []string{"\x1b[>4m", "\x1b[<1u", "\x1b]2;\a"} {
		if !strings.Contains(shutdown, other) || !strings.Contains(terminal.Restoration, other) {
			t.Errorf("%q: Bubble Tea ends with %q", other, shutdown)
		}
	}
}

func TestATerminalThatIsGoneEndsRun(t *testing.T) {
	t.Parallel()
	s := uitest.NewScreen(t, 80, 24)
	tty := &gone{}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	err := Run(ctx, Options{Feed: newTestFeed(uitest.State(noon())), Input: s.Input(),
		Output: tty, Width: 80, Height: 24, Environ: []string{"TERM=xterm-256color"}})
	if !errors.Is(err, terminal.ErrGone) || !errors.Is(err, syscall.EIO) {
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
		ended <- Run(ctx, Options{Feed: newTestFeed(uitest.State(noon())), Input: tty,
			Output: s, Width: 80, Height: 24, Environ: []string{"TERM=xterm-256color"}})
	}()
	s.Await(t, "READ-ONLY")
	if _, err := master.WriteString("?"); err != nil { // it is read as any terminal
		t.Fatal(err)
	}
	s.Await(t, "SIGNS")
	if err := master.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, terminal.ErrGone) {
		t.Errorf("Run = %v", err)
	}
}

func TestThatSomebodyEndedRunComesBeforeTheTerminalBeingGone(t *testing.T) {
	t.Parallel()
	hangup := errors.New("hangup")
	ctx, cancel := context.WithCancelCause(t.Context())
	if err := outcome(ctx, terminal.ErrGone, nil); !errors.Is(err, terminal.ErrGone) {
		t.Errorf("got %v", err)
	}
	cancel(hangup)
	if err := outcome(ctx, terminal.ErrGone, nil); !errors.Is(err, hangup) {
		t.Errorf("got %v", err)
	}
}
