package app

import (
	"os"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
	"github.com/redis/go-redis/v9"

	"coordtop/internal/localserver"
)

// leader is a board that leads an election on a server of its own.
type leader struct {
	*sight
	key    string
	others *redis.Client
	tty    *os.File
	before *term.State
}

// lead starts a board as change wants it, and makes it lead.
func lead(t *testing.T, change func(*exec.Cmd)) *leader {
	t.Helper()
	on := stages()["redis"](t)
	options, err := redis.ParseURL(on.url)
	if err != nil {
		t.Fatal(err)
	}
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	l := &leader{key: on.key, others: writer(t, options.Addr), tty: tty}
	t.Cleanup(func() { _ = tty.Close() })
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 30, Cols: 100}); err != nil {
		t.Fatal(err)
	}
	if l.before, err = term.GetState(tty.Fd()); err != nil {
		t.Fatal(err)
	}
	cmd := command(t, on.view)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = tty, tty, tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if change != nil {
		change(cmd)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	l.sight = sightOf(t, cmd, master)
	l.await(on.name, "no leader", "READ-ONLY") // the name alone is also in what the start says
	l.arm().keys("aa").confirm(on.name).await("(us)", "we hold 1")
	return l
}

// signal sends one to the board.
func (l *leader) signal(s syscall.Signal) {
	l.t.Helper()
	if err := l.cmd.Process.Signal(s); err != nil {
		l.t.Fatal(err)
	}
}

// ended waits for the end of the board, with one of the exit codes, and checks that nothing
// of it is left: neither on the terminal nor on the server.
func (l *leader) ended(codes ...int) {
	l.t.Helper()
	if code := ends(l.t, l.cmd); !slices.Contains(codes, code) {
		l.t.Errorf("exit code %d, want one of %v", code, codes)
	}
	after, err := term.GetState(l.tty.Fd())
	if err != nil || !reflect.DeepEqual(after, l.before) {
		l.t.Errorf("the terminal was %v and is %v, %v", l.before, after, err)
	}
	_ = l.tty.Close()
	l.reading.Wait() // nobody has the other side any more
	out := l.raw.String()
	for on, off := range modes() {
		if set := strings.LastIndex(out, on); set >= 0 && strings.LastIndex(out, off) < set {
			l.t.Errorf("%q is never undone", on)
		}
	}
	if out := l.raw.String(); strings.Contains(out[:strings.LastIndex(out, "\x1b[?1049l")], "goroutine ") {
		l.t.Error("stacks are on the board's screen")
	}
	if left, err := l.others.PTTL(l.t.Context(), l.key).Result(); err != nil || left > 0 {
		l.t.Errorf("the lease is not given back: it has %v left, %v", left, err)
	}
}

// modes are what a board turns on in its terminal, with what turns it off.
func modes() map[string]string {
	return map[string]string{
		"\x1b[?1049h": "\x1b[?1049l", // the alternate screen
		"\x1b[?25l":   "\x1b[?25h",   // no cursor
		"\x1b[?2004h": "\x1b[?2004l", // bracketed paste
		"\x1b[>1u":    "\x1b[<1u",    // keys as kitty has them
		"\x1b[>4;2m":  "\x1b[>4m",    // keys as xterm has them
		"\x1b[?1002h": "\x1b[?1002l", // the mouse
		"\x1b[?1003h": "\x1b[?1003l",
		"\x1b[?1006h": "\x1b[?1006l",
		"\x1b[?2026h": "\x1b[?2026l", // a frame at once
	}
}

func TestEverySignalThatEndsTheBoardLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for _, s := range requests() {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			l := lead(t, nil)
			l.signal(s.(syscall.Signal))
			l.ended(exitOK)
		})
	}
	for _, s := range aborts() {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			l := lead(t, nil)
			l.signal(s.(syscall.Signal))
			l.ended(128 + int(s.(syscall.Signal)))
			out := l.raw.String()
			if end := out[strings.LastIndex(out, "\x1b[?1049l"):]; !strings.Contains(end, "goroutine ") || !strings.Contains(end, "coordtop: ended by a signal ("+s.String()+")") {
				t.Errorf("the end is %q", end)
			}
		})
	}
}

func TestCtrlBackslashAbortsTheBoardAlsoInADialog(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]string{"on the list": "", "in a text": "/", "in the menu": "a"} {
		for form, key := range map[string]string{"as a byte": "\x1c", "as kitty has it": "\x1b[92;5u"} {
			t.Run(name+", "+form, func(t *testing.T) {
				t.Parallel()
				l := lead(t, nil)
				l.keys(before, key)
				l.ended(128 + int(syscall.SIGQUIT))
			})
		}
	}
}

func TestASecondSignalWaitsForTheTerminalAndTheLeases(t *testing.T) {
	t.Parallel()
	for name, signals := range map[string][]syscall.Signal{
		"SIGINT twice":          {syscall.SIGINT, syscall.SIGINT},
		"SIGTERM, then SIGQUIT": {syscall.SIGTERM, syscall.SIGQUIT},
		"SIGQUIT, then SIGTERM": {syscall.SIGQUIT, syscall.SIGTERM},
		"all at once":           {syscall.SIGHUP, syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGINT},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := lead(t, nil)
			codes := []int{exitOK} // where it was quicker than the second
			for _, s := range signals {
				l.signal(s)
				codes = append(codes, 128+int(s))
			}
			l.ended(codes...)
		})
	}
}

func TestSignalsThatEndOtherProgramsLeaveTheBoardAlone(t *testing.T) {
	t.Parallel()
	l := lead(t, nil)
	for _, s := range []syscall.Signal{
		syscall.SIGUSR1, syscall.SIGUSR2, syscall.SIGALRM, syscall.SIGVTALRM, syscall.SIGPIPE, syscall.SIGURG,
		syscall.SIGIO, syscall.SIGXFSZ, syscall.SIGCHLD, syscall.SIGWINCH, syscall.SIGCONT, 40,
	} {
		l.signal(s)
	}
	l.keys("?").await("lines below").keys("q").gone("lines below")
	if left, err := l.others.PTTL(t.Context(), l.key).Result(); err != nil || left <= 0 {
		t.Errorf("the lease has %v left, %v", left, err)
	}
	l.keys("\x03").await("We hold 1 lease").keys("\x03")
	l.ended(exitOK)
}

func TestSignalsThatAbortGiveBackWhatCommandsHold(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	c := writer(t, server.Addr())
	for _, verb := range []string{"acquire", "campaign"} {
		for _, s := range append(aborts(), syscall.SIGXCPU) {
			t.Run(verb+" "+s.String(), func(t *testing.T) {
				t.Parallel()
				kind, code := map[string]string{"acquire": "mutex", "campaign": "election"}[verb], 128+int(s.(syscall.Signal))
				if s == syscall.SIGXCPU {
					code = exitOK
				}
				name := "app:" + verb + ":" + strings.ReplaceAll(s.String(), " ", "-")
				h := holds(t, verb, "--write", "--yes", server.URL()+"?"+kind+"="+name)
				h.line(1, "acquired")
				h.signals(s.(syscall.Signal))
				h.ends(code)
				gone(t, c, name)
				if stacks := strings.Contains(h.errs.String(), "goroutine "); stacks != (code != exitOK) {
					t.Errorf("standard error is %q", h.errs)
				}
			})
		}
	}
}
