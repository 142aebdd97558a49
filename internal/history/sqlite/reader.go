package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"coordtop/internal/history"
	"coordtop/internal/history/tables"
)

// Reader reads a recording. It is safe for concurrent use. The file need not exist yet, may be replaced, and may be
// written by another process.
type Reader struct {
	tables.Reader
	path string

	mu   sync.Mutex
	db   *sql.DB // nil: not opened yet
	file os.FileInfo
	has  int // version of the file when it was opened
}

// NewReader returns a Reader of the recording at path. The first query opens the file.
func NewReader(path string) *Reader {
	r := &Reader{path: path}
	r.Ask = r.ask
	return r
}

// Close closes the file. The next query opens it again.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.closeLocked()
}

func (r *Reader) closeLocked() error {
	if r.db == nil {
		return nil
	}
	err := r.db.Close()
	r.db = nil
	return err
}

// open returns the file that is at the path now.
func (r *Reader) open(ctx context.Context) (db *sql.DB, has int, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	file, err := os.Stat(r.path)
	if err != nil {
		return nil, 0, errors.Join(err, r.closeLocked())
	}
	if r.db != nil && os.SameFile(file, r.file) {
		return r.db, r.has, nil
	}
	if err := r.closeLocked(); err != nil {
		return nil, 0, err
	}
	if !file.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s: %w", r.path, history.ErrForeign)
	}
	if identityOf(r.path).strays(claimed(r.path)) {
		return nil, 0, fmt.Errorf("%s: the file %s beside it belongs to another recording that had this name: start coordtop record once, or move that file away", r.path, filepath.Base(r.path)+"-wal")
	}
	head, err := headerOf(r.path)
	if err != nil {
		return nil, 0, err
	}
	if !head.empty && !head.sqlite {
		return nil, 0, fmt.Errorf("%s: %w", r.path, history.ErrForeign)
	}
	db, err = connect(r.path, reading, 2)
	if err != nil {
		return nil, 0, err
	}
	has, reads, err := versionOf(ctx, db)
	switch {
	case err != nil:
	case reads > version:
		err = history.ErrNewer
	case has == 0:
		err = fmt.Errorf("%s: %w", r.path, history.ErrNothing)
	}
	if err != nil {
		return nil, 0, errors.Join(explained(r.path, err), db.Close())
	}
	r.db, r.file, r.has = db, file, has
	return db, has, nil
}

// ask runs f in one transaction, so that all its statements see the same state.
func (r *Reader) ask(ctx context.Context, f func(*tables.Query) error) error {
	db, has, err := r.open(ctx)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return explained(r.path, err)
	}
	all := statements{in: tx, prepared: map[string]*sql.Stmt{}}
	q := &tables.Query{Statements: tables.Statements{DB: all}, Live: recorded(r.path), Blocks: has >= 6, Untitled: has < 3}
	if err = rowsIn(ctx, q, has); err == nil {
		err = f(q)
	}
	err = errors.Join(err, all.close())
	if undone := tx.Rollback(); !errors.Is(undone, sql.ErrTxDone) { // the transaction is done if ctx has ended
		err = errors.Join(err, undone)
	}
	if err != nil && ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	return explained(r.path, err)
}

// rowsIn sets the rows of a query if the file has terms or events in rows.
func rowsIn(ctx context.Context, q *tables.Query, has int) error {
	some := has < 6
	if !some {
		q.Each(ctx, "select exists(select 1 from term) or exists(select 1 from event)", nil, []any{&some}, func() {})
	}
	if some {
		q.Rows = rows{has}
	}
	return q.Err
}
