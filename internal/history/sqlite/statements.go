package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"coordtop/internal/history/tables"
)

// statements is a tables.Database that prepares each statement once.
type statements struct {
	in interface { // a transaction, the writer's connection, or a file
		PrepareContext(context.Context, string) (*sql.Stmt, error)
	}
	prepared map[string]*sql.Stmt
}

func (s statements) prepare(ctx context.Context, text string) (p *sql.Stmt, err error) {
	p = s.prepared[text]
	if p == nil {
		if p, err = s.in.PrepareContext(ctx, text); err == nil {
			s.prepared[text] = p
		}
	}
	return p, err
}

// Each implements tables.Database.
func (s statements) Each(ctx context.Context, text string, args, into []any, f func()) error {
	p, err := s.prepare(ctx, text)
	if err != nil {
		return err
	}
	rows, err := p.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	return eachRow(rows, into, f)
}

// Change implements tables.Database.
func (s statements) Change(ctx context.Context, text string, args ...any) (changed int64, err error) {
	p, err := s.prepare(ctx, text)
	if err != nil {
		return 0, err
	}
	result, err := p.ExecContext(ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

func (s statements) close() (err error) {
	for _, p := range s.prepared {
		err = errors.Join(err, p.Close())
	}
	return err
}

// transact runs f in a transaction on the writer's connection, see tables.Options.
func (w *Writer) transact(f func(tables.Database) error) error {
	ctx := context.Background()
	if _, err := w.conn.ExecContext(ctx, "begin immediate"); err != nil {
		return explained(w.o.Path, err)
	}
	err := f(w.statements())
	if err == nil {
		_, err = w.conn.ExecContext(ctx, "commit")
	}
	if err != nil {
		_, _ = w.conn.ExecContext(ctx, "rollback") // SQLite may have done it already
	}
	return explained(w.o.Path, err)
}

func (w *Writer) statements() statements { return statements{in: w.conn, prepared: w.prepared} }

// eachRow reads all rows and closes them.
func eachRow(rows *sql.Rows, into []any, f func()) error {
	defer rows.Close()
	for rows.Next() {
		if rows.Scan(into...) != nil {
			return tables.Damage("a row") // or ctx has ended
		}
		f()
	}
	return rows.Err()
}
