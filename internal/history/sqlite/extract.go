package sqlite

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"coordtop/internal/history"
	"coordtop/internal/history/tables"
	"coordtop/sources/tape"
)

// ErrOtherVersion reports that a recording has the tables of another version.
var ErrOtherVersion = errors.New("its tables are those of another version")

// Extract copies the record of a span to a new file, table by table, some hundred MB in a second. Groups are copied
// whole, so the first Inputs may lie before every run. Its error wraps ErrOtherVersion if the tables differ, and
// history.ErrNothing if nothing is recorded of the span.
func (r *Reader) Extract(ctx context.Context, to string, span history.Span) error {
	var before []tape.TermFact
	err := r.ask(ctx, func(q *tables.Query) error {
		if _, has, err := r.open(ctx); err != nil || has != version {
			return errors.Join(err, fmt.Errorf("%s: %w", r.path, ErrOtherVersion))
		}
		before = q.EndedBefore(ctx, span.From)
		return q.Err
	})
	if err != nil {
		return err
	}
	w, err := Begin(ctx, Options{Path: to, Alone: true}, history.Run{Span: span})
	if err != nil {
		return err
	}
	err = explained(to, w.extract(ctx, r.path, span))
	if err == nil && len(before) > 0 {
		err = w.Tx(func(t *tables.Tx) error {
			t.WriteBlock(before, nil)
			return t.Err
		})
	}
	w.copied = true // the file has only copied runs, and no run of ours that must be ended
	return errors.Join(err, w.Close())
}

// extract fills a new file, which is complete only after Close.
func (w *Writer) extract(ctx context.Context, from string, span history.Span) error {
	all := tables.Statements{DB: w.statements()}
	old := (&url.URL{Scheme: "file", OmitHost: true, Path: from, RawQuery: "mode=ro"}).String()
	all.Change(ctx, "pragma synchronous = off")
	all.Change(ctx, "pragma journal_mode = off")
	all.Change(ctx, "attach database ? as old", old)
	all.Change(ctx, "begin immediate")
	for _, text := range []string{
		"delete from run",
		"insert into run select id, host, pid, version, max(began, ?1), min(last, ?2), min(coalesce(ended, last), ?2), title, color from old.run where last >= ?1 and began < ?2",
		"update kept set since = max(?1, (select since from old.kept))",
		"insert into lane select * from old.lane where since < ?2 and (gone is null or gone >= ?1)",
		"insert into scope select * from old.scope",
		"insert into placed select * from old.placed where lane in (select id from lane)",
		"insert into term select * from old.term o where start < ?2 and lane in (select id from lane) and (until >= ?1 or until is null and run in (select id from run) or " +
			"start >= (select max(start) from old.term where lane = o.lane and start <= ?1))",
		"insert into level select * from old.level o where at < ?2 and lane in (select id from lane) and at >= coalesce((select max(at) from old.level where lane = o.lane and at <= ?1), ?1)",
		"insert into dark select * from old.dark where start < ?2 and (until is null or until >= ?1)",
		"insert into lost select * from old.lost where start < ?2 and until >= ?1",
		"insert into event select * from old.event where at >= ?1 and at < ?2",
		"insert into block select * from old.block where until >= ?1 and start < ?2",
		"insert into body select * from old.body where id in (select id from block)",
		"insert into running select * from old.running",
		"insert into recent select * from old.recent",
		"insert into gop select * from old.gop where start < ?2 and until >= ?1",
		"insert into chunk select * from old.chunk where gop in (select id from gop)",
		"insert into tail select * from old.tail where gop in (select id from gop)",
	} {
		all.Change(ctx, text, span.From.UnixNano(), span.To.UnixNano())
	}
	all.Change(ctx, "commit")
	var groups int
	all.Each(ctx, "select count(*) from gop", nil, []any{&groups}, func() {})
	if all.Err == nil && groups == 0 {
		return history.ErrNothing
	}
	return all.Err
}
