package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// Lanes returns what is recorded of each of refs within span: see history.Reader.
func (s *Store) Lanes(ctx context.Context, refs []sources.Ref, span history.Span) (lanes []history.Lane, err error) {
	err = s.ask(ctx, func(q *query) error {
		if refs == nil {
			var ref sources.Ref
			q.each("select source, space, name from lane order by source, space, name", nil,
				[]any{&ref.Source, &ref.Space, &ref.Name}, func() { refs = append(refs, ref) })
		}
		lanes = make([]history.Lane, len(refs))
		dark, kept := q.darkness(periodOf(span)), q.kept()
		for i, ref := range refs {
			lanes[i] = q.lane(ref, periodOf(span), dark, kept)
		}
		return q.err
	})
	if err != nil {
		return nil, err
	}
	return lanes, nil
}

// kept is from when on nothing was dropped.
func (q *query) kept() (since int64) {
	q.each("select since from kept", nil, []any{&since}, func() {})
	return since
}

func (q *query) lane(ref sources.Ref, window period, dark *darkness, kept int64) history.Lane {
	l := history.Lane{Ref: ref}
	var id, since int64
	q.each("select id, kind, since from lane where source = ? and space = ? and name = ?", []any{ref.Source, ref.Space, ref.Name},
		[]any{&id, &l.Kind, &since}, func() {})
	if id == 0 || q.err != nil {
		return l
	}
	l.Since = time.Unix(0, max(since, kept))
	if q.terms(&l, id, window, dark); l.Kind == sources.KindSemaphore {
		l.Levels = q.levels(id, window)
	}
	q.readOwn(dark, id)
	l.Dark = shown(dark.of(id, q.places(id)), window)
	return l
}

func (q *query) places(lane int64) (places []placement) {
	var p placement
	q.each("select since, scope from placed where lane = ? order by since", []any{lane}, []any{&p.since, &p.scope}, func() { places = append(places, p) })
	return places
}

// Which terms of a lane touch a window. Where one alone can own it, the one that ran when the
// window began is the last that began before it.
const (
	termColumns   = "select owner, label, fence, start, start_how, start_within, until, until_how, until_within, cause, how, program, hue, run from term "
	termsOfOne    = termColumns + "where lane = ?1 and start < ?3 and start >= coalesce((select max(start) from term where lane = ?1 and start <= ?2), ?2) order by start"
	termsOfMany   = termColumns + "where lane = ?1 and start < ?3 and (until is null or until >= ?2) order by start"
	levelsOfALane = "select at, taken, high, gone from level where lane = ?1 and at < ?3 and at >= coalesce((select max(at) from level where lane = ?1 and at <= ?2), ?2) order by at"
)

// terms reads those of the lane l, which is numbered lane.
func (q *query) terms(l *history.Lane, lane int64, window period, dark *darkness) {
	text := termsOfOne
	if l.Kind == sources.KindSemaphore {
		text = termsOfMany
	}
	var t sources.Term
	var start, startWithin, untilWithin, run int64
	var until sql.NullInt64
	q.each(text, []any{lane, window.from, window.to}, []any{&t.Owner.ID, &t.Owner.Label, (*unsigned)(&t.Owner.Fence), &start, &t.Start.How, &startWithin,
		&until, &t.End.How, &untilWithin, &t.Cause, &t.How, &t.Program, &t.Hue, &run}, func() {
		if t.Cause > sources.CauseSession || max(t.How, t.Start.How, t.End.How) > sources.Ours {
			q.err = fmt.Errorf("a term: %w", history.ErrDamaged)
			return
		}
		one := t
		one.Start, one.End = stampOf(start, startWithin, t.Start.How), sources.Stamp{}
		if until.Valid {
			one.End = stampOf(until.Int64, untilWithin, t.End.How)
		} else if ended, over := dark.runs[run]; over { // nobody saw its end
			one.End = sources.Stamp{At: time.Unix(0, ended), How: sources.Bound}
		}
		if one.End.At.IsZero() || !one.End.At.Before(time.Unix(0, window.from)) {
			l.Terms = append(l.Terms, one)
		} else if l.Kind != sources.KindSemaphore {
			l.Before = &one
		}
	})
}

func stampOf(at, within int64, how sources.Known) sources.Stamp {
	return sources.StampBetween(time.Unix(0, at-within), time.Unix(0, at), how)
}

func (q *query) levels(lane int64, window period) (levels []sources.Level) {
	var l sources.Level
	var at int64
	q.each(levelsOfALane, []any{lane, window.from, window.to}, []any{&at, (*unsigned)(&l.Taken), (*unsigned)(&l.High), &l.Gone}, func() {
		l.At = time.Unix(0, at)
		levels = append(levels, l)
	})
	return levels
}

// Which events lie around an instant.
const (
	eventColumns = "select run, seq, at, lane, body from event "
	eventsBefore = eventColumns + "where at < ? order by at desc, run desc, seq desc limit ?"
	eventsAfter  = eventColumns + "where at >= ? order by at, run, seq limit ?"
	laneBefore   = eventColumns + "where at < ? and lane = ? order by at desc, run desc, seq desc limit ?"
	laneAfter    = eventColumns + "where at >= ? and lane = ? order by at, run, seq limit ?"
)

// Events returns recorded events around an instant: see history.Reader.
func (s *Store) Events(ctx context.Context, at time.Time, before, after int, ref sources.Ref) (events []history.Event, err error) {
	err = s.ask(ctx, func(q *query) error {
		texts, args := [2]string{eventsBefore, eventsAfter}, []any{at.UnixNano()}
		if ref.Source != "" {
			var id int64
			q.each("select id from lane where source = ? and space = ? and name = ?", []any{ref.Source, ref.Space, ref.Name}, []any{&id}, func() {})
			texts, args = [2]string{laneBefore, laneAfter}, append(args, id)
		}
		known := map[int64]sources.Ref{0: {}}
		events = q.events(texts[0], append(slices.Clone(args), before), known)
		slices.Reverse(events)
		events = append(events, q.events(texts[1], append(slices.Clone(args), after), known)...)
		return q.err
	})
	if err != nil {
		return nil, err
	}
	return events, nil
}

func (q *query) events(text string, args []any, known map[int64]sources.Ref) (events []history.Event) {
	var e history.Event
	var at, lane int64
	var body []byte
	var lanes []int64
	q.each(text, args, []any{&e.Run, (*unsigned)(&e.Seq), &at, &lane, &body}, func() {
		one := e
		one.At = time.Unix(0, at)
		if lane != 0 {
			one.Ref.Name = "of the lane"
		}
		if q.err = decodeEvent(&one.Event, body); q.err == nil {
			events, lanes = append(events, one), append(lanes, lane)
		}
	})
	for i := range events {
		if lanes[i] != 0 {
			events[i].Ref = q.ref(lanes[i], known)
		}
	}
	return events
}

// ref is the primitive of a lane.
func (q *query) ref(lane int64, known map[int64]sources.Ref) sources.Ref {
	ref, ok := known[lane]
	if !ok {
		q.each("select source, space, name from lane where id = ?", []any{lane}, []any{&ref.Source, &ref.Space, &ref.Name}, func() {})
		known[lane] = ref
	}
	return ref
}
