package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"slices"
	"strings"
	"time"

	"coordtop/sources"
	"coordtop/sources/tape"
)

// search looks for the terms of lanes that touch a window.
type search struct {
	*query
	window period
	dark   *darkness
	lanes  map[uint64]*foundLane
	first  uint64 // the lowest and the highest number of a lane
	last   uint64
}

// foundLane is a lane of a search, with the terms that were found, in the order of their starts.
type foundLane struct {
	*listed
	terms []sources.Term
}

// find returns the index of a term, or the index at which to insert it. It is nearly always the last.
func (l *foundLane) find(t *sources.Term) (place int, found bool) {
	order := func(a sources.Term, b *sources.Term) int {
		return cmp.Or(a.Start.At.Compare(b.Start.At), cmp.Compare(a.Owner.ID, b.Owner.ID))
	}
	if n := len(l.terms); n == 0 || order(l.terms[n-1], t) < 0 {
		return n, false
	}
	return slices.BinarySearchFunc(l.terms, t, order)
}

func (l *foundLane) remove(t *sources.Term) {
	if i, found := l.find(t); found {
		l.terms = slices.Delete(l.terms, i, i+1)
	}
}

// terms returns the terms of each lane that touch a window, by lane and in the order of their starts. If only one can
// own the lane at a time, the first is the last term that began before the window, even if it had ended by then.
func (q *query) terms(ctx context.Context, lanes []listed, window period, dark *darkness) map[int64][]sources.Term {
	s := &search{query: q, window: window, dark: dark, lanes: make(map[uint64]*foundLane, len(lanes)), first: endless}
	for i := range lanes {
		id := uint64(lanes[i].id)
		s.lanes[id], s.first, s.last = &foundLane{listed: &lanes[i]}, min(s.first, id), max(s.last, id)
	}
	rows := q.has < 6
	if !rows {
		q.each(ctx, "select exists(select 1 from term)", nil, []any{&rows}, func() {})
	}
	if rows {
		for i := range lanes {
			if q.over(ctx) {
				break
			}
			text := rowsOfOne
			if lanes[i].kind == sources.KindSemaphore {
				text = rowsOfMany
			}
			q.rows(ctx, text, []any{lanes[i].id, window.from, window.to + late}, s.take)
		}
	}
	if q.has >= 6 {
		s.blocks(ctx, "start < ?1 and until >= ?2", []any{window.to, window.from}, s.take)
		s.going(ctx)
	}
	return s.sorted(ctx)
}

// take adds a term that touches the window or, if only one can own its lane at a time, one that began before the
// window.
func (s *search) take(f *tape.TermFact) {
	l := s.lanes[f.Lane]
	if l == nil || f.Start.Earliest().UnixNano() >= s.window.to {
		return
	}
	if f.End.How == sources.Unknown {
		ended, known := s.dark.runs[int64(f.Run)]
		switch {
		case !known: // its run was left out of a copy
			return
		case ended != endless: // its end was not seen
			f.End = sources.Stamp{At: time.Unix(0, ended), How: sources.Bound}
		}
	}
	if l.kind == sources.KindSemaphore && f.End.How != sources.Unknown && f.End.At.UnixNano() < s.window.from {
		l.remove(&f.Term) // an earlier entry of it had no end
		return
	}
	if i, found := l.find(&f.Term); found {
		l.terms[i] = f.Term
	} else {
		l.terms = slices.Insert(l.terms, i, f.Term)
	}
}

// blocks calls f with the terms of the lanes in each block that a condition chooses, the oldest first.
func (s *search) blocks(ctx context.Context, where string, args []any, f func(*tape.TermFact)) {
	var ids []int64
	var id int64
	var lanes []byte
	s.each(ctx, "select id, lanes from block where terms > 0 and last_lane >= ?3 and first_lane <= ?4 and "+where+" order by id", append(args, s.first, s.last), []any{&id, &lanes}, func() {
		if someOf(lanes, func(lane uint64) bool { return s.lanes[lane] != nil }) {
			ids = append(ids, id)
		}
	})
	for _, id := range ids {
		if s.over(ctx) {
			break
		}
		s.block(ctx, id, f)
	}
}

func (s *search) block(ctx context.Context, id int64, f func(*tape.TermFact)) {
	var body []byte
	s.each(ctx, "select terms from body where id = ?", []any{id}, []any{&body}, func() {
		list := s.decoded(body)
		for i := range list {
			f(&list[i])
		}
	})
}

// going adds the terms that had no end when blocks were last made, and the recent ones.
func (s *search) going(ctx context.Context) {
	var body []byte
	all := func(list []tape.TermFact) {
		for i := range list {
			if f := &list[i]; f.End.How == sources.Unknown || f.End.At.UnixNano() >= s.dark.kept {
				s.take(f)
			} else if l := s.lanes[f.Lane]; l != nil { // the term is dropped like its block
				l.remove(&f.Term)
			}
		}
	}
	s.each(ctx, "select body from running where n between ? and ?", []any{s.first / runningLanes, s.last / runningLanes}, []any{&body}, func() { all(s.decoded(body)) })
	s.eachRecent(ctx, func(terms []tape.TermFact, _ []tape.EventFact) { all(terms) })
}

// sorted returns the terms that were found, with the last term before the window for each lane that lacks it.
func (s *search) sorted(ctx context.Context) map[int64][]sources.Term {
	terms := make(map[int64][]sources.Term, len(s.lanes))
	missing := map[uint64]bool{}
	for id, l := range s.lanes {
		list := l.terms
		if terms[l.id] = list; l.kind == sources.KindSemaphore {
			continue
		}
		before := 0 // number of terms that began before the window
		for ; before < len(list) && list[before].Start.At.UnixNano() <= s.window.from; before++ {
		}
		if before > 0 {
			terms[l.id] = list[before-1:]
		} else if l.since <= s.window.from {
			missing[id] = true
		}
	}
	if s.has >= 6 {
		s.before(ctx, missing, terms)
	}
	return terms
}

// before looks for the last terms of lanes that began and ended before the window, the newest block first.
func (s *search) before(ctx context.Context, missing map[uint64]bool, terms map[int64][]sources.Term) {
	const some = 256
	for beyond, n := int64(endless), some; len(missing) > 0 && n == some && !s.over(ctx); {
		n = 0
		var ids []int64
		var lanes [][]byte
		var id int64
		var of []byte
		s.each(ctx, "select id, lanes from block where id < ? and terms > 0 and until < ? and last_lane >= ? and first_lane <= ? order by id desc limit ?",
			[]any{beyond, s.window.from, s.first, s.last, some}, []any{&id, &of}, func() {
				n++
				ids, lanes = append(ids, id), append(lanes, slices.Clone(of))
			})
		for i, id := range ids {
			if beyond = id; !someOf(lanes[i], func(lane uint64) bool { return missing[lane] }) {
				continue
			}
			last := map[uint64]sources.Term{}
			s.block(ctx, id, func(f *tape.TermFact) {
				if missing[f.Lane] {
					last[f.Lane] = f.Term
				}
			})
			for lane, t := range last {
				terms[int64(lane)] = slices.Insert(terms[int64(lane)], 0, t)
				delete(missing, lane)
			}
		}
	}
}

// In a file of a version before 6 a term is a row. If only one can own a lane at a time, the term that ran when the
// window began is the last one that began before it.
const (
	rowColumns  = "select lane, owner, label, fence, cause, how, program, hue, start, start_how, start_within, until, until_how, until_within, run, sure, every from term "
	rowsOfOne   = rowColumns + "where lane = ?1 and start < ?3 and start >= coalesce((select max(start) from term where lane = ?1 and start <= ?2), ?2) order by start"
	rowsOfMany  = rowColumns + "where lane = ?1 and start < ?3 and (until is null or until >= ?2) order by start"
	runningRows = rowColumns + "where until is null"
)

// late is the longest time after a window until which a term that began in it may first be seen, if the lane was
// observed.
const late = int64(time.Minute)

// rows calls f with each term that a statement returns.
func (q *query) rows(ctx context.Context, text string, args []any, f func(*tape.TermFact)) {
	if q.has < 4 {
		text = strings.Replace(text, "sure, every", "0, "+everyBefore, 1)
	}
	var t tape.TermFact
	var start, startWithin, untilWithin, sure, every int64
	var until sql.NullInt64
	into := []any{&t.Lane, &t.Owner.ID, &t.Owner.Label, (*unsigned)(&t.Owner.Fence), &t.Cause, &t.How, &t.Program, &t.Hue,
		&start, &t.Start.How, &startWithin, &until, &t.End.How, &untilWithin, &t.Run, &sure, &every}
	q.each(ctx, text, args, into, func() {
		if t.Cause > sources.CauseSession || max(t.How, t.Start.How, t.End.How) > sources.Ours {
			q.err = damage("a term")
			return
		}
		one := t
		one.Start, one.Every, one.End = stampOf(start, startWithin, t.Start.How), time.Duration(every), sources.Stamp{}
		if one.Sure = at(sure); until.Valid {
			one.End = stampOf(until.Int64, untilWithin, t.End.How)
		}
		f(&one)
	})
}

func stampOf(at, within int64, how sources.Known) sources.Stamp {
	return sources.StampBetween(time.Unix(0, at-within), time.Unix(0, at), how)
}
