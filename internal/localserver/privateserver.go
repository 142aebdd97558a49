package localserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// startTimeout bounds one start of a server whose caller set no deadline.
const startTimeout = 20 * time.Second

// portTries is the number of ports that a start tries, because another program may take a free one first.
const portTries = 5

// server is the common part of all kinds of servers. Each kind embeds it and sets the steps in which it differs.
type server struct {
	name  string // name of the program, in errors and for the log
	guard *guard
	steps steps

	mu      sync.Mutex
	port    int
	proc    *process
	stopped bool
}

// steps are the functions in which the kinds of servers differ. They are called with the server's lock held.
type steps struct {
	prepare   func(context.Context) error // makes the data that outlives restarts
	configure func() error                // writes the configuration for the port
	command   func() []string             // the program and its arguments
	ready     func(context.Context) bool  // reports whether this server, and not another program at the port, serves
	setUp     func(context.Context) error // runs once after the first start
	end       func(context.Context)       // ends the process
}

// nothing is the step of a server that has nothing to do in it.
func nothing(context.Context) error { return nil }

// begin starts the first process, on port or, if that is 0, on a free one. After an error nothing of the server is
// left.
func (s *server) begin(ctx context.Context, port int) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.steps.prepare(ctx)
	if err == nil {
		err = s.startLocked(ctx, port)
	}
	if err == nil {
		if err = s.steps.setUp(ctx); err != nil {
			s.proc.kill()
		}
	}
	if err != nil {
		return errors.Join(fmt.Errorf("starting %s: %w", s.name, err), s.guard.close())
	}
	return nil
}

// Logged returns the server's log since its last start.
func (s *server) Logged() (string, error) {
	text, err := os.ReadFile(s.log())
	return string(text), err
}

// startLocked starts the first process, see begin.
func (s *server) startLocked(ctx context.Context, port int) error {
	if port != 0 {
		s.port = port
		return s.runLocked(ctx)
	}
	var err error
	for range portTries {
		if s.port, err = FreePort(); err != nil {
			return err
		}
		if err = s.runLocked(ctx); !errors.Is(err, syscall.EADDRINUSE) {
			return err
		}
	}
	return err
}

// runLocked starts one process and waits until it is ready.
func (s *server) runLocked(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := s.steps.configure(); err != nil {
		return err
	}
	log, err := os.OpenFile(s.log(), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("opening the log: %w", err)
	}
	defer log.Close()
	command := s.steps.command()
	if s.proc, err = startProcess(ctx, s.guard, log, command[0], command[1:]...); err != nil {
		return err
	}
	if err := s.awaitLocked(ctx); err != nil {
		s.proc.kill()
		return err
	}
	return nil
}

// awaitLocked returns when the process is ready.
func (s *server) awaitLocked(ctx context.Context) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-s.proc.done:
			if portTaken(s.port) || strings.Contains(logTail(s.log()), "ddress already in use") {
				return fmt.Errorf("listening on %s: %w", address(s.port), syscall.EADDRINUSE)
			}
			return fmt.Errorf("%w: %s", errExited, logTail(s.log()))
		case <-ctx.Done():
			return fmt.Errorf("waiting until it serves: %w", ctx.Err())
		case <-tick.C:
			if s.steps.ready(ctx) {
				return nil
			}
		}
	}
}

// terminate is the step end of most servers.
func (s *server) terminate(ctx context.Context) { s.proc.stop(ctx, syscall.SIGTERM) }

func (s *server) file(name string) string { return filepath.Join(s.guard.dir, name) }

func (s *server) log() string { return s.file(s.name + ".log") }

// Addr returns the host and port, such as "127.0.0.1:40123". They never change.
func (s *server) Addr() string { return address(s.Port()) }

// Port returns the port that it listens on.
func (s *server) Port() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.port
}

// Dir returns the server's folder. A Postgres keeps its cluster in the folder "data" there.
func (s *server) Dir() string { return s.guard.dir }

// Pid returns the id of the server's first process; 0 if the server does not run.
func (s *server) Pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil || !s.proc.running() {
		return 0
	}
	return s.proc.pid()
}

// Restart ends the server if it still runs, cutting off its clients, and starts it on the same port. It returns when
// the new process serves. Data survives if the server's options say so.
func (s *server) Restart(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return fmt.Errorf("restarting %s: %w", s.name, errStopped)
	}
	s.steps.end(ctx)
	if err := s.runLocked(ctx); err != nil {
		return fmt.Errorf("restarting %s: %w", s.name, err)
	}
	return nil
}

// Stop ends the server: it sends a signal, waits two seconds or until ctx ends, sends stronger signals, waits again,
// and removes the folder if it is temporary. A second call does nothing.
func (s *server) Stop(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopped {
		return nil
	}
	s.stopped = true
	s.steps.end(ctx)
	if err := s.guard.close(); err != nil {
		return fmt.Errorf("stopping %s: %w", s.name, err)
	}
	return nil
}
