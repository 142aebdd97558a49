package record

import (
	"slices"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/tape"
)

// derived is the state whose terms, levels, events and dark stretches were written last.
type derived struct {
	began  time.Time // of the run
	stored time.Time // terms that ended before this are in the store already
	seq    uint64    // of the last event that was written
	state  *sources.State
	scopes map[[2]string][]sources.Dark
}

// The most terms, levels, events and dark stretches in one Batch. 100,000 new rows are written in many Batches, so that
// they are never copied at once, and Inputs are written in between. One Batch takes some tens of milliseconds.
const (
	piece      = 512
	firstPiece = 64 // in a Batch with a keyframe, which must be written soon so that a replay can begin
)

// pieces writes Batches of one span.
type pieces struct {
	*history.Batch     // the one that is not written yet
	terms          int // in its Lanes
	write          func(*history.Batch) error
	between        func() error // called after each Batch except the last
	err            error
	seq, written   uint64 // number of the last event in it, and of the last event that was written
}

// full writes the Batch if there is enough in it, and begins another.
func (p *pieces) full() {
	most := piece
	if p.Keyframe != nil {
		most = firstPiece
	}
	if p.terms+len(p.Lanes)+len(p.Dark)+len(p.Events) < most {
		return
	}
	if p.end(); p.err == nil {
		p.err = p.between()
	}
}

// end writes the Batch, and begins another.
func (p *pieces) end() {
	if p.err == nil {
		p.err = p.write(p.Batch)
	}
	if p.err == nil {
		p.written = p.seq
	}
	p.Batch, p.terms = &history.Batch{Span: p.Span}, 0
}

// lane adds the changes of a row.
func (p *pieces) lane(c history.LaneChange) {
	p.Lanes = append(p.Lanes, c)
	p.terms += len(c.Terms) + len(c.Levels)
}

// flush writes b with the changes since the last call. Many changes need more Batches of the same span; it calls
// between after each of them except the last.
func (d *derived) flush(b *history.Batch, encoder *tape.Encoder, hub *sources.Hub, state *sources.State, since time.Time, write func(*history.Batch) error, between func() error) error {
	p := &pieces{Batch: b, write: write, between: between}
	d.vanished(p, hub, state)
	for slot, row := range state.Rows {
		var old *sources.Row
		if slot < len(d.state.Rows) {
			old = d.state.Rows[slot]
		}
		if old == row || row == nil || p.err != nil {
			continue
		}
		if gone(old, row) {
			old = nil
		}
		d.row(p, state, row, old, since)
		p.full()
	}
	scopes := d.darkness(p.Batch, state)
	seq := d.events(p, encoder, hub, state, since)
	if p.end(); p.err != nil {
		d.seq = max(d.seq, p.written) // otherwise they would be written again
		return p.err
	}
	d.state, d.scopes, d.seq = state, scopes, seq
	return nil
}

// gone reports whether the slot of row old now has another row, or none.
func gone(old, row *sources.Row) bool {
	return old != row && old != nil && (row == nil || row.Ref != old.Ref || row.Gen != old.Gen)
}

// vanished adds the rows that are gone. They come before the others, because a row may have come back.
func (d *derived) vanished(p *pieces, hub *sources.Hub, state *sources.State) {
	var events []sources.Event // since the last State
	for slot, old := range d.state.Rows {
		var row *sources.Row
		if slot < len(state.Rows) {
			row = state.Rows[slot]
		}
		if !gone(old, row) {
			continue
		}
		if events == nil {
			sub := hub.Subscribe(d.state.LastSeq)
			events, _ = sub.Events(0)
			sub.Close()
		}
		c := history.LaneChange{Ref: old.Ref, Kind: old.Kind, Scope: scopeOf(d.state, old), Gone: true, At: state.At}
		c.Terms = slices.DeleteFunc(slices.Clone(termsOf(old)), func(t sources.Term) bool { return t.End.How != sources.Unknown })
		for i := range events {
			if e := &events[i]; e.Ref == old.Ref {
				if c.Terms = reached(c.Terms, e, old.Kind == sources.KindSemaphore); e.Kind == sources.EventDeleted {
					c.At = e.At
					break
				}
			}
		}
		p.lane(c)
		p.full()
	}
}

// reached applies an event to the terms of a row: it adds the term that the event begins, or ends a term.
func reached(terms []sources.Term, e *sources.Event, many bool) []sources.Term {
	at := sources.StampBetween(e.After, e.At, sources.Seen)
	running := func(id string) int {
		return slices.IndexFunc(terms, func(t sources.Term) bool { return t.End.How == sources.Unknown && (t.Owner.ID == id || id == "") })
	}
	if i := running(e.Previous.ID); e.Kind.EndsOwner() && i >= 0 {
		t := &terms[i]
		t.End, t.Cause, t.How = at, e.Cause, e.How
	}
	if e.Kind.BeginsOwner() && e.Owner != (sources.OwnerRef{}) && (many && running(e.Owner.ID) < 0 || !many && running("") < 0) {
		terms = append(terms, sources.Term{Owner: e.Owner, Start: at})
	}
	return terms
}

func scopeOf(s *sources.State, r *sources.Row) string {
	if r.Scope < len(s.Scopes) {
		return s.Scopes[r.Scope].Name
	}
	return ""
}

// row adds the changes of a row.
func (d *derived) row(p *pieces, state *sources.State, row, old *sources.Row, since time.Time) {
	c := history.LaneChange{Ref: row.Ref, Kind: row.Kind, Scope: scopeOf(state, row)}
	terms, lost := d.newTerms(row, old, state)
	for _, t := range terms {
		if old != nil || t.End.How == sources.Unknown || !t.End.At.Before(d.stored) {
			c.Terms = append(c.Terms, t)
		}
	}
	if !lost.IsZero() {
		p.Dark = append(p.Dark, history.DarkChange{Source: row.Source, Scope: c.Scope, Ref: row.Ref, Dark: sources.Dark{From: since, To: lost}})
	}
	var before sources.Level
	if old != nil {
		for before = range old.Levels() { // the last of them
		}
	}
	for l := range row.Levels() {
		if !l.At.Before(before.At) && l != before && (old != nil || !l.At.Before(d.stored)) {
			c.Levels = append(c.Levels, l)
		}
	}
	own := fromOn(d.began, ownDark(row, state))
	var ownBefore []sources.Dark
	if old != nil {
		ownBefore = fromOn(d.began, ownDark(old, d.state))
	}
	for _, dark := range newDark(ownBefore, own) {
		p.Dark = append(p.Dark, history.DarkChange{Source: row.Source, Scope: c.Scope, Ref: row.Ref, Dark: dark})
	}
	if old == nil || old.Kind != row.Kind || len(c.Terms) > 0 || len(c.Levels) > 0 || scopeOf(d.state, old) != c.Scope {
		p.lane(c)
	}
}

// termsOf returns the terms that a row keeps; for a semaphore, those of all its owners.
func termsOf(row *sources.Row) []sources.Term {
	switch {
	case row == nil:
		return nil
	case row.Kind == sources.KindSemaphore && row.Leveled():
		return row.OwnerTerms()
	}
	return row.Terms
}

// newTerms returns the terms of row that began, changed or ended since old; all of them if old is nil. lost is the time
// before which terms were dropped that could not be written; zero if none were.
func (d *derived) newTerms(row, old *sources.Row, state *sources.State) (changed []sources.Term, lost time.Time) {
	was, list := termsOf(old), termsOf(row)
	switch n := len(was); {
	case n == 0 || len(list) == 0:
		return list, lost
	case row.Leveled():
		if since := row.OwnerTermsSince(state); since.After(d.state.At) {
			lost = since
			changed = dropped(was, list, lost)
		}
	case &was[0] == &list[0] && n == len(list):
		return nil, lost
	default: // an earlier term changes if the action that ended it is reported late
		gone, _ := slices.BinarySearchFunc(was, list[0], func(t, first sources.Term) int { return t.Start.At.Compare(first.Start.At) })
		if gone == n && len(list) == sources.MaxTerms {
			lost = list[0].Start.At
			changed = dropped(was, list, lost)
		}
		for i := range list {
			if was := was[gone:]; i >= len(was) || list[i] != was[i] {
				changed = append(changed, list[i])
			}
		}
		return changed, lost
	}
	for _, t := range list {
		if !slices.Contains(was, t) {
			changed = append(changed, t)
		}
	}
	return changed, lost
}

// dropped returns the terms that were running when they were last written, and that the row no longer has. Their ends
// were not seen.
func dropped(was, list []sources.Term, at time.Time) (ended []sources.Term) {
	for _, t := range was {
		if t.End.How == sources.Unknown && !slices.ContainsFunc(list, func(l sources.Term) bool { return l.Start == t.Start && l.Owner == t.Owner }) {
			t.End = sources.Stamp{At: at, How: sources.Bound}
			ended = append(ended, t)
		}
	}
	return ended
}

// events adds the events since the last one that was written, and returns the number of the newest.
func (d *derived) events(p *pieces, encoder *tape.Encoder, hub *sources.Hub, state *sources.State, since time.Time) (seq uint64) {
	sub := hub.Subscribe(d.seq)
	defer sub.Close()
	for seq = d.seq; p.err == nil; p.full() {
		all, missed := sub.Events(piece)
		if missed > 0 {
			p.Lost = append(p.Lost, history.Span{From: since, To: state.At})
		}
		for i := range all {
			if seq = all[i].Seq; all[i].Kind != sources.EventRenewed {
				p.Events = append(p.Events, encoder.Event(all[i]))
			}
		}
		p.seq = seq
		if len(all) < piece {
			break
		}
	}
	return seq
}
