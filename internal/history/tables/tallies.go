package tables

import (
	"cmp"
	"context"
	"hash/maphash"
	"slices"

	"coordtop/sources"
	"coordtop/sources/lane"
	"coordtop/sources/tape"
)

// tallies sums up lanes in one pass over the blocks, without keeping their terms. The terms of a lane come in the order
// of their beginnings, unless a clock was set back, or one that is in a block was written again: such a lane is summed up
// on its own.
type tallies struct {
	from    *search
	seed    maphash.Seed
	changes int // in all lanes
}

// tallied is the sum of a lane.
type tallied struct {
	lane.Tally
	entries  int           // of all terms
	began    int64         // the start of the last of them
	opening  *sources.Term // the last that began before the window, until the next is added; else nil
	preceded bool          // one of them began before the window
	alone    bool          // it cannot be summed up in the pass
	changes  []change      // of a semaphore
}

// change is a term of a semaphore whose beginning was seen in the window.
type change struct {
	at    int64
	owner uint64 // its hash
}

const (
	summedTerms   = 500_000   // about the most terms held at once, of lanes that cannot be summed up in the pass
	summedChanges = 4_000_000 // the most changes of semaphores held at once
	bodiesAtOnce  = 64        // read by one statement
)

// sum sums up the terms of a window for each of the lanes, which are in the order of their numbers.
func (q *Query) sum(ctx context.Context, window period, all *everything) []lane.Sum {
	s := &tallies{from: q.search(all.lanes, window, all.dark), seed: maphash.MakeSeed()}
	for i := range all.lanes {
		l := &all.lanes[i]
		s.from.lanes[uint64(l.id)].tallied = &tallied{Tally: all.tally(l, window), alone: q.Rows != nil}
	}
	if q.Blocks {
		s.from.going(ctx)
		s.pass(ctx)
		s.finish(ctx)
	}
	sums, alone := make([]lane.Sum, len(all.lanes)), []int(nil)
	for i := range all.lanes {
		switch l := s.from.lanes[uint64(all.lanes[i].id)]; {
		case l.alone:
			alone = append(alone, i)
		case l.kind == sources.KindSemaphore:
			slices.SortFunc(l.changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.owner, b.owner)) })
			sums[i].Changes = len(slices.Compact(l.changes))
		default:
			sums[i] = l.Sum()
		}
	}
	for len(alone) > 0 && !q.Over(ctx) {
		var some []listed
		for terms := 0; len(some) < len(alone) && terms < summedTerms; {
			one := all.lanes[alone[len(some)]]
			some, terms = append(some, one), terms+s.from.lanes[uint64(one.id)].entries
		}
		found := q.terms(ctx, some, window, all.dark)
		for i := range some {
			sums[alone[i]] = all.sum(&some[i], found[some[i].id], window)
		}
		alone = alone[len(some):]
	}
	return sums
}

// pass adds the terms in blocks.
func (s *tallies) pass(ctx context.Context) {
	decoder := tape.NewDecoder()
	var id int64
	var body, raw []byte
	for until, n := s.from.window.from, bodiesAtOnce; n == bodiesAtOnce && !s.from.Over(ctx); {
		n = 0 // in the order of their ends: a stretch that was filled is in later blocks
		s.from.Each(ctx, "select until, id, body.terms from block join body using(id) where (until, id) > (?, ?) and block.terms > 0 and start < ? order by until, id limit ?",
			[]any{until, id, s.from.window.to, bodiesAtOnce}, []any{&until, &id, &body}, func() {
				n++
				if raw = s.from.unpackedInto(raw[:0], body); s.from.Err == nil {
					s.from.Err = decoder.EachTerm(raw, func(f *tape.TermFact) {
						if l := s.from.begun(f); l != nil {
							s.add(l, &f.Term)
						}
					})
				}
			})
	}
}

// add adds the next term of a lane.
func (s *tallies) add(l *foundLane, t *sources.Term) {
	l.entries++
	if l.kind == sources.KindSemaphore {
		if at := t.Start.At.UnixNano(); t.Start.Happened() && at >= s.from.window.from && at < s.from.window.to && !l.alone {
			l.changes = append(l.changes, change{at, maphash.String(s.seed, t.Owner.ID)})
			if s.changes++; s.changes >= summedChanges {
				s.changes -= len(l.changes)
				l.alone, l.changes = true, nil
			}
		}
		return
	}
	switch at := t.Start.At.UnixNano(); {
	case l.entries > 1 && at <= l.began:
		l.alone = true
	case at <= s.from.window.from:
		one := *t
		l.began, l.opening, l.preceded = at, &one, true
	default:
		l.open()
		l.began = at
		l.Add(t)
	}
}

// open adds the opening term.
func (l *tallied) open() {
	if l.opening != nil {
		l.Add(l.opening)
		l.opening = nil
	}
}

// finish adds the terms that are in no block, and the last ones before the window.
func (s *tallies) finish(ctx context.Context) {
	missing, found := map[uint64]bool{}, map[int64][]sources.Term{}
	for id, l := range s.from.lanes {
		for i := range l.terms {
			s.add(l, &l.terms[i])
		}
		if l.kind == sources.KindSemaphore || l.alone {
			continue
		}
		if l.open(); !l.preceded && l.since <= s.from.window.from {
			missing[id] = true
		}
	}
	s.from.before(ctx, missing, found)
	for id, list := range found {
		s.from.lanes[uint64(id)].Precede(&list[0])
	}
}
