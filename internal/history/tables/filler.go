package tables

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/tape"
)

// FillOptions are the part of a store that only a Filler needs.
type FillOptions struct {
	// Near calls f with the terms of lanes that touch the end of the run, and with the first later one that another run
	// found; if many can own a lane, with the first one of each owner.
	Near func(t *Tx, lanes []int64, many bool, f func(*tape.TermFact))

	// Left calls f with the lanes whose terms were left at the end of the run because no later run found them.
	Left func(t *Tx, f func(lane int64))

	// Drop removes rows of terms, and those of events that other runs made from what they found. It calls f with each
	// of these events.
	Drop func(t *Tx, terms []tape.TermFact, found []Finding, f func(tape.EventFact))
}

// Finding identifies an event that a run made from its first look at a lane. One of three texts is set: Owner owned the
// lane, Previous owned it no more, or First tells whether the lane existed.
type Finding struct {
	Lane                   uint64
	At                     time.Time // zero with First
	Owner, Previous, First string    // First is created or deleted
}

// Filler goes on with a run after another one has begun. It writes what the recorder of the run saw before that. From
// its first Write to Join everything counts as unobserved from the previous end of the run on; Join joins what both
// runs say. One goroutine uses it. Each of its calls must be repeated, or followed by Commit.
type Filler struct {
	*Writer
	o    FillOptions
	next history.Run // the one that has begun since
	mark int64       // the previous end of the run

	young map[uint64]int64 // lanes that other runs made, and when they began
	left  map[uint64]int64 // lanes that were gone at mark and that another run has seen since, and since when they were gone

	lanes   map[sources.Ref]*filled
	changes map[sources.Ref]*filled // of the last call, and so are the others here
	group   openGroup
	to      time.Time
}

// filled is a lane as the recorder of the run saw it after mark.
type filled struct {
	id      uint64
	many    bool
	changed bool           // since mark
	gone    int64          // since when it is gone; 0: it is not
	open    []sources.Term // that run and began about mark or later
	ended   []sources.Term // that ran at mark and ended in this Write
}

// lag is longer than the time by which terms are written later than the Inputs from which they come.
const lag = 10 * time.Second

// NewFiller returns a Filler that goes on with a run, whose end is run.To.
func NewFiller(o Options, fill FillOptions, run, next history.Run) *Filler {
	f := &Filler{Writer: New(o), o: fill, next: next, mark: run.To.UnixNano(), lanes: map[sources.Ref]*filled{}}
	f.Writer.filler, f.run, f.before = f, run, f.mark
	return f
}

// Prepare reads what the store has. It must be called before the first Write.
func (f *Filler) Prepare() error {
	return f.Tx(func(t *Tx) error {
		f.young, f.left = map[uint64]int64{}, map[uint64]int64{}
		var id uint64
		var since int64
		t.each("select id, since from lane where since > ?", []any{f.mark}, []any{&id, &since}, func() { f.young[id] = since })
		t.each("select lane, start from dark where scope = 0 and lane <> 0 and run > ? and start < ?", []any{f.run.ID, f.mark}, []any{&id, &since}, func() { f.left[id] = since })
		t.exec("update dark set until = ? where run = ? and until is null", f.mark, f.run.ID)
		return t.Err
	})
}

// Commit keeps what the last call has written.
func (f *Filler) Commit() {
	maps.Copy(f.lanes, f.changes)
	f.Writer.group, f.run.To = f.group, sources.Later(f.run.To, f.to)
}

// begin forgets what a call has done that failed. It stops the fill if the present Writer has dropped the open group,
// because nobody would ever read or drop what it adds.
func (f *Filler) begin(t *Tx) {
	if id := f.Writer.group.id; id != 0 && !t.query("select id from gop where id = ?", []any{id}, &id) && t.Err == nil {
		t.Err = fmt.Errorf("%w: the store is too large", history.ErrSuperseded)
	}
	f.changes, f.group, f.to = map[sources.Ref]*filled{}, f.Writer.group, f.run.To
}

// Write stores b, see record.Output.
func (f *Filler) Write(b *history.Batch) error {
	return f.Tx(func(t *Tx) error {
		f.begin(t)
		f.group, f.to = f.write(t, b), b.Span.To
		for i := range b.Lanes {
			f.laneChange(t, &b.Lanes[i], b.Span)
		}
		rest := *b
		if f.run.To.Before(b.Span.From) { // what is between was dropped before it could be written
			rest.Lost = append(slices.Clip(b.Lost), history.Span{From: f.run.To, To: b.Span.From})
		}
		t.facts(&rest)
		f.meet(t, slices.Collect(maps.Values(f.changes)), time.Time{})
		f.keep(t)
		t.exec("update run set last = ?1, ended = ?1 where id = ?2 and last < ?1", b.Span.To.UnixNano(), f.run.ID)
		return t.Err
	})
}

// find reads a lane that another run may have made after mark. If no run made it, find returns nil.
func (f *Filler) find(t *Tx, ref sources.Ref) (l *knownLane) {
	var id uint64
	var kind sources.Kind
	var gone, since int64
	if t.query("select id, kind, coalesce(gone, 0), since from lane where source = ? and space = ? and name = ?", []any{ref.Source, ref.Space, ref.Name}, &id, &kind, &gone, &since) {
		l = t.w.knownLane(id)
		l.kind, l.gone, t.w.lanes[ref], f.young[id] = kind, gone, l, since
		return l
	}
	t.query("select coalesce(max(id), 0) from lane", nil, &t.w.last)
	return nil
}

// unseen marks a lane that is new as unobserved, until another run sees it.
func (f *Filler) unseen(t *Tx, l *knownLane) {
	l.gone = f.mark
	t.exec("update lane set gone = ? where id = ?", f.mark, l.id)
}

// of returns what is known of a lane since mark, for a change.
func (f *Filler) of(ref sources.Ref, l *knownLane) *filled {
	s := f.changes[ref]
	if s == nil {
		s = &filled{id: l.id, gone: f.left[l.id]}
		if l.gone != 0 && l.gone < f.mark {
			s.gone = l.gone
		}
		if was := f.lanes[ref]; was != nil {
			*s = *was
			s.open, s.ended = slices.Clone(was.open), nil
		}
		f.changes[ref] = s
	}
	s.many = l.kind == sources.KindSemaphore
	return s
}

// laneChange stores the changes of a primitive.
func (f *Filler) laneChange(t *Tx, c *history.LaneChange, span history.Span) {
	since := f.since(c, span).UnixNano()
	l := t.lane(c.Ref, c.Kind, time.Unix(0, since))
	if t.Err != nil {
		return
	}
	s := f.of(c.Ref, l)
	t.placed(l, c, span)
	young := f.young[l.id]
	if s.changed = s.changed || c.Gone || s.gone != 0 || young != 0; young > since && s.gone == 0 {
		t.exec("update lane set since = ?1 where id = ?2 and since > ?1", since, l.id)
		t.exec("insert into dark values(0,?,?,?,?) on conflict do nothing", l.id, f.mark, young, f.next.ID)
	}
	if s.gone != 0 && !c.Gone {
		if since <= s.gone { // it came back somewhere in this Write
			since = span.To.UnixNano()
		}
		f.move(t, l.id, s.gone, f.mark)
		t.exec("insert into dark values(0,?,?,?,?) on conflict do nothing", l.id, s.gone, since, f.run.ID)
		s.gone = 0
	}
	for i := range c.Terms {
		x := c.Terms[i]
		if c.Gone && x.End.How == sources.Unknown {
			x.End = sources.Stamp{At: sources.Later(x.Start.At, c.At), How: sources.Bound}
		}
		f.term(t, s, l, &x)
	}
	t.levels(l, c.Levels)
	if c.Gone && s.gone == 0 {
		s.gone = c.At.UnixNano()
		f.move(t, l.id, f.mark, s.gone)
	}
}

// move changes the instant from which on a lane is unobserved until another run sees it.
func (f *Filler) move(t *Tx, lane uint64, from, to int64) {
	t.exec("update dark set start = ? where scope = 0 and lane = ? and start = ? and run > ?", to, lane, from, f.run.ID)
	t.exec("update lane set gone = ? where id = ? and gone = ?", to, lane, from)
}

// term stores a term that ended, and keeps one that runs for Join.
func (f *Filler) term(t *Tx, s *filled, l *knownLane, x *sources.Term) {
	began, ended := x.Start.At.UnixNano(), x.End.How != sources.Unknown
	s.open = slices.DeleteFunc(s.open, func(o sources.Term) bool { return o.Owner.ID == x.Owner.ID })
	if !ended && began <= f.mark-int64(lag) {
		return // it ran all the time
	}
	s.changed, x.Hue = true, l.hue(x)
	switch {
	case !ended:
		s.open = append(s.open, *x)
	case began > f.mark:
		t.terms = append(t.terms, f.fact(s, x))
	default:
		s.ended = append(s.ended, *x)
	}
}

// fact returns a term of the run.
func (f *Filler) fact(s *filled, x *sources.Term) tape.TermFact {
	return tape.TermFact{Lane: s.id, Run: uint64(f.run.ID), Term: *x}
}

// keep stores the terms and events of a call. The present Writer makes blocks of them.
func (f *Filler) keep(t *Tx) {
	if len(t.terms)+len(t.events) > 0 {
		t.w.o.Rows(t, t.terms, t.events)
		t.recent(t.terms, t.events)
	}
	t.terms, t.events = nil, nil
}
