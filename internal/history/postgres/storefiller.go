package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/tables"
	"coordtop/sources"
	"coordtop/sources/tape"
)

// Filler writes to the end of a run after another one has begun, see record.Filling. Each of its transactions checks
// that the run after it is still the same one, and that nobody else has written to the run.
type Filler struct {
	w     *Writer
	fill  *tables.Filler
	until time.Time // on the clock of the recorder, which may differ from that of the next one
	next  history.Run
	told  uint64 // number of the last event of the run that the store has
}

// Fill opens the store to go on with a run of this process. The error wraps history.ErrSuperseded if nothing of it may
// be written, and history.ErrBusy if the next run has not begun yet or the clocks have not been compared.
func Fill(ctx context.Context, o Options, run int64) (*Filler, error) {
	conn, err := o.connect(ctx)
	if err != nil {
		return nil, err
	}
	f := &Filler{w: &Writer{o: o, conn: conn, encoder: tape.NewEncoder(tape.EncoderOptions{}), run: run}}
	f.w.filler = f
	of := history.Run{ID: run}
	err = errors.Join(f.open(ctx, &of), ctx.Err())
	if err == nil {
		f.fill = tables.NewFiller(tables.Options{Transact: f.w.transact, Rows: f.w.rows, Owners: lastOwners},
			tables.FillOptions{Near: f.near, Left: f.left, Drop: f.drop}, of, f.next)
		f.w.Writer = f.fill.Writer
		if err = f.fill.Prepare(); err == nil {
			err = f.fill.Query(func(ctx context.Context, q *tables.Query) error {
				q.Each(ctx, "select coalesce(max(seq), 0) from event where run = ? and at >= instant(?) - interval '10 minutes'", []any{run, of.To.UnixNano()}, []any{(*tables.Unsigned)(&f.told)}, func() {})
				return q.Err
			})
		}
	}
	if err != nil {
		return nil, errors.Join(Explained(o, err), f.w.shut())
	}
	return f, nil
}

// open reads the run and the one after it.
func (f *Filler) open(ctx context.Context, run *history.Run) error {
	defer rollback(f.w.conn)
	if _, err := f.w.o.begin(ctx, f.w.conn, reading, "select 1"); err != nil {
		return err
	}
	var from, to, began int64
	var ahead, theirs [2]int64 // least and most, in microseconds
	found, compared := false, false
	s := statements{conn: f.w.conn}
	err := s.Each(ctx, "select r.host, r.pid, r.began, r.last, r.writes, n.id, n.began, coalesce(r.ahead_least, 0), coalesce(r.ahead_most, 0), coalesce(n.ahead_least, 0), coalesce(n.ahead_most, 0),"+
		" r.ahead_least is not null and n.ahead_least is not null from run r join run n on n.id = (select min(id) from run where id > r.id) where r.id = ?", []any{run.ID},
		[]any{&run.Host, &run.PID, &from, &to, &f.w.writes, &f.next.ID, &began, &ahead[0], &ahead[1], &theirs[0], &theirs[1], &compared}, func() { found = true })
	switch {
	case err != nil:
		return err
	case !found || !compared:
		return fmt.Errorf("%s: %w, and has not begun yet", f.w.o.Place(), history.ErrBusy)
	}
	run.From, run.To, f.next.From = tables.Instant(from), tables.Instant(to), tables.Instant(began)
	// On the clock of this recorder that instant is not before the first one, wherever both clocks are in their bounds.
	f.until = sources.Earlier(f.next.From, f.next.From.Add(time.Duration(ahead[0]-theirs[1])*time.Microsecond))
	if !run.To.Before(f.until) {
		return fmt.Errorf("%s: %w", f.w.o.Place(), history.ErrSuperseded)
	}
	return nil
}

// fence locks the row of the store against all other runs, and reads what present checks.
func (f *Filler) fence() string {
	return fmt.Sprintf("select (select min(id) from run where id > r.id), r.began, r.writes, n.began from store s, run r, run n where r.id = %d and n.id = %d for update of s, r", f.w.run, f.next.ID)
}

// present checks the row that fence returned.
func (f *Filler) present(row []string) error {
	if len(row) != 4 || row[0] != strconv.FormatInt(f.next.ID, 10) || row[1] != strconv.FormatInt(f.fill.Run().From.UnixNano(), 10) || row[3] != strconv.FormatInt(f.next.From.UnixNano(), 10) {
		return fmt.Errorf("%s: %w", f.w.o.Place(), history.ErrSuperseded)
	}
	return f.w.repeated(row[2])
}

// Run returns the run; its To is the end of what was written.
func (f *Filler) Run() history.Run { return f.fill.Run() }

// Until returns the end of the time that may be filled.
func (f *Filler) Until() time.Time { return f.until }

// Write stores b, see record.Output. b must end before Until.
func (f *Filler) Write(b *history.Batch) error {
	if b.Span.To.After(f.until) {
		return fmt.Errorf("%s: %w", f.w.o.Place(), history.ErrSuperseded)
	}
	b.Events = slices.DeleteFunc(b.Events, func(e sources.Event) bool { return e.Seq <= f.told })
	return f.step(func() error { return f.fill.Write(b) })
}

// Join ends the fill, see tables.Filler. It may be called again after an error.
func (f *Filler) Join() (err error) {
	for done := false; !done && err == nil; {
		err = f.step(func() (err error) {
			done, err = f.fill.Join(f.fill.Run().To)
			return err
		})
	}
	return err
}

// step writes once; if it is repeated after it was committed, it has no effect.
func (f *Filler) step(write func() error) error {
	f.w.writing = f.w.writes + 1
	err := write()
	f.w.writing = 0
	if err == nil || errors.Is(err, errWritten) {
		f.w.writes++
		f.fill.Commit()
		err = nil
	}
	return err
}

// Tidy does nothing: the present run drops old records.
func (f *Filler) Tidy(time.Time) (done bool, err error) { return true, nil }

// Note returns "".
func (f *Filler) Note() string { return "" }

// Before returns the end of the run when the fill began.
func (f *Filler) Before() time.Time { return f.fill.Before() }

// Close closes the connection. What was not joined stays unobserved.
func (f *Filler) Close() error { return f.w.shut() }

// lastOwners implements tables.Options.
func lastOwners(t *tables.Tx, lane uint64, f func(*sources.Term)) {
	facts(context.Background(), &t.Statements, "select lane, owner, label, fact from (select * from term where lane = ? order by start desc limit ?) t order by start", []any{lane, tables.Hues}, func(e *tape.TermFact) { f(&e.Term) })
}

// near implements tables.FillOptions.
func (f *Filler) near(t *tables.Tx, lanes []int64, many bool, each func(*tape.TermFact)) {
	of := ""
	if many {
		of = " and b.key = t.key"
	}
	mark := f.fill.Before().UnixNano()
	facts(context.Background(), &t.Statements, "select t.lane, t.owner, t.label, t.fact from unnest(?1::bigint[]) l(lane) join term t on t.lane = l.lane"+
		" where (t.until is null or t.until >= instant(?2) - interval '10 s') and t.start <= coalesce((select min(b.start) from term b where b.lane = t.lane and b.run > ?3 and b.start > instant(?2)"+of+"), instant(?2)) order by t.lane, t.start",
		[]any{lanes, mark, f.w.run}, each)
}

// left implements tables.FillOptions.
func (f *Filler) left(t *tables.Tx, each func(int64)) {
	var lane int64
	t.Each(context.Background(), "select distinct lane from term where until = instant(?) and until_known = 'bound' and run <= ?", []any{f.fill.Before().UnixNano(), f.w.run}, []any{&lane}, func() { each(lane) })
}

// drop implements tables.FillOptions.
func (f *Filler) drop(t *tables.Tx, terms []tape.TermFact, found []tables.Finding, each func(tape.EventFact)) {
	ctx := context.Background()
	var lane, key []int64
	var at []time.Time
	for i := range terms {
		lane, key, at = append(lane, int64(terms[i].Lane)), append(key, hashed(terms[i].Owner.ID)), append(at, terms[i].Start.At)
	}
	t.Change(ctx, "delete from term t using unnest(?::bigint[], ?::timestamptz[], ?::bigint[]) as u(lane, start, key) where t.lane = u.lane and t.start = u.start and t.key = u.key", lane, at, key)
	lane, at = nil, nil
	var owner, previous, first []string
	for _, x := range found {
		lane, at = append(lane, int64(x.Lane)), append(at, x.At)
		owner, previous, first = append(owner, x.Owner), append(previous, x.Previous), append(first, x.First)
	}
	var e tape.EventFact
	t.Each(ctx, "delete from event e using unnest(?1::bigint[], ?2::timestamptz[], ?3::text[], ?4::text[], ?5::text[]) as u(lane, at, owner, previous, first) where e.lane = u.lane and e.run > ?6 and case"+
		" when u.first <> '' then (e.kind = u.first or u.first = 'deleted' and e.kind in ('released', 'expired')) and not exists(select 1 from event b where b.lane = e.lane and b.run > ?6 and b.at < e.at)"+
		" when u.owner <> '' then e.at = u.at and e.owner = u.owner and e.kind in ('acquired', 'owner_changed', 'present')"+
		" else e.at = u.at and e.previous = u.previous and e.kind in ('released', 'expired') end returning e.run, e.seq",
		[]any{lane, at, owner, previous, first, f.w.run}, []any{&e.Run, (*tables.Unsigned)(&e.Seq)}, func() { each(e) })
}
