package tables

import (
	"context"
	"slices"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/tape"
)

// Events returns recorded events around an instant, see history.EventReader.
func (r *Reader) Events(ctx context.Context, at time.Time, before, after int, of history.EventFilter) (events []history.Event, err error) {
	err = r.Ask(ctx, func(q *Query) error {
		a := around{Query: q, at: at.UnixNano(), kinds: -1, refs: map[int64]sources.Ref{}}
		if of.Kinds != nil {
			a.kinds = 0
		}
		for _, kind := range of.Kinds {
			a.kinds |= 1 << kind
		}
		a.Each(ctx, "select since from kept", nil, []any{&a.kept}, func() {})
		if of.Refs != nil {
			a.lanes = map[uint64]bool{}
			for _, ref := range of.Refs {
				if a.Over(ctx) {
					break
				}
				var lane uint64
				a.Each(ctx, "select id from lane where source = ? and space = ? and name = ?", []any{ref.Source, ref.Space, ref.Name}, []any{&lane}, func() { a.lanes[lane] = true })
			}
		}
		if a.Blocks {
			a.eachRecent(ctx, func(_ []tape.TermFact, list []tape.EventFact) { a.recent = append(a.recent, list...) })
		}
		earlier := a.side(ctx, before, true)
		later := a.side(ctx, after, false)
		events = slices.Concat(earlier[max(len(earlier)-before, 0):], later[:min(len(later), after)])
		return q.Err
	})
	return events, err
}

// around reads the events before and after an instant.
type around struct {
	*Query
	at    int64
	kept  int64           // events before this count as dropped
	kinds int64           // a bit for each
	lanes map[uint64]bool // nil: any
	refs  map[int64]sources.Ref

	recent []tape.EventFact // events that are in no block yet
}

// side returns the nearest events before the instant, or from it on, in order. It may return more than most.
func (a *around) side(ctx context.Context, most int, before bool) (events []history.Event) {
	if most <= 0 {
		return nil
	}
	s := &side{around: a, most: most, before: before}
	if a.Rows != nil {
		a.Rows.Events(ctx, a.Query, EventRows{At: a.at, Before: before, Most: most, Kinds: a.kinds, Lanes: a.lanes}, func(e *tape.EventFact) { s.found = append(s.found, e) })
	}
	if a.Blocks {
		s.packed(ctx)
	}
	s.cut()
	for _, e := range s.found {
		if a.Over(ctx) {
			break
		}
		if e.Lane != 0 {
			e.Ref = a.ref(ctx, int64(e.Lane))
		}
		events = append(events, history.Event{Event: e.Event, Run: int64(e.Run)})
	}
	slices.SortFunc(events, func(x, y history.Event) int { return x.Compare(&y) })
	return slices.CompactFunc(events, func(x, y history.Event) bool { return x.Compare(&y) == 0 })
}

// ref returns the primitive of a lane.
func (a *around) ref(ctx context.Context, lane int64) sources.Ref {
	ref, ok := a.refs[lane]
	if !ok {
		a.Each(ctx, "select source, space, name from lane where id = ?", []any{lane}, []any{&ref.Source, &ref.Space, &ref.Name}, func() {})
		a.refs[lane] = ref
	}
	return ref
}
