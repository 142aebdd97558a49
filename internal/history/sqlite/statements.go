package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"coordtop/sources"
	"coordtop/sources/tape"
)

// statements prepares each statement once. After the first error its methods do nothing.
type statements struct {
	in interface { // a transaction, or the writer's connection
		PrepareContext(context.Context, string) (*sql.Stmt, error)
	}
	prepared map[string]*sql.Stmt
	decoder  *zstd.Decoder // nil: nothing was unpacked yet
	err      error
}

// over reports whether an error occurred or ctx has ended.
func (s *statements) over(ctx context.Context) bool {
	if s.err == nil {
		s.err = ctx.Err()
	}
	return s.err != nil
}

func (s *statements) prepare(ctx context.Context, text string) *sql.Stmt {
	p := s.prepared[text]
	if p == nil && s.err == nil {
		if p, s.err = s.in.PrepareContext(ctx, text); s.err == nil {
			s.prepared[text] = p
		}
	}
	return p
}

// each calls f for each row that was read into `into`.
func (s *statements) each(ctx context.Context, text string, args, into []any, f func()) {
	p := s.prepare(ctx, text)
	if s.err != nil {
		return
	}
	rows, err := p.QueryContext(ctx, args...)
	if err != nil {
		s.err = err
		return
	}
	if err := eachRow(rows, into, f); s.err == nil { // f may have set it
		s.err = err
	}
}

// change returns how many rows were changed, and the id of the last new row.
func (s *statements) change(ctx context.Context, text string, args ...any) (changed, id int64) {
	p := s.prepare(ctx, text)
	if s.err != nil {
		return 0, 0
	}
	result, err := p.ExecContext(ctx, args...)
	if s.err = err; err != nil {
		return 0, 0
	}
	changed, failed := result.RowsAffected()
	id, err = result.LastInsertId()
	s.err = errors.Join(failed, err)
	return changed, id
}

func (s *statements) close() (err error) {
	for _, p := range s.prepared {
		err = errors.Join(err, p.Close())
	}
	return err
}

// tx is one transaction of the writer.
type tx struct {
	statements
	w      *Writer
	terms  []tape.TermFact // that are new in this transaction
	events []tape.EventFact
}

// tx runs f in a transaction, which is committed if f returns no error. It has no context, because it must not be
// interrupted.
func (w *Writer) tx(f func(*tx) error) error {
	ctx := context.Background()
	if _, err := w.conn.ExecContext(ctx, "begin immediate"); err != nil {
		return explained(w.o.Path, err)
	}
	t := &tx{statements: w.statements(), w: w}
	if w.known == nil {
		t.load()
	}
	err := t.err
	if err == nil {
		err = f(t)
	}
	if err == nil {
		_, err = w.conn.ExecContext(ctx, "commit")
	}
	if err != nil {
		_, _ = w.conn.ExecContext(ctx, "rollback")                                            // SQLite may have done it already
		w.lanes, w.scopes, w.known = map[sources.Ref]*knownLane{}, map[scopeName]int64{}, nil // they may never have been written
	}
	return explained(w.o.Path, err)
}

// ask runs a query on the connection of the writer, outside a transaction.
func (w *Writer) ask(f func(context.Context, *query) error) error {
	return explained(w.o.Path, f(context.Background(), &query{statements: w.statements(), live: true, has: version}))
}

func (w *Writer) statements() statements { return statements{in: w.conn, prepared: w.prepared} }

func (t *tx) exec(text string, args ...any) (changed int64) {
	changed, _ = t.change(context.Background(), text, args...)
	return changed
}

// insert returns the number of the new row.
func (t *tx) insert(text string, args ...any) (id int64) {
	_, id = t.change(context.Background(), text, args...)
	return id
}

// query reads one row; found reports whether it exists.
func (t *tx) query(text string, args []any, into ...any) (found bool) {
	t.each(text, args, into, func() { found = true })
	return found
}

// each calls f for each row that was read into `into`.
func (t *tx) each(text string, args, into []any, f func()) {
	t.statements.each(context.Background(), text, args, into, f)
}

// eachRow reads all rows and closes them.
func eachRow(rows *sql.Rows, into []any, f func()) error {
	defer rows.Close()
	for rows.Next() {
		if rows.Scan(into...) != nil {
			return damage("a row") // or ctx has ended
		}
		f()
	}
	return rows.Err()
}

// unsigned is an unsigned number, which SQLite stores as the signed number with the same bits.
type unsigned uint64

// Value implements driver.Valuer.
func (u unsigned) Value() (driver.Value, error) { return int64(u), nil }

// Scan implements sql.Scanner.
func (u *unsigned) Scan(v any) error {
	n, ok := v.(int64)
	if !ok {
		return fmt.Errorf("%T is no number", v)
	}
	*u = unsigned(n)
	return nil
}
