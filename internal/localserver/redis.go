package localserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// RedisOptions describe a private redis-server. The zero value starts one on a free port,
// without a password, without TLS and without persistence, in a folder that it removes.
type RedisOptions struct {
	// Port to listen on. 0: a free one. The standard ports are refused.
	Port int
	// Dir is where the server works; it is made if missing and never removed. "": a
	// folder of its own in the system's temporary folder, removed by Stop, or by the
	// guard if we die.
	Dir string
	// Config are further lines of redis.conf; they win over ours.
	Config []string
	// Password of the default user. "": none.
	Password string
	// Users are ACL rules, each the name first: "alice on >secret ~app:* +@read".
	Users []string
	// TLS makes the server speak TLS only, with certificates made for this start: see
	// Redis.TLSFiles.
	TLS bool
	// ClientCert makes a TLS server ask its clients for a certificate.
	ClientCert bool
	// Keep writes every change to Dir before it is answered, so that a Restart finds the
	// data again, also after Kill. False: a restarted server is empty.
	Keep bool
	// Program is the server's program. "": redis-server, else valkey-server, from PATH.
	Program string
	// MinVersion is the lowest version that will do, such as "6.2". "": any.
	MinVersion string
}

// Redis is a running private redis-server.
type Redis struct {
	options RedisOptions
	program string
	guard   *guard
	files   TLSFiles
	tls     *tls.Config // nil without TLS

	mu      sync.Mutex
	port    int
	proc    *process
	stopped bool
}

// startTimeout bounds one start of a server whose caller set no deadline.
const startTimeout = 20 * time.Second

// portTries is how often a start looks for another port when a stranger took the first.
const portTries = 5

// StartRedis starts a server and returns when it answers PING. ctx bounds the start only.
// The error wraps ErrMissing when no server is installed and ErrTooOld when it is older
// than asked. The server lives until Stop or until this process ends, however it ends.
func StartRedis(ctx context.Context, o RedisOptions) (*Redis, error) {
	if o.Port == 6379 || o.Port == 26379 {
		return nil, fmt.Errorf("starting redis-server: port %d is a standard port: choose another", o.Port)
	}
	program, err := redisProgram(ctx, o)
	if err != nil {
		return nil, fmt.Errorf("starting redis-server: %w", err)
	}
	g, err := newGuard("redis", o.Dir)
	if err != nil {
		return nil, fmt.Errorf("starting redis-server: %w", err)
	}
	r := &Redis{options: o, program: program, guard: g}
	if err := r.begin(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("starting redis-server: %w", err), g.close())
	}
	return r, nil
}

// begin makes the certificates, finds a port and starts the first process.
func (r *Redis) begin(ctx context.Context) error {
	if r.options.TLS {
		var err error
		if r.files, r.tls, err = writeCertificates(r.guard.dir); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.options.Port != 0 {
		r.port = r.options.Port
		return r.runLocked(ctx)
	}
	var err error
	for range portTries {
		if r.port, err = freePort(); err != nil {
			return err
		}
		if err = r.runLocked(ctx); !errors.Is(err, syscall.EADDRINUSE) {
			return err
		}
	}
	return err
}

// runLocked starts one process and waits until it answers.
func (r *Redis) runLocked(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	conf := r.file("redis.conf")
	if err := os.WriteFile(conf, redisConf(r), 0o600); err != nil {
		return fmt.Errorf("writing the configuration: %w", err)
	}
	if err := os.Remove(r.file("redis.pid")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("removing an old pid file: %w", err)
	}
	log, err := os.OpenFile(r.file("redis.log"), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("opening the log: %w", err)
	}
	defer log.Close()
	if r.proc, err = startProcess(r.guard, log, r.program, conf); err != nil {
		return err
	}
	if err := r.awaitLocked(ctx); err != nil {
		r.proc.kill()
		return err
	}
	return nil
}

// awaitLocked returns when the server answers PING. Its pid file shows that the port is
// its own and not that of a stranger who was faster.
func (r *Redis) awaitLocked(ctx context.Context) error {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-r.proc.done:
			if portTaken(r.port) {
				return fmt.Errorf("listening on %s: %w", address(r.port), syscall.EADDRINUSE)
			}
			return fmt.Errorf("%w: %s", errExited, logTail(r.file("redis.log")))
		case <-ctx.Done():
			return fmt.Errorf("waiting for the first answer: %w", ctx.Err())
		case <-tick.C:
			if pidFileNames(r.file("redis.pid"), r.proc.pid()) && redisAnswers(ctx, address(r.port), r.tls) {
				return nil
			}
		}
	}
}

func (r *Redis) file(name string) string { return filepath.Join(r.guard.dir, name) }

// Addr is the host and port, such as "127.0.0.1:40123". It stays the same for the life of r.
func (r *Redis) Addr() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return address(r.port)
}

// URL is the address as redis:// or rediss:// URL of DB 0, with the default user's
// password if one was set: not for logs then.
func (r *Redis) URL() string {
	u := url.URL{Scheme: "redis", Host: r.Addr(), Path: "/0"}
	if r.options.TLS {
		u.Scheme = "rediss"
	}
	if r.options.Password != "" {
		u.User = url.UserPassword("", r.options.Password)
	}
	return u.String()
}

// Dir is where the server works.
func (r *Redis) Dir() string { return r.guard.dir }

// TLSFiles are what a client needs to talk TLS to this server; empty without TLS.
func (r *Redis) TLSFiles() TLSFiles { return r.files }

// Pid is the id of the server's process; 0 when it does not run.
func (r *Redis) Pid() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.proc == nil || !r.proc.running() {
		return 0
	}
	return r.proc.pid()
}

// Freeze stops the process in its tracks (SIGSTOP): links stay open and nothing answers.
func (r *Redis) Freeze() error { return r.signal(syscall.SIGSTOP) }

// Thaw lets a frozen process go on. What was sent meanwhile is then answered.
func (r *Redis) Thaw() error { return r.signal(syscall.SIGCONT) }

func (r *Redis) signal(s syscall.Signal) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.proc.signal(s)
}

// Kill ends the process without a word (SIGKILL) and returns when it is gone. The port is
// closed then; Restart opens it again.
func (r *Redis) Kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.proc.kill()
}

// Restart ends the process if it still runs and starts another on the same port, with the
// old data only if RedisOptions.Keep asked for that. It returns when the new one answers.
func (r *Redis) Restart(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return fmt.Errorf("restarting redis-server: %w", errStopped)
	}
	r.proc.stop(ctx)
	if err := r.runLocked(ctx); err != nil {
		return fmt.Errorf("restarting redis-server: %w", err)
	}
	return nil
}

// Stop ends the server: it asks, waits two seconds or until ctx ends, kills, waits again,
// and removes the folder if it was ours. A second call does nothing.
func (r *Redis) Stop(ctx context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped {
		return nil
	}
	r.stopped = true
	r.proc.stop(ctx)
	if err := r.guard.close(); err != nil {
		return fmt.Errorf("stopping redis-server: %w", err)
	}
	return nil
}
