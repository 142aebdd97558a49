package pgwire

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/internal/ground/format"
)

// Row is one row of an answer, in text; nil is null.
type Row [][]byte

// Text returns column i; "" if it is null or missing.
func (r Row) Text(i int) string {
	if i >= len(r) {
		return ""
	}
	return string(r[i])
}

// mostRows bounds the rows of an answer that are kept.
const mostRows = 100_000

// Statement is a query whose answer is read row by row.
type Statement struct {
	Name, SQL string
	Columns   int // of its answer; below 0: any

	prepared bool
}

// format of a parameter or an answer.
const binaryFormat = 1

// Rows runs one statement with parameters, unprepared. If the session is lent the
// statement is read-only and bounded, see lentSettings. Errors of the server are *Reply.
func (c *Conn) Rows(ctx context.Context, sql string, args ...string) ([]Row, error) {
	if c.pooler != Lent {
		return c.plain(ctx, sql, args...)
	}
	var rows []Row
	err := c.run(ctx, Statement{SQL: sql, Columns: -1}, texts(args), nil, keep(&rows))
	return rows, err
}

// One calls Rows for a statement that answers one row.
func (c *Conn) One(ctx context.Context, sql string, args ...string) (Row, error) {
	rows, err := c.Rows(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	if len(rows) != 1 {
		return nil, fmt.Errorf("%w: it has %d rows, not one", ErrOutOfStep, len(rows))
	}
	return rows[0], nil
}

// plain runs a statement without the settings of a lent session.
func (c *Conn) plain(ctx context.Context, sql string, args ...string) ([]Row, error) {
	var rows []Row
	err := read(c.conn.ExecParams(ctx, sql, texts(args), nil, nil, nil), -1, keep(&rows))
	return rows, replied(err)
}

func keep(rows *[]Row) func(Row) error {
	return func(r Row) error {
		if len(*rows) == mostRows {
			return &Excess{fmt.Sprintf("over %d rows", mostRows)}
		}
		kept := make(Row, len(r))
		for i, v := range r {
			if v != nil {
				kept[i] = append([]byte{}, v...)
			}
		}
		*rows = append(*rows, kept)
		return nil
	}
}

func texts(args []string) [][]byte {
	params := make([][]byte, len(args))
	for i, a := range args {
		params[i] = []byte(a)
	}
	return params
}

// Prepare prepares a statement. It does nothing if the session is lent.
func (c *Conn) Prepare(ctx context.Context, s *Statement) error {
	if c.pooler == Lent {
		return nil
	}
	_, err := c.conn.Prepare(ctx, s.Name, s.SQL, nil)
	s.prepared = err == nil
	return replied(err)
}

// Each runs a statement and calls f with each row, in the binary format and valid until f returns. Parameters are text.
// Each reads the rest of the answer even if f fails or panics.
func (c *Conn) Each(ctx context.Context, s *Statement, params [][]byte, f func(Row) error) error {
	binary := []int16{binaryFormat}
	if c.pooler == Lent {
		return c.run(ctx, *s, params, binary, f)
	}
	if s.prepared {
		return replied(read(c.conn.ExecPrepared(ctx, s.Name, params, nil, binary), s.Columns, f))
	}
	return replied(read(c.conn.ExecParams(ctx, s.SQL, params, nil, nil, binary), s.Columns, f))
}

// StatementLimit is the server's time-out for a statement that only reads.
const StatementLimit = 5 * time.Second

// lentSettings apply to the transaction that they are sent with. The transaction is one message, so the server ends it
// with its answer.
const lentSettings = "select pg_catalog.set_config('transaction_read_only', 'on', true), " +
	"pg_catalog.set_config('statement_timeout', $1, true), pg_catalog.set_config('lock_timeout', '1000', true)"

// ReadOnly makes our session read-only and bounds its statements: they end after StatementLimit and wait for a lock for
// at most a second. The server shows the session under name, which is short and plain ASCII. It does not change a lent
// session, because the next client would get our settings.
func (c *Conn) ReadOnly(ctx context.Context, name string) error {
	if c.pooler == Lent {
		return nil
	}
	row, err := c.One(ctx, "select pg_catalog.set_config('application_name', $1, false), pg_catalog.set_config('statement_timeout', $2, false), "+
		"pg_catalog.set_config('lock_timeout', '1000', false), pg_catalog.set_config('default_transaction_read_only', 'on', false)",
		name, strconv.FormatInt(StatementLimit.Milliseconds(), 10))
	if err == nil && row.Text(0) != name {
		err = ErrOutOfStep
	}
	return Because(ctx, "configuring the session", err)
}

// run runs a statement in a session that is lent. It does not use the library's batches, because their messages bypass
// the count of questions.
func (c *Conn) run(ctx context.Context, s Statement, params [][]byte, format []int16, f func(Row) error) (err error) {
	p := c.conn.StartPipeline(ctx)
	defer func() {
		if failed := p.Close(); err == nil {
			err = failed
		}
		err = replied(err)
	}()
	p.SendQueryParams(lentSettings, texts([]string{strconv.FormatInt(StatementLimit.Milliseconds(), 10)}), nil, nil, nil)
	p.SendQueryParams(s.SQL, params, nil, nil, format)
	if err := p.Sync(); err != nil {
		return err
	}
	settings := func(Row) error { return nil }
	for _, step := range []struct {
		columns int
		f       func(Row) error
	}{{-1, settings}, {s.Columns, f}} {
		result, err := p.GetResults()
		if err != nil {
			return err
		}
		r, ok := result.(*pgconn.ResultReader)
		if !ok {
			return ErrOutOfStep
		}
		if err := read(r, step.columns, step.f); err != nil {
			return err
		}
	}
	return nil
}

// read calls f with the rows of an answer, and always reads the answer to its end. Otherwise the connection could only
// be closed.
func read(r *pgconn.ResultReader, columns int, f func(Row) error) (err error) {
	defer func() {
		if _, failed := r.Close(); failed != nil {
			err = failed
		}
	}()
	var bad error
	for r.NextRow() {
		if row := r.Values(); bad == nil && columns >= 0 && len(row) != columns {
			bad = fmt.Errorf("%w: a row has %d columns, not %d", ErrOutOfStep, len(row), columns)
		} else if bad == nil {
			bad = f(row)
		}
	}
	return bad
}

// Listen makes the session listen to a channel. It is not for sessions that are lent.
func (c *Conn) Listen(ctx context.Context, channel string) error {
	return c.exec(ctx, "listen "+Identifier(channel))
}

// Unlisten makes the session listen to nothing.
func (c *Conn) Unlisten(ctx context.Context) error { return c.exec(ctx, "unlisten *") }

// Ping sends an empty statement and waits for the answer.
func (c *Conn) Ping(ctx context.Context) error { return c.exec(ctx, "") }

func (c *Conn) exec(ctx context.Context, sql string) error {
	return replied(c.conn.Exec(ctx, sql).Close())
}

// Wait blocks until Options.Notify has received a notification, or until ctx ends, after which the connection is still
// usable.
func (c *Conn) Wait(ctx context.Context) error { return c.conn.WaitForNotification(ctx) }

// CancelStatement asks the server to end the statement that runs on the connection. Any goroutine may call it. It is
// not for sessions that are lent.
func (c *Conn) CancelStatement(ctx context.Context) error {
	c.socket.enter(phaseCancelling)
	defer c.socket.enter(phaseConnected)
	return c.conn.CancelRequest(ctx)
}

// Literal quotes a text for a statement, in characters that can be printed and pasted. It writes E'...' with escapes if
// the text has other characters, or a backslash, which some server settings treat as an escape. It escapes bytes,
// because a database in SQL_ASCII accepts no escapes of characters.
func Literal(s string) string {
	if format.Clean(s, 0) == s && !strings.Contains(s, `\`) {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	var b strings.Builder
	for n := 0; s != ""; s = s[n:] {
		_, n = utf8.DecodeRuneInString(s)
		switch c := s[:n]; {
		case c == "'" || c == `\`:
			b.WriteString(c + c)
		case format.Clean(c, 0) == c:
			b.WriteString(c)
		default:
			for _, x := range []byte(c) {
				fmt.Fprintf(&b, `\x%02x`, x)
			}
		}
	}
	return "E'" + b.String() + "'"
}

// Identifier quotes a name for a statement. It leaves out a NUL, which no name can have.
func Identifier(s string) string {
	return `"` + strings.NewReplacer(`"`, `""`, "\x00", "").Replace(s) + `"`
}
