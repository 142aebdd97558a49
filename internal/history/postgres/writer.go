package postgres

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/internal/history"
	"coordtop/internal/history/tables"
	"coordtop/sources/tape"
)

// Writer writes one run to a store. One goroutine uses it. After an error that is none of history.ErrSuperseded,
// history.ErrSetBack and fs.ErrClosed, the same Write may be repeated: if it had been committed, it has no effect.
type Writer struct {
	o    Options
	conn *pgconn.PgConn // nil: it must be opened again
	*tables.Writer
	encoder *tape.Encoder   // of single terms
	days    map[string]bool // that have partitions; nil: they must be read

	run     int64 // 0: it has not begun
	writes  int64 // number of the last Write
	writing int64 // number of the Write that is under way; 0: another transaction
	closed  bool
	note    string  // see Note
	fills   string  // number of times that a Filler changed what this Writer knows
	filler  *Filler // that this is part of; nil: of none
}

// errWritten reports that a Write was committed before.
var errWritten = errors.New("it was written already")

// Begin opens the store, makes its tables if they are missing, and begins a run. The error wraps history.ErrBusy if
// another process records into it, unless Options.Claim allows it, and history.ErrNewer if it must not be written to.
func Begin(ctx context.Context, o Options, run history.Run) (*Writer, error) {
	conn, err := o.connect(ctx)
	if err != nil {
		return nil, err
	}
	w := &Writer{o: o, conn: conn, encoder: tape.NewEncoder(tape.EncoderOptions{})}
	w.Writer = tables.New(tables.Options{Transact: w.transact, Rows: w.rows})
	if err = o.migrate(ctx, conn); err == nil {
		err = w.Writer.Begin(run, w.number)
	}
	if err == nil {
		err = w.own()
	}
	if err != nil {
		return nil, errors.Join(Explained(o, err), w.shut())
	}
	return w, nil
}

// transact runs f in one transaction, in which the run of the Writer is the present one.
func (w *Writer) transact(f func(tables.Database) error) (err error) {
	ctx := context.Background()
	if w.closed {
		return fs.ErrClosed
	}
	if w.conn == nil || w.conn.IsClosed() {
		if w.conn, err = w.o.connect(ctx); err != nil {
			return err
		}
	}
	fence := "select run, fills from store for update"
	switch {
	case w.filler != nil:
		fence = w.filler.fence()
	case w.run != 0:
		fence = fmt.Sprintf("select s.run, r.began, r.writes, s.fills from store s, run r where r.id = %d for share of s for no key update of r", w.run) // it waits for a first attempt that is not over
	}
	row, err := w.o.begin(ctx, w.conn, writing, fence)
	s := statements{conn: w.conn, queue: &pgconn.Batch{}}
	if err == nil {
		err = w.present(row)
	}
	if w.writing == 0 {
		s.queue = nil
	}
	if err == nil {
		err = f(s)
	}
	if err == nil && w.writing != 0 && w.filler != nil {
		_, _ = s.Change(ctx, "update store set fills = fills + 1")
		_, err = s.Change(ctx, "update run set writes = ? where id = ?", w.writing, w.run)
	} else if err == nil && w.writing != 0 {
		_, _ = s.Change(ctx, "update run set wrote = clock_timestamp(), writes = ? where id = ?", w.writing, w.run)
		_, err = s.Change(ctx, "select pg_notify(?, ?)", w.o.Name(), fmt.Sprintf("%d:%d", w.run, w.writing))
	}
	if err == nil {
		err = s.commit()
	}
	if err != nil {
		w.days = nil
		rollback(w.conn)
	}
	return Explained(w.o, err)
}

// present checks the row that the fence of a transaction returned.
func (w *Writer) present(row []string) error {
	switch {
	case w.filler != nil:
		return w.filler.present(row)
	case w.run == 0 && len(row) == 2:
		w.fills = row[1]
		return nil
	}
	if len(row) != 4 || row[0] != strconv.FormatInt(w.run, 10) || row[1] != strconv.FormatInt(w.Run().From.UnixNano(), 10) {
		return fmt.Errorf("%s: %w", w.o.Place(), history.ErrSuperseded)
	}
	if w.fills != row[3] {
		w.fills = row[3]
		w.Forget()
	}
	return w.repeated(row[2])
}

// repeated checks the number of the last Write in the store.
func (w *Writer) repeated(writes string) error {
	switch writes {
	case strconv.FormatInt(w.writes, 10):
		return nil
	case strconv.FormatInt(w.writes+1, 10):
		if w.writing != 0 {
			return errWritten
		}
		return nil
	}
	return fmt.Errorf("%s: %w", w.o.Place(), history.ErrSetBack)
}

// Write stores b, see record.Output.
func (w *Writer) Write(b *history.Batch) error {
	w.writing = w.writes + 1
	err := w.Writer.Write(b)
	w.writing = 0
	if errors.Is(err, errWritten) {
		err = w.Resume()
	}
	if err == nil {
		w.writes++
	}
	return err
}

// Note returns a sentence about something unusual; "" if nothing is unusual.
func (w *Writer) Note() string { return w.note }

// Close ends the run, if it is still the present one, and closes the connection. Close may be called again.
func (w *Writer) Close() (err error) {
	if w.closed {
		return nil
	}
	if err = w.End(); errors.Is(err, history.ErrSuperseded) || errors.Is(err, history.ErrSetBack) {
		err = nil
	}
	return errors.Join(err, w.shut())
}

func (w *Writer) shut() error {
	w.closed = true
	if w.conn == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return w.conn.Close(ctx)
}
