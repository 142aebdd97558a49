package postgres

import (
	"cmp"
	"context"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/tables"
)

func (w *Writer) keep() time.Duration { return cmp.Or(max(w.o.Keep, 0), history.UsualKeep) }

// usualFull is shorter than the rest is kept: what a replay reads is most of a store.
const usualFull = 7 * day

func (w *Writer) full() time.Duration { return min(cmp.Or(max(w.o.Full, 0), usualFull), w.keep()) }

// Tidy drops records because of their age or size, in one step, see record.Output. It makes the partitions of tomorrow.
func (w *Writer) Tidy(now time.Time) (done bool, err error) {
	before := now.Add(-w.keep())
	did, err := w.DropInputs(now.Add(-w.full()).UnixNano())
	if !did && err == nil {
		var most int64
		most, err = w.Drop(before.UnixNano(), "")
		did = most >= tables.Step
	}
	if !did && err == nil {
		did, err = w.dropDay(before.Add(-day), false) // a term may have begun a day before its block
	}
	if !did && err == nil && w.o.Size > 0 {
		did, err = w.shrink(now)
	}
	return !did, err
}

// dropDay drops the partitions of the first day that it finds to have ended before an instant. A day with a
// running term keeps that one, unless runningToo, and loses its other rows. It makes the partitions of tomorrow first.
func (w *Writer) dropDay(before time.Time, runningToo bool) (did bool, err error) {
	ctx := context.Background()
	err = w.Tx(func(t *tables.Tx) error {
		w.partition(t, time.Now().Add(day))
		for name := range w.days {
			from, err := time.Parse(dayFormat, name)
			if err != nil || from.Add(day).After(before) {
				continue
			}
			running := false
			t.Each(ctx, "select exists(select 1 from term_"+name+" where until is null)", nil, []any{&running}, func() {})
			if running && !runningToo {
				did = t.Change(ctx, "delete from term_"+name+" where until < instant(?)", before.UnixNano())+t.Change(ctx, "delete from event_"+name) > 0 || did
				continue
			}
			for _, table := range partitioned {
				t.Change(ctx, "drop table "+table+"_"+name)
			}
			delete(w.days, name)
			did = true
			break
		}
		return t.Err
	})
	return did, err
}

// shrink drops the oldest inputs, and then the oldest day of everything, if the store is too large.
func (w *Writer) shrink(now time.Time) (did bool, err error) {
	var size, inputs, oldest, first int64
	err = w.Query(func(ctx context.Context, q *tables.Query) error {
		q.Each(ctx, "select coalesce(sum(octet_length(body)), 0)::bigint, coalesce(min(start), 0) from (select body, start from gop union all select body, start from chunk) i", nil, []any{&inputs, &oldest}, func() {})
		q.Each(ctx, "select (coalesce(sum(pg_total_relation_size(inhrelid)), 0) + (select coalesce(sum(octet_length(terms) + octet_length(events)), 0) from body))::bigint from pg_inherits where inhparent in ('term'::regclass, 'event'::regclass)", nil, []any{&size}, func() {})
		q.Each(ctx, "select coalesce(min(until), 0) from block", nil, []any{&first}, func() {})
		return q.Err
	})
	if err != nil || size+inputs <= w.o.Size {
		return false, err
	}
	if oldest > 0 && (oldest < now.Add(-time.Hour).UnixNano() || inputs > w.o.Size/2) {
		did, err = w.DropInputs(now.UnixNano())
	}
	if !did && err == nil && first > 0 {
		until := time.Unix(0, first).Truncate(day).Add(day)
		if until.After(now) {
			until = time.Unix(0, first).Add(time.Hour)
		}
		var dropped int64
		if dropped, err = w.Drop(until.UnixNano(), ""); err == nil {
			did, err = w.dropDay(until, true)
			did = did || dropped > 0
		}
	}
	return did, err
}
