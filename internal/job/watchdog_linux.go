package job

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"coordtop/internal/ground/spawn"
	"coordtop/internal/ground/subprocess"
)

// watchdogName is the name of a process of this program that is a watchdog. Its arguments are the number of the group
// and the path of the deadline file.
const watchdogName = "coordtop-watchdog"

// The descriptors of a watchdog. That of its life has an end when the process that started it has ended; it writes one
// byte to that of its readiness.
const (
	wordDescriptor = 3 + iota
	lifeDescriptor
	readyDescriptor
)

// watchdogPatience bounds the start of a watchdog, which takes some 25 ms.
const watchdogPatience = 5 * time.Second

// watchdog starts the processes that end the command if we do not: one after the other, if somebody kills them.
type watchdog struct {
	word       *deadlineWord
	args       []string
	keepLinks  bool     // see Options
	life, ours *os.File // a pipe; nobody writes to it, and only we have the end to write, ours
}

// newWatchdog makes what a watchdog needs. The caller must close it.
func newWatchdog(g *group, deadlineFile string, keepLinks bool) (w *watchdog, err error) {
	w = &watchdog{keepLinks: keepLinks, args: []string{watchdogName, strconv.Itoa(g.id), deadlineFile}}
	if w.life, w.ours, err = os.Pipe(); err != nil {
		return nil, err
	}
	if w.word, err = newDeadlineWord(); err != nil {
		return nil, errors.Join(err, w.life.Close(), w.ours.Close())
	}
	return w, nil
}

// set stores the instant at which the watchdog kills the command.
func (w *watchdog) set(kill time.Duration) { w.word.set(kill) }

// start starts a process and returns when it watches.
func (w *watchdog) start(ctx context.Context) (*watching, error) {
	ready, sent, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer ready.Close()
	cmd := exec.Command("/proc/self/exe")
	cmd.Args, cmd.Dir, cmd.Env = w.args, "/", []string{subprocess.Mark()} // no secret of our environment
	cmd.ExtraFiles = []*os.File{w.word.file, w.life, sent}
	if w.keepLinks {
		for _, link := range links() {
			defer link.Close()
			cmd.ExtraFiles = append(cmd.ExtraFiles, link)
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := errors.Join(cmd.Start(), sent.Close()); err != nil {
		return nil, fmt.Errorf("starting the watchdog: %w", err)
	}
	p := &watching{process: cmd.Process, died: make(chan struct{})}
	spawn.Go(ctx, nil, func() { // died is closed at its end
		defer close(p.died)
		_ = cmd.Wait() // whatever ended it, it is gone
	})
	if err := ready.SetReadDeadline(time.Now().Add(watchdogPatience)); err != nil {
		p.end()
		return nil, err
	}
	if _, err := ready.Read(make([]byte, 1)); err != nil {
		p.end()
		return nil, fmt.Errorf("the watchdog did not start: %w", err)
	}
	return p, nil
}

func (w *watchdog) close() {
	w.life.Close()
	w.ours.Close()
	w.word.close()
}

// watching is a process that watches.
type watching struct {
	process *os.Process
	died    chan struct{} // closed when the process has ended
}

// end ends the process, which then ends nothing.
func (p *watching) end() {
	_ = p.process.Kill() // its only error is that it has ended
	<-p.died
}
