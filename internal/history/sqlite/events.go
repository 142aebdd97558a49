package sqlite

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/tape"
)

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

// Events returns recorded events around an instant, see history.EventReader.
func (r *Reader) Events(ctx context.Context, at time.Time, before, after int, of history.EventFilter) (events []history.Event, err error) {
	err = r.ask(ctx, func(q *query) error {
		a := around{query: q, at: at.UnixNano(), kinds: -1, refs: map[int64]sources.Ref{}}
		if of.Kinds != nil {
			a.kinds = 0
		}
		for _, kind := range of.Kinds {
			a.kinds |= 1 << kind
		}
		a.each(ctx, "select since from kept", nil, []any{&a.kept}, func() {})
		if of.Refs != nil {
			a.lanes = map[uint64]bool{}
			for _, ref := range of.Refs {
				if a.over(ctx) {
					break
				}
				var lane uint64
				a.each(ctx, "select id from lane where source = ? and space = ? and name = ?", []any{ref.Source, ref.Space, ref.Name}, []any{&lane}, func() { a.lanes[lane] = true })
			}
		}
		if a.has >= 6 {
			a.eachRecent(ctx, func(_ []tape.TermFact, list []tape.EventFact) { a.recent = append(a.recent, list...) })
		}
		earlier := a.side(ctx, before, true)
		later := a.side(ctx, after, false)
		events = slices.Concat(earlier[max(len(earlier)-before, 0):], later[:min(len(later), after)])
		return q.err
	})
	return events, err
}

// around reads the events before and after an instant.
type around struct {
	*query
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
	var rows bool
	if a.each(ctx, "select exists(select 1 from event)", nil, []any{&rows}, func() {}); rows {
		s.single(ctx)
	}
	if a.has >= 6 {
		s.packed(ctx)
	}
	s.cut()
	for _, e := range s.found {
		if a.over(ctx) {
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

// single adds the nearest events that are rows, perhaps more than most.
func (s *side) single(ctx context.Context) {
	texts := [3]string{eventsAfter, kindAfter, laneAfter}
	if s.before {
		texts = [3]string{eventsBefore, kindBefore, laneBefore}
	}
	most, shown := s.most, s.kinds
	if s.has == 1 && s.kinds != -1 {
		most, shown = math.MaxInt, -1
	}
	switch {
	case s.lanes != nil:
		for lane := range s.lanes {
			s.read(ctx, texts[2], most, lane, shown)
		}
	case s.kinds != -1 && s.has > 1:
		for kind := range 64 {
			if s.kinds>>kind&1 != 0 {
				s.read(ctx, texts[1], most, kind)
			}
		}
	default:
		s.read(ctx, texts[0], most)
	}
}

// read adds at most so many events that a statement finds. In a file of the first version, in which only the bodies
// have the kinds, it reads all events.
func (s *side) read(ctx context.Context, text string, most int, more ...any) {
	if s.has == 1 {
		text = strings.Replace(text, "from event", "from (select *, 0 as kind from event)", 1)
	}
	var run, seq, lane uint64
	var at int64
	var body []byte
	into := []any{&run, (*unsigned)(&seq), &at, &lane, &body}
	s.each(ctx, text, append([]any{s.at, most}, more...), into, func() {
		f := &tape.EventFact{Lane: lane, Run: run, Event: eventOf(int64(lane))}
		f.Seq, f.At = seq, time.Unix(0, at)
		if s.err = decodeEvent(&f.Event, body); s.err == nil && s.kinds>>f.Kind&1 != 0 {
			s.found = append(s.found, f)
		}
	})
}

// ref returns the primitive of a lane.
func (a *around) ref(ctx context.Context, lane int64) sources.Ref {
	ref, ok := a.refs[lane]
	if !ok {
		a.each(ctx, "select source, space, name from lane where id = ?", []any{lane}, []any{&ref.Source, &ref.Space, &ref.Name}, func() {})
		a.refs[lane] = ref
	}
	return ref
}
