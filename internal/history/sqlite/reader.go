package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// Reader reads a recording. It is safe for concurrent use. The file need not exist yet, may be replaced, and may be
// written by another process.
type Reader struct {
	path string

	mu   sync.Mutex
	db   *sql.DB // nil: not opened yet
	file os.FileInfo
	has  int // version of the file when it was opened
}

// NewReader returns a Reader of the recording at path. The first query opens the file.
func NewReader(path string) *Reader { return &Reader{path: path} }

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

// query is one query of a caller.
type query struct {
	statements
	live bool // a process records now
	has  int  // version of the file, or an earlier one
}

// ask runs f in one transaction, so that all its statements see the same state.
func (r *Reader) ask(ctx context.Context, f func(*query) error) error {
	db, has, err := r.open(ctx)
	if err != nil {
		return err
	}
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return explained(r.path, err)
	}
	q := &query{statements{in: tx, prepared: map[string]*sql.Stmt{}}, recorded(r.path), has}
	err = errors.Join(f(q), q.close())
	if undone := tx.Rollback(); !errors.Is(undone, sql.ErrTxDone) { // the transaction is done if ctx has ended
		err = errors.Join(err, undone)
	}
	if err != nil && ctx.Err() != nil {
		return errors.Join(ctx.Err(), err)
	}
	return explained(r.path, err)
}

// Runs returns the processes that recorded, see history.Reader.
func (r *Reader) Runs(ctx context.Context) (runs []history.Run, err error) {
	err = r.ask(ctx, func(q *query) error {
		runs = q.runs(ctx)
		return q.err
	})
	return runs, err
}

// runs returns the runs in order.
func (q *query) runs(ctx context.Context) (runs []history.Run) {
	var r history.Run
	var began, last int64
	var ended sql.NullInt64
	titles := "title, color"
	if q.has < 3 {
		titles = "'', ''"
	}
	q.each(ctx, "select id, host, pid, version, "+titles+", began, last, ended from run order by id", nil,
		[]any{&r.ID, &r.Host, &r.PID, &r.Version, &r.Title, &r.TitleColor, &began, &last, &ended}, func() {
			r.Span, r.Live = history.Span{From: at(began), To: at(last)}, !ended.Valid && q.live
			runs = append(runs, r)
		})
	return runs
}

// at converts a stored instant; 0 stands for the zero Time.
func at(nanos int64) time.Time {
	if nanos == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanos)
}

// Lanes returns the record of each of refs within span, see history.Reader.
func (r *Reader) Lanes(ctx context.Context, refs []sources.Ref, span history.Span) (lanes []history.Lane, err error) {
	err = r.ask(ctx, func(q *query) error {
		window := periodOf(span)
		all := q.everything(ctx, window, refs)
		if refs == nil {
			slices.SortFunc(all.lanes, func(a, b listed) int { return a.ref.Compare(b.ref) })
			for i := range all.lanes {
				refs = append(refs, all.lanes[i].ref)
			}
		}
		terms := q.terms(ctx, all.lanes, window, all.dark)
		lanes = make([]history.Lane, len(refs))
		next := 0
		for i, ref := range refs {
			if q.over(ctx) {
				break
			}
			lanes[i].Ref, lanes[i].Holes = ref, all.dark.causes
			if next < len(all.lanes) && all.lanes[next].ref == ref {
				q.lane(ctx, &lanes[i], &all.lanes[next], terms[all.lanes[next].id], window, all)
				next++
			}
		}
		return q.err
	})
	return lanes, err
}

func (q *query) lane(ctx context.Context, l *history.Lane, known *listed, terms []sources.Term, window period, all *everything) {
	l.Kind, l.Since = known.kind, time.Unix(0, max(known.since, all.dark.kept))
	if l.Kind == sources.KindSemaphore {
		l.Levels = q.levels(ctx, known.id, window)
	}
	if len(terms) > 0 && terms[0].End.How != sources.Unknown && terms[0].End.At.Before(time.Unix(0, window.from)) {
		l.Before, terms = &terms[0], terms[1:]
	}
	l.Terms = terms
	l.Dark = all.unobserved(known)
}

const levelsOfALane = "select at, taken, high, gone from level where lane = ?1 and at < ?3 and at >= coalesce((select max(at) from level where lane = ?1 and at <= ?2), ?2) order by at"

func (q *query) levels(ctx context.Context, lane int64, window period) (levels []sources.Level) {
	var l sources.Level
	var at int64
	q.each(ctx, levelsOfALane, []any{lane, window.from, window.to}, []any{&at, (*unsigned)(&l.Taken), (*unsigned)(&l.High), &l.Gone}, func() {
		l.At = time.Unix(0, at)
		levels = append(levels, l)
	})
	return levels
}
