package tables

import (
	"context"
	"errors"
	"sync"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/tape"
)

// Options are the store of a Writer.
type Options struct {
	// Transact runs f in one transaction, which is committed if f returns no error. It is not interrupted.
	Transact func(f func(Database) error) error

	// Owners calls f with the last owners of a lane that the store has in rows, oldest first. nil: it has no such rows.
	Owners func(t *Tx, lane uint64, f func(*sources.Term))

	// Rows also stores terms and events as rows. nil: the store has them only in blocks.
	Rows func(t *Tx, terms []tape.TermFact, events []tape.EventFact)
}

// Writer writes one run to the tables of a store. One goroutine uses it.
type Writer struct {
	o   Options
	run history.Run

	// The rest is also in the store, or will be after the next chunk.
	lanes   map[sources.Ref]*knownLane
	known   map[uint64]*knownLane // by number; nil: must be read from the store again
	last    uint64                // the greatest number of a lane
	recent  recent
	encoder *tape.Encoder
	packers sync.Pool // of *zstd.Encoder
	scopes  map[scopeName]int64
	group   openGroup
	before  int64   // end of the previous run, or the beginning of this one if that is earlier
	filled  int64   // end of the previous run now: it may have been filled
	filler  *Filler // that this is part of; nil: of none
}

// New returns a Writer. Begin must be called before it writes.
func New(o Options) *Writer {
	w := &Writer{o: o, encoder: tape.NewEncoder(tape.EncoderOptions{})}
	w.packers.New = func() any { return newPacker() }
	w.Forget()
	return w
}

// Forget lets the next transaction read again what the Writer knows of the store.
func (w *Writer) Forget() {
	w.lanes, w.scopes, w.known = map[sources.Ref]*knownLane{}, map[scopeName]int64{}, nil
}

// Tx runs f in a transaction, which is committed if f returns no error. It has no context, because it must not be
// interrupted.
func (w *Writer) Tx(f func(*Tx) error) error {
	err := w.o.Transact(func(db Database) error {
		t := &Tx{Statements: Statements{DB: db}, w: w}
		if w.known == nil {
			t.load()
		}
		if t.Err != nil {
			return t.Err
		}
		return f(t)
	})
	if err != nil {
		w.Forget()
	}
	return err
}

// Before returns the time of the last write of the previous run; zero in the first run.
func (w *Writer) Before() time.Time { return Instant(w.before) }

// Begin begins a run. number, if not nil, decides whether it may begin, and returns its number; otherwise the store
// chooses it.
func (w *Writer) Begin(run history.Run, number func(*Tx) int64) error {
	w.run = run
	began := run.From.UnixNano()
	err := w.Tx(func(t *Tx) error {
		if number != nil {
			w.run.ID = number(t)
		}
		t.query("select last from run order by id desc limit 1", nil, &w.before)
		w.before = min(w.before, began) // the clock may have been set back
		t.exec("update lane set gone = ? where gone is null", w.before)
		t.exec("update lane set since = ? where since > ?", began, began) // by the clock of a run that was ahead
		for _, l := range w.known {
			if l.gone == 0 {
				l.gone = w.before
			}
		}
		t.exec("update run set ended = last where ended is null")
		const columns, values = "host, pid, version, title, color, began, last) ", "?,?,?,?,?,?,?)"
		args := []any{run.Host, run.PID, run.Version, run.Title, run.TitleColor, began, began}
		if number == nil {
			w.run.ID = t.insert("insert into run("+columns+"values("+values, args...)
		} else {
			t.exec("insert into run(id, "+columns+"values(?,"+values, append([]any{w.run.ID}, args...)...)
		}
		return t.Err
	})
	if err == nil {
		err = w.gather()
	}
	return err
}

// Run returns the run that the Writer writes.
func (w *Writer) Run() history.Run { return w.run }

// Write stores b, see record.Output.
func (w *Writer) Write(b *history.Batch) error {
	if w.group.id == 0 && b.Keyframe == nil {
		return errors.New("a recording begins with a keyframe")
	}
	var g openGroup
	err := w.Tx(func(t *Tx) error {
		g = w.write(t, b)
		t.derived(b)
		t.exec("update run set last = ? where id = ? and last < ?", b.Span.To.UnixNano(), w.run.ID, b.Span.To.UnixNano())
		return t.Err
	})
	if err == nil {
		w.group = g
		w.run.To = sources.Later(w.run.To, b.Span.To)
	}
	return err
}

// Resume reads the open group of the run from the store, after a Write that reported an error had been committed.
func (w *Writer) Resume() error {
	g := openGroup{}
	err := w.Tx(func(t *Tx) error {
		t.query("select id, coalesce((select max(first + size) from chunk where gop = g.id), 0) from gop g where run = ? order by id desc limit 1", []any{w.run.ID}, &g.id, &g.length)
		var first, start, until int64
		var body []byte
		t.each("select first, start, until, body from tail where gop = ? order by first", []any{g.id}, []any{&first, &start, &until, &body}, func() {
			g.length = first
			g.add(body, time.Unix(0, start), time.Unix(0, until))
		})
		return t.Err
	})
	if err == nil {
		w.group = g
	}
	return err
}

// End ends the run.
func (w *Writer) End() error {
	return w.Tx(func(t *Tx) error {
		t.exec("update run set ended = last where id = ?", w.run.ID)
		return t.Err
	})
}

// Step is the most rows of a table that are dropped in one step.
const Step = 1000

// Drop drops records that ended before an instant, at most Step of each table, and returns the number of rows of the
// largest part. more are further statements with the instant and Step as ?1 and ?2. unused tells that a lane has no rows
// that the store has beside the blocks; "": it has none.
func (w *Writer) Drop(before int64, unused string, more ...string) (most int64, err error) {
	err = w.Tx(func(t *Tx) error {
		for _, text := range append(more,
			"delete from body where id in (select id from block where until < ?1 order by id limit ?2)",
			"delete from block where until < ?1 and id not in (select id from body)",
			"delete from level where (lane, at) in (select lane, at from level l where at < ?1 and exists(select 1 from level n where n.lane = l.lane and n.at > l.at and n.at < ?1) limit ?2)",
			"delete from dark where (scope, lane, start) in (select scope, lane, start from dark where until < ?1 limit ?2)",
			"delete from lost where until < ?1",
			"delete from placed where lane in (select distinct lane from placed p where not exists(select 1 from lane where id = p.lane) limit ?2)",
		) {
			most = max(most, t.exec(text, before, Step))
		}
		t.exec("update kept set since = ?1 where since < ?1", before)
		most = max(most, t.dropLanes(before, unused))
		return t.Err
	})
	return most, err
}

// dropLanes drops lanes that are gone, with everything that is left of them. A lane stays as long as a block or a
// recent term or event may have its number, because the number can be reused.
func (t *Tx) dropLanes(before int64, unused string) (dropped int64) {
	recent := map[uint64]bool{}
	for i := range t.w.recent.terms {
		recent[t.w.recent.terms[i].Lane] = true
	}
	for i := range t.w.recent.events {
		recent[t.w.recent.events[i].Lane] = true
	}
	var id, first int64
	var ids []uint64
	first = before
	t.query("select min(start) from block having min(start) is not null", nil, &first)
	t.each("select id from lane l where gone < ?1 "+unused+" limit ?2", []any{min(before, first), Step}, []any{&id}, func() {
		if !recent[uint64(id)] {
			ids = append(ids, uint64(id))
		}
	})
	groups := map[uint64]bool{}
	for _, id := range ids {
		if l := t.w.known[id]; l != nil && len(l.running) > 0 {
			groups[id/runningLanes] = true
		}
		delete(t.w.known, id)
		t.exec("delete from level where lane = ?", id)
		dropped += t.exec("delete from lane where id = ?", id)
	}
	if dropped > 0 {
		for ref, l := range t.w.lanes {
			if t.w.known[l.id] == nil {
				delete(t.w.lanes, ref)
			}
		}
	}
	t.writeRunning(groups)
	return dropped
}

// DropInputs drops the oldest group if it ended before an instant.
func (w *Writer) DropInputs(before int64) (did bool, err error) {
	err = w.Tx(func(t *Tx) error {
		var id int64
		if did = t.query("select id from gop where until < ? and id <> ? order by id limit 1", []any{before, w.group.id}, &id); did {
			t.exec("delete from chunk where gop = ?", id)
			t.exec("delete from tail where gop = ?", id)
			t.exec("delete from gop where id = ?", id)
		}
		return t.Err
	})
	return did, err
}

// Query asks the store in a transaction of the Writer.
func (w *Writer) Query(f func(context.Context, *Query) error) error {
	return w.o.Transact(func(db Database) error {
		return f(context.Background(), &Query{Statements: Statements{DB: db}, Live: true, Blocks: true})
	})
}
