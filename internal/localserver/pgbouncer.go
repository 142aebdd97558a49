package localserver

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const pgbouncerInstallHint = "install it: apt-get install pgbouncer (Debian, Ubuntu), " +
	"dnf install pgbouncer (Fedora), apk add pgbouncer (Alpine), brew install pgbouncer (macOS)"

// PgbouncerOptions describe a private pgbouncer. Server is required.
type PgbouncerOptions struct {
	// Server is what it pools. It must trust everybody: no password, no TLS.
	Server *Postgres
	// Mode is its pool_mode: "session" or "transaction". "": session.
	Mode string
	// Roles that may use it, besides the superuser.
	Roles []string
	// Config are further lines of the section [pgbouncer]; they win over ours.
	Config []string
}

// Pgbouncer is a running private pgbouncer.
type Pgbouncer struct {
	options PgbouncerOptions
	guard   *guard
	proc    *process
	port    int

	mu      sync.Mutex
	stopped bool
}

// StartPgbouncer starts a pooler and returns when a client got through it to the server.
// ctx bounds the start only. The error wraps ErrMissing when none is installed. Like
// Postgres it refuses to be root, and runs as another user when we are. It lives until Stop
// or until this process ends, however it ends.
func StartPgbouncer(ctx context.Context, o PgbouncerOptions) (*Pgbouncer, error) {
	if o.Server == nil || o.Server.options.Password != "" || o.Server.options.TLS {
		return nil, errors.New("starting pgbouncer: it needs a server without password and TLS")
	}
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program, err = exec.LookPath("/usr/sbin/pgbouncer") // where Debian has it, not in everybody's PATH
	}
	if err != nil {
		return nil, fmt.Errorf("starting pgbouncer: it is %w: %s", ErrMissing, pgbouncerInstallHint)
	}
	g, err := newGuard("pgbouncer", "")
	if err != nil {
		return nil, fmt.Errorf("starting pgbouncer: %w", err)
	}
	g.user = unprivileged("postgres")
	b := &Pgbouncer{options: o, guard: g}
	if err := b.begin(ctx, program); err != nil {
		return nil, errors.Join(fmt.Errorf("starting pgbouncer: %w", err), g.close())
	}
	return b, nil
}

// begin finds a port and starts the process.
func (b *Pgbouncer) begin(ctx context.Context, program string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	if err := b.guard.user.reaches(b.guard.dir); err != nil {
		return err
	}
	var err error
	for range portTries {
		if b.port, err = freePort(); err != nil {
			return err
		}
		if err = b.run(ctx, program); !errors.Is(err, syscall.EADDRINUSE) {
			return err
		}
	}
	return err
}

func (b *Pgbouncer) run(ctx context.Context, program string) error {
	if err := b.configure(); err != nil {
		return err
	}
	name := b.guard.dir + "/pgbouncer.log"
	log, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("opening the log: %w", err)
	}
	defer log.Close()
	if b.proc, err = startProcess(b.guard, log, program, b.guard.dir+"/pgbouncer.ini"); err != nil {
		return err
	}
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-b.proc.done:
			if portTaken(b.port) {
				return fmt.Errorf("listening on %s: %w", address(b.port), syscall.EADDRINUSE)
			}
			return fmt.Errorf("%w: %s", errExited, logTail(name))
		case <-ctx.Done():
			b.proc.kill()
			return fmt.Errorf("waiting until it serves: %w", ctx.Err())
		case <-tick.C:
			if b.serves(ctx) {
				return nil
			}
		}
	}
}

func (b *Pgbouncer) serves(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := pgconn.Connect(ctx, b.URL())
	if err != nil {
		return false
	}
	_, err = conn.Exec(ctx, "select 1").ReadAll()
	return errors.Join(err, conn.Close(ctx)) == nil
}

func (b *Pgbouncer) configure() error {
	mode := b.options.Mode
	if mode == "" {
		mode = "session"
	}
	var users strings.Builder
	for _, role := range append([]string{superuser}, b.options.Roles...) {
		fmt.Fprintf(&users, "\"%s\" \"\"\n", strings.ReplaceAll(role, `"`, `""`))
	}
	if err := b.guard.user.write(b.guard.dir+"/users.txt", []byte(users.String())); err != nil {
		return err
	}
	lines := append([]string{
		"[databases]",
		fmt.Sprintf("* = host=%s port=%d", loopback, b.options.Server.Port()),
		"[pgbouncer]",
		"listen_addr = " + loopback,
		fmt.Sprintf("listen_port = %d", b.port),
		"unix_socket_dir =",
		"auth_type = trust",
		"auth_file = " + b.guard.dir + "/users.txt",
		"pool_mode = " + mode,
		"admin_users = " + superuser,
	}, b.options.Config...)
	return b.guard.user.write(b.guard.dir+"/pgbouncer.ini", []byte(strings.Join(lines, "\n")+"\n"))
}

// Addr is the host and port that it listens on.
func (b *Pgbouncer) Addr() string { return address(b.port) }

// Pid is the id of its process; 0 when it does not run.
func (b *Pgbouncer) Pid() int {
	if !b.proc.running() {
		return 0
	}
	return b.proc.pid()
}

// URL is the address as postgres:// URL of the superuser in the database "postgres".
func (b *Pgbouncer) URL() string { return b.URLFor(superuser, "postgres") }

// URLFor is the address as postgres:// URL for a role in a database.
func (b *Pgbouncer) URLFor(role, database string) string {
	u := url.URL{Scheme: "postgres", Host: b.Addr(), Path: "/" + database, User: url.User(role), RawQuery: "sslmode=disable"}
	return u.String()
}

// Stop ends the pooler and removes its folder. A second call does nothing.
func (b *Pgbouncer) Stop(ctx context.Context) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopped {
		return nil
	}
	b.stopped = true
	b.proc.stop(ctx)
	if err := b.guard.close(); err != nil {
		return fmt.Errorf("stopping pgbouncer: %w", err)
	}
	return nil
}

// PgbouncerForTest starts a pooler that is stopped when the test ends. A missing pgbouncer
// fails the test with the install hint.
func PgbouncerForTest(t TB, o PgbouncerOptions) *Pgbouncer {
	t.Helper()
	b, err := StartPgbouncer(context.Background(), o)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	t.Cleanup(func() {
		if err := b.Stop(context.Background()); err != nil {
			t.Fatalf("%v", err)
		}
	})
	return b
}
