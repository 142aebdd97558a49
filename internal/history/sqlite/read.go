package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// Lanes returns what is recorded of each of refs within span: see history.Reader.
func (r *Reader) Lanes(ctx context.Context, refs []sources.Ref, span history.Span) (lanes []history.Lane, err error) {
	err = r.ask(ctx, func(q *query) error {
		window := periodOf(span)
		var all *everything
		if refs != nil {
			all = q.everythingOf(ctx, window, refs)
		} else {
			all = q.everything(ctx, window, allLanes)
			slices.SortFunc(all.lanes, func(a, b listed) int {
				return cmp.Or(cmp.Compare(a.ref.Source, b.ref.Source), cmp.Compare(a.ref.Space, b.ref.Space), cmp.Compare(a.ref.Name, b.ref.Name))
			})
			for i := range all.lanes {
				refs = append(refs, all.lanes[i].ref)
			}
		}
		kept := q.kept(ctx)
		lanes = make([]history.Lane, len(refs))
		next := 0
		for i, ref := range refs {
			if lanes[i].Ref = ref; next < len(all.lanes) && all.lanes[next].ref == ref {
				q.lane(ctx, &lanes[i], &all.lanes[next], window, all, kept)
				next++
			}
		}
		return q.err
	})
	if err != nil {
		return nil, err
	}
	return lanes, nil
}

// kept is from when on nothing was dropped.
func (q *query) kept(ctx context.Context) (since int64) {
	q.each(ctx, "select since from kept", nil, []any{&since}, func() {})
	return since
}

func (q *query) lane(ctx context.Context, l *history.Lane, known *listed, window period, all *everything, kept int64) {
	l.Kind, l.Since = known.kind, time.Unix(0, max(known.since, kept))
	if q.terms(ctx, l, known.id, window, all.dark); l.Kind == sources.KindSemaphore {
		l.Levels = q.levels(ctx, known.id, window)
	}
	l.Dark = all.unobserved(known)
}

// Which terms of a lane touch a window. Where one alone can own it, the one that ran when the
// window began is the last that began before it.
const (
	termColumns   = "select owner, label, fence, start, start_how, start_within, until, until_how, until_within, cause, how, program, hue, run, sure, every from term "
	termsOfOne    = termColumns + "where lane = ?1 and start < ?3 and start >= coalesce((select max(start) from term where lane = ?1 and start <= ?2), ?2) order by start"
	termsOfMany   = termColumns + "where lane = ?1 and start < ?3 and (until is null or until >= ?2) order by start"
	levelsOfALane = "select at, taken, high, gone from level where lane = ?1 and at < ?3 and at >= coalesce((select max(at) from level where lane = ?1 and at <= ?2), ?2) order by at"
)

// terms reads those of the lane l, which is numbered lane.
func (q *query) terms(ctx context.Context, l *history.Lane, lane int64, window period, dark *darkness) {
	text := termsOfOne
	if l.Kind == sources.KindSemaphore {
		text = termsOfMany
	}
	if q.has < 4 {
		text = strings.Replace(text, "sure, every", "0, 0", 1)
	}
	var t sources.Term
	var start, startWithin, untilWithin, run, sure int64
	var until sql.NullInt64
	q.each(ctx, text, []any{lane, window.from, window.to}, []any{&t.Owner.ID, &t.Owner.Label, (*unsigned)(&t.Owner.Fence), &start, &t.Start.How, &startWithin,
		&until, &t.End.How, &untilWithin, &t.Cause, &t.How, &t.Program, &t.Hue, &run, &sure, &t.Every}, func() {
		if t.Cause > sources.CauseSession || max(t.How, t.Start.How, t.End.How) > sources.Ours {
			q.err = damage("a term")
			return
		}
		one := t
		if sure != 0 {
			one.Sure = time.Unix(0, sure)
		}
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

func (q *query) levels(ctx context.Context, lane int64, window period) (levels []sources.Level) {
	var l sources.Level
	var at int64
	q.each(ctx, levelsOfALane, []any{lane, window.from, window.to}, []any{&at, (*unsigned)(&l.Taken), (*unsigned)(&l.High), &l.Gone}, func() {
		l.At = time.Unix(0, at)
		levels = append(levels, l)
	})
	return levels
}
