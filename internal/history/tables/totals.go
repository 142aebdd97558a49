package tables

import (
	"context"
	"database/sql"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/lane"
)

// Totals sums up span for each primitive that is recorded in it, see history.Reader.
func (r *Reader) Totals(ctx context.Context, span history.Span) (totals []history.Total, err error) {
	err = r.Ask(ctx, func(q *Query) error {
		window := periodOf(span)
		now := q.Now
		if now.IsZero() {
			now = time.Now()
		}
		window.to = min(window.to, now.UnixNano())
		all := q.everything(ctx, window, nil)
		sums := q.sum(ctx, window, all)
		for i := range all.lanes {
			l := &all.lanes[i]
			if q.Over(ctx) {
				break
			}
			if !l.recordedIn(window) {
				continue
			}
			total := history.Total{Ref: l.ref, Kind: l.kind, Sum: sums[i]}
			total.Owned, total.Unseen = 0, all.unseen(l, window)
			totals = append(totals, total)
		}
		return q.Err
	})
	return totals, err
}

// Recorded returns the primitives that are recorded in span.
func (r *Reader) Recorded(ctx context.Context, span history.Span) (refs []sources.Ref, err error) {
	err = r.Ask(ctx, func(q *Query) error {
		a := &everything{}
		q.listed(ctx, a, allPlaced)
		for i := range a.lanes {
			if l := &a.lanes[i]; l.recordedIn(periodOf(span)) {
				refs = append(refs, l.ref)
			}
		}
		return q.Err
	})
	return refs, err
}

// recordedIn reports whether the lane was recorded at some time in a window.
func (l *listed) recordedIn(window period) bool {
	return l.since < window.to && (l.gone == 0 || l.gone > window.from)
}

// everything holds lanes without their terms.
type everything struct {
	lanes []listed
	dark  *darkness
	same  map[alike][]sources.Dark // shared by lanes without stretches of their own
}

// alike is the key of lanes that share their dark stretches.
type alike struct{ scope, gone int64 }

type listed struct {
	id          int64
	ref         sources.Ref
	kind        sources.Kind
	since, gone int64 // gone is 0 if it exists
	places      []placement
}

// The lanes and their placements.
const (
	lanesPlaced = "select id, source, space, name, kind, lane.since, coalesce(gone, 0), placed.since, scope from lane left join placed on lane = id "
	allPlaced   = lanesPlaced + "order by id, placed.since"
	onePlaced   = lanesPlaced + "where source = ? and space = ? and name = ? order by placed.since"
)

// everything reads the recorded lanes of refs, in the order of refs. If refs is nil, it reads all lanes in the order of
// their numbers.
func (q *Query) everything(ctx context.Context, window period, refs []sources.Ref) *everything {
	a := &everything{dark: q.darkness(ctx, window), same: map[alike][]sources.Dark{}}
	if refs == nil {
		q.listed(ctx, a, allPlaced)
		q.readOwn(ctx, a.dark, 1, endless)
	}
	for _, ref := range refs {
		n := len(a.lanes)
		if q.Over(ctx) {
			break
		}
		if q.listed(ctx, a, onePlaced, ref.Source, ref.Space, ref.Name); n < len(a.lanes) && a.dark.own[a.lanes[n].id] == nil {
			q.readOwn(ctx, a.dark, a.lanes[n].id, a.lanes[n].id)
		}
	}
	return a
}

// listed adds the lanes that a statement finds.
func (q *Query) listed(ctx context.Context, a *everything, text string, args ...any) {
	var l listed
	var p placement
	var scope sql.NullInt64
	var since sql.NullInt64
	others := len(a.lanes)
	q.Each(ctx, text, args, []any{&l.id, &l.ref.Source, &l.ref.Space, &l.ref.Name, &l.kind, &l.since, &l.gone, &since, &scope}, func() {
		p = placement{since.Int64, scope.Int64}
		if n := len(a.lanes); n > others && a.lanes[n-1].id == l.id {
			a.lanes[n-1].places = append(a.lanes[n-1].places, p)
			return
		}
		one := l
		one.places = []placement{p}
		a.lanes = append(a.lanes, one)
	})
}

// unobserved returns the unobserved stretches of a lane. Many lanes share the list.
func (a *everything) unobserved(l *listed) []sources.Dark {
	if len(l.places) > 1 {
		return a.dark.of(l)
	}
	key := alike{l.places[0].scope, l.gone}
	shared, made := a.same[key]
	if !made {
		shared = a.dark.of(&listed{places: l.places, gone: l.gone})
		a.same[key] = shared
	}
	if !coveredBy(shared, a.dark.own[l.id]) {
		return a.dark.of(l)
	}
	return shared
}

// unseen returns the length of the part of window in which a lane was not observed.
func (a *everything) unseen(l *listed, window period) time.Duration {
	sum := time.Duration(window.to - window.from)
	for from, to := range lane.Observed(time.Unix(0, max(l.since, window.from)), time.Unix(0, window.to), a.unobserved(l)) {
		sum -= to.Sub(from)
	}
	return sum
}

// sum sums up the terms of a lane in a window.
func (a *everything) sum(l *listed, terms []sources.Term, window period) (sum lane.Sum) {
	if l.kind == sources.KindSemaphore {
		for i := range terms {
			if began := terms[i].Start.At.UnixNano(); terms[i].Start.Happened() && began >= window.from && began < window.to {
				sum.Changes++
			}
		}
		return sum
	}
	tally := a.tally(l, window)
	for i := range terms {
		tally.Add(&terms[i])
	}
	return tally.Sum()
}

// tally returns the empty Tally of a lane.
func (a *everything) tally(l *listed, window period) lane.Tally {
	return lane.NewTally(lane.Span{From: time.Unix(0, window.from), To: time.Unix(0, window.to)}, time.Unix(0, l.since), a.unobserved(l))
}
