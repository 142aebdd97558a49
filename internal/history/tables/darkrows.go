package tables

import (
	"cmp"
	"context"
	"database/sql"
	"maps"
	"math"
	"slices"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// period is a stretch of time as it is stored: [from, to).
type period struct{ from, to int64 }

// silent is the time after its last write during which a live run counts as observing.
const silent = 2 * time.Second

// endless is the end of a stretch that lasts.
const endless = math.MaxInt64

func periodOf(s history.Span) period { return period{s.From.UnixNano(), s.To.UnixNano()} }

func (p period) dark() sources.Dark {
	if p.to == endless {
		return sources.Dark{From: time.Unix(0, p.from)}
	}
	return sources.Dark{From: time.Unix(0, p.from), To: time.Unix(0, p.to)}
}

func (p period) touches(q period) bool { return p.from < q.to && q.from < p.to }

// union sorts stretches and joins those that overlap or touch.
func union(lists ...[]period) []period {
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b period) int { return cmp.Compare(a.from, b.from) })
	var out []period
	for _, p := range all {
		switch n := len(out); {
		case p.from >= p.to:
		case n > 0 && p.from <= out[n-1].to:
			out[n-1].to = max(out[n-1].to, p.to)
		default:
			out = append(out, p)
		}
	}
	return out
}

// darkness holds the unobserved stretches of a window.
type darkness struct {
	window period
	kept   int64           // nothing after this was dropped
	runs   map[int64]int64 // the end of each run; endless: it still records
	holes  []period        // nobody recorded, or records were lost or dropped
	causes []history.Hole  // the same for the whole recording, one for each reason
	scopes map[int64][]period
	own    map[int64][]period // of single lanes
}

// darkness reads the holes and the unobserved stretches of scopes within window. readOwn reads those of single lanes.
func (q *Query) darkness(ctx context.Context, window period) *darkness {
	d := &darkness{window: window, runs: map[int64]int64{}, scopes: map[int64][]period{}, own: map[int64][]period{}}
	var recorded []period
	live := false
	for _, r := range q.runs(ctx) {
		p := periodOf(r.Span)
		if d.runs[r.ID] = p.to; r.Live {
			d.runs[r.ID], live = endless, true
			p.to += int64(silent)
		}
		recorded = append(recorded, p)
	}
	recorded = union(recorded)
	p := period{} // before the first run nothing is known
	for _, r := range recorded {
		p.to = r.from
		d.holes = append(d.holes, p)
		p.from = r.to
	}
	d.holes = append(d.holes, period{p.from, endless})
	q.Each(ctx, "select since from kept", nil, []any{&d.kept}, func() {})
	q.Each(ctx, "select start, until from lost", nil, []any{&p.from, &p.to}, func() { d.holes = append(d.holes, period{max(p.from, d.kept), p.to}) })
	d.explain(union(d.holes), recorded, live)
	d.holes = append(d.holes, period{0, d.kept})
	d.holes = slices.DeleteFunc(union(d.holes), func(p period) bool { return !p.touches(window) })
	var scope, run int64
	var until sql.NullInt64
	q.Each(ctx, "select scope, start, until, run from dark where lane = 0 and start < ? and (until is null or until > ?)", []any{window.to, window.from},
		[]any{&scope, &p.from, &until, &run}, func() { d.scopes[scope] = append(d.scopes[scope], period{p.from, d.end(until, run)}) })
	for id, list := range d.scopes {
		d.scopes[id] = union(list)
	}
	return d
}

// Dark returns the unobserved stretches of span, see history.EventReader.
func (r *Reader) Dark(ctx context.Context, span history.Span) (all []history.DarkChange, err error) {
	err = r.Ask(ctx, func(q *Query) error {
		d := q.darkness(ctx, periodOf(span))
		add := func(c history.DarkChange, list []period) {
			for _, p := range union(list) {
				c.Dark = p.dark()
				all = append(all, c)
			}
		}
		add(history.DarkChange{}, d.holes)
		var id int64
		var c history.DarkChange
		q.Each(ctx, "select id, source, name from scope", nil, []any{&id, &c.Source, &c.Scope}, func() { add(c, d.scopes[id]) })
		q.readOwn(ctx, d, 1, endless)
		for _, id := range slices.Sorted(maps.Keys(d.own)) {
			list := d.own[id]
			var c history.DarkChange
			q.Each(ctx, "select source, space, name from lane where id = ?", []any{id}, []any{&c.Ref.Source, &c.Ref.Space, &c.Ref.Name}, func() {
				c.Source = c.Ref.Source
				add(c, list)
			})
		}
		slices.SortStableFunc(all, func(x, y history.DarkChange) int { return x.Dark.From.Compare(y.Dark.From) })
		return q.Err
	})
	return all, err
}

// explain sets the reason of each hole: nobody recorded, or the record of a run was dropped. live means that a run
// records now.
func (d *darkness) explain(unrecorded, runs []period, live bool) {
	add := func(p period, dropped bool) {
		if p.from < p.to {
			d.causes = append(d.causes, history.Hole{Dark: p.dark(), Dropped: dropped})
		}
	}
	for _, p := range unrecorded {
		if p.to != endless || !live {
			add(p, false)
		}
	}
	for _, r := range runs {
		add(period{r.from, min(r.to, d.kept)}, true)
	}
	slices.SortFunc(d.causes, func(a, b history.Hole) int { return a.From.Compare(b.From) })
}

// readOwn reads the stretches of the lanes from one number to another.
func (q *Query) readOwn(ctx context.Context, d *darkness, first, last int64) {
	var from, run, id int64
	var until sql.NullInt64
	q.Each(ctx, "select lane, start, until, run from dark where scope = 0 and lane between ? and ? and start < ? and (until is null or until > ?)",
		[]any{first, last, d.window.to, d.window.from}, []any{&id, &from, &until, &run}, func() {
			d.own[id] = append(d.own[id], period{from, d.end(until, run)})
		})
}

// end returns the end of a stretch. A stretch that its run left open ends with the run.
func (d *darkness) end(until sql.NullInt64, run int64) int64 {
	if until.Valid {
		return until.Int64
	}
	if ended, over := d.runs[run]; over {
		return ended
	}
	return endless
}

// placement is the scope of a lane, and the instant from which on it applies.
type placement struct{ since, scope int64 }

// of returns the unobserved stretches of a lane within the window, in order and without overlaps.
func (d *darkness) of(l *listed) (dark []sources.Dark) {
	lists, places := [][]period{d.holes, d.own[l.id]}, l.places
	if l.gone != 0 {
		lists = append(lists, []period{{l.gone, endless}})
	}
	for i, p := range places {
		place := period{p.since, endless}
		if i == 0 {
			place.from = 0
		}
		if i+1 < len(places) {
			place.to = places[i+1].since
		}
		for _, s := range d.scopes[p.scope] {
			if s.touches(place) {
				lists = append(lists, []period{{max(s.from, place.from), min(s.to, place.to)}})
			}
		}
	}
	for _, p := range union(lists...) {
		if p.touches(d.window) {
			dark = append(dark, p.dark())
		}
	}
	return slices.Clip(dark)
}

// coveredBy reports whether each of the stretches lies in one of list, which are in order.
func coveredBy(list []sources.Dark, stretches []period) bool {
	return !slices.ContainsFunc(stretches, func(p period) bool {
		i, _ := slices.BinarySearchFunc(list, time.Unix(0, p.from+1), func(d sources.Dark, at time.Time) int { return d.From.Compare(at) })
		return p.from < p.to && (i == 0 || !list[i-1].To.IsZero() && list[i-1].To.Before(time.Unix(0, p.to)))
	})
}
