package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"coordtop/sources"
)

// tx is one transaction of the writer. After the first error it does nothing more.
type tx struct {
	w   *Writer
	err error
}

// tx runs f in a transaction that is committed where f returns no error. It is not
// interrupted half-way, so it takes no context.
func (w *Writer) tx(f func(*tx) error) error {
	ctx := context.Background()
	if _, err := w.conn.ExecContext(ctx, "begin immediate"); err != nil {
		return errors.Join(explained(w.o.Path, err), w.shut())
	}
	err := f(&tx{w: w})
	if err == nil {
		_, err = w.conn.ExecContext(ctx, "commit")
	}
	if err != nil {
		_, _ = w.conn.ExecContext(ctx, "rollback")                         // SQLite may have done it already
		w.lanes, w.scopes = map[sources.Ref]*lane{}, map[scopeName]int64{} // they may never have been written
	}
	return explained(w.o.Path, err)
}

// stored returns the statement, prepared once.
func (t *tx) stored(text string) *sql.Stmt {
	s := t.w.stored[text]
	if s == nil && t.err == nil {
		if s, t.err = t.w.conn.PrepareContext(context.Background(), text); t.err == nil {
			t.w.stored[text] = s
		}
	}
	return s
}

func (t *tx) exec(text string, args ...any) (changed int64) {
	changed, _ = t.change(text, args)
	return changed
}

// insert returns the number of the new row.
func (t *tx) insert(text string, args ...any) (id int64) {
	_, id = t.change(text, args)
	return id
}

func (t *tx) change(text string, args []any) (changed, id int64) {
	s := t.stored(text)
	if t.err != nil {
		return 0, 0
	}
	result, err := s.ExecContext(context.Background(), args...)
	if t.err = err; err != nil {
		return 0, 0
	}
	changed, failed := result.RowsAffected()
	id, err = result.LastInsertId()
	t.err = errors.Join(failed, err)
	return changed, id
}

// query reads one row; found reports whether there is one.
func (t *tx) query(text string, args []any, into ...any) (found bool) {
	t.each(text, args, into, func() { found = true })
	return found
}

// each calls f for each row that was read into `into`.
func (t *tx) each(text string, args, into []any, f func()) {
	s := t.stored(text)
	if t.err != nil {
		return
	}
	rows, err := s.QueryContext(context.Background(), args...)
	if err != nil {
		t.err = err
		return
	}
	if err := eachRow(rows, into, f); t.err == nil { // which f may have set
		t.err = err
	}
}

// eachRow reads all rows and closes them.
func eachRow(rows *sql.Rows, into []any, f func()) error {
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		f()
	}
	return rows.Err()
}
