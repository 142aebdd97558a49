package app

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
	"github.com/redis/go-redis/v9"

	"coordtop/coord"
	"coordtop/internal/app/logfile"
	"coordtop/internal/ground/spawn"
	"coordtop/sources"
)

// mine names, for the test binary as the program, where it has a defect that SIGUSR1 sets
// off.
const mine = "COORDTOP_TEST_MINE"

// mined is env with that defect.
func mined(env Environment, where string) Environment {
	if where == "" {
		return env
	}
	lit := make(chan os.Signal, 1)
	signal.Notify(lit, syscall.SIGUSR1)
	boom := func() {
		select {
		case <-lit:
			panic("boom in " + where)
		default:
		}
	}
	switch where {
	case "a renewal":
		env.wrapDriver = func(d coord.Driver) coord.Driver { return shaky{d, boom} }
	case "a session":
		env.wrapDriver = func(d coord.Driver) coord.Driver { return haunted{d, lit} }
	case "the screen":
		env.Stdout = &brittle{File: os.Stdout, boom: boom}
	case "a source":
		env.wrapSource = func(s sources.Source) sources.Source { return &helped{Source: s, lit: lit} }
	}
	return env
}

// shaky is a driver whose renewals, each of a grant, may panic.
type shaky struct {
	coord.Driver
	boom func()
}

type shakySession struct {
	coord.DriverSession
	boom func()
}

type shakyGrant struct {
	coord.Grant
	boom func()
}

func (d shaky) Open(ctx context.Context, o coord.SessionOptions) (coord.DriverSession, error) {
	s, err := d.Driver.Open(ctx, o)
	return shakySession{s, d.boom}, err
}

func (s shakySession) Acquire(ctx context.Context, c coord.Claim) (coord.Grant, bool, error) {
	g, ok, err := s.DriverSession.Acquire(ctx, c)
	return shakyGrant{g, s.boom}, ok, err
}

func (g shakyGrant) Renew(ctx context.Context) (coord.Window, error) {
	g.boom()
	return g.Grant.(coord.Renewer).Renew(ctx)
}

// haunted is a driver whose sessions have a goroutine of their own.
type haunted struct {
	coord.Driver
	lit <-chan os.Signal
}

func (d haunted) Open(ctx context.Context, o coord.SessionOptions) (coord.DriverSession, error) {
	s, err := d.Driver.Open(ctx, o)
	if err == nil {
		spawn.Go(context.WithoutCancel(ctx), nil, func() {
			<-d.lit
			panic("boom in a session")
		})
	}
	return s, err
}

// brittle is a terminal whose writes, which a goroutine of the screen does, may panic.
type brittle struct {
	*os.File
	boom func()
}

func (b *brittle) Write(p []byte) (int, error) {
	b.boom()
	return b.File.Write(p)
}

// helped is a source with a goroutine of its own for each connection.
type helped struct {
	sources.Source
	lit     <-chan os.Signal
	running sync.WaitGroup
	cancel  context.CancelFunc
}

func (s *helped) Connect(ctx context.Context) error {
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s.cancel = cancel
	spawn.Go(life, &s.running, func() {
		select {
		case <-s.lit:
			panic("boom in a source")
		case <-life.Done():
		}
	})
	return s.Source.Connect(ctx)
}

func (s *helped) Close() error {
	s.cancel()
	s.running.Wait()
	return s.Source.Close()
}

// leading is a board that leads app:leader:billing, and has a defect.
type leading struct {
	*sight
	tty    *os.File
	before *term.State
	left   func() time.Duration // until the key runs out; not positive: it is gone
}

// leadWith starts the board on the server that it leads at and on others beside it.
func leadWith(t *testing.T, where string, others ...string) leading {
	t.Helper()
	on := stages()["redis"](t)
	cmd := command(t, append([]string{"--write", on.view}, others...)...)
	cmd.Env = append(cmd.Env, mine+"="+where)
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tty.Close() })
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 30, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	l := leading{tty: tty}
	if l.before, err = term.GetState(tty.Fd()); err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, newStream()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	l.sight = sightOf(t, cmd, master).await(on.name, "WRITE ")
	l.keys("aa").confirm(on.name).await("(us)", "we hold 1")
	options, err := redis.ParseURL(on.url)
	if err != nil {
		t.Fatal(err)
	}
	client := writer(t, options.Addr)
	l.left = func() time.Duration {
		left, err := client.PTTL(t.Context(), on.key).Result()
		if err != nil {
			t.Fatal(err)
		}
		return left
	}
	if l.left() <= 0 {
		t.Fatal("nothing is held")
	}
	return l
}

// setsOff makes the defect show.
func (l leading) setsOff() {
	l.t.Helper()
	if err := l.cmd.Process.Signal(syscall.SIGUSR1); err != nil {
		l.t.Fatal(err)
	}
}

// ended waits for the end, and checks the exit code, that the lease was given back and that
// the terminal is as it was. It returns all that was written to it.
func (l leading) ended(code int) string {
	l.t.Helper()
	if got := ends(l.t, l.cmd); got != code {
		l.t.Errorf("exit code %d, want %d", got, code)
	}
	if left := l.left(); left > 0 {
		l.t.Errorf("the lease is not given back: it has %v left", left)
	}
	if after, err := term.GetState(l.tty.Fd()); err != nil || !reflect.DeepEqual(after, l.before) {
		l.t.Errorf("the terminal was %v and is %v, %v", l.before, after, err)
	}
	_ = l.tty.Close() // so that reading ends
	l.reading.Wait()
	out := l.raw.String()
	if !restored(out) {
		l.t.Errorf("the end is %q", out[max(0, len(out)-400):])
	}
	return out
}

// logged is the log of a command.
func logged(t *testing.T, env []string) string {
	t.Helper()
	for _, v := range env {
		if home, ok := strings.CutPrefix(v, "HOME="); ok {
			text, err := os.ReadFile(filepath.Join(home, ".local/state/coordtop", logfile.Name))
			if err != nil {
				t.Fatal(err)
			}
			return string(text)
		}
	}
	t.Fatal("it has no home")
	return ""
}

func TestADefectAnywhereRestoresTheTerminalAndGivesBackWhatIsHeld(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"a renewal", "a session", "the screen"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			l := leadWith(t, where)
			l.setsOff()
			if out := l.ended(exitError); strings.Contains(out, "goroutine ") || strings.Contains(out, "boom") {
				t.Errorf("it is told on the screen: %q", out[max(0, len(out)-400):])
			}
			said := l.cmd.Stderr.(*stream).String()
			if !strings.HasPrefix(said, "coordtop: a defect in coordtop: boom in "+where+", at defect_test.go:") || strings.Count(said, "\n") != 1 {
				t.Errorf("it says %q", said)
			}
			if text := logged(t, l.cmd.Env); strings.Count(text, "stack=") != 1 || !strings.Contains(text, "spawn.Call") {
				t.Errorf("the log has %s", text)
			}
		})
	}
}

func TestADefectOfASourceIsItsOwn(t *testing.T) {
	t.Parallel()
	l := leadWith(t, "a source")
	l.setsOff()
	l.keys("5").await("a defect in coordtop")              // the list may show it for an instant only
	l.keys("2").await("(us)").gone("a defect in coordtop") // it is connected anew
	if l.left() <= 0 {
		t.Error("the lease is gone")
	}
	l.await("(us)", "we hold 1").keys("q").await("We hold 1 lease").keys("r")
	l.ended(exitOK)
	if text := logged(t, l.cmd.Env); strings.Count(text, "stack=") != 1 {
		t.Errorf("the log has %s", text)
	}
}
