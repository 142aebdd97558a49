package app

import (
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"coordtop/internal/ground/raced"
	"coordtop/internal/localserver"
)

func TestWhatATerminalSaysCostsLittleMemory(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "it measures memory, of which the race detector takes as much as it likes")
	if runtime.GOOS != "linux" {
		t.Skip("the peak of memory is read from /proc")
	}
	usual := pty.Winsize{Rows: 24, Cols: 80}
	for name, c := range map[string]struct {
		size pty.Winsize
		send string
	}{
		"2000x2000":         {size: pty.Winsize{Rows: 2000, Cols: 2000}},
		"65535x65535":       {size: pty.Winsize{Rows: 65535, Cols: 65535}},
		"no size":           {},
		"a claim of a size": {usual, "\x1b[8;65535;65535t\x1b[48;65535;65535;1;1t"},
		"many parameters":   {usual, "\x1b[" + strings.Repeat("1;", 100) + "m\x1bP" + strings.Repeat("1;", 100) + "z\x1b\\"},
		"pasted parameters": {usual, "\x1b[200~\x1b[" + strings.Repeat("1;", 100) + "m\x1b[201~"},
		"8-bit parameters":  {usual, "\x9b" + strings.Repeat("1;", 100) + "m"},
		"keys of Windows":   {usual, strings.Repeat("\x1b[65;0;65;1;0;65535_", 1000)},
		"no sequences":      {usual, strings.Repeat("\x1b[1;2;3!z", 20_000)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := command(t, "redis://"+localserver.RefusingForTest(t)+"/0")
			f, err := pty.StartWithSize(cmd, &c.size)
			if err != nil {
				t.Fatal(err)
			}
			s := &screen{stream: newStream(), file: f}
			s.read.Go(func() { // ends with the child: EIO
				b := make([]byte, 1<<14)
				for n, err := 0, error(nil); err == nil; {
					n, err = f.Read(b)
					_, _ = s.stream.Write(b[:n])
				}
			})
			t.Cleanup(func() { _ = f.Close(); s.read.Wait() })
			s.await(t, func(out string) bool { return strings.Contains(out, "nothing listens") })
			if _, err := f.WriteString(c.send); err != nil {
				t.Fatal(err)
			}
			<-time.After(200 * time.Millisecond) // a person; what came before is no part of the key
			if _, err := f.WriteString("?"); err != nil {
				t.Fatal(err)
			}
			s.await(t, func(out string) bool { return strings.Contains(out, "SIGNS") }) // the help: it is alive
			if got := localserver.PeakMemory(t, cmd.Process.Pid); got > 150<<20 {
				t.Errorf("it needed %d MB", got>>20)
			}
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			if code := ends(t, cmd); code != 0 {
				t.Errorf("exit code %d", code)
			}
		})
	}
}
