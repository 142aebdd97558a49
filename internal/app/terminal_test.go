package app

import (
	"io"
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"coordtop/internal/localserver"
)

// desk is a terminal whose other side is in the test's hands.
type desk struct {
	master, tty *os.File
	before      *term.State
	read        *stream
}

// onDesk starts a board there and waits until it shows text. Nothing is read after that.
// It has the keyboard unless cmd has another one.
func onDesk(t *testing.T, cmd *exec.Cmd, controlling bool, text string) *desk {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{master: master, tty: tty, read: newStream()}
	t.Cleanup(func() { _, _ = master.Close(), tty.Close() })
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 50, Cols: 160}); err != nil {
		t.Fatal(err)
	}
	if d.before, err = term.GetState(tty.Fd()); err != nil {
		t.Fatal(err)
	}
	if cmd.Stdin == nil {
		cmd.Stdin = tty
	}
	cmd.Stdout, cmd.Stderr = tty, newStream()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: controlling}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := master.SetReadDeadline(time.Now().Add(longEnough)); err != nil {
		t.Fatal(err)
	}
	b := make([]byte, 1<<10)
	for !strings.Contains(d.read.String(), text) {
		n, err := master.Read(b)
		if err != nil {
			t.Fatalf("%v after %q", err, d.read)
		}
		_, _ = d.read.Write(b[:n])
	}
	return d
}

// fill makes the board write until the terminal takes no more.
func (d *desk) fill(t *testing.T) {
	t.Helper()
	bound := time.Now().Add(longEnough)
	for time.Now().Before(bound) {
		if _, err := d.master.WriteString("?"); err != nil { // the help, and back
			t.Fatal(err)
		}
		room := []unix.PollFd{{Fd: int32(d.tty.Fd()), Events: unix.POLLOUT}}
		n, err := unix.Poll(room, 200) // a terminal that is only busy has room before
		if err == nil && n == 0 {
			return
		}
		<-time.After(20 * time.Millisecond) // a keyboard that repeats
	}
	t.Fatal("the terminal was never full")
}

func TestATerminalThatDoesNotReadIsGivenBackOnSIGTERM(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	set(t, writer(t, server.Addr()), "app:leader:billing", "host-07:4411", time.Minute)
	cmd := command(t, server.URL()+"?election=app:leader:*")
	d := onDesk(t, cmd, true, "app:leader:billing")
	d.fill(t)
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := ends(t, cmd); code != exitOK { // not abandoned after patience
		t.Errorf("exit code %d, %s", code, cmd.Stderr)
	}
	after, err := term.GetState(d.tty.Fd())
	if err != nil || !reflect.DeepEqual(after, d.before) {
		t.Errorf("the terminal was %v and is %v, %v", d.before, after, err)
	}
	_, _ = d.tty.Close(), d.master.SetReadDeadline(time.Now().Add(longEnough))
	_, _ = io.Copy(d.read, d.master) // ends with EIO: nobody has the other side
	if out := d.read.String(); runtime.GOOS == "linux" && !restored(out) {
		t.Errorf("the end is %q", out[max(0, len(out)-300):])
	}
}

func TestABoardWithoutKeysIsRefusedInASentence(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"redis://127.0.0.1:1"}, {"demo"}} {
		w := newWorld(t)
		w.tty, w.deaf = true, true
		if code := w.main(t.Context(), args...); code != exitUsage || !strings.Contains(w.stderr.String(), "standard input is no terminal") {
			t.Errorf("%q: exit code %d, %q", args, code, w.stderr.String())
		}
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if !keysFrom(r) || keysFrom(null) {
		t.Errorf("keys can come from a pipe: %v, from /dev/null: %v", keysFrom(r), keysFrom(null))
	}
}

func TestATerminalThatGoesAwayWithoutASignalEndsTheBoard(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	set(t, writer(t, server.Addr()), "app:leader:billing", "host-07:4411", time.Hour)
	for name, keyboard := range map[string]bool{"its keys too": true, "its screen only": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := command(t, server.URL()+"?election=app:leader:*")
			if !keyboard {
				r, w, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _, _ = r.Close(), w.Close() })
				cmd.Stdin = r
			}
			d := onDesk(t, cmd, false, "app:leader:billing")
			_, _ = d.master.Close(), d.tty.Close()
			if code := ends(t, cmd); code != exitError {
				t.Errorf("exit code %d", code)
			}
			if errs := cmd.Stderr.(*stream).String(); !strings.Contains(errs, "the terminal is gone") {
				t.Errorf("standard error has %q", errs)
			}
		})
	}
}
