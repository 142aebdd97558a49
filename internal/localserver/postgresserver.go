package localserver

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
)

// PostgresOptions describe a private Postgres. The zero value starts one on a free port, with a superuser "postgres"
// that needs no password, without TLS, in a folder that is removed at the end, and with settings that trade the safety
// of the data for speed.
type PostgresOptions struct {
	// Port to listen on. 0: a free one. The standard port is refused.
	Port int
	// Dir is the server's folder. It is made if missing and never removed, and a cluster in it is used again. "": a new
	// folder in the system's temporary folder, removed by Stop, or by the guard if we die.
	Dir string
	// Config are further lines of postgresql.conf; they win over ours.
	Config []string
	// Password of the superuser. If it is set, every user needs a password (SCRAM); otherwise every user is trusted.
	Password string
	// Setup are SQL statements that the superuser runs in "postgres" at the first start,
	// such as "create role alice login password 'x'" and "create database app".
	Setup []string
	// TLS makes the server speak TLS only, with certificates made for this start: see
	// Postgres.TLSFiles.
	TLS bool
	// Listen lists addresses to listen on in addition to 127.0.0.1. They must exist, and their networks are allowed to
	// connect, see Namespace.Host.
	Listen []string
	// StandbyOf makes this server a streaming replica of a running server that has neither a password nor TLS. Setup
	// and Password must then be empty.
	StandbyOf *Postgres
	// Bin is the folder of the programs. "": that of initdb in PATH, otherwise that of the newest version in the
	// folders in which systems install them.
	Bin string
}

// Postgres is a running private Postgres.
type Postgres struct {
	server
	options PostgresOptions
	bin     string
	files   TLSFiles
	fresh   bool // the cluster was just made, and is not a replica
}

// superuser is the role that initdb makes.
const superuser = "postgres"

// StartPostgres starts a server and returns when it accepts connections. ctx bounds only the start. The error wraps
// ErrMissing if Postgres is not installed. If we are root, the server runs as the user postgres, or as nobody if that
// does not exist, because it refuses to be root. It runs until Stop or until this process ends in whatever way.
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

// readyLocked reports whether the server accepts connections. It reads the server's pid file, so that another program
// at the port is not mistaken for it.
func (p *Postgres) readyLocked(context.Context) bool {
	return postmasterReady(filepath.Join(p.data(), "postmaster.pid"), p.proc.pid())
}

// data returns the folder of the cluster.
func (p *Postgres) data() string { return p.file("data") }

// URL returns the postgres:// URL of the superuser in the database "postgres". It contains the password if one is set,
// so it must not be logged.
func (p *Postgres) URL() string { return p.URLFor(superuser, p.options.Password, "postgres") }

// URLFor returns the postgres:// URL of a role in a database.
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

// TLSFiles returns the files that a client needs for TLS with this server; empty without TLS.
func (p *Postgres) TLSFiles() TLSFiles { return p.files }
