package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"coordtop/internal/history"
)

// Store reads a recording. It is safe for concurrent use, and for a file that does not exist yet,
// that another process writes, or that is replaced.
type Store struct {
	path string

	mu   sync.Mutex
	db   *sql.DB // nil: not opened yet
	file os.FileInfo
	has  int // the version of the file when it was opened
}

var _ history.Reader = (*Store)(nil)

// Open returns a Store for the recording at path. It opens the file with the first question.
func Open(path string) *Store { return &Store{path: path} }

// Close ends the use of the file. The next question opens it anew.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closeLocked()
}

func (s *Store) closeLocked() error {
	if s.db == nil {
		return nil
	}
	err := s.db.Close()
	s.db = nil
	return err
}

// open returns the file that stands at the path now.
func (s *Store) open(ctx context.Context) (db *sql.DB, has int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	file, err := os.Stat(s.path)
	if err != nil {
		return nil, 0, errors.Join(err, s.closeLocked())
	}
	if s.db != nil && os.SameFile(file, s.file) {
		return s.db, s.has, nil
	}
	if err := s.closeLocked(); err != nil {
		return nil, 0, err
	}
	if !file.Mode().IsRegular() {
		return nil, 0, fmt.Errorf("%s: %w", s.path, history.ErrForeign)
	}
	head, err := headerOf(s.path)
	if err != nil {
		return nil, 0, err
	}
	if !head.empty && !head.sqlite {
		return nil, 0, fmt.Errorf("%s: %w", s.path, history.ErrForeign)
	}
	db, err = connect(s.path, reading, 2)
	if err != nil {
		return nil, 0, err
	}
	has, reads, ours, err := versionOf(ctx, db)
	switch {
	case err != nil:
		err = explained(s.path, err)
	case !ours:
		err = fmt.Errorf("%s: %w", s.path, history.ErrForeign)
	case reads > version:
		err = fmt.Errorf("%s: %w", s.path, history.ErrNewer)
	case has == 0:
		err = fmt.Errorf("%s: %w", s.path, history.ErrNothing)
	}
	if err != nil {
		return nil, 0, errors.Join(err, db.Close())
	}
	s.db, s.file, s.has = db, file, has
	return db, has, nil
}

// query is one question.
type query struct {
	ctx context.Context
	in  interface { // a transaction, in which all statements see the same state, or the writer's connection
		PrepareContext(context.Context, string) (*sql.Stmt, error)
	}
	live   bool // a process records now
	has    int  // the version of the file, or an earlier one
	stored map[string]*sql.Stmt
	err    error
}

// ask runs f in one transaction.
func (s *Store) ask(ctx context.Context, f func(*query) error) error {
	db, has, err := s.open(ctx)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return explained(s.path, err)
	}
	q := &query{ctx: ctx, in: tx, live: recorded(s.path), has: has, stored: map[string]*sql.Stmt{}}
	err = errors.Join(f(q), q.close())
	if undone := tx.Rollback(); !errors.Is(undone, sql.ErrTxDone) { // which it is where ctx has ended
		err = errors.Join(err, undone)
	}
	if err != nil && ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	return explained(s.path, err)
}

// each calls f for each row that was read into `into`. After the first error it does nothing.
func (q *query) each(text string, args, into []any, f func()) {
	if q.err != nil {
		return
	}
	prepared := q.stored[text]
	if prepared == nil {
		if prepared, q.err = q.in.PrepareContext(q.ctx, text); q.err != nil {
			return
		}
		q.stored[text] = prepared
	}
	rows, err := prepared.QueryContext(q.ctx, args...)
	if err != nil {
		q.err = err
		return
	}
	if err := eachRow(rows, into, f); q.err == nil { // which f may have set
		q.err = err
	}
}

func (q *query) close() (err error) {
	for _, s := range q.stored {
		err = errors.Join(err, s.Close())
	}
	return err
}

// read asks the writer's own connection, outside a transaction.
func (w *Writer) read(ctx context.Context, f func(*query) error) error {
	q := &query{ctx: context.WithoutCancel(ctx), in: w.conn, live: true, has: version, stored: map[string]*sql.Stmt{}}
	err := f(q)
	return explained(w.o.Path, errors.Join(err, q.close()))
}

// Runs returns who recorded: see history.Reader.
func (s *Store) Runs(ctx context.Context) (runs []history.Run, err error) {
	err = s.ask(ctx, func(q *query) error {
		runs = q.runs()
		return q.err
	})
	return runs, err
}

// runs are in order.
func (q *query) runs() (runs []history.Run) {
	var r history.Run
	var began, last int64
	var ended sql.NullInt64
	titles := "title, color"
	if q.has < 3 {
		titles = "'', ''"
	}
	q.each("select id, host, pid, version, "+titles+", began, last, ended from run order by id", nil,
		[]any{&r.ID, &r.Host, &r.PID, &r.Version, &r.Title, &r.TitleColor, &began, &last, &ended}, func() {
			r.Span, r.Live = history.Span{From: at(began), To: at(last)}, !ended.Valid && q.live
			runs = append(runs, r)
		})
	return runs
}

// at is an instant as it was stored; 0 is none.
func at(nanos int64) time.Time {
	if nanos == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanos)
}
