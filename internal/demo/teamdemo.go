package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"coordtop/internal/ground/backoff"
)

// RecorderCommand is the hidden command of the binary that runs one recorder. Its arguments are the config file and the
// address of its metrics.
const RecorderCommand = "demo-recorder"

// TeamOptions are the recorders of a team.
type TeamOptions struct {
	Program string
	Config  string   // file
	Folder  string   // in which each recorder gets a home
	Metrics []string // host and port for the metrics of each recorder
	Out     io.Writer

	// Elected returns the process that records; 0: none does.
	Elected func(context.Context) (pid int, err error)

	// The first recorder is killed after it has recorded for this long; the second one is not killed. 0: 10 s.
	KillAfter time.Duration
}

// recorder is one process of the team.
type recorder struct {
	number int
	cmd    *exec.Cmd
}

// RunTeam runs recorders, kills the elected one once, and says who goes on. It ends with ctx, or when a recorder cannot
// be started.
func RunTeam(ctx context.Context, o TeamOptions) error {
	if o.KillAfter == 0 {
		o.KillAfter = 10 * time.Second
	}
	ctx, stop := context.WithCancel(ctx)
	var all []*recorder
	defer func() {
		stop()
		for _, r := range all {
			_ = r.cmd.Wait() // how it ended does not matter
		}
	}()
	for i := range o.Metrics {
		r, err := o.start(ctx, i+1)
		if err != nil {
			return err
		}
		all = append(all, r)
	}
	say := func(format string, args ...any) {
		fmt.Fprintf(o.Out, "%s  %s\n", time.Now().Format(time.TimeOnly), fmt.Sprintf(format, args...))
	}
	first, err := o.await(ctx, all, nil)
	if err != nil {
		return err
	}
	say("recorder %d records, the others stand by; it is killed in %v", first.number, o.KillAfter)
	if err := backoff.Sleep(ctx, o.KillAfter); err != nil {
		return err
	}
	began := time.Now()
	_ = first.cmd.Process.Kill() // it may have ended
	_ = first.cmd.Wait()         // it was killed
	say("recorder %d was killed", first.number)
	next, err := o.await(ctx, all, first)
	if err != nil {
		return err
	}
	say("recorder %d records after %.1f s", next.number, time.Since(began).Seconds())
	again, err := o.start(ctx, first.number)
	if err != nil {
		return err
	}
	*first = *again
	say("recorder %d was started again, and stands by", first.number)
	<-ctx.Done()
	return ctx.Err()
}

// await waits until another recorder than before records.
func (o *TeamOptions) await(ctx context.Context, all []*recorder, before *recorder) (*recorder, error) {
	for {
		pid, err := o.Elected(ctx)
		for _, r := range all {
			if err == nil && r != before && r.cmd.Process.Pid == pid {
				return r, nil
			}
		}
		if err := backoff.Sleep(ctx, 100*time.Millisecond); err != nil {
			return nil, err
		}
	}
}

// start starts a recorder, which ends when this process does. When ctx ends, it has four seconds to resign.
func (o *TeamOptions) start(ctx context.Context, number int) (*recorder, error) {
	home := filepath.Join(o.Folder, fmt.Sprint("recorder-", number))
	if err := os.MkdirAll(home, 0o700); err != nil {
		return nil, err
	}
	log, err := os.OpenFile(filepath.Join(home, "stderr.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }() // the recorder has its own
	cmd := exec.CommandContext(ctx, o.Program, RecorderCommand, o.Config, o.Metrics[number-1])
	cmd.Env = append(os.Environ(), "HOME="+home, "XDG_STATE_HOME=")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // ctrl+c at the terminal reaches only the parent
	cmd.Stderr = log
	in, err := cmd.StdinPipe() // if we die, the end of this pipe stops the recorder
	if err != nil {
		return nil, fmt.Errorf("making a pipe: %w", err)
	}
	cmd.Cancel, cmd.WaitDelay = in.Close, 4*time.Second
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("starting a recorder: %w", err), in.Close())
	}
	return &recorder{number, cmd}, nil
}
