package postgres

import (
	"context"
	"fmt"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/tables"
)

// Claim is what an elected recorder begins a run with.
type Claim struct {
	// Lock is the process of the server whose session owns the lock of the election for this recorder; 0: none does,
	// and the recorder only saw that the lease of the present run had expired.
	Lock uint32

	// Own is the last run of this process; 0: it has none. If it is the present run, another may begin. If another run
	// has begun since, this process must stop.
	Own int64
}

// The least age of the last write of a run that may be superseded although it did not end.
const (
	alive   = 5 * time.Second // a recorder writes at least every 1.1 s
	expired = 8 * time.Second // without the lock
)

// presentRun is the run whose number is in the row of the store.
type presentRun struct {
	id, pid, lock int64
	host          string
	over          bool          // it ended
	age           time.Duration // of its last write
}

// number decides whether a run may begin, and returns its number. The row of the store is locked.
func (w *Writer) number(t *tables.Tx) (id int64) {
	var p presentRun
	var age int64
	ctx := context.Background()
	t.Each(ctx, "select run from store", nil, []any{&p.id}, func() {})
	p.over = true
	t.Each(ctx, "select host, pid, lock, ended is not null, (extract(epoch from clock_timestamp() - wrote) * 1000000)::bigint from run where id = ?", []any{p.id},
		[]any{&p.host, &p.pid, &p.lock, &p.over, &age}, func() {})
	p.age = time.Duration(age) * time.Microsecond
	if t.Err == nil {
		t.Err = w.o.may(&p)
	}
	if c := w.o.Claim; t.Err == nil && c != nil && p.id < c.Own {
		w.note = fmt.Sprintf("%s was restored from an older copy: what was recorded after run %d is gone", w.o.Place(), p.id)
		t.Each(ctx, "update store set incarnation = md5(random()::text || clock_timestamp()::text)::uuid, run = ? returning run", []any{c.Own}, []any{&id}, func() {})
	}
	t.Each(ctx, "update store set run = run + 1 returning run", nil, []any{&id}, func() {})
	w.run = id
	return id
}

// may returns an error if another run may not begin after p.
func (o Options) may(p *presentRun) error {
	c, old := o.Claim, alive
	switch {
	case c == nil:
		c = &Claim{}
	case c.Own != 0 && p.id > c.Own:
		return fmt.Errorf("%s: %w: process %d on %s", o.Place(), history.ErrSuperseded, p.pid, p.host)
	case c.Own != 0 && p.id == c.Own:
		return nil
	case c.Lock == 0: // also if the store was restored, and another has begun in it
		old = expired
	}
	if p.over || p.age >= old || c.Lock != 0 && p.lock != 0 && p.lock != int64(c.Lock) { // who owned the lock has lost it to us
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
