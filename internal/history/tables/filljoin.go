package tables

import (
	"context"
	"maps"
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
		t.exec(f.o.Changed)
		t.pack(&f.group)
		return t.Err
	})
	return done, err
}

// meeting is the correction of what other runs have found.
type meeting struct {
	*Filler
	t        *Tx
	end      time.Time // zero: the stretch is not over
	replaced map[termKey]*tape.TermFact
	old      []tape.TermFact // whose rows go
	found    []Finding
}

// meet corrects the terms of lanes that ran at mark or were the first that another run found.
func (f *Filler) meet(t *Tx, list []*filled, end time.Time) {
	m := meeting{Filler: f, t: t, end: end, replaced: map[termKey]*tape.TermFact{}}
	lanes, ids := map[uint64]*filled{}, map[bool][]int64{}
	for _, s := range list {
		if len(s.ended) > 0 || !end.IsZero() {
			lanes[s.id] = s
			ids[s.many] = append(ids[s.many], int64(s.id))
		}
	}
	for many, some := range ids {
		f.o.Near(t, some, many, func(e *tape.TermFact, at int64) {
			m.term(lanes[e.Lane], *e, max(at, f.next.From.UnixNano()))
		})
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
	m.replace(slices.Collect(maps.Keys(lanes)))
}

// term compares a stored term with what the run says of its lane. at is when another run first saw the lane.
func (m *meeting) term(s *filled, e tape.TermFact, at int64) {
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
				is.Start = sources.Stamp{At: time.Unix(0, at), How: sources.AtLeast}
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
	now := *is
	m.replaced[keyOf(e)], m.old = &now, append(m.old, *e)
	m.t.terms = append(m.t.terms, now)
}

// replace replaces terms where they are packed, and drops events.
func (m *meeting) replace(lanes []uint64) {
	t := m.t
	if len(m.old)+len(m.found) == 0 || t.Err != nil {
		return
	}
	dropped := map[[2]uint64]bool{}
	m.o.Drop(t, m.old, m.found, func(e tape.EventFact) { dropped[[2]uint64{e.Run, e.Seq}] = true })
	changed := false
	terms := func(list []tape.TermFact) (out []tape.TermFact) {
		for i := range list {
			if is := m.replaced[keyOf(&list[i])]; is != nil {
				list[i], changed = *is, true
			}
		}
		return list
	}
	events := func(list []tape.EventFact) []tape.EventFact {
		return slices.DeleteFunc(list, func(e tape.EventFact) bool {
			gone := dropped[[2]uint64{e.Run, e.Seq}]
			changed = changed || gone
			return gone
		})
	}
	var all []tape.TermFact
	var told []tape.EventFact
	t.eachRecent(context.Background(), func(x []tape.TermFact, y []tape.EventFact) {
		all, told = append(all, terms(x)...), append(told, events(y)...)
	})
	if changed {
		t.exec("delete from recent")
		t.exec("insert into recent(body) values(?)", t.packed(encodeFacts(t.w.encoder, all, told)))
	}
	groups := map[uint64]bool{}
	for _, lane := range lanes {
		groups[lane/runningLanes] = true
	}
	for n := range groups {
		var body []byte
		if !t.query("select body from running where n = ?", []any{n}, &body) {
			continue
		}
		all := t.decoded(body)
		had := len(all)
		if all = slices.DeleteFunc(all, func(e tape.TermFact) bool { return m.replaced[keyOf(&e)] != nil }); len(all) < had {
			t.exec("update running set body = ? where n = ?", t.packed(t.w.encoder.Terms(nil, all)), n)
		}
	}
	m.replaceInBlocks(lanes, terms, events, &changed)
	t.exec(m.o.Changed)
}

// replaceInBlocks replaces terms and events in blocks.
func (m *meeting) replaceInBlocks(lanes []uint64, terms func([]tape.TermFact) []tape.TermFact, events func([]tape.EventFact) []tape.EventFact, changed *bool) {
	t := m.t
	wanted := map[uint64]bool{}
	for _, lane := range lanes {
		wanted[lane] = true
	}
	var latest int64
	for i := range m.old {
		latest = max(latest, m.old[i].Start.At.UnixNano(), m.old[i].End.At.UnixNano())
	}
	var ids []int64
	var id int64
	var of, body, told []byte
	t.each("select id, lanes from block where start <= ? and until >= ? and last_lane >= ? and first_lane <= ? order by id",
		[]any{latest, m.mark, slices.Min(lanes), slices.Max(lanes)}, []any{&id, &of}, func() {
			if someOf(of, func(lane uint64) bool { return wanted[lane] }) {
				ids = append(ids, id)
			}
		})
	for _, id := range ids {
		t.query("select terms, events from body where id = ?", []any{id}, &body, &told)
		list := t.decoded(body)
		raw := t.unpacked(told)
		if t.Err != nil {
			return
		}
		facts, err := tape.NewDecoder().Events(raw, list)
		if t.Err = err; err != nil {
			return
		}
		*changed = false
		if list, facts = terms(list), events(facts); *changed {
			t.putBlock(id, list, facts)
		}
	}
}
