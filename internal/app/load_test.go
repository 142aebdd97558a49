package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"

	"coordtop/sources"
	"coordtop/ui"
	"coordtop/ui/uitest"
)

// loaded makes the test binary a board under a load: see TestMain. It says what the load
// is, as loadOf writes it.
const loaded = "COORDTOP_TEST_LOAD"

const loadForm = "%d rows, %d changes, %d among, %d turnover, %d ns of lease, %t random, %t stops"

func loadOf(l uitest.Load) string {
	return fmt.Sprintf(loadForm, l.Rows, l.Changes, l.Among, l.Turnover, l.Lease, l.Random, l.Stops)
}

// boardUnder runs the board as the program does, over a Hub with the load. Asked with a
// byte on file 3, it answers on file 4 how much of the processor it has used so far.
func boardUnder(load string) error {
	var l uitest.Load
	if _, err := fmt.Sscanf(load, loadForm, &l.Rows, &l.Changes, &l.Among, &l.Turnover, &l.Lease, &l.Random, &l.Stops); err != nil {
		return fmt.Errorf("reading the load: %w", err)
	}
	asked, answers := os.NewFile(3, "asked"), os.NewFile(4, "answers")
	go func() { // ends with the process
		for b := make([]byte, 1); ; {
			if _, err := asked.Read(b); err != nil {
				return
			}
			var used syscall.Rusage
			if syscall.Getrusage(syscall.RUSAGE_SELF, &used) == nil {
				fmt.Fprintln(answers, used.Utime.Nano()+used.Stime.Nano())
			}
		}
	}()
	ctx, stop := context.WithCancel(context.Background())
	hub := sources.NewHub(ctx, sources.HubOptions{})
	defer hub.Close()
	var running sync.WaitGroup
	var broken error
	running.Go(func() { broken = l.Run(ctx, hub) })
	feed := newFeed(hub, nil)
	defer feed.Close()
	err := ui.Run(ctx, ui.Options{Feed: feed, Title: "load", Environ: os.Environ()})
	stop()
	running.Wait()
	return errors.Join(err, broken)
}

// meter is a terminal that measures what is written to it.
type meter struct {
	*uitest.Screen
	tb      testing.TB
	tty     *os.File // our side
	cmd     *exec.Cmd
	bytes   atomic.Int64
	pace    atomic.Int64  // bytes a second that it reads; 0: all it can
	stopped sync.RWMutex  // held: it reads nothing
	ask     io.Writer     // of boardUnder; nil: it is the program itself
	used    *bufio.Reader // its answers
}

// onMeter starts cmd on such a terminal.
func onMeter(tb testing.TB, cmd *exec.Cmd, w, h int) *meter {
	tb.Helper()
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: uint16(h), Cols: uint16(w)})
	if err != nil {
		tb.Fatal(err)
	}
	m := &meter{Screen: uitest.NewAnswering(tb, w, h, f), tb: tb, tty: f, cmd: cmd}
	var reading sync.WaitGroup
	reading.Go(m.read) // ends with the child: EIO
	tb.Cleanup(func() {
		_ = f.Close()
		reading.Wait()
	})
	return m
}

// read takes what is written, at its pace.
func (m *meter) read() {
	b := make([]byte, 1<<15)
	for {
		room := len(b)
		if pace := int(m.pace.Load()); pace > 0 {
			room = max(pace/20, 1)
			<-time.After(time.Second / 20)
		}
		m.stopped.RLock()
		n, err := m.tty.Read(b[:room])
		m.stopped.RUnlock()
		m.bytes.Add(int64(n))
		_, _ = m.Screen.Write(b[:n])
		if err != nil {
			return
		}
	}
}

// keys types, in one piece.
func (m *meter) keys(keys string) {
	m.tb.Helper()
	if _, err := io.WriteString(m.tty, keys); err != nil {
		m.tb.Fatal(err)
	}
}

// underLoad starts a board under that load and waits until all its rows are there, by name.
func underLoad(tb testing.TB, l uitest.Load) *meter {
	tb.Helper()
	m := startLoad(tb, l)
	m.keys("sn")
	m.Await(tb, "by name")
	return m
}

// startLoad starts a board under that load and waits until all its rows are there, in the
// default order.
func startLoad(tb testing.TB, l uitest.Load) *meter {
	tb.Helper()
	cmd := command(tb)
	cmd.Env = append(cmd.Env, loaded+"="+loadOf(l))
	asked, ask := pipe(tb)
	used, answers := pipe(tb)
	cmd.ExtraFiles = []*os.File{asked, answers}
	m := onMeter(tb, cmd, 160, 48)
	m.ask, m.used = ask, bufio.NewReader(used)
	rows := fmt.Sprintf("%d,%03d", l.Rows/1000, l.Rows%1000)
	if l.Stops {
		rows = fmt.Sprintf("%d,%03d", (l.Rows+1)/1000, (l.Rows+1)%1000)
	}
	m.Until(tb, rows+" primitives", time.Minute, func(shown string) bool { return strings.Contains(shown, rows+" primitives") })
	return m
}

func pipe(tb testing.TB) (r, w *os.File) {
	tb.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _, _ = r.Close(), w.Close() })
	return r, w
}

// cpu is what the board has used of the processor so far.
func (m *meter) cpu() time.Duration {
	m.tb.Helper()
	var n int64
	if _, err := m.ask.Write([]byte{0}); err != nil {
		m.tb.Fatal(err)
	}
	if _, err := fmt.Fscanln(m.used, &n); err != nil {
		m.tb.Fatal(err)
	}
	return time.Duration(n)
}

// quit ends the board.
func (m *meter) quit() {
	m.tb.Helper()
	m.pace.Store(0)
	m.keys("q")
	if code := ends(m.tb, m.cmd); code != 0 {
		m.tb.Errorf("exit code %d", code)
	}
}
