package app

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/creack/pty"

	"coordtop/internal/localserver"
	"coordtop/ui/uitest"
)

// console is a terminal whose screen is read as a person sees it.
type console struct {
	*uitest.Screen
	file *os.File
	raw  *stream
	read sync.WaitGroup
}

// onConsole starts cmd on a terminal of 80x24. pace, if not nil, is called before each
// read of some hundred bytes.
func onConsole(t *testing.T, cmd *exec.Cmd, pace func()) *console {
	t.Helper()
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: 80})
	if err != nil {
		t.Fatal(err)
	}
	c := &console{Screen: uitest.NewScreen(t, 80, 24), file: f, raw: newStream()}
	c.read.Go(func() { // ends with the child: EIO
		for b := make([]byte, 200); ; {
			if pace != nil {
				pace()
			}
			n, err := f.Read(b)
			_, _ = c.raw.Write(b[:n])
			_, _ = c.Screen.Write(b[:n])
			if err != nil {
				return
			}
		}
	})
	t.Cleanup(func() {
		_ = f.Close()
		c.read.Wait()
	})
	return c
}

// types sends keys in pieces, as far apart as a slow link may bring them.
func (c *console) types(t *testing.T, apart time.Duration, pieces ...string) {
	t.Helper()
	for i, p := range pieces {
		if i > 0 {
			<-time.After(apart)
		}
		if _, err := io.WriteString(c.file, p); err != nil {
			t.Fatal(err)
		}
	}
}

// quits ends the board with q.
func (c *console) quits(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	c.types(t, 0, "q")
	code := ends(t, cmd)
	c.read.Wait()
	if code != 0 || !restored(c.raw.String()) {
		out := c.raw.String()
		t.Errorf("exit code %d, the end is %q", code, out[max(0, len(out)-300):])
	}
}

// billing is a server with one leader, and the arguments that show it.
func billing(t *testing.T) string {
	t.Helper()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	set(t, writer(t, server.Addr()), "app:leader:billing", "host-07:4411", time.Hour)
	return server.URL() + "?election=app:leader:*"
}

func TestAStormOfSizesLeavesTheBoardAsItShouldBe(t *testing.T) {
	t.Parallel()
	cmd := command(t, billing(t))
	c := onConsole(t, cmd, nil)
	c.Await(t, "app:leader:billing")
	for i := range 200 {
		if err := pty.Setsize(c.file, &pty.Winsize{Rows: uint16(1 + i%50), Cols: uint16(1 + i*7%170)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := pty.Setsize(c.file, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	c.types(t, 0, "?")
	c.Await(t, "more lines below")
	c.types(t, 0, "\x0cq") // drawn anew, and back to the list
	c.Await(t, "host-07:4411")
	c.quits(t, cmd)
}

func TestAPasteActsNowhereButInText(t *testing.T) {
	t.Parallel()
	cmd := command(t, billing(t))
	c := onConsole(t, cmd, nil)
	c.Await(t, "app:leader:billing")
	c.types(t, 0, "\x1b[200~q\rWq:q\r\x1b[201~", "/", "\x1b[200~name=x\nq\x1b[201~")
	c.Await(t, "/ name=x")
	c.types(t, 0, "\x15billing\r")
	c.Await(t, "filter billing")
	c.quits(t, cmd)
}

func TestAnArrowInPartsOverSSHDoesNoHarm(t *testing.T) {
	t.Parallel()
	cmd := command(t, billing(t))
	cmd.Env = append(cmd.Env, "SSH_TTY=/dev/pts/9")
	c := onConsole(t, cmd, nil)
	c.Await(t, "app:leader:billing")
	c.types(t, 0, "/billing\r")
	c.Await(t, "filter billing")
	c.types(t, 80*time.Millisecond, "\x1b", "[", "A", "\x1b", "O", "B", "\x1b[", "A")
	c.types(t, 0, "p")
	c.Await(t, "PAUSED")
	c.Await(t, "filter billing") // esc would have cleared it
	c.quits(t, cmd)
}

func TestASuspendedBoardGivesTheTerminalToTheShellAndComesBack(t *testing.T) {
	t.Parallel()
	url := billing(t)
	board := command(t, url)
	shell := exec.Command("/bin/sh", "-i")
	shell.Env = append(board.Env, "PS1=ready> ", "PATH=/usr/bin:/bin", "BOARD="+board.Path, "WHAT="+url)
	t.Cleanup(func() {
		if shell.Process != nil && shell.ProcessState == nil {
			_ = shell.Process.Kill()
			_ = shell.Wait()
		}
	})
	c := onConsole(t, shell, nil)
	c.Await(t, "ready>")
	c.types(t, 0, `"$BOARD" "$WHAT"`+"\r")
	c.Await(t, "app:leader:billing")
	c.types(t, 0, "\x1a")
	c.Await(t, "topped") // the shell says so
	if c.AltScreen() {
		t.Error("the shell is on the board's screen")
	}
	c.types(t, 0, "echo it is $((40+2))\r") // echoed and cooked again
	c.Await(t, "it is 42")
	c.types(t, 0, "fg\r")
	c.Await(t, "host-07:4411")
	if !c.AltScreen() {
		t.Error("the board did not take its screen again")
	}
	c.types(t, 0, "q")
	c.Until(t, "the prompt", time.Minute, func(shown string) bool { // else the board would read what is for the shell
		return strings.Contains(shown, "it is 42") && strings.HasSuffix(strings.TrimSpace(shown), "ready>")
	})
	c.types(t, 0, "exit\r")
	if code := ends(t, shell); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

func TestSuspendingWithoutAShellIsRefused(t *testing.T) {
	t.Parallel()
	cmd := command(t, billing(t))
	c := onConsole(t, cmd, nil)
	c.Await(t, "app:leader:billing")
	c.types(t, 0, "\x1a")
	c.Await(t, "no shell waits")
	c.quits(t, cmd)
}

func TestATerminalOfTwoKilobytesASecondIsNoticedAndObeyed(t *testing.T) {
	t.Parallel()
	cmd := command(t, billing(t))
	var slow atomic.Bool
	c := onConsole(t, cmd, func() {
		if slow.Load() {
			<-time.After(100 * time.Millisecond) // for 200 bytes
		}
	})
	c.Await(t, "app:leader:billing")
	slow.Store(true)
	c.Until(t, "slow terminal", time.Minute, func(shown string) bool {
		c.types(t, 0, "?") // the help, or back: a whole frame, unless two keys came at once
		return strings.Contains(shown, "slow terminal")
	})
	slow.Store(false)
	c.types(t, 0, "\x03")
	code := ends(t, cmd)
	c.read.Wait()
	if code != 0 || !restored(c.raw.String()) {
		t.Errorf("exit code %d", code)
	}
}
