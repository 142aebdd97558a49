package postgres

import (
	"context"
	"fmt"
	"hash/fnv"
	"strconv"
	"time"

	"coordtop/internal/history/tables"
	"coordtop/sources"
	"coordtop/sources/tape"
)

// partitioned are the tables that have a partition for each day, by UTC.
var partitioned = []string{"term", "event"}

const (
	day       = 24 * time.Hour
	dayFormat = "20060102"
)

// beyond bounds the days after now that get a partition: a server with a wrong clock could name any.
const beyond = 2 * day

// rows stores terms and events also as rows, for SQL. Those of days that are dropped, or far in the future, are left
// out.
func (w *Writer) rows(t *tables.Tx, terms []tape.TermFact, events []tape.EventFact) {
	now := time.Now()
	run := w.Run()
	first, last := now.Add(-w.keep()), sources.Later(now, sources.Later(run.From, run.To)).Add(beyond)
	if run.From.Before(first) { // a recording that is copied
		first = run.From.Add(-day)
	}
	within := func(at time.Time) bool { return at.After(first) && at.Before(last) }
	w.termRows(t, terms, within)
	w.eventRows(t, events, within)
}

// termColumns collects the values of rows, one slice for each column.
type termColumns struct {
	lane, key, run, startWithin, untilWithin               []int64
	start                                                  []time.Time
	until                                                  []time.Time // zero: it runs
	owner, label, fence, startKnown, untilKnown, causeWord []string
	fact                                                   [][]byte // the rest
}

func (w *Writer) termRows(t *tables.Tx, terms []tape.TermFact, within func(time.Time) bool) {
	type key struct {
		lane       uint64
		start, own int64
	}
	last := map[key]int{} // a statement may write a row only once
	for i := range terms {
		f := &terms[i]
		last[key{f.Lane, f.Start.At.UnixMicro(), hashed(f.Owner.ID)}] = i
	}
	var c termColumns
	for i := range terms {
		f := &terms[i]
		if own := hashed(f.Owner.ID); within(f.Start.At) && last[key{f.Lane, f.Start.At.UnixMicro(), own}] == i {
			w.partition(t, f.Start.At)
			c.add(f, own)
			rest := *f
			rest.Lane, rest.Owner.ID, rest.Owner.Label = 0, "", ""
			c.fact = append(c.fact, w.encoder.Terms(nil, []tape.TermFact{rest}))
		}
	}
	if len(c.lane) == 0 {
		return
	}
	t.Change(context.Background(), "insert into term(lane, start, key, owner, label, fence, until, start_known, until_known, start_within_us, until_within_us, cause, run, fact)"+
		" select a, b, c, d, e, f::numeric, g, h, i, j, k, l, m, n from unnest(?::bigint[], ?::timestamptz[], ?::bigint[], ?::text[], ?::text[], ?::text[], ?::timestamptz[], ?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::text[], ?::bigint[], ?::bytea[]) as u(a, b, c, d, e, f, g, h, i, j, k, l, m, n)"+
		" on conflict(lane, start, key) do update set until = excluded.until, until_known = excluded.until_known, until_within_us = excluded.until_within_us, cause = excluded.cause, label = excluded.label, fence = excluded.fence, run = excluded.run, fact = excluded.fact",
		c.lane, c.start, c.key, c.owner, c.label, c.fence, c.until, c.startKnown, c.untilKnown, c.startWithin, c.untilWithin, c.causeWord, c.run, c.fact)
}

func (c *termColumns) add(f *tape.TermFact, own int64) {
	c.lane, c.key, c.run, c.start = append(c.lane, int64(f.Lane)), append(c.key, own), append(c.run, int64(f.Run)), append(c.start, f.Start.At)
	c.startWithin = append(c.startWithin, f.Start.At.Sub(f.Start.Earliest()).Microseconds())
	c.owner, c.label = append(c.owner, f.Owner.ID), append(c.label, f.Owner.Label)
	c.fence, c.startKnown = append(c.fence, strconv.FormatUint(f.Owner.Fence, 10)), append(c.startKnown, f.Start.How.String())
	var until time.Time
	var within time.Duration
	known, cause := "", ""
	if f.End.How != sources.Unknown {
		until, within, known, cause = f.End.At, f.End.At.Sub(f.End.Earliest()), f.End.How.String(), f.Cause.String()
	}
	c.until, c.untilWithin = append(c.until, until), append(c.untilWithin, within.Microseconds())
	c.untilKnown, c.causeWord = append(c.untilKnown, known), append(c.causeWord, cause)
}

// Terms of lanes in rows. If only one can own a lane at a time, the term that ran when the window began is the last one
// that began before it.
const (
	termsOfOne = "select t.lane, t.owner, t.label, t.fact from unnest(?1::bigint[]) l(lane)" +
		" join lateral (select coalesce((select max(start) from term b where b.lane = l.lane and b.start <= instant(?2)), instant(?2)) as since) s on true" +
		" join term t on t.lane = l.lane and t.start >= s.since and t.start <= instant(?3)"
	termsOfMany = "select lane, owner, label, fact from term where lane = any(?1::bigint[]) and start <= instant(?3) and (until is null or until >= instant(?2))"
)

// termsOf implements tables.TermIndex.
func termsOf(ctx context.Context, q *tables.Query, lanes []int64, many bool, from, until int64, f func(*tape.TermFact)) {
	text := termsOfOne
	if many {
		text = termsOfMany
	}
	facts(ctx, &q.Statements, text, []any{lanes, from, until}, f)
}

// facts calls f with the terms that a statement finds.
func facts(ctx context.Context, s *tables.Statements, text string, args []any, f func(*tape.TermFact)) {
	var lane uint64
	var owner, label string
	var fact []byte
	decoder := tape.NewDecoder()
	s.Each(ctx, text, args, []any{&lane, &owner, &label, &fact}, func() {
		list, err := decoder.Terms(fact)
		if err != nil || len(list) != 1 {
			s.Err = tables.Damage("a term")
			return
		}
		list[0].Lane, list[0].Owner.ID, list[0].Owner.Label = lane, owner, label
		f(&list[0])
	})
}

func (w *Writer) eventRows(t *tables.Tx, events []tape.EventFact, within func(time.Time) bool) {
	var run, seq, lane []int64
	var at []time.Time
	var kind, owner, previous, cause, known, scope, detail []string
	for i := range events {
		e := &events[i]
		if !within(e.At) {
			continue
		}
		w.partition(t, e.At)
		run, seq, lane, at = append(run, int64(e.Run)), append(seq, int64(e.Seq)), append(lane, int64(e.Lane)), append(at, e.At)
		why := ""
		if e.Cause != sources.CauseUnknown {
			why = e.Cause.String()
		}
		kind, cause, known = append(kind, e.Kind.String()), append(cause, why), append(known, e.How.String())
		owner, previous = append(owner, e.Owner.Name()), append(previous, e.Previous.Name())
		scope, detail = append(scope, e.Scope), append(detail, e.Detail)
	}
	if len(run) == 0 {
		return
	}
	t.Change(context.Background(), "insert into event(run, seq, at, lane, kind, owner, previous, cause, known, scope, detail) select * from"+
		" unnest(?::bigint[], ?::bigint[], ?::timestamptz[], ?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[])",
		run, seq, at, lane, kind, owner, previous, cause, known, scope, detail)
}

// hashed identifies an owner in a key, which must be short.
func hashed(owner string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(owner)) // it returns no error
	return int64(h.Sum64())
}

// partition makes the partitions of a day if they are missing. Making a table first and then attaching it does not wait
// for readers.
func (w *Writer) partition(t *tables.Tx, at time.Time) {
	ctx := context.Background()
	if w.days == nil {
		w.days = map[string]bool{}
		var name string
		t.Each(ctx, "select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent where p.relname = 'event' and p.relnamespace = (select oid from pg_namespace where nspname = current_schema())",
			nil, []any{&name}, func() { w.days[name[len("event_"):]] = true })
	}
	from := at.UTC().Truncate(day)
	if name := from.Format(dayFormat); !w.days[name] {
		w.days[name] = true
		for _, table := range partitioned {
			t.Change(ctx, fmt.Sprintf("create table %s_%s (like %[1]s including all)", table, name))
			t.Change(ctx, fmt.Sprintf("alter table %s attach partition %[1]s_%s for values from ('%s') to ('%s')", table, name, from.Format(time.RFC3339), from.Add(day).Format(time.RFC3339)))
		}
	}
}
