package sqlite

import (
	"context"
	"errors"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/tables"
)

// Limits bound the size and the age of a recording. Zero fields take the defaults.
type Limits struct {
	Keep time.Duration // for everything except the list of runs; 0: history.UsualKeep
	Size int64         // bytes of the file; 0: 1 GiB. The oldest inputs go first, then the oldest terms and events
}

// Tidy drops records because of their age or size, in one step of some milliseconds, see record.Output.
func (w *Writer) Tidy(now time.Time) (done bool, err error) {
	if w.db == nil {
		return true, nil
	}
	before := now.Add(-w.o.Limits.Keep).UnixNano()
	did, err := w.DropInputs(before)
	if !did && err == nil {
		var most int64
		most, err = w.drop(before)
		did = most >= tables.Step // otherwise shrink would never run while records become too old
	}
	if !did && err == nil {
		did, err = w.shrink(now)
	}
	if errors.Is(err, history.ErrDamaged) {
		err = w.putAside(err)
	}
	return !did, err
}

// drop drops records that ended before an instant, see tables.Writer.
func (w *Writer) drop(before int64) (most int64, err error) {
	return w.Drop(before, "and not exists(select 1 from term where lane = l.id)",
		"delete from term where (lane, start, owner) in (select lane, start, owner from term indexed by term_start where start < ?1 and until < ?1 order by start limit ?2)",
		"delete from event where (run, seq) in (select run, seq from event indexed by event_at where at < ?1 order by at limit ?2)")
}

// shrink returns pages to the disk. If the file is still too large, it drops the oldest inputs, and then the oldest
// part of everything.
func (w *Writer) shrink(now time.Time) (did bool, err error) {
	most := w.o.Limits.Size
	var pages, free, size, oldest, inputs, first int64
	err = w.Query(func(ctx context.Context, q *tables.Query) error {
		for text, into := range map[string]*int64{
			"pragma page_count": &pages, "pragma freelist_count": &free, "pragma page_size": &size,
			"select coalesce(min(start), 0) from gop": &oldest, "select coalesce(sum(n), 0) from (select length(body) as n from gop union all select length(body) from chunk)": &inputs,
			"select coalesce(min(at), 0) from (select min(at) as at from event union all select min(until) from block)": &first,
		} {
			q.Each(ctx, text, nil, []any{into}, func() {})
		}
		return q.Err
	})
	if err != nil {
		return false, err
	}
	if (pages-free)*size > most {
		if oldest > 0 && (oldest < now.Add(-time.Hour).UnixNano() || inputs > most/2) {
			did, err = w.DropInputs(now.UnixNano())
		}
		if !did && err == nil && first > 0 {
			var dropped int64
			dropped, err = w.drop(first + max((now.UnixNano()-first)/50, int64(time.Minute)))
			did = dropped > 0
		}
	}
	if !did && err == nil && free > 1000 {
		_, err = w.conn.ExecContext(context.Background(), "pragma incremental_vacuum(500)")
		did, err = err == nil, explained(w.o.Path, err)
	}
	return did, err
}
