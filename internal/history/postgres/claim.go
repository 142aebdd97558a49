package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coordtop/internal/ground/pgwire"
	"coordtop/internal/history"
	"coordtop/internal/history/tables"
)

// Claim proves to the store that a recorder is elected and may begin a run.
type Claim struct {
	// Lock is the process of the server whose session owns the lock of the election for this recorder; 0: none does,
	// and the recorder only saw that the lease of the present run had expired.
	Lock uint32

	// Own is the last run of this process, or its Fence; 0: it has none. If it is the present one, another may begin. If
	// another run has begun since, this process must stop.
	Own int64

	// Seen is the greatest number of a run that this process knows. If the store has fewer runs, it was restored from
	// an older copy.
	Seen int64
}

// Fence takes a number for a run, without a row, so that the Writers of earlier runs write nothing more. Its errors are those of Begin. note is a sentence about something unusual; "": nothing is unusual.
func Fence(ctx context.Context, o Options) (run int64, note string, err error) {
	conn, err := o.connect(ctx)
	if err != nil {
		return 0, "", err
	}
	w := &Writer{o: o, conn: conn}
	if err = o.migrate(ctx, conn); err == nil {
		err = w.transact(func(db tables.Database) error {
			s := &tables.Statements{DB: db}
			run = w.decide(s)
			return s.Err
		})
	}
	return run, w.note, errors.Join(Explained(o, err), w.shut())
}

// presentRun is the run whose number is in the row of the store.
type presentRun struct {
	id, pid, lock int64
	host          string
	begun, over   bool          // it has a row; it ended
	age           time.Duration // of its last write
}

func (w *Writer) number(t *tables.Tx) int64 { return w.decide(&t.Statements) }

// decide decides whether a run may begin, and returns its number. The row of the store is locked.
func (w *Writer) decide(t *tables.Statements) (id int64) {
	var p presentRun
	var age int64
	ctx := context.Background()
	t.Each(ctx, "select run from store", nil, []any{&p.id}, func() {})
	p.over = true
	t.Each(ctx, "select host, pid, lock, ended is not null, (extract(epoch from clock_timestamp() - wrote) * 1000000)::bigint from run where id = ?", []any{p.id},
		[]any{&p.host, &p.pid, &p.lock, &p.over, &age}, func() { p.begun = true })
	p.age = time.Duration(age) * time.Microsecond
	if t.Err == nil {
		p.host = pgwire.Line(p.host)
		t.Err = w.o.may(&p)
	}
	if c := w.o.Claim; t.Err == nil && c != nil && p.id < c.Seen {
		w.note = fmt.Sprintf("%s was restored from an older copy: what was recorded after run %d is gone", w.o.Place(), p.id)
		t.Each(ctx, "update store set incarnation = md5(random()::text || clock_timestamp()::text)::uuid, run = ? returning run", []any{c.Seen}, []any{&id}, func() {})
	}
	if c := w.o.Claim; c != nil && c.Own != 0 && c.Own == p.id && !p.begun && id == 0 {
		id = p.id
	} else {
		t.Each(ctx, "update store set run = run + 1 returning run", nil, []any{&id}, func() {})
	}
	w.run = id
	return id
}

// may returns an error if another run may not begin after p.
func (o Options) may(p *presentRun) error {
	c, old := o.Claim, history.Silence // the least age of the last write of p, if p did not end
	switch {
	case c == nil:
		c = &Claim{}
	case c.Own != 0 && p.id > c.Own:
		return fmt.Errorf("%s: %w: process %d on %s", o.Place(), history.ErrSuperseded, p.pid, p.host)
	case c.Own != 0 && p.id == c.Own:
		return nil
	case c.Lock == 0: // also if the store was restored, and another has begun in it
		old = history.Lease
	}
	if p.over || p.age.Abs() >= old || // of a clock of the server that was set back, too
		c.Lock != 0 && p.lock != 0 && p.lock != int64(c.Lock) { // who owned the lock has lost it to us
		return nil
	}
	return fmt.Errorf("%s: %w: process %d on %s", o.Place(), history.ErrBusy, p.pid, p.host)
}

// own keeps in the row of the run which session owns the lock.
func (w *Writer) own() error {
	if w.o.Claim == nil {
		return nil
	}
	return w.Tx(func(t *tables.Tx) error {
		t.Each(context.Background(), "update run set lock = ? where id = ? returning id", []any{int64(w.o.Claim.Lock), w.run}, []any{new(int64)}, func() {})
		return t.Err
	})
}
