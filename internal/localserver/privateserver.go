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

// portTries is how often a start looks for another port when a stranger took the first.
const portTries = 5

// server is what the lives of all servers have in common: each sort embeds it and fills in
// where it differs.
type server struct {
	name  string // the program, in errors and of the log
	guard *guard
	steps steps

	mu      sync.Mutex
	port    int
	proc    *process
	stopped bool
}

// steps are where the sorts of servers differ. They are called with the server's lock.
type steps struct {
	prepare   func(context.Context) error // makes what outlives restarts
	configure func() error                // writes its files, for the port
	command   func() []string             // the program and its arguments
	ready     func(context.Context) bool  // it serves, itself and not a stranger who was faster at the port
	setUp     func(context.Context) error // works on the server that was started for the first time
	end       func(context.Context)       // makes the process end
}

// nothing is the step of a server that needs none.
func nothing(context.Context) error { return nil }

// begin starts the first process, on port or, if that is 0, on a free one. After an error nothing
// is left.
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

// Logged is what the server has written to its log since its last start.
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

// terminate is the end of most servers.
func (s *server) terminate(ctx context.Context) { s.proc.stop(ctx, syscall.SIGTERM) }

func (s *server) file(name string) string { return filepath.Join(s.guard.dir, name) }

func (s *server) log() string { return s.file(s.name + ".log") }

// Addr is the host and port, such as "127.0.0.1:40123". It stays the same for the server's
// life.
func (s *server) Addr() string { return address(s.Port()) }

// Port is the port that it listens on.
func (s *server) Port() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.port
}

// Dir is where the server works; a Postgres keeps its cluster in the folder "data" there.
func (s *server) Dir() string { return s.guard.dir }

// Pid is the id of the server's first process; 0 when it does not run.
func (s *server) Pid() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil || !s.proc.running() {
		return 0
	}
	return s.proc.pid()
}

// Restart ends the server if it still runs, cutting off its clients, and starts it on the
// same port. It returns when the new process serves. Data outlives it where the server's
// options say so.
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

// Stop ends the server: it asks, waits two seconds or until ctx ends, is less polite, waits
// again, and removes the folder if it was ours. A second call does nothing.
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
