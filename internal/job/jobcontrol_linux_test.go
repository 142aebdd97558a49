package job_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// shell is an interactive bash in a terminal, which starts runners with the command $RUNNER.
type shell struct {
	*runner
	keyboard, tty *os.File

	mu     sync.Mutex
	screen string // all that was written to the terminal
	seen   int    // bytes of it that await has passed
}

// shellOf starts a bash whose runner runs a command.
func shellOf(t *testing.T, change func(*order, *exec.Cmd), args ...string) *shell {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	keyboard, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tty.Close(); keyboard.Close() })
	s := &shell{keyboard: keyboard, tty: tty}
	s.runner = prepare(t, exec.Command("bash", "--norc", "--noprofile", "-i"), change, args)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = tty, tty, tty
	s.cmd.Env = append(s.cmd.Env, "RUNNER="+self, "PS1=ready> ", "TERM=xterm", "HISTFILE=")
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	s.start()
	s.runner.stderr = s.stderr
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, err := keyboard.Read(buffer)
			s.mu.Lock()
			s.screen += string(buffer[:n])
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	s.await("ready> ")
	return s
}

// keys types.
func (s *shell) keys(text string) {
	s.t.Helper()
	if _, err := s.keyboard.WriteString(text); err != nil {
		s.t.Fatal(err)
	}
}

// await waits for a text on the terminal, after those that were awaited before.
func (s *shell) await(text string) {
	s.t.Helper()
	for end := time.Now().Add(20 * time.Second); ; <-time.After(time.Millisecond) {
		s.mu.Lock()
		at := strings.Index(s.screen[s.seen:], text)
		if at >= 0 {
			s.seen += at + len(text)
		}
		screen := s.screen
		s.mu.Unlock()
		if at >= 0 {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("no %q on the terminal:\n%s", text, screen)
		}
	}
}

// stderr returns what is on the terminal.
func (s *shell) stderr() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.screen
}

// works checks that the shell has its terminal again.
func (s *shell) works() {
	s.t.Helper()
	s.keys("echo sum $((40+2))\n")
	s.await("sum 42")
}

// echo is a command that answers each line of the terminal.
const echo = `echo begun; while read x; do echo "<$x>"; done; exit 3`

func TestACommandReadsTheTerminal(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]string{
		"from a shell":  "$RUNNER\n",
		"from a script": "sh -c '$RUNNER; true'\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := shellOf(t, nil, "sh", "-c", echo)
			s.keys(call)
			s.await("begun")
			s.keys("one\n")
			s.await("<one>")
			s.keys("\x1a")
			s.await("Stopped")
			s.works()
			s.keys("fg\n")
			s.keys("two\n")
			s.await("<two>")
			s.keys("\x04")
			s.want(outcome{Code: 3})
			s.works()
		})
	}
}

func TestCtrlCReachesTheCommandThatHasTheTerminal(t *testing.T) {
	t.Parallel()
	s := shellOf(t, nil, "sh", "-c", echo)
	s.keys("$RUNNER\n")
	s.await("begun")
	s.keys("one\n")
	s.await("<one>")
	s.keys("\x03")
	s.want(outcome{Code: 130})
	s.works()
}

func TestACommandInTheBackgroundGetsTheTerminalWithIt(t *testing.T) {
	t.Parallel()
	s := shellOf(t, nil, "sh", "-c", echo)
	s.keys("$RUNNER &\n")
	s.await("begun")
	s.await("bring it to the foreground")
	s.works()
	s.keys("fg\n")
	s.keys("one\n")
	s.await("<one>")
	s.keys("\x1a")
	s.await("Stopped")
	s.keys("bg\n")
	s.works()
	s.keys("fg\n")
	s.keys("two\n")
	s.await("<two>")
	s.keys("\x04")
	s.want(outcome{Code: 3})
	s.works()
}

// count is a command that does not read the terminal, and whose file grows while it runs.
const count = `echo >>"$COORDTOP_DEADLINE_FILE.count"; echo begun; while :; do echo >>"$COORDTOP_DEADLINE_FILE.count"; sleep 0.01; done`

// size is how far a count has come.
func (s *shell) size() int64 {
	s.t.Helper()
	files, err := filepath.Glob(s.folder + "/*.count")
	if err != nil || len(files) != 1 {
		s.t.Fatal(files, err)
	}
	info, err := os.Stat(files[0])
	if err != nil {
		s.t.Fatal(err)
	}
	return info.Size()
}

func TestCtrlZStopsTheCommandAndUsAndFgContinuesBoth(t *testing.T) {
	t.Parallel()
	s := shellOf(t, nil, "sh", "-c", count)
	s.keys("$RUNNER\n")
	s.await("begun")
	for range 2 {
		s.keys("\x1a")
		s.await("Stopped")
		s.works()
		before := s.size()
		<-time.After(100 * time.Millisecond)
		if s.size() != before {
			t.Error("the command works while it is stopped")
		}
		s.keys("fg\n")
		await(t, "that it works on", func() bool { return s.size() > before })
	}
	s.keys("\x03")
	s.want(outcome{Code: 130, Stopped: syscall.SIGINT})
	s.works()
}

func TestACommandWhoseLeaseEndedWhileItWasStoppedIsKilledWhileItIs(t *testing.T) {
	t.Parallel()
	var trust time.Duration
	s := shellOf(t, func(o *order, _ *exec.Cmd) {
		o.Trust = boot() + 3*time.Second
		trust, o.Window, o.Grace = o.Trust, o.Trust, 0
	}, "sh", "-c", `trap 'echo >"$COORDTOP_DEADLINE_FILE.count.worked"' TERM CONT HUP; `+count)
	s.keys("$RUNNER\n")
	s.await("begun")
	s.keys("\x1a")
	s.await("Stopped")
	before := s.size()
	await(t, "the end of the lease", func() bool { return boot() > trust })
	s.keys("fg\n")
	s.want(outcome{Code: 137, Lost: expired})
	if worked, _ := filepath.Glob(s.folder + "/*.worked"); s.size() != before || len(worked) != 0 {
		t.Error("it worked on")
	}
	s.works()
}

func TestAPagerBehindAPipeKeepsTheTerminal(t *testing.T) {
	t.Parallel()
	s := shellOf(t, nil, "seq", "100000")
	s.keys("$RUNNER | less\n")
	s.await("20\r\n")
	s.keys("q")
	s.want(outcome{Code: 141}) // 128 + SIGPIPE, which the command must not ignore
	s.works()
}

func TestACommandBeforeAPipeDoesNotTakeTheTerminalFromAPager(t *testing.T) {
	t.Parallel()
	s := shellOf(t, nil, "sh", "-c", `seq 100000; read x </dev/tty`)
	s.keys("$RUNNER | sh -c 'read y </dev/tty; echo other $y; cat >/dev/null'\n")
	s.keys("first\n")
	s.await("other first")
	s.await("another process of this pipeline")
	s.keys("\x03")
	s.want(outcome{Code: 130, Stopped: syscall.SIGINT})
	s.works()
}

func TestTheTerminalIsRestoredAfterACommandThatWeKill(t *testing.T) {
	t.Parallel()
	s := shellOf(t, nil, "sh", "-c", `read x; stty raw -echo; echo raw; sleep 100`)
	s.keys("$RUNNER; stty -a | tr ' ' '\\n' | grep -x -e -*echo -e -*icanon | tr -s '\\n' ,\n")
	s.keys("one\n")
	s.await("raw")
	s.tell("lose")
	s.want(outcome{Code: 137, Lost: lost})
	s.await("icanon,echo,")
}

func TestAShellInsideHasJobControlOfItsOwn(t *testing.T) {
	t.Parallel()
	s := shellOf(t, nil, "bash", "--norc", "--noprofile", "-i")
	s.keys("$RUNNER\n")
	s.await("ready> ")
	s.keys("sh -c 'echo sum $((1+2)); exec sleep 100'\n")
	s.await("sum 3") // what is typed before it would be lost with ctrl+z
	s.keys("\x1a")
	s.await("Stopped")
	s.await("ready> ")
	s.keys("fg\n")
	s.await("exec sleep") // the shell names it
	s.keys("\x03")
	s.await("ready> ")
	s.keys("exit 4\n")
	s.want(outcome{Code: 4})
	s.works()
}
