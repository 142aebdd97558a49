package sqlite

import (
	"context"
	"database/sql"
	"math"
	"strings"
	"time"

	"coordtop/internal/history/tables"
	"coordtop/sources"
	"coordtop/sources/tape"
)

// rows reads the terms and events of a file of a version before 6, or those that a later version left there.
type rows struct{ has int }

// In a file of a version before 6 a term is a row. If only one can own a lane at a time, the term that ran when the
// window began is the last one that began before it.
const (
	rowColumns  = "select lane, owner, label, fence, cause, how, program, hue, start, start_how, start_within, until, until_how, until_within, run, sure, every from term "
	rowsOfOne   = rowColumns + "where lane = ?1 and start < ?3 and start >= coalesce((select max(start) from term where lane = ?1 and start <= ?2), ?2) order by start"
	rowsOfMany  = rowColumns + "where lane = ?1 and start < ?3 and (until is null or until >= ?2) order by start"
	runningRows = rowColumns + "where until is null"
)

// terms calls f with each term that a statement returns.
func (r rows) terms(ctx context.Context, q *tables.Query, text string, args []any, f func(*tape.TermFact)) {
	if r.has < 4 {
		text = strings.Replace(text, "sure, every", "0, "+everyBefore, 1)
	}
	var t tape.TermFact
	var start, startWithin, untilWithin, sure, every int64
	var until sql.NullInt64
	into := []any{&t.Lane, &t.Owner.ID, &t.Owner.Label, (*tables.Unsigned)(&t.Owner.Fence), &t.Cause, &t.How, &t.Program, &t.Hue,
		&start, &t.Start.How, &startWithin, &until, &t.End.How, &untilWithin, &t.Run, &sure, &every}
	q.Each(ctx, text, args, into, func() {
		if t.Cause > sources.CauseSession || max(t.How, t.Start.How, t.End.How) > sources.Ours {
			q.Err = tables.Damage("a term")
			return
		}
		one := t
		one.Start, one.Every, one.End = stampOf(start, startWithin, t.Start.How), time.Duration(every), sources.Stamp{}
		if one.Sure = tables.Instant(sure); until.Valid {
			one.End = stampOf(until.Int64, untilWithin, t.End.How)
		}
		f(&one)
	})
}

func stampOf(at, within int64, how sources.Known) sources.Stamp {
	return sources.StampBetween(time.Unix(0, at-within), time.Unix(0, at), how)
}

// Terms implements tables.Rows.
func (r rows) Terms(ctx context.Context, q *tables.Query, of tables.TermRows, f func(*tape.TermFact)) {
	text := rowsOfOne
	if of.Many {
		text = rowsOfMany
	}
	r.terms(ctx, q, text, []any{of.Lane, of.From, of.To}, f)
}

// In a file of a version before 6 an event is a row. These statements read the events around an instant: all of them,
// those of a kind, and those of a lane with a bit set of kinds.
const (
	eventColumns = "select run, seq, at, lane, body from event "
	newestFirst  = "order by at desc, run desc, seq desc limit ?2"
	oldestFirst  = "order by at, run, seq limit ?2"
	eventsBefore = eventColumns + "where at < ?1 " + newestFirst
	eventsAfter  = eventColumns + "where at >= ?1 " + oldestFirst
	kindBefore   = eventColumns + "where at < ?1 and kind = ?3 " + newestFirst
	kindAfter    = eventColumns + "where at >= ?1 and kind = ?3 " + oldestFirst
	laneBefore   = eventColumns + "where at < ?1 and lane = ?3 and (?4 >> kind) & 1 " + newestFirst
	laneAfter    = eventColumns + "where at >= ?1 and lane = ?3 and (?4 >> kind) & 1 " + oldestFirst
)

// Events implements tables.Rows: it calls f with the nearest events, perhaps with more than are wanted.
func (r rows) Events(ctx context.Context, q *tables.Query, of tables.EventRows, f func(*tape.EventFact)) {
	texts := [3]string{eventsAfter, kindAfter, laneAfter}
	if of.Before {
		texts = [3]string{eventsBefore, kindBefore, laneBefore}
	}
	shown := of.Kinds
	if r.has == 1 && of.Kinds != -1 {
		of.Most, shown = math.MaxInt, -1
	}
	switch {
	case of.Lanes != nil:
		for lane := range of.Lanes {
			r.events(ctx, q, texts[2], of, f, lane, shown)
		}
	case of.Kinds != -1 && r.has > 1:
		for kind := range 64 {
			if of.Kinds>>kind&1 != 0 {
				r.events(ctx, q, texts[1], of, f, kind)
			}
		}
	default:
		r.events(ctx, q, texts[0], of, f)
	}
}

// events calls f with at most so many events that a statement finds. In a file of the first version, in which only the
// bodies have the kinds, it reads all events.
func (r rows) events(ctx context.Context, q *tables.Query, text string, of tables.EventRows, f func(*tape.EventFact), more ...any) {
	if r.has == 1 {
		text = strings.Replace(text, "from event", "from (select *, 0 as kind from event)", 1)
	}
	var run, seq, lane uint64
	var at int64
	var body []byte
	into := []any{&run, (*tables.Unsigned)(&seq), &at, &lane, &body}
	q.Each(ctx, text, append([]any{of.At, of.Most}, more...), into, func() {
		e := &tape.EventFact{Lane: lane, Run: run, Event: eventOf(int64(lane))}
		e.Seq, e.At = seq, time.Unix(0, at)
		if q.Err = decodeEvent(&e.Event, body); q.Err == nil && of.Kinds>>e.Kind&1 != 0 {
			f(e)
		}
	})
}

// owners calls f with the last owners of a lane, oldest first.
func (r rows) owners(t *tables.Tx, lane uint64, f func(*sources.Term)) {
	var p sources.Term
	last := "(select * from term where lane = ? order by start desc limit ?)"
	t.Each(context.Background(), "select owner, label, program, hue from "+last+" order by start", []any{lane, tables.Hues},
		[]any{&p.Owner.ID, &p.Owner.Label, &p.Program, &p.Hue}, func() { f(&p) })
}
