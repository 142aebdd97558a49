package sqlite

import (
	"slices"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// knownLane is what the writer knows of a primitive.
type knownLane struct {
	id      int64
	scope   int64
	kind    sources.Kind
	gone    int64          // since when; 0: it is there
	running []running      // terms without an end, one an owner
	recent  []sources.Term // of the last programs that owned it one each, oldest first
}

// running is a term that has no end yet.
type running struct {
	owner string // its ID
	start int64
	told  int64 // what this run says of its start; 0: nothing yet
	fence uint64
	run   int64
}

type scopeName struct{ source, name string }

// hues is how many programs of a lane have hues of their own.
const hues = 256

// lane finds the lane of ref, or makes it.
func (t *tx) lane(ref sources.Ref, kind sources.Kind, now time.Time) *knownLane {
	l := t.w.lanes[ref]
	if l != nil || t.err != nil {
		return l
	}
	l = &knownLane{kind: kind}
	if t.query("select id, kind, coalesce(gone, 0), coalesce((select scope from placed where lane = id order by since desc limit 1), 0) from lane where source = ? and space = ? and name = ?",
		[]any{ref.Source, ref.Space, ref.Name}, &l.id, &l.kind, &l.gone, &l.scope) {
		t.load(l)
	} else {
		l.id = t.insert("insert into lane(source, space, name, kind, since) values(?,?,?,?,?)", ref.Source, ref.Space, ref.Name, kind, now.UnixNano())
	}
	t.w.lanes[ref] = l
	return l
}

// load reads what the terms of a lane say of those that follow.
func (t *tx) load(l *knownLane) {
	var r running
	t.each("select owner, start, fence, run from term where lane = ? and until is null order by start", []any{l.id},
		[]any{&r.owner, &r.start, (*unsigned)(&r.fence), &r.run}, func() {
			l.ends(r.owner)
			l.running = append(l.running, r)
		})
	var p sources.Term
	t.each("select owner, label, program, hue from term where lane = ? order by start desc limit ?", []any{l.id, hues},
		[]any{&p.Owner.ID, &p.Owner.Label, &p.Program, &p.Hue}, func() {
			if l.sameProgram(&p) == nil {
				l.recent = append([]sources.Term{p}, l.recent...)
			}
		})
}

// sameProgram returns the recent term of the program that term is of; nil: there is none.
func (l *knownLane) sameProgram(term *sources.Term) *sources.Term {
	if i := slices.IndexFunc(l.recent, func(r sources.Term) bool { return r.SameProgram(term.Owner, term.Program) }); i >= 0 {
		return &l.recent[i]
	}
	return nil
}

// hue returns the hue of who owns the lane from now on: the one that it had, else the lowest
// that nobody has.
func (l *knownLane) hue(term *sources.Term) uint8 {
	if known := l.sameProgram(term); known != nil {
		return known.Hue
	}
	if len(l.recent) == hues {
		l.recent = l.recent[1:]
	}
	var taken [hues]bool
	for _, r := range l.recent {
		taken[r.Hue] = true
	}
	first := slices.Index(taken[:], false)
	l.recent = append(l.recent, sources.Term{Owner: term.Owner, Program: term.Program, Hue: uint8(first)})
	return uint8(first)
}

// scope finds the scope of a source, or makes it.
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

// derived stores what was made from the inputs.
func (w *Writer) derived(t *tx, b *history.Batch) {
	first := b.Span.From
	for i := range b.Lanes {
		first = sources.Earlier(first, t.laneChange(&b.Lanes[i], b.Span))
	}
	for i := range b.Dark {
		d := &b.Dark[i]
		t.dark(d, b.Span)
		first = sources.Earlier(first, d.Dark.From)
	}
	for _, lost := range b.Lost {
		t.exec("insert into lost(run, start, until) values(?,?,?)", w.run.ID, lost.From.UnixNano(), lost.To.UnixNano())
		first = sources.Earlier(first, lost.From)
	}
	for i := range b.Events {
		t.event(&b.Events[i])
	}
	n := first.UnixNano() / sumEvery
	if n <= w.summed {
		w.summing = summing{}
	}
	if n < w.summed { // what was summed up is not true any more
		t.exec("delete from part where n >= ?", n)
		w.summed = n
	}
}

// laneChange stores what is new of a primitive. It returns the first instant that the terms concern.
func (t *tx) laneChange(c *history.LaneChange, span history.Span) time.Time {
	first, since := span.From, t.since(c, span)
	l := t.lane(c.Ref, c.Kind, since)
	if t.err != nil {
		return first
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
		first = sources.Earlier(first, t.term(l, &c.Terms[i]))
	}
	if l.gone != 0 && !c.Gone { // nobody observed it meanwhile
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
		t.exec("update term set until = max(start, ?), until_how = ? where lane = ? and until is null", l.gone, sources.Bound, l.id)
		l.running = nil
		first = sources.Earlier(first, c.At)
	}
	return first
}

// since is when the primitive of c was observed first. That is before the Batch where the first try
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

// term stores a term that began, changed or ended. It returns the first instant of which that
// says something new.
func (t *tx) term(l *knownLane, term *sources.Term) time.Time {
	start := term.Start.At.UnixNano()
	old := l.runs(term.Owner.ID)
	told := start
	ended := term.End.How != sources.Unknown
	if old != nil && (!ended || term.End.At.UnixNano() >= old.start) && (old.told == start || old.run != t.w.run.ID && old.fence == term.Owner.Fence &&
		(term.Start.How == sources.AtLeast || term.Start.Earliest().UnixNano() <= t.w.before)) {
		start = old.start // it was running when the last run ended, and this one found it so
	}
	sure := term.Sure
	if start < told && term.Owner.Fence == 0 { // nobody saw it go on between the two
		sure = sources.Later(sure, term.Start.At)
	}
	t.exec(`insert into term values(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) on conflict do update set label = excluded.label, fence = excluded.fence,
		until = excluded.until, until_how = excluded.until_how, until_within = excluded.until_within,
		cause = excluded.cause, how = excluded.how, program = excluded.program, run = excluded.run, sure = excluded.sure, every = max(every, excluded.every)`,
		l.id, start, term.Owner.ID, term.Owner.Label, unsigned(term.Owner.Fence), term.Start.How, within(term.Start),
		stamp(term.End.At, ended), term.End.How, within(term.End), term.Cause, term.How, term.Program, l.hue(term), t.w.run.ID, instant(sure), term.Every)
	known := old != nil && old.start == start
	switch {
	case !ended:
		l.ends(term.Owner.ID)
		l.running = append(l.running, running{term.Owner.ID, start, told, term.Owner.Fence, t.w.run.ID})
		if known {
			return time.Now()
		}
		return term.Start.Earliest()
	case known:
		l.ends(term.Owner.ID)
		return term.End.Earliest()
	}
	return term.Start.Earliest()
}

// over ends the terms of earlier runs that this run did not find when it read the row for the first
// time: each at the end of the last run that saw it. None of them is ever taken up again.
func (t *tx) over(l *knownLane) {
	l.running = slices.DeleteFunc(l.running, func(r running) bool {
		if r.run == t.w.run.ID {
			return false
		}
		t.exec("update term set until = max(start, (select last from run where id = run)), until_how = ? where lane = ? and start = ? and owner = ?",
			sources.Bound, l.id, r.start, r.owner)
		return true
	})
}

// runs returns the running term of an owner; nil: it has none.
func (l *knownLane) runs(owner string) *running {
	if i := slices.IndexFunc(l.running, func(r running) bool { return r.owner == owner }); i >= 0 {
		return &l.running[i]
	}
	return nil
}

// ends forgets the running term of an owner.
func (l *knownLane) ends(owner string) {
	l.running = slices.DeleteFunc(l.running, func(r running) bool { return r.owner == owner })
}

// within is how long before its instant a stamp may have been.
func within(s sources.Stamp) int64 {
	if after := s.After(); !after.IsZero() {
		return int64(s.At.Sub(after))
	}
	return 0
}

// stamp is an instant as it is stored; nil where there is none.
func stamp(at time.Time, known bool) any {
	if !known {
		return nil
	}
	return at.UnixNano()
}

// instant is a time as a number; 0: it is zero.
func instant(at time.Time) int64 {
	if at.IsZero() {
		return 0
	}
	return at.UnixNano()
}

// dark stores a stretch that began or ended.
func (t *tx) dark(d *history.DarkChange, span history.Span) {
	var l, scope int64
	if d.Ref != (sources.Ref{}) {
		l = t.lane(d.Ref, sources.KindUnknown, span.From).id
	} else {
		scope = t.scope(d.Source, d.Scope)
	}
	from := d.Dark.From.UnixNano()
	if d.Dark.From.Equal(d.Dark.To) { // it was none
		t.exec("delete from dark where scope = ? and lane = ? and start = ? and run = ?", scope, l, from, t.w.run.ID)
		return
	}
	t.exec("insert into dark values(?,?,?,?,?) on conflict do update set until = excluded.until where run = excluded.run",
		scope, l, from, stamp(d.Dark.To, !d.Dark.To.IsZero()), t.w.run.ID)
}
