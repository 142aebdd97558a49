package sqlite

import (
	"context"
	"errors"
	"time"

	"coordtop/internal/history"
)

// Limits bound the size and the age of a recording. Zero fields take the defaults.
type Limits struct {
	Keep time.Duration // for everything except the list of runs; 0: 30 days
	Size int64         // bytes of the file; 0: 1 GiB. The oldest inputs go first, then the oldest terms and events
}

// batch is the most rows of a table that are dropped in one step.
const batch = 1000

// Tidy drops records because of their age or size, in one step of some milliseconds, see record.Output.
func (w *Writer) Tidy(now time.Time) (done bool, err error) {
	if w.db == nil {
		return true, nil
	}
	before := now.Add(-w.o.Limits.Keep).UnixNano()
	did, err := w.dropInputs(before)
	if !did && err == nil {
		var most int64
		most, err = w.drop(before)
		did = most >= batch // otherwise shrink would never run while records become too old
	}
	if !did && err == nil {
		did, err = w.shrink(now)
	}
	if errors.Is(err, history.ErrDamaged) {
		err = w.putAside(err)
	}
	return !did, err
}

// drop drops records that ended before an instant, at most batch of each table, and returns the number of rows of the
// largest batch.
func (w *Writer) drop(before int64) (most int64, err error) {
	err = w.tx(func(t *tx) error {
		for _, text := range []string{
			"delete from term where (lane, start, owner) in (select lane, start, owner from term indexed by term_start where start < ?1 and until < ?1 order by start limit ?2)",
			"delete from event where (run, seq) in (select run, seq from event indexed by event_at where at < ?1 order by at limit ?2)",
			"delete from body where id in (select id from block where until < ?1 order by id limit ?2)",
			"delete from block where until < ?1 and id not in (select id from body)",
			"delete from level where (lane, at) in (select lane, at from level l indexed by level_at where at < ?1 and exists(select 1 from level where lane = l.lane and at > l.at and at < ?1) limit ?2)",
			"delete from dark where (scope, lane, start) in (select scope, lane, start from dark where until < ?1 limit ?2)",
			"delete from lost where until < ?1",
			"delete from placed where lane in (select distinct lane from placed p where not exists(select 1 from lane where id = p.lane) limit ?2)",
		} {
			most = max(most, t.exec(text, before, batch))
		}
		t.exec("update kept set since = ? where since < ?1", before)
		most = max(most, t.dropLanes(before))
		return t.err
	})
	if most > 0 {
		clear(w.lanes) // some may be dropped
	}
	return most, err
}

// dropLanes drops lanes that are gone, with everything that is left of them. A lane stays as long as a block or a
// recent term or event may have its number, because the number can be reused.
func (t *tx) dropLanes(before int64) (dropped int64) {
	recent := map[uint64]bool{}
	for i := range t.w.recent.terms {
		recent[t.w.recent.terms[i].Lane] = true
	}
	for i := range t.w.recent.events {
		recent[t.w.recent.events[i].Lane] = true
	}
	var id uint64
	var ids []uint64
	t.each("select id from lane l where gone < min(?1, (select coalesce(min(start), ?1) from block)) and not exists(select 1 from term where lane = l.id) limit ?2",
		[]any{before, batch}, []any{&id}, func() {
			if !recent[id] {
				ids = append(ids, id)
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
	t.writeRunning(groups)
	return dropped
}

// shrink returns pages to the disk. If the file is still too large, it drops the oldest inputs, and then the oldest
// part of everything.
func (w *Writer) shrink(now time.Time) (did bool, err error) {
	most := w.o.Limits.Size
	var pages, free, size, oldest, inputs, first int64
	err = w.ask(func(ctx context.Context, q *query) error {
		for text, into := range map[string]*int64{
			"pragma page_count": &pages, "pragma freelist_count": &free, "pragma page_size": &size,
			"select coalesce(min(start), 0) from gop": &oldest, "select coalesce(sum(n), 0) from (select length(body) as n from gop union all select length(body) from chunk)": &inputs,
			"select coalesce(min(at), 0) from (select min(at) as at from event union all select min(until) from block)": &first,
		} {
			q.each(ctx, text, nil, []any{into}, func() {})
		}
		return q.err
	})
	if err != nil {
		return false, err
	}
	if (pages-free)*size > most {
		if oldest > 0 && (oldest < now.Add(-time.Hour).UnixNano() || inputs > most/2) {
			did, err = w.dropInputs(now.UnixNano())
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

// dropInputs drops the oldest group if it ended before an instant.
func (w *Writer) dropInputs(before int64) (did bool, err error) {
	err = w.tx(func(t *tx) error {
		var id int64
		if did = t.query("select id from gop where until < ? and id <> ? order by id limit 1", []any{before, w.group.id}, &id); did {
			t.exec("delete from chunk where gop = ?", id)
			t.exec("delete from tail where gop = ?", id)
			t.exec("delete from gop where id = ?", id)
		}
		return t.err
	})
	return did, err
}
