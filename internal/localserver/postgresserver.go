package localserver

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
)

// PostgresOptions describe a private Postgres. The zero value starts one on a free port,
// with a superuser "postgres" that needs no password, without TLS, in a folder that it
// removes, and with settings that trade the safety of its data for speed.
type PostgresOptions struct {
	// Port to listen on. 0: a free one. The standard port is refused.
	Port int
	// Dir is where the server works; it is made if missing and never removed. A cluster
	// that is found in it is used again. "": a folder of its own in the system's temporary
	// folder, removed by Stop, or by the guard if we die.
	Dir string
	// Config are further lines of postgresql.conf; they win over ours.
	Config []string
	// Password of the superuser. With one, everybody must give a password (SCRAM); "":
	// everybody is trusted.
	Password string
	// Setup are SQL statements that the superuser runs in "postgres" at the first start,
	// such as "create role alice login password 'x'" and "create database app".
	Setup []string
	// TLS makes the server speak TLS only, with certificates made for this start: see
	// Postgres.TLSFiles.
	TLS bool
	// Listen are addresses to listen on besides 127.0.0.1; their networks are let in. They
	// must exist: see Namespace.Host.
	Listen []string
	// StandbyOf makes it a streaming replica of a running server that has neither a
	// password nor TLS; Setup and Password must be empty then.
	StandbyOf *Postgres
	// Bin is the folder of the programs. "": that of initdb in PATH, else the newest version
	// in the folders where systems install them.
	Bin string
}

// Postgres is a running private Postgres.
type Postgres struct {
	server
	options PostgresOptions
	bin     string
	files   TLSFiles
	fresh   bool // the cluster was just made, and is no copy
}

// superuser is the role that initdb makes.
const superuser = "postgres"

// StartPostgres starts a server and returns when it accepts connections. ctx bounds the
// start only. The error wraps ErrMissing when no server is installed. When we are root it runs
// as another user, because it refuses to be root: "postgres" if there is one, else nobody. The
// server lives until Stop or until this process ends, however it ends.
func StartPostgres(ctx context.Context, o PostgresOptions) (*Postgres, error) {
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("starting postgres: %w", err)
	}
	bin, err := postgresPrograms(o.Bin)
	if err != nil {
		return nil, fmt.Errorf("starting postgres: %w", err)
	}
	g, err := newGuard("postgres", o.Dir, endPostgres, unprivileged())
	if err != nil {
		return nil, fmt.Errorf("starting postgres: %w", err)
	}
	p := &Postgres{server: server{name: "postgres", guard: g}, options: o, bin: bin}
	p.steps = steps{prepare: p.makeCluster, configure: p.configureLocked, command: p.command, ready: p.readyLocked, setUp: p.setUpLocked, end: p.stopLocked}
	if err := p.begin(ctx, o.Port); err != nil {
		return nil, err
	}
	return p, nil
}

func (o PostgresOptions) check() error {
	switch {
	case o.Port == 5432:
		return errors.New("port 5432 is the standard port: choose another")
	case o.StandbyOf == nil:
		return nil
	case o.Password != "" || len(o.Setup) > 0:
		return errors.New("a standby has the roles and databases of its primary")
	case o.StandbyOf.options.Password != "" || o.StandbyOf.options.TLS:
		return errors.New("a standby needs a primary without password and TLS")
	}
	return nil
}

func (p *Postgres) command() []string {
	return []string{filepath.Join(p.bin, "postgres"), "-D", p.data()}
}

// readyLocked reports whether by the server's own pid file it accepts connections, so a
// stranger who took the port is not mistaken for it.
func (p *Postgres) readyLocked(context.Context) bool {
	return postmasterReady(filepath.Join(p.data(), "postmaster.pid"), p.proc.pid())
}

// data is the folder of the cluster.
func (p *Postgres) data() string { return p.file("data") }

// URL is the address as postgres:// URL of the superuser in the database "postgres", with
// the password if one was set: not for logs then.
func (p *Postgres) URL() string { return p.URLFor(superuser, p.options.Password, "postgres") }

// URLFor is the address as postgres:// URL for a role in a database.
func (p *Postgres) URLFor(role, password, database string) string {
	return p.urlAt(p.Addr(), role, password, database)
}

func (p *Postgres) urlAt(addr, role, password, database string) string {
	u := url.URL{Scheme: "postgres", Host: addr, Path: "/" + database, User: url.User(role)}
	if password != "" {
		u.User = url.UserPassword(role, password)
	}
	query := url.Values{"sslmode": {"disable"}}
	if p.options.TLS {
		query = url.Values{"sslmode": {"verify-full"}, "sslrootcert": {p.files.CA}}
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// TLSFiles are what a client needs to talk TLS to this server; empty without TLS.
func (p *Postgres) TLSFiles() TLSFiles { return p.files }
