package sqlite

import (
	"database/sql"
	"slices"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/tape"
)

// knownLane is the writer's state of a primitive.
type knownLane struct {
	id      uint64
	scope   int64
	kind    sources.Kind
	gone    int64     // the time since when the row is gone; 0: it exists
	running []running // terms without an end, one for each owner
	recent  []hued    // the last programs that owned it, oldest first
}

// running is a term that has no end yet.
type running struct {
	tape.TermFact
	told int64 // start as this run reported it; 0: not reported yet
}

// hued is a program that has a hue.
type hued struct {
	owner   sources.OwnerRef
	program sources.Program
	hue     uint8
}

type scopeName struct{ source, name string }

const (
	hues      = 64 // number of programs of a lane that have their own hue
	hueBlocks = 8  // number of last blocks that are read for the hues at the start, before the first write
)

// lane returns the lane of ref, and makes it if it is new.
func (t *tx) lane(ref sources.Ref, kind sources.Kind, now time.Time) *knownLane {
	l := t.w.lanes[ref]
	if l != nil || t.err != nil {
		return l
	}
	found := knownLane{kind: kind}
	if t.query("select id, kind, coalesce(gone, 0), coalesce((select scope from placed where lane = id order by since desc limit 1), 0) from lane where source = ? and space = ? and name = ?",
		[]any{ref.Source, ref.Space, ref.Name}, &found.id, &found.kind, &found.gone, &found.scope) {
		t.hues(found.id)
	} else {
		found.id = uint64(t.insert("insert into lane(source, space, name, kind, since) values(?,?,?,?,?)", ref.Source, ref.Space, ref.Name, kind, now.UnixNano()))
	}
	l = t.w.knownLane(found.id)
	l.kind, l.gone, l.scope = found.kind, found.gone, found.scope
	t.w.lanes[ref] = l
	return l
}

// hues reads the last owners of a lane from the rows of an earlier version.
func (t *tx) hues(lane uint64) {
	l := t.w.knownLane(lane)
	if !t.w.rows || len(l.recent) > 0 {
		return
	}
	var p sources.Term
	last := "(select * from term where lane = ? order by start desc limit ?)"
	t.each("select owner, label, program, hue from "+last+" order by start", []any{lane, hues},
		[]any{&p.Owner.ID, &p.Owner.Label, &p.Program, &p.Hue}, func() { l.owned(&p) })
}

// owned adds an owner of the lane with its hue.
func (l *knownLane) owned(term *sources.Term) {
	if l.program(term) == nil {
		if len(l.recent) == hues {
			l.recent = l.recent[1:]
		}
		l.recent = append(l.recent, hued{term.Owner, term.Program, term.Hue})
	}
}

// program returns the program of term; nil if it is not among the last programs that owned the lane.
func (l *knownLane) program(term *sources.Term) *hued {
	if i := slices.IndexFunc(l.recent, func(r hued) bool {
		of := sources.Term{Owner: r.owner, Program: r.program}
		return of.SameProgram(term.Owner, term.Program)
	}); i >= 0 {
		return &l.recent[i]
	}
	return nil
}

// hue returns the hue of a new owner: the one that its program had, otherwise the lowest free one.
func (l *knownLane) hue(term *sources.Term) uint8 {
	if known := l.program(term); known != nil {
		return known.hue
	}
	var taken [256]bool
	for _, r := range l.recent[max(len(l.recent)-hues+1, 0):] { // the oldest loses its hue if there are too many
		taken[r.hue] = true
	}
	of := *term
	of.Hue = uint8(slices.Index(taken[:], false))
	l.owned(&of)
	return of.Hue
}

// scope returns the id of a source's scope, and makes it if it is new.
func (t *tx) scope(source, name string) (id int64) {
	key := scopeName{source, name}
	if id = t.w.scopes[key]; id != 0 {
		return id
	}
	if !t.query("select id from scope where source = ? and name = ?", []any{source, name}, &id) {
		id = t.insert("insert into scope(source, name) values(?,?)", source, name)
	}
	t.w.scopes[key] = id
	return id
}

// derived stores the lanes, dark stretches and events of a Batch.
func (w *Writer) derived(t *tx, b *history.Batch) {
	for i := range b.Lanes {
		t.laneChange(&b.Lanes[i], b.Span)
	}
	for i := range b.Dark {
		t.dark(&b.Dark[i], b.Span)
	}
	for _, lost := range b.Lost {
		t.exec("insert into lost(run, start, until) values(?,?,?)", w.run.ID, lost.From.UnixNano(), lost.To.UnixNano())
	}
	for i := range b.Events {
		t.event(&b.Events[i])
	}
	t.keep(b.Span.To)
}

// laneChange stores the changes of a primitive.
func (t *tx) laneChange(c *history.LaneChange, span history.Span) {
	since := t.since(c, span)
	l := t.lane(c.Ref, c.Kind, since)
	if t.err != nil {
		return
	}
	if scope := t.scope(c.Ref.Source, c.Scope); scope != l.scope {
		t.exec("insert or replace into placed values(?,?,?)", l.id, span.From.UnixNano(), scope)
		l.scope = scope
	}
	if l.kind != c.Kind && c.Kind != sources.KindUnknown {
		l.kind = c.Kind
		t.exec("update lane set kind = ? where id = ?", l.kind, l.id)
	}
	for i := range c.Terms {
		t.term(l, &c.Terms[i])
	}
	if l.gone != 0 && !c.Gone { // nobody observed it since l.gone
		t.over(l)
		t.exec("insert or replace into dark values(0,?,?,?,?)", l.id, l.gone, since.UnixNano(), t.w.run.ID)
		t.exec("update lane set gone = null where id = ?", l.id)
		l.gone = 0
	}
	for _, v := range c.Levels {
		t.exec("insert into level values(?,?,?,?,?) on conflict do update set taken = excluded.taken, high = excluded.high, gone = excluded.gone",
			l.id, v.At.UnixNano(), unsigned(v.Taken), unsigned(v.High), v.Gone)
	}
	if c.Gone && l.gone == 0 {
		l.gone = c.At.UnixNano()
		t.exec("update lane set gone = ? where id = ?", l.gone, l.id)
		for _, r := range l.running {
			t.bound(r.TermFact, c.At)
		}
		l.running = nil
	}
}

// since returns the first instant at which the primitive of c was observed. It lies before the Batch if the first try
// to write failed.
func (t *tx) since(c *history.LaneChange, span history.Span) time.Time {
	since := span.From
	for i := range c.Terms {
		if start := c.Terms[i].Start; start.How == sources.Seen {
			since = sources.Earlier(since, start.At)
		}
	}
	for i := range c.Levels {
		since = sources.Earlier(since, c.Levels[i].At)
	}
	return sources.Later(since, t.w.run.From)
}

// term stores a term that began, changed or ended.
func (t *tx) term(l *knownLane, term *sources.Term) {
	f := tape.TermFact{Lane: l.id, Run: uint64(t.w.run.ID), Term: *term}
	told := term.Start.At.UnixNano()
	ended := term.End.How != sources.Unknown
	old, known := l.runs(term.Owner.ID), false
	if old != nil {
		start := old.Start.At.UnixNano()
		known = start == told || (!ended || term.End.At.UnixNano() >= start) && (old.told == told || old.Run != f.Run && old.Owner.Fence == term.Owner.Fence &&
			(term.Start.How == sources.AtLeast || term.Start.Earliest().UnixNano() <= t.w.before)) // the term was running when the last run ended and when this run began
	}
	if old == nil && ended {
		t.again(&f)
	}
	if old != nil && !known && !ended { // another grant: the end of the previous one was not seen
		t.leave(old, term.Start.Earliest())
	}
	if known {
		f.Start, f.Every = old.Start, max(old.Every, f.Every)
		if old.Start.At.UnixNano() < told && term.Owner.Fence == 0 { // the term was not observed between the two starts
			f.Sure = sources.Later(f.Sure, term.Start.At)
		}
	}
	f.Hue = l.hue(term)
	t.terms = append(t.terms, f)
	if !ended || known {
		l.ends(term.Owner.ID)
	}
	if !ended {
		l.running = append(l.running, running{f, told})
	}
}

// over ends the terms of earlier runs that this run did not find when it first read the row. Each term ends at the end
// of the last run that saw it, and is never continued.
func (t *tx) over(l *knownLane) {
	l.running = slices.DeleteFunc(l.running, func(r running) bool {
		if r.Run == uint64(t.w.run.ID) {
			return false
		}
		t.leave(&r, time.Time{})
		return true
	})
}

// leave ends a running term whose end nobody saw: at the given instant if this run saw it, otherwise at the end of the
// last run that did.
func (t *tx) leave(r *running, at time.Time) {
	if r.Run != uint64(t.w.run.ID) {
		var last int64
		t.query("select last from run where id = ?", []any{r.Run}, &last)
		at = time.Unix(0, last)
	}
	t.bound(r.TermFact, at)
}

// again handles a term whose end is stored already and of which more is known now, such as its cause. If the term was
// running when this run began, again sets its start to the stored one, which an earlier run saw.
func (t *tx) again(f *tape.TermFact) {
	if f.Start.How != sources.AtLeast && f.Start.Earliest().UnixNano() > t.w.before {
		return
	}
	for i := range t.w.recent.terms {
		o := &t.w.recent.terms[i]
		if o.Lane == f.Lane && o.Owner.ID == f.Owner.ID && o.Owner.Fence == f.Owner.Fence && o.End.How != sources.Unknown &&
			o.Start.At.Before(f.End.At) && f.Start.At.Before(o.End.At) {
			f.Start, f.Sure = o.Start, o.Sure
		}
	}
}

// bound ends a term whose end nobody saw.
func (t *tx) bound(f tape.TermFact, at time.Time) {
	f.End = sources.Stamp{At: sources.Later(f.Start.At, at), How: sources.Bound}
	t.terms = append(t.terms, f)
}

// runs returns the running term of an owner; nil if no term of it runs.
func (l *knownLane) runs(owner string) *running {
	if i := slices.IndexFunc(l.running, func(r running) bool { return r.Owner.ID == owner }); i >= 0 {
		return &l.running[i]
	}
	return nil
}

// ends forgets the running term of an owner.
func (l *knownLane) ends(owner string) {
	l.running = slices.DeleteFunc(l.running, func(r running) bool { return r.Owner.ID == owner })
}

// dark stores a stretch that began or ended.
func (t *tx) dark(d *history.DarkChange, span history.Span) {
	var l uint64
	var scope int64
	if d.Ref != (sources.Ref{}) {
		l = t.lane(d.Ref, sources.KindUnknown, span.From).id
	} else {
		scope = t.scope(d.Source, d.Scope)
	}
	from := d.Dark.From.UnixNano()
	if d.Dark.From.Equal(d.Dark.To) { // the stretch was withdrawn
		t.exec("delete from dark where scope = ? and lane = ? and start = ? and run = ?", scope, l, from, t.w.run.ID)
		return
	}
	t.exec("insert into dark values(?,?,?,?,?) on conflict do update set until = excluded.until where run = excluded.run",
		scope, l, from, sql.NullInt64{Int64: d.Dark.To.UnixNano(), Valid: !d.Dark.To.IsZero()}, t.w.run.ID)
}
