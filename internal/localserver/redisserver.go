package localserver

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/url"
	"os"
	"syscall"
)

// RedisOptions describe a private redis-server. The zero value starts one on a free port, without a password, without
// TLS and without persistence, in a folder that is removed at the end.
type RedisOptions struct {
	// Port to listen on. 0: a free one. The standard ports are refused.
	Port int
	// Dir is the server's folder. It is made if missing and never removed. "": a new folder in the system's temporary
	// folder, removed by Stop, or by the guard if we die.
	Dir string
	// Config are further lines of redis.conf; they win over ours.
	Config []string
	// Password of the default user. "": none.
	Password string
	// Users are ACL rules that begin with the user's name: "alice on >secret ~app:* +@read".
	Users []string
	// TLS makes the server speak TLS only, with certificates made for this start: see
	// Redis.TLSFiles.
	TLS bool
	// ClientCert makes a TLS server ask its clients for a certificate.
	ClientCert bool
	// Keep makes the server write every change to Dir before it answers, so that the data survives Restart and Kill.
	// Otherwise a restarted server is empty.
	Keep bool
	// Master makes this server a Sentinel, which watches the server at this address (host:port) under the name main.
	// After half a second of silence the Sentinel promotes a replica. "": no Sentinel.
	Master string
	// Program is the server's program. "": redis-server, otherwise valkey-server, from PATH.
	Program string
}

// Redis is a running private redis-server.
type Redis struct {
	server
	options RedisOptions
	program string
	files   TLSFiles
	tls     *tls.Config // nil without TLS
}

// StartRedis starts a server and returns when it answers PING. ctx bounds only the start. The error wraps ErrMissing if
// no server is installed. The server runs until Stop or until this process ends in whatever way.
func StartRedis(ctx context.Context, o RedisOptions) (*Redis, error) {
	if o.Port == 6379 || o.Port == 26379 {
		return nil, fmt.Errorf("starting redis-server: port %d is a standard port: choose another", o.Port)
	}
	program, err := redisProgram(o)
	if err != nil {
		return nil, fmt.Errorf("starting redis-server: %w", err)
	}
	g, err := newGuard("redis", o.Dir, endAtOnce, nil)
	if err != nil {
		return nil, fmt.Errorf("starting redis-server: %w", err)
	}
	r := &Redis{server: server{name: "redis-server", guard: g}, options: o, program: program}
	r.steps = steps{prepare: r.certify, configure: r.configureLocked, command: r.command, ready: r.readyLocked, setUp: nothing, end: r.terminate}
	if err := r.begin(ctx, o.Port); err != nil {
		return nil, err
	}
	return r, nil
}

func (r *Redis) certify(context.Context) (err error) {
	if r.options.TLS {
		r.files, r.tls, err = writeCertificate(r.guard.dir)
	}
	return err
}

func (r *Redis) configureLocked() error {
	if err := os.WriteFile(r.file("redis.conf"), redisConf(r), 0o600); err != nil {
		return fmt.Errorf("writing the configuration: %w", err)
	}
	if err := os.Remove(r.file("redis.pid")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("removing an old pid file: %w", err)
	}
	return nil
}

func (r *Redis) command() []string {
	command := []string{r.program, r.file("redis.conf")}
	if r.options.Master != "" {
		command = append(command, "--sentinel")
	}
	return command
}

// readyLocked reports whether the server answers PING. The pid file shows that this server, and not another program,
// has the port.
func (r *Redis) readyLocked(ctx context.Context) bool {
	return pidFileNames(r.file("redis.pid"), r.proc.pid()) && redisAnswers(ctx, address(r.port), r.tls)
}

// URL returns the redis:// or rediss:// URL of DB 0. It contains the default user's password if one is set, so it must
// not be logged.
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

// TLSFiles returns the files that a client needs for TLS with this server; empty without TLS.
func (r *Redis) TLSFiles() TLSFiles { return r.files }

// Freeze suspends the process (SIGSTOP): connections stay open and nothing answers.
func (r *Redis) Freeze() error { return r.signal(syscall.SIGSTOP) }

// Thaw ends Freeze. The server then answers the requests that were sent while it was frozen.
func (r *Redis) Thaw() error { return r.signal(syscall.SIGCONT) }

func (r *Redis) signal(s syscall.Signal) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.proc.signal(s)
}

// Kill ends the process at once (SIGKILL) and returns when it has ended. The port is closed then; Restart opens it
// again.
func (r *Redis) Kill() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.proc.kill()
}
