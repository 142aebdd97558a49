package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/lazy"
	"coordtop/internal/ground/pgwire"
	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/tape"
)

// Options describe a store.
type Options struct {
	Address string // postgres://user@host:port/database, or what libpq takes
	Schema  string // "": coordtop. Groups of recorders that see different servers have a schema each

	// Password returns the password; nil: it is in Address, or in a file of libpq.
	Password func(context.Context) (string, error)

	Keep time.Duration // for everything except the list of runs; 0: history.UsualKeep
	Full time.Duration // for what a replay reads, at most Keep; 0: usualFull
	Size int64         // most bytes; 0: no bound

	// Claim is that of an elected recorder. nil: Begin returns history.ErrBusy while another run is written.
	Claim *Claim
}

// schemaName matches the names that need no quotes.
var schemaName = lazy.Regexp(`^[a-z_][a-z0-9_]{0,40}$`)

// Name returns the schema.
func (o Options) Name() string { return cmp.Or(o.Schema, "coordtop") }

// Place names the store for people, without a password: host, database, and a schema of another name than usual.
func (o Options) Place() string {
	c, _, err := pgwire.Parse(o.Address)
	if err != nil {
		return "the store"
	}
	place := (&url.URL{Scheme: "postgres", Host: strings.Join(pgwire.Hosts(c), ","), Path: "/" + c.Database}).String()
	if name := o.Name(); name != (Options{}).Name() {
		place += " " + name
	}
	return place
}

// longestRow bounds the bytes of a message: a row that a stranger wrote may have a gigabyte.
const longestRow = 64 << 20

// connectTimeout bounds making a connection.
const connectTimeout = 10 * time.Second

// connect opens a connection. It leaves nothing in a server session: a pooler may give the session to others after each
// transaction.
func (o Options) connect(ctx context.Context) (*pgconn.PgConn, error) {
	return o.open(ctx, func(*pgconn.Config) {})
}

// open opens a connection with settings that change adds.
func (o Options) open(ctx context.Context, change func(*pgconn.Config)) (*pgconn.PgConn, error) {
	if !schemaName().MatchString(o.Name()) {
		return nil, fmt.Errorf("the schema %q: use a name of small letters, digits and _", o.Name())
	}
	parsed, _, err := pgwire.Parse(o.Address)
	if err != nil {
		return nil, err
	}
	if o.Password != nil {
		if parsed.Password, err = o.Password(ctx); err != nil {
			return nil, err
		}
	}
	parsed.RuntimeParams["application_name"] = "coordtop history"
	parsed.BuildFrontend = func(r io.Reader, w io.Writer) *pgproto3.Frontend {
		f := pgproto3.NewFrontend(r, w)
		f.SetMaxBodyLen(longestRow)
		return f
	}
	change(parsed)
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	conn, err := pgconn.ConnectConfig(ctx, parsed)
	if err != nil {
		return nil, Explained(o, pgwire.Connecting(ctx, err))
	}
	return conn, nil
}

// begin begins a transaction in the schema of the store. more is a further statement, whose first row it returns.
func (o Options) begin(ctx context.Context, conn *pgconn.PgConn, mode, more string) (row []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	idle := idleTimeout
	if mode == reading {
		idle = readingTimeout
	}
	text := fmt.Sprintf("begin isolation level %s; set local search_path = %s, pg_catalog; set local statement_timeout = %d; set local lock_timeout = %d; set local idle_in_transaction_session_timeout = %d; set local timezone = 'UTC'; %s",
		mode, o.Name(), statementTimeout.Milliseconds(), lockTimeout.Milliseconds(), idle.Milliseconds(), more)
	results, err := conn.Exec(ctx, text).ReadAll()
	if err != nil {
		return nil, err
	}
	if last := results[len(results)-1]; len(last.Rows) > 0 {
		for _, v := range last.Rows[0] {
			row = append(row, string(v))
		}
	}
	return row, nil
}

// Modes of a transaction.
const (
	writing = "read committed"
	reading = "repeatable read read only"
)

// rollback ends a transaction after an error. A connection that does not answer is closed.
func rollback(conn *pgconn.PgConn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if _, err := conn.Exec(ctx, "rollback").ReadAll(); err != nil {
		_ = conn.Close(ctx) // the error of the transaction is the one that counts
	}
}

// others is for tables that somebody has changed.
const others = "its tables or rows are not as coordtop makes them: restore them, or set history.group to a new name"

// newer is for tables that a newer coordtop has made.
const newer = "a newer coordtop made it: update this one"

// absent is for tables that are not there.
const absent = "nothing is recorded there: correct the name of the group, or start coordtop record once as the role that owns the schema, see coordtop help team"

// Codes of the server that have a sentence of their own. A nil cause is the error of the server.
var sentences = map[string]struct {
	text  string
	cause error
}{
	"28P01": {"the user or the password is wrong: correct history.url, or what history.password_env and its like name", nil},
	"28000": {"this user may not log in: change pg_hba.conf or the user, see coordtop help team", nil},
	"3D000": {"this database does not exist: create it, or change history.url", nil},
	"3F000": {absent, history.ErrNothing},
	"42P01": {absent, history.ErrNothing},
	"42501": {"this user may not do that there: grant it the role of a writer, a member or a reader, see coordtop help team", syscall.EACCES},
	"25006": {"the server is read-only: it may be a standby, so point history.url to the primary", syscall.EACCES},
	"22003": {others, history.ErrDamaged},
	"42703": {others, history.ErrDamaged},
	"42804": {others, history.ErrDamaged},
	"42883": {others, history.ErrDamaged},
	"53300": {"it has no connection left: raise max_connections, or let history.url lead through a pooler", nil},
	"53100": {"the disk of the server is full: make room there", syscall.ENOSPC},
	"55P03": {"somebody else has locked its tables for long: look for long transactions in pg_stat_activity", nil},
	"57014": {"the server was too slow, and ended the statement", nil},
}

// Explained adds the place to an error, and translates those of the server to sentences and sentinels.
func Explained(o Options, err error) error {
	if err == nil || failure.Complete(err) || failure.IsAny(err, history.ErrNewer, history.ErrSuperseded, history.ErrSetBack, history.ErrBusy, history.ErrNothing) {
		return err
	}
	doing := "the store " + o.Place()
	switch {
	case errors.Is(err, tape.ErrNewerRecording):
		return failure.Sentence(doing+": "+newer, history.ErrNewer)
	case failure.IsAny(err, sources.ErrRecording, history.ErrDamaged), errors.As(err, new(*pgproto3.ExceededMaxBodyLenErr)):
		return failure.Sentence(doing+": "+others, history.ErrDamaged, err)
	}
	said, ok := errors.AsType[*pgconn.PgError](err)
	if !ok {
		if pgconn.Timeout(err) && !errors.Is(err, context.Canceled) {
			err = failure.With(errors.New("no answer in time"), err)
		}
		return failure.Sentence(doing+": "+err.Error(), err)
	}
	is, known := sentences[said.Code]
	if !known {
		return failure.Sentence(doing+": "+(&pgwire.Reply{PgError: said}).Error(), err)
	}
	if said.Code == "28P01" || said.Code == "28000" || said.Code == "42501" { // the user, the rule, or what is denied
		is.text += " (" + pgwire.Line(said.Message) + ")"
	}
	return failure.Sentence(doing+": "+is.text, cmp.Or(is.cause, error(said)))
}
