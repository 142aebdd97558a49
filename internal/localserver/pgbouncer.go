package localserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

const pgbouncerInstallHint = "install it: apt-get install pgbouncer (Debian, Ubuntu), " +
	"dnf install pgbouncer (Fedora), apk add pgbouncer (Alpine), brew install pgbouncer (macOS)"

// PgbouncerOptions describe a private pgbouncer. Server is required.
type PgbouncerOptions struct {
	// Server is the server behind the pooler. It must have neither a password nor TLS.
	Server *Postgres
	// Mode is its pool_mode: "session", "transaction" or "statement". "": session.
	Mode string
	// Roles that may use the pooler, in addition to the superuser.
	Roles []string
	// Config are further lines of the section [pgbouncer]; they win over ours.
	Config []string
}

// Pgbouncer is a running private pgbouncer.
type Pgbouncer struct {
	server
	options PgbouncerOptions
	program string
}

// StartPgbouncer starts a pooler and returns after a client has reached the server through it. ctx bounds only the
// start. The error wraps ErrMissing if pgbouncer is not installed. Like Postgres it refuses to be root; if we are root,
// it runs as another user. It runs until Stop or until this process ends in whatever way.
func StartPgbouncer(ctx context.Context, o PgbouncerOptions) (*Pgbouncer, error) {
	if o.Server == nil || o.Server.options.Password != "" || o.Server.options.TLS {
		return nil, errors.New("starting pgbouncer: it needs a server without password and TLS")
	}
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program, err = exec.LookPath("/usr/sbin/pgbouncer") // Debian's place, which is not in every user's PATH
	}
	if err != nil {
		return nil, fmt.Errorf("starting pgbouncer: it is %w: %s", ErrMissing, pgbouncerInstallHint)
	}
	g, err := newGuard("pgbouncer", "", endAtOnce, unprivileged())
	if err != nil {
		return nil, fmt.Errorf("starting pgbouncer: %w", err)
	}
	b := &Pgbouncer{server: server{name: "pgbouncer", guard: g}, options: o, program: program}
	b.steps = steps{prepare: nothing, configure: b.configureLocked, command: b.command, ready: b.readyLocked, setUp: nothing, end: b.terminate}
	if err := b.begin(ctx, 0); err != nil {
		return nil, err
	}
	return b, nil
}

func (b *Pgbouncer) command() []string { return []string{b.program, b.file("pgbouncer.ini")} }

// readyLocked reports whether a client gets through to the server.
func (b *Pgbouncer) readyLocked(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	conn, err := pgconn.Connect(ctx, b.urlAt(address(b.port), superuser, "postgres"))
	if err != nil {
		return false
	}
	_, err = conn.Exec(ctx, "select 1").ReadAll()
	return errors.Join(err, conn.Close(ctx)) == nil
}

func (b *Pgbouncer) configureLocked() error {
	var users strings.Builder
	for _, role := range append([]string{superuser}, b.options.Roles...) {
		fmt.Fprintf(&users, "\"%s\" \"\"\n", strings.ReplaceAll(role, `"`, `""`))
	}
	if err := b.guard.user.write(b.file("users.txt"), []byte(users.String())); err != nil {
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
		"auth_file = " + b.file("users.txt"),
		"pool_mode = " + cmp.Or(b.options.Mode, "session"),
		"admin_users = " + superuser,
	}, b.options.Config...)
	return b.guard.user.write(b.file("pgbouncer.ini"), []byte(strings.Join(lines, "\n")+"\n"))
}

// URL returns the postgres:// URL of the superuser in the database "postgres".
func (b *Pgbouncer) URL() string { return b.URLFor(superuser, "postgres") }

// URLFor returns the postgres:// URL of a role in a database.
func (b *Pgbouncer) URLFor(role, database string) string {
	return b.urlAt(b.Addr(), role, database)
}

func (b *Pgbouncer) urlAt(addr, role, database string) string {
	u := url.URL{Scheme: "postgres", Host: addr, Path: "/" + database, User: url.User(role), RawQuery: "sslmode=disable"}
	return u.String()
}
