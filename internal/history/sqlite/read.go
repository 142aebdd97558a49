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
		lanes = make([]history.Lane, len(refs))
		next := 0
		for i, ref := range refs {
			if q.over(ctx) {
				break
			}
			if lanes[i].Ref = ref; next < len(all.lanes) && all.lanes[next].ref == ref {
				q.lane(ctx, &lanes[i], &all.lanes[next], window, all)
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

func (q *query) lane(ctx context.Context, l *history.Lane, known *listed, window period, all *everything) {
	l.Kind, l.Since = known.kind, time.Unix(0, max(known.since, all.dark.kept))
	if q.terms(ctx, l, known.id, window, all.dark); l.Kind == sources.KindSemaphore {
		l.Levels = q.levels(ctx, known.id, window)
	}
	l.Dark = all.unobserved(known)
}

// Which terms of a lane touch a window. Where one alone can own it, the one that ran when the
// window began is the last that began before it.
const (
	timeColumns   = "start, start_how, start_within, until, until_how, until_within, run, sure, every from "
	termColumns   = "select owner, label, fence, cause, how, program, hue, " + timeColumns + "term "
	termsOfOne    = termColumns + "where lane = ?1 and start < ?3 and start >= coalesce((select max(start) from term where lane = ?1 and start <= ?2), ?2) order by start"
	termsOfMany   = termColumns + "where lane = ?1 and start < ?3 and (until is null or until >= ?2) order by start"
	levelsOfALane = "select at, taken, high, gone from level where lane = ?1 and at < ?3 and at >= coalesce((select max(at) from level where lane = ?1 and at <= ?2), ?2) order by at"
)

// late is how long behind a window a term may be seen first that began in it, where it was observed.
const late = int64(time.Minute)

// termsText is a statement with timeColumns for the file as it is.
func (q *query) termsText(text string) string {
	if q.has < 4 {
		return strings.Replace(text, "sure, every", "0, "+everyBefore, 1)
	}
	return text
}

// terms reads those of the lane l, which is numbered lane.
func (q *query) terms(ctx context.Context, l *history.Lane, lane int64, window period, dark *darkness) {
	text, to := termsOfOne, window.to+late
	if l.Kind == sources.KindSemaphore {
		text, to = termsOfMany, window.to
	}
	var t sources.Term
	var row termRow
	into := append([]any{&t.Owner.ID, &t.Owner.Label, (*unsigned)(&t.Owner.Fence), &t.Cause, &t.How, &t.Program, &t.Hue}, row.times()...)
	q.each(ctx, q.termsText(text), []any{lane, window.from, to}, into, func() {
		if t.Cause > sources.CauseSession || max(t.How, row.startHow, row.untilHow) > sources.Ours {
			q.err = damage("a term")
			return
		}
		if row.start-row.startWithin >= window.to {
			return
		}
		one := row.term(dark)
		one.Owner, one.Cause, one.How, one.Program, one.Hue = t.Owner, t.Cause, t.How, t.Program, t.Hue
		if one.End.At.IsZero() || !one.End.At.Before(time.Unix(0, window.from)) {
			l.Terms = append(l.Terms, one)
		} else if l.Kind != sources.KindSemaphore {
			l.Before = &one
		}
	})
}

// termRow is the times of a term as they are stored.
type termRow struct {
	start, startWithin, untilWithin, run, sure, every int64
	startHow, untilHow                                sources.Known
	until                                             sql.NullInt64
}

// times are where the columns go, in the order of timeColumns.
func (r *termRow) times() []any {
	return []any{&r.start, &r.startHow, &r.startWithin, &r.until, &r.untilHow, &r.untilWithin, &r.run, &r.sure, &r.every}
}

// term is the term with its times.
func (r *termRow) term(dark *darkness) (t sources.Term) {
	t.Start, t.Every = stampOf(r.start, r.startWithin, r.startHow), time.Duration(r.every)
	if r.sure != 0 {
		t.Sure = time.Unix(0, r.sure)
	}
	if r.until.Valid {
		t.End = stampOf(r.until.Int64, r.untilWithin, r.untilHow)
	} else if ended, over := dark.runs[r.run]; over { // nobody saw its end
		t.End = sources.Stamp{At: time.Unix(0, ended), How: sources.Bound}
	}
	return t
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
