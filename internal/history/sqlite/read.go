package sqlite

import (
	"context"
	"slices"
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
			slices.SortFunc(all.lanes, func(a, b listed) int { return a.ref.Compare(b.ref) })
			for i := range all.lanes {
				refs = append(refs, all.lanes[i].ref)
			}
		}
		terms := q.terms(ctx, all.lanes, window, all.dark)
		lanes = make([]history.Lane, len(refs))
		next := 0
		for i, ref := range refs {
			if q.over(ctx) {
				break
			}
			if lanes[i].Ref = ref; next < len(all.lanes) && all.lanes[next].ref == ref {
				q.lane(ctx, &lanes[i], &all.lanes[next], terms[all.lanes[next].id], window, all)
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

func (q *query) lane(ctx context.Context, l *history.Lane, known *listed, terms []sources.Term, window period, all *everything) {
	l.Kind, l.Since = known.kind, time.Unix(0, max(known.since, all.dark.kept))
	if l.Kind == sources.KindSemaphore {
		l.Levels = q.levels(ctx, known.id, window)
	}
	if len(terms) > 0 && terms[0].End.How != sources.Unknown && terms[0].End.At.Before(time.Unix(0, window.from)) {
		l.Before, terms = &terms[0], terms[1:]
	}
	l.Terms = terms
	l.Dark, l.Holes = all.unobserved(known), all.dark.causes
}

const levelsOfALane = "select at, taken, high, gone from level where lane = ?1 and at < ?3 and at >= coalesce((select max(at) from level where lane = ?1 and at <= ?2), ?2) order by at"

func (q *query) levels(ctx context.Context, lane int64, window period) (levels []sources.Level) {
	var l sources.Level
	var at int64
	q.each(ctx, levelsOfALane, []any{lane, window.from, window.to}, []any{&at, (*unsigned)(&l.Taken), (*unsigned)(&l.High), &l.Gone}, func() {
		l.At = time.Unix(0, at)
		levels = append(levels, l)
	})
	return levels
}
