package tables

import (
	"context"
	"slices"

	"coordtop/sources/tape"
)

// The blocks that have events around an instant, the nearest first.
const (
	blocksWith   = "select b.id, first_event, last_event, lanes from block b where kinds & ?2 <> 0 and "
	blocksBefore = blocksWith + "first_event < ?1 and last_event >= ?3 order by last_event desc, id desc limit ?4 offset ?5"
	blocksAfter  = blocksWith + "last_event >= ?1 and last_event >= ?3 order by first_event, id limit ?4 offset ?5"
)

// packed adds the events in blocks, and the recent ones.
func (s *side) packed(ctx context.Context) {
	s.take(s.recent)
	const some = 32
	text := blocksAfter
	if s.before {
		text = blocksBefore
	}
	for from, n := 0, some; n == some && !s.Over(ctx) && !s.full; from += some {
		var blocks []eventBlock
		var b eventBlock
		var lanes []byte
		s.Each(ctx, text, []any{s.at, s.kinds, s.kept, some, from}, []any{&b.id, &b.first, &b.last, &lanes}, func() {
			b.some = s.lanes == nil || someOf(lanes, func(lane uint64) bool { return s.lanes[lane] })
			blocks = append(blocks, b)
		})
		n = len(blocks)
		s.blocks(ctx, blocks)
	}
}

// eventBlock is a block that has events.
type eventBlock struct {
	id, first, last int64
	some            bool // it has events of the requested lanes
}

// side gathers the nearest events on one side of the instant.
type side struct {
	*around
	most   int
	before bool
	found  []*tape.EventFact
	full   bool // no other block has nearer events
}

// take adds the matching events of list.
func (s *side) take(list []tape.EventFact) {
	for i := range list {
		e := &list[i]
		if at := e.At.UnixNano(); at < s.at == s.before && at >= s.kept && s.kinds>>e.Kind&1 != 0 && (s.lanes == nil || s.lanes[e.Lane]) {
			s.found = append(s.found, e)
		}
	}
}

// cut keeps the nearest events, ordered by distance. It may keep more than most, because it never separates events of
// one instant.
func (s *side) cut() {
	slices.SortStableFunc(s.found, func(a, b *tape.EventFact) int {
		if s.before {
			a, b = b, a
		}
		return a.At.Compare(b.At)
	})
	n := len(s.found)
	for n > s.most && !s.found[n-1].At.Equal(s.found[s.most-1].At) {
		n--
	}
	s.found = s.found[:n]
}

// blocks reads one block after the other, until the next is farther away than the events that were found.
func (s *side) blocks(ctx context.Context, list []eventBlock) {
	for _, b := range list {
		if s.Over(ctx) {
			break
		}
		if len(s.found) >= s.most {
			s.cut()
			farthest := s.found[len(s.found)-1].At.UnixNano()
			if s.full = s.before && b.last < farthest || !s.before && b.first > farthest; s.full {
				break
			}
		}
		if !b.some {
			continue
		}
		_, list := s.body(ctx, b.id)
		s.take(list)
	}
}
