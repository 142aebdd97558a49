package record

import (
	"maps"
	"slices"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// derived is what was written of what follows from the Inputs.
type derived struct {
	began  time.Time // of the run
	stored time.Time // what ended before is in the store already
	seq    uint64    // of the last event that was written
	state  *sources.State
	scopes map[[2]string][]sources.Dark
	held   map[sources.Ref]map[string]sources.Term // of semaphores, by the owner's ID: those that have no end
}

func newDerived(began, stored time.Time) derived {
	return derived{began: began, stored: stored, state: &sources.State{}, scopes: map[[2]string][]sources.Dark{}, held: map[sources.Ref]map[string]sources.Term{}}
}

// add puts into b what is new. commit must be called when b was written.
func (d *derived) add(b *history.Batch, encoder *sources.Encoder, hub *sources.Hub, state *sources.State, since time.Time) (commit func()) {
	events, held, seq := d.newEvents(b, encoder, hub, state, since)
	d.vanished(b, hub, state)
	for slot, row := range state.Rows {
		var old *sources.Row
		if slot < len(d.state.Rows) {
			old = d.state.Rows[slot]
		}
		if old == row && (row == nil || held[row.Ref] == nil) {
			continue
		}
		if gone(old, row) {
			old = nil
		}
		if row != nil {
			if old == nil && row.Kind == sources.KindSemaphore && len(row.Terms) == 0 {
				d.present(row, held)
			}
			d.row(b, state, row, old, held[row.Ref], since)
		}
	}
	scopes := d.darkness(b, state)
	b.Events = events
	return func() {
		d.state, d.scopes, d.seq = state, scopes, seq
		for ref, terms := range held {
			d.hold(ref, terms)
		}
	}
}

// gone reports whether a row that was in a slot is not the one that is there now.
func gone(old, row *sources.Row) bool {
	return old != nil && (row == nil || row.Ref != old.Ref || row.Gen != old.Gen)
}

// vanished adds the rows that are gone: before the others, because one may have come back.
func (d *derived) vanished(b *history.Batch, hub *sources.Hub, state *sources.State) {
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
		running := slices.Collect(maps.Values(d.held[old.Ref]))
		if n := len(old.Terms); n > 0 {
			running = old.Terms[n-1:]
		}
		c.Terms = slices.DeleteFunc(slices.Clone(running), func(t sources.Term) bool { return t.End.How != sources.Unknown })
		for i := range events {
			if e := &events[i]; e.Ref == old.Ref {
				if c.Terms = reached(c.Terms, e, old.Kind == sources.KindSemaphore); e.Kind == sources.EventDeleted {
					c.At = e.At
					break
				}
			}
		}
		b.Lanes = append(b.Lanes, c)
	}
}

// reached adds to the terms of a row what an event says of them.
func reached(terms []sources.Term, e *sources.Event, many bool) []sources.Term {
	at := sources.StampBetween(e.After, e.At, sources.Seen)
	if e.After.IsZero() {
		at.How = sources.Told
	}
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

// row adds what is new of a row.
func (d *derived) row(b *history.Batch, state *sources.State, row, old *sources.Row, held []sources.Term, since time.Time) {
	c := history.LaneChange{Ref: row.Ref, Kind: row.Kind, Scope: scopeOf(state, row), Terms: held}
	var was []sources.Term
	if old != nil {
		was = old.Terms
	}
	terms, lost := newTerms(was, row.Terms)
	for _, t := range terms {
		if old != nil || t.End.How == sources.Unknown || !t.End.At.Before(d.stored) {
			c.Terms = append(c.Terms, t)
		}
	}
	if lost {
		b.Dark = append(b.Dark, history.DarkChange{Source: row.Source, Scope: c.Scope, Ref: row.Ref, Dark: sources.Dark{From: since, To: row.Terms[0].Start.At}})
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
		b.Dark = append(b.Dark, history.DarkChange{Source: row.Source, Scope: c.Scope, Ref: row.Ref, Dark: dark})
	}
	if old == nil || old.Kind != row.Kind || len(c.Terms) > 0 || len(c.Levels) > 0 || scopeOf(d.state, old) != c.Scope {
		b.Lanes = append(b.Lanes, c)
	}
}

// newTerms are the terms that began, changed or ended since old was the list. lost reports
// whether there were others between the two lists.
func newTerms(old, list []sources.Term) (changed []sources.Term, lost bool) {
	if len(list) == 0 || len(old) > 0 && &old[0] == &list[0] && len(old) == len(list) {
		return nil, false
	}
	if len(old) == 0 {
		return list, false
	}
	last := old[len(old)-1]
	from, _ := slices.BinarySearchFunc(list, last, func(t, last sources.Term) int { return t.Start.At.Compare(last.Start.At) })
	lost = from == 0 && len(list) == sources.MaxTerms && list[0].Start.At.After(last.Start.At)
	for _, t := range list[from:] {
		if t != last {
			changed = append(changed, t)
		}
	}
	return changed, lost
}

// newEvents reads the events since the last ones that were written, and makes terms of those
// of semaphores.
func (d *derived) newEvents(b *history.Batch, encoder *sources.Encoder, hub *sources.Hub, state *sources.State, since time.Time) (events []sources.Event, held map[sources.Ref][]sources.Term, seq uint64) {
	sub := hub.Subscribe(d.seq)
	all, missed := sub.Events(0)
	sub.Close()
	if missed > 0 {
		b.Lost = append(b.Lost, history.Span{From: since, To: state.At})
	}
	held, seq = map[sources.Ref][]sources.Term{}, d.seq
	for i := range all {
		e := &all[i]
		seq = e.Seq
		if e.Kind == sources.EventRenewed {
			continue
		}
		events = append(events, encoder.Event(*e))
		if e.RefKind == sources.KindSemaphore {
			d.ownership(e, held)
		}
	}
	return events, held, seq
}

// ownership makes terms of an event of a semaphore.
func (d *derived) ownership(e *sources.Event, held map[sources.Ref][]sources.Term) {
	at := sources.StampBetween(e.After, e.At, sources.Seen)
	if e.After.IsZero() {
		at.How = sources.Told
	}
	if e.Kind.EndsOwner() {
		t, known := d.open(e.Ref, e.Previous.ID, held[e.Ref])
		if !known {
			t = sources.Term{Owner: e.Previous, Start: sources.Stamp{At: e.At.Add(-e.Held.Min), How: sources.AtLeast}}
		}
		t.End, t.Cause, t.How = at, e.Cause, e.How
		held[e.Ref] = append(held[e.Ref], t)
	}
	if e.Kind.BeginsOwner() && e.Owner != (sources.OwnerRef{}) {
		if e.Kind == sources.EventPresent {
			at = sources.Stamp{At: e.At, How: sources.AtLeast}
		}
		held[e.Ref] = append(held[e.Ref], sources.Term{Owner: e.Owner, Start: at})
	}
}

// present makes terms of the owners that a semaphore has when its row is new, and of which no
// event said that they took it: those of an earlier run.
func (d *derived) present(row *sources.Row, held map[sources.Ref][]sources.Term) {
	for i := range row.Owners {
		o := &row.Owners[i]
		if _, known := d.open(row.Ref, o.ID, held[row.Ref]); !known {
			start := sources.Stamp{At: sources.Earlier(row.At, d.began), How: sources.AtLeast}
			if o.Since.How != sources.Unknown {
				start.At = sources.Earlier(start.At, o.Since.At)
			}
			held[row.Ref] = append(held[row.Ref], sources.Term{Owner: sources.OwnerRef{ID: o.ID, Label: o.Label, Fence: o.Fence}, Start: start})
		}
	}
}

// open finds the running term of an owner: among the latest, else among those that were written.
func (d *derived) open(ref sources.Ref, id string, latest []sources.Term) (sources.Term, bool) {
	for _, t := range slices.Backward(latest) {
		if t.Owner.ID == id {
			return t, t.End.How == sources.Unknown
		}
	}
	t, known := d.held[ref][id]
	return t, known
}

// hold keeps which terms of a semaphore have no end.
func (d *derived) hold(ref sources.Ref, terms []sources.Term) {
	running := d.held[ref]
	if running == nil {
		running = map[string]sources.Term{}
		d.held[ref] = running
	}
	for _, t := range terms {
		if t.End.How == sources.Unknown {
			running[t.Owner.ID] = t
		} else {
			delete(running, t.Owner.ID)
		}
	}
	if len(running) == 0 {
		delete(d.held, ref)
	}
}
