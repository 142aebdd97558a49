package tables

import (
	"context"
	"slices"
	"time"

	"coordtop/sources"
	"coordtop/sources/tape"
)

// joined is the number of lanes that one call of Join joins.
const joined = 500

// Join joins what both runs say of some lanes whose owners changed. done reports that none are left, and that the time
// until end, which no Write may reach any more, is no longer unobserved.
func (f *Filler) Join(end time.Time) (done bool, err error) {
	f.Forget() // other runs have seen more lanes
	err = f.Tx(func(t *Tx) error {
		f.begin(t)
		f.to = end
		var list []*filled
		for ref, s := range f.lanes {
			if s.changed && len(list) < joined {
				is := *s
				is.open, is.changed = slices.Clone(s.open), false
				f.changes[ref], list = &is, append(list, &is)
			}
		}
		if done = len(list) == 0; !done {
			f.meet(t, list, end)
			f.keep(t)
			return t.Err
		}
		f.o.Left(t, func(lane int64) { list = append(list, &filled{id: uint64(lane)}) })
		for some := range slices.Chunk(list, joined) {
			f.meet(t, some, end)
			f.keep(t)
		}
		t.exec("update dark set start = ? where scope = 0 and lane <> 0 and start = ? and run > ?", end.UnixNano(), f.mark, f.run.ID)
		t.exec("update lane set gone = ? where gone = ?", end.UnixNano(), f.mark)
		t.exec("update run set last = ?1, ended = ?1 where id = ?2 and last <= ?1", end.UnixNano(), f.run.ID)
		t.pack(&f.group)
		return t.Err
	})
	return done, err
}

// meeting is the correction of what other runs have found.
type meeting struct {
	*Filler
	t     *Tx
	end   time.Time       // zero: the stretch is not over
	old   []tape.TermFact // that are dropped
	found []Finding
}

// meet corrects the terms of lanes that ran at mark or were the first that another run found.
func (f *Filler) meet(t *Tx, list []*filled, end time.Time) {
	m := meeting{Filler: f, t: t, end: end}
	lanes, ids := map[uint64]*filled{}, map[bool][]int64{}
	for _, s := range list {
		if len(s.ended) > 0 || !end.IsZero() {
			lanes[s.id] = s
			ids[s.many] = append(ids[s.many], int64(s.id))
		}
	}
	for many, some := range ids {
		f.o.Near(t, some, many, func(e *tape.TermFact) { m.term(lanes[e.Lane], *e) })
	}
	for _, s := range list {
		if first := sources.EventCreated; !end.IsZero() {
			if s.gone != 0 {
				first = sources.EventDeleted
			}
			m.found = append(m.found, Finding{Lane: s.id, First: first.String()})
		}
	}
	for _, s := range lanes {
		for i := range s.ended {
			t.terms = append(t.terms, f.fact(s, &s.ended[i]))
		}
		s.ended = nil
		if end.IsZero() {
			continue
		}
		for _, x := range s.open {
			if t.w.knownLane(s.id).gone != f.mark { // another run saw the lane, but not this owner
				x.End = sources.Stamp{At: end, How: sources.Bound}
			}
			t.terms = append(t.terms, f.fact(s, &x))
		}
		s.open = nil
	}
	m.drop(lanes)
}

// term compares a stored term with what the run says of its lane.
func (m *meeting) term(s *filled, e tape.TermFact) {
	old, theirs := e.Start.At.UnixNano() <= m.mark, int64(e.Run) > m.run.ID
	if !old && !theirs {
		return // of this stretch
	}
	same := func(x sources.Term) bool { return x.Owner.ID == e.Owner.ID && x.Owner.Fence == e.Owner.Fence }
	later := theirs && (e.End.How == sources.Unknown || !e.End.Earliest().Before(m.next.From)) // they saw it run
	left := e.End.How == sources.Unknown || e.End.How == sources.Bound
	is := e
	if i := slices.IndexFunc(s.ended, func(x sources.Term) bool { return same(x) && (theirs || left || e.End.At.Equal(x.End.At)) }); i >= 0 && old {
		if x := &s.ended[i]; theirs || left {
			is.Run, is.End, is.Cause, is.How, is.Every = uint64(m.run.ID), x.End, x.Cause, x.How, max(e.Every, x.Every)
			m.change(&e, &is)
			if later { // they may have seen another grant of the same owner
				is = e
				is.Start = sources.Stamp{At: m.next.From, How: sources.AtLeast} // or later, where the lane is unobserved
				m.t.terms = append(m.t.terms, is)
			} else if theirs {
				m.found = append(m.found, Finding{Lane: e.Lane, At: e.End.At, Previous: e.Owner.Name()})
			}
		}
		s.ended = slices.Delete(s.ended, i, i+1)
		return
	}
	if m.end.IsZero() {
		return
	}
	i := slices.IndexFunc(s.open, same)
	switch {
	case i >= 0 && old && (theirs || left) && s.open[i].Start.At.UnixNano() <= m.mark: // the same
		s.open = slices.Delete(s.open, i, i+1)
	case i >= 0 && !old && (e.Start.How == sources.AtLeast || e.Start.Earliest().Before(m.next.From)):
		x := &s.open[i]
		is.Start, is.Every = x.Start, max(e.Every, x.Every)
		if is.Sure = sources.Later(x.Sure, e.Sure); e.Owner.Fence == 0 {
			is.Sure = sources.Later(is.Sure, e.Start.At)
		}
		m.found = append(m.found, Finding{Lane: e.Lane, At: e.Start.At, Owner: e.Owner.Name()})
		s.open = slices.Delete(s.open, i, i+1)
	case !old && e.Start.Earliest().Before(m.end) && m.end.Before(e.Start.At):
		is.Start = sources.StampBetween(m.end, e.Start.At, e.Start.How)
	}
	switch {
	case old && !theirs && e.End.How == sources.Bound && e.End.At.UnixNano() == m.mark:
		is.End.At = m.end
	case theirs && e.End.How != sources.Unknown && e.End.Earliest().Before(m.end) && m.end.Before(e.End.At):
		is.End = sources.StampBetween(m.end, e.End.At, e.End.How)
	}
	if is != e {
		m.change(&e, &is)
	}
}

// change replaces a stored term.
func (m *meeting) change(e, is *tape.TermFact) {
	m.old, m.t.terms = append(m.old, *e), append(m.t.terms, *is)
}

// drop drops the old terms of lanes, and the events of what was found.
func (m *meeting) drop(lanes map[uint64]*filled) {
	t, ctx := m.t, context.Background()
	if len(m.old)+len(m.found) == 0 || t.Err != nil {
		return
	}
	old, found := map[termKey]bool{}, map[[2]uint64]bool{}
	latest := int64(0)
	for i := range m.old {
		old[keyOf(&m.old[i])] = true
		latest = max(latest, m.old[i].Start.At.UnixNano(), m.old[i].End.At.UnixNano())
	}
	m.o.Drop(t, m.old, m.found, func(e tape.EventFact) { found[[2]uint64{e.Run, e.Seq}] = true })
	rest := func(terms []tape.TermFact, events []tape.EventFact) ([]tape.TermFact, []tape.EventFact, bool) {
		all := len(terms) + len(events)
		terms = slices.DeleteFunc(terms, func(e tape.TermFact) bool { return old[keyOf(&e)] })
		events = slices.DeleteFunc(events, func(e tape.EventFact) bool { return found[[2]uint64{e.Run, e.Seq}] })
		return terms, events, len(terms)+len(events) < all
	}
	var terms []tape.TermFact
	var events []tape.EventFact
	t.eachRecent(ctx, func(x []tape.TermFact, y []tape.EventFact) { terms, events = append(terms, x...), append(events, y...) })
	if terms, events, changed := rest(terms, events); changed {
		t.exec("delete from recent")
		t.recent(terms, events)
	}
	groups := map[uint64]bool{}
	var ids []uint64
	for lane := range lanes {
		groups[lane/runningLanes], ids = true, append(ids, lane)
	}
	var body []byte
	for n := range groups {
		if t.query("select body from running where n = ?", []any{n}, &body) {
			if terms, _, changed := rest(t.decoded(body), nil); changed {
				t.exec("update running set body = ? where n = ?", t.packed(t.w.encoder.Terms(nil, terms)), n)
			}
		}
	}
	var blocks []int64
	var id int64
	t.each("select id, lanes from block where start <= ? and until >= ? and last_lane >= ? and first_lane <= ? order by id",
		[]any{latest, m.mark, slices.Min(ids), slices.Max(ids)}, []any{&id, &body}, func() {
			if someOf(body, func(lane uint64) bool { return lanes[lane] != nil }) {
				blocks = append(blocks, id)
			}
		})
	for _, id := range blocks {
		if terms, events, changed := rest(t.body(ctx, id)); changed {
			t.exec("delete from body where id = ?", id)
			t.exec("delete from block where id = ?", id)
			if len(terms)+len(events) > 0 {
				t.WriteBlock(terms, events)
			}
		}
	}
}
