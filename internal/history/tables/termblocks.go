package tables

import (
	"cmp"
	"context"
	"slices"
	"time"

	"coordtop/sources"
	"coordtop/sources/tape"
)

// search looks for the terms of lanes that touch a window.
type search struct {
	*Query
	window period
	dark   *darkness
	lanes  map[uint64]*foundLane
	first  uint64 // the lowest and the highest number of a lane
	last   uint64
	since  int64 // blocks are read for terms that began before this
}

// foundLane is a lane of a search, with the terms that were found, in the order of their starts.
type foundLane struct {
	*listed
	terms []sources.Term
	*tallied
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
func (q *Query) terms(ctx context.Context, lanes []listed, window period, dark *darkness) map[int64][]sources.Term {
	s := q.search(lanes, window, dark)
	if q.Rows != nil {
		for i := range lanes {
			if q.Over(ctx) {
				break
			}
			q.Rows.Terms(ctx, q, TermRows{Lane: lanes[i].id, Many: lanes[i].kind == sources.KindSemaphore, From: window.from, To: window.to + int64(lateness)}, s.take)
		}
	}
	if q.Index != nil && len(lanes) <= mostIndexed {
		s.since = q.Index.Since
		s.indexed(ctx, lanes)
	}
	if q.Blocks {
		s.blocks(ctx, "start < ?1 and until >= ?2", []any{min(window.to, s.since), window.from}, s.take)
		s.going(ctx)
	}
	return s.sorted(ctx)
}

// search returns a search that has found nothing yet.
func (q *Query) search(lanes []listed, window period, dark *darkness) *search {
	s := &search{Query: q, window: window, dark: dark, lanes: make(map[uint64]*foundLane, len(lanes)), first: endless, since: endless}
	for i := range lanes {
		id := uint64(lanes[i].id)
		s.lanes[id], s.first, s.last = &foundLane{listed: &lanes[i]}, min(s.first, id), max(s.last, id)
	}
	return s
}

// lateness is the longest time after a window until which a term that began in it may first be seen, if the lane was
// observed.
const lateness = time.Minute

// indexed takes the terms that the index finds.
func (s *search) indexed(ctx context.Context, lanes []listed) {
	var ids [2][]int64
	for i := range lanes {
		kind := 0
		if lanes[i].kind == sources.KindSemaphore {
			kind = 1
		}
		ids[kind] = append(ids[kind], lanes[i].id)
	}
	for kind, list := range ids {
		if len(list) > 0 && !s.Over(ctx) {
			s.Index.Terms(ctx, s.Query, list, kind == 1, s.window.from, s.window.to+int64(lateness), func(f *tape.TermFact) {
				if f.End.How == sources.Unknown || f.End.At.UnixNano() >= s.dark.kept {
					s.take(f)
				}
			})
		}
	}
}

// begun returns the lane of a term that began before the end of the window, and sets the end that the term has; nil if it
// did not, or the search is not for its lane.
func (s *search) begun(f *tape.TermFact) *foundLane {
	l := s.lanes[f.Lane]
	if l == nil || f.Start.Earliest().UnixNano() >= s.window.to {
		return nil
	}
	if f.End.How == sources.Unknown {
		ended, known := s.dark.runs[int64(f.Run)]
		switch {
		case !known: // its run was left out of a copy
			return nil
		case ended != endless: // its end was not seen
			f.End = sources.Stamp{At: time.Unix(0, ended), How: sources.Bound}
		}
	}
	return l
}

// take adds a term that touches the window or, if only one can own its lane at a time, one that began before the
// window.
func (s *search) take(f *tape.TermFact) {
	l := s.begun(f)
	if l == nil {
		return
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
	s.Each(ctx, "select id, lanes from block where terms > 0 and last_lane >= ?3 and first_lane <= ?4 and "+where+" order by id", append(args, s.first, s.last), []any{&id, &lanes}, func() {
		if someOf(lanes, func(lane uint64) bool { return s.lanes[lane] != nil }) {
			ids = append(ids, id)
		}
	})
	for _, id := range ids {
		if s.Over(ctx) {
			break
		}
		s.block(ctx, id, f)
	}
}

func (s *search) block(ctx context.Context, id int64, f func(*tape.TermFact)) {
	var body []byte
	s.Each(ctx, "select terms from body where id = ?", []any{id}, []any{&body}, func() {
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
	s.Each(ctx, "select body from running where n between ? and ?", []any{s.first / runningLanes, s.last / runningLanes}, []any{&body}, func() { all(s.decoded(body)) })
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
	if s.Blocks {
		s.before(ctx, missing, terms)
	}
	return terms
}

// before looks for the last terms of lanes that began and ended before the window. It reads the blocks with the latest
// terms first, because a block may have been written after later ones.
func (s *search) before(ctx context.Context, missing map[uint64]bool, terms map[int64][]sources.Term) {
	const some = 256
	last, oldest := map[uint64]sources.Term{}, int64(endless)
	found := func(until int64) bool { return len(last) == len(missing) && until <= oldest }
	for beyond, id, n := int64(endless), int64(endless), some; n == some && !found(beyond) && !s.Over(ctx); {
		n = 0
		var blocks []lastBlock
		var b lastBlock
		var of []byte
		s.Each(ctx, "select id, until, lanes from block where (until < ?1 or until = ?1 and id < ?2) and terms > 0 and until < ?3 and start < ?4 and last_lane >= ?5 and first_lane <= ?6 order by until desc, id desc limit ?7",
			[]any{beyond, id, s.window.from, s.since, s.first, s.last, some}, []any{&b.id, &b.until, &of}, func() {
				n++
				b.lanes = slices.Clone(of)
				blocks = append(blocks, b)
			})
		for _, b := range blocks {
			if beyond, id = b.until, b.id; found(beyond) {
				break
			}
			if !someOf(b.lanes, func(lane uint64) bool {
				t, is := last[lane]
				return missing[lane] && (!is || t.End.At.UnixNano() < b.until)
			}) {
				continue
			}
			s.block(ctx, b.id, func(f *tape.TermFact) {
				if t, is := last[f.Lane]; missing[f.Lane] && (!is || t.Start.At.Before(f.Start.At)) {
					last[f.Lane], oldest = f.Term, min(oldest, f.End.At.UnixNano())
				}
			})
		}
	}
	for lane, t := range last {
		terms[int64(lane)] = slices.Insert(terms[int64(lane)], 0, t)
		delete(missing, lane)
	}
}

// lastBlock is a block whose terms ended before a window.
type lastBlock struct {
	id, until int64
	lanes     []byte
}

// EndedBefore returns the last term of each lane that nobody owned at an instant, by lane.
func (q *Query) EndedBefore(ctx context.Context, instant time.Time) (before []tape.TermFact) {
	at := period{instant.UnixNano(), instant.UnixNano()}
	all := q.everything(ctx, at, nil)
	for lane, terms := range q.terms(ctx, all.lanes, at, all.dark) {
		if len(terms) > 0 && terms[0].End.How != sources.Unknown && terms[0].End.At.Before(instant) {
			before = append(before, tape.TermFact{Lane: uint64(lane), Term: terms[0]})
		}
	}
	slices.SortFunc(before, compareTerms)
	return before
}
