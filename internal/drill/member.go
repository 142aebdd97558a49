package drill

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"syscall"
	"time"

	"coordtop/internal/ground/spawn"
	"coordtop/internal/ground/subprocess"
	"coordtop/sources/lane"
)

// member is one candidate process of ours.
type member struct {
	label  string
	cmd    *exec.Cmd
	in     io.WriteCloser
	exited chan struct{} // closed when the process is gone
	said   chan said     // its lines that receive has not read

	// The content of the lines that receive has read.
	campaigns bool
	won       said // the last time; zero: it never led
	over      said // the last end of its trust; zero: none
	cut       said
	trouble   string // its last complaint
}

// unread is more than the lines of a candidate between two calls of receive.
const unread = 1000

// leads reports whether it leads, by the lines that were read.
func (m *member) leads() bool { return m.won.At.After(m.over.At) }

// gone reports whether its process has ended.
func (m *member) gone() bool {
	select {
	case <-m.exited:
		return true
	default:
		return false
	}
}

// start starts cmd as a candidate process. running counts its goroutine, which ends with the process and
// wakes the drill at each line.
func start(ctx context.Context, running *sync.WaitGroup, cmd *exec.Cmd, t Task, wake chan struct{}) (*member, error) {
	m := &member{label: t.Label, cmd: cmd, exited: make(chan struct{}), said: make(chan said, unread)}
	cmd.Env = append(slices.Clone(cmd.Env), subprocess.Mark())
	cmd.SysProcAttr, cmd.WaitDelay = subprocess.NewSession(), time.Second // ctrl+c reaches only the parent
	in, err := cmd.StdinPipe()
	out, wrong := cmd.StdoutPipe()
	if err := errors.Join(err, wrong); err != nil {
		return nil, fmt.Errorf("making the pipes of a candidate: %w", err)
	}
	m.in = in
	started := make(chan error, 1)
	spawn.Go(ctx, running, func() {
		runtime.LockOSThread() // the process ends with this thread, see subprocess.NewSession
		defer runtime.UnlockOSThread()
		defer spawn.Wake(wake)
		defer close(m.exited)
		err := cmd.Start()
		if started <- err; err != nil {
			return
		}
		for lines := bufio.NewScanner(out); lines.Scan(); spawn.Wake(wake) {
			var s said
			if json.Unmarshal(lines.Bytes(), &s) == nil {
				m.said <- s
			}
		}
		_ = cmd.Wait() // why it ended is on its standard error
	})
	if err = <-started; err == nil {
		if err = json.NewEncoder(m.in).Encode(t); err == nil {
			return m, nil
		}
		m.kill()
	}
	return nil, fmt.Errorf("starting a candidate: %w", err)
}

// receive reads the lines since the last call.
func (m *member) receive() {
	for {
		select {
		case s := <-m.said:
			m.campaigns = m.campaigns || s.Event == campaigns
			if at := map[string]*said{won: &m.won, over: &m.over, isCut: &m.cut}[s.Event]; at != nil {
				*at = s
			}
			m.trouble = cmp.Or(s.Detail, m.trouble)
		default:
			return
		}
	}
}

// end ends the leadership of m in one of the ways of our own processes, and returns the time. Of Cut and Resign that is
// the beginning; the process reports the end.
func (m *member) end(how Way) (at lane.Stamp, err error) {
	began := time.Now().Round(0)
	switch how {
	case Kill:
		m.kill()
	case Stop:
		err = m.cmd.Process.Signal(syscall.SIGSTOP)
	case Cut:
		_, err = io.WriteString(m.in, isCut+"\n")
	case Resign:
		err = m.in.Close()
	}
	if err != nil {
		return at, fmt.Errorf("ending %s: %w", m.label, err)
	}
	return lane.StampBetween(began, time.Now().Round(0), lane.Ours), nil
}

// kill ends the process, also one that is frozen, and returns when it is gone.
func (m *member) kill() {
	_ = m.cmd.Process.Kill() // its only error is that it has ended
	<-m.exited
}
