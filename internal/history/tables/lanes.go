package tables

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
	hued    bool      // recent has those of the rows of the store

	// If another run was filled after this one had begun, and before this one saw the lane:
	filled int64           // the end of that run; else 0
	begun  map[string]bool // owners that it saw begin, which this run only found
	over   map[string]bool // owners that it saw end, which this run only found gone
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

// Hues is the number of programs of a lane that have their own hue.
const (
	Hues      = 64
	hueBlocks = 8 // number of last blocks that are read for the hues at the start, before the first write
)

// lane returns the lane of ref, and makes it if it is new.
func (t *Tx) lane(ref sources.Ref, kind sources.Kind, now time.Time) *knownLane {
	l := t.w.lanes[ref]
	if t.Err != nil {
		return l
	}
	if l == nil && t.w.filler != nil {
		l = t.w.filler.find(t, ref)
	}
	if l == nil {
		t.w.last++
		t.exec("insert into lane(id, source, space, name, kind, since) values(?,?,?,?,?,?)", t.w.last, ref.Source, ref.Space, ref.Name, kind, now.UnixNano())
		l = t.w.knownLane(t.w.last)
		l.kind, l.hued = kind, true
		if t.w.lanes[ref] = l; t.w.filler != nil {
			t.w.filler.unseen(t, l)
		}
	}
	if !l.hued {
		if l.hued = true; t.w.o.Owners != nil && len(l.recent) == 0 {
			t.w.o.Owners(t, l.id, l.owned)
		}
	}
	return l
}

// loadLanes reads all lanes from the store.
func (t *Tx) loadLanes() {
	t.w.lanes, t.w.last = map[sources.Ref]*knownLane{}, 0
	var ref sources.Ref
	var id uint64
	var kind sources.Kind
	var gone, scope int64
	t.each("select id, source, space, name, kind, coalesce(gone, 0) from lane", nil, []any{&id, &ref.Source, &ref.Space, &ref.Name, &kind, &gone}, func() {
		l := t.w.knownLane(id)
		l.kind, l.gone = kind, gone
		t.w.lanes[ref], t.w.last = l, max(t.w.last, id)
	})
	t.each("select lane, scope from placed order by lane, since", nil, []any{&id, &scope}, func() {
		if l := t.w.known[id]; l != nil {
			l.scope = scope
		}
	})
}

// owned adds an owner of the lane with its hue.
func (l *knownLane) owned(term *sources.Term) {
	if l.program(term) == nil {
		if len(l.recent) == Hues {
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
	for _, r := range l.recent[max(len(l.recent)-Hues+1, 0):] { // the oldest loses its hue if there are too many
		taken[r.hue] = true
	}
	of := *term
	of.Hue = uint8(slices.Index(taken[:], false))
	l.owned(&of)
	return of.Hue
}

// scope returns the id of a source's scope, and makes it if it is new.
func (t *Tx) scope(source, name string) (id int64) {
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
func (t *Tx) derived(b *history.Batch) {
	for i := range b.Lanes {
		t.laneChange(&b.Lanes[i], b.Span)
	}
	t.facts(b)
	t.keep(b.Span.To)
}

// facts stores the dark stretches and events of a Batch.
func (t *Tx) facts(b *history.Batch) {
	for i := range b.Dark {
		t.dark(&b.Dark[i], b.Span)
	}
	for _, lost := range b.Lost {
		t.exec("insert into lost(run, start, until) values(?,?,?)", t.w.run.ID, lost.From.UnixNano(), lost.To.UnixNano())
	}
	for i := range b.Events {
		t.event(&b.Events[i])
	}
}

// laneChange stores the changes of a primitive.
func (t *Tx) laneChange(c *history.LaneChange, span history.Span) {
	since := t.w.since(c, span)
	l := t.lane(c.Ref, c.Kind, since)
	if t.Err != nil {
		return
	}
	t.placed(l, c, span)
	if l.kind != c.Kind && c.Kind != sources.KindUnknown {
		l.kind = c.Kind
		t.exec("update lane set kind = ? where id = ?", l.kind, l.id)
	}
	if l.filled = 0; t.w.filled > t.w.before && l.gone == t.w.filled {
		l.filled, l.begun, l.over = l.gone, map[string]bool{}, map[string]bool{}
	}
	for i := range c.Terms {
		t.term(l, &c.Terms[i])
	}
	if l.gone != 0 && !c.Gone { // nobody observed it since l.gone
		t.over(l)
		t.exec("insert into dark values(0,?,?,?,?) on conflict(scope, lane, start) do update set until = excluded.until, run = excluded.run", l.id, l.gone, since.UnixNano(), t.w.run.ID)
		t.exec("update lane set gone = null where id = ?", l.id)
		l.gone = 0
	}
	t.levels(l, c.Levels)
	if c.Gone && l.gone == 0 {
		l.gone = c.At.UnixNano()
		t.exec("update lane set gone = ? where id = ?", l.gone, l.id)
		for _, r := range l.running {
			t.bound(r.TermFact, c.At)
		}
		l.running = nil
	}
}

// placed stores the scope of a lane if it is another one.
func (t *Tx) placed(l *knownLane, c *history.LaneChange, span history.Span) {
	if scope := t.scope(c.Ref.Source, c.Scope); scope != l.scope {
		t.exec("insert into placed values(?,?,?) on conflict(lane, since) do update set scope = excluded.scope", l.id, span.From.UnixNano(), scope)
		l.scope = scope
	}
}

func (t *Tx) levels(l *knownLane, list []sources.Level) {
	for _, v := range list {
		t.exec("insert into level values(?,?,?,?,?) on conflict(lane, at) do update set taken = excluded.taken, high = excluded.high, gone = excluded.gone",
			l.id, v.At.UnixNano(), Unsigned(v.Taken), Unsigned(v.High), v.Gone)
	}
}

// since returns the first instant at which the primitive of c was observed. It lies before the Batch if the first try
// to write failed.
func (w *Writer) since(c *history.LaneChange, span history.Span) time.Time {
	since := span.From
	for i := range c.Terms {
		if start := c.Terms[i].Start; start.How == sources.Seen {
			since = sources.Earlier(since, start.At)
		}
	}
	for i := range c.Levels {
		since = sources.Earlier(since, c.Levels[i].At)
	}
	return sources.Later(since, w.run.From)
}

// term stores a term that began, changed or ended.
func (t *Tx) term(l *knownLane, term *sources.Term) {
	f := tape.TermFact{Lane: l.id, Run: uint64(t.w.run.ID), Term: *term}
	told := term.Start.At.UnixNano()
	ended := term.End.How != sources.Unknown
	old, known := l.runs(term.Owner.ID), false
	if old != nil {
		start, before := old.Start.At.UnixNano(), max(t.w.before, l.filled) // the term was running when the last run ended and when this run began
		if old.Run == f.Run {
			before = t.w.run.From.UnixNano() // and it was joined then
		}
		known = start == told || (!ended || term.End.At.UnixNano() >= start) && (old.told == told || (old.Run != f.Run || old.told == 0) && old.Owner.Fence == term.Owner.Fence &&
			(term.Start.How == sources.AtLeast || term.Start.Earliest().UnixNano() <= before))
	}
	if ended && told <= t.w.before && f.End.Earliest().UnixNano() < l.filled {
		if old == nil || told < old.Start.At.UnixNano() {
			l.over[term.Owner.ID] = true
			return
		}
		f.End = sources.StampBetween(time.Unix(0, l.filled), f.End.At, f.End.How)
	}
	if old == nil && ended {
		t.again(&f)
	}
	if old != nil && !known && !ended { // another grant: the end of the previous one was not seen
		t.leave(old, term.Start.Earliest())
	}
	if known {
		if l.filled != 0 && old.Run != f.Run {
			l.begun[term.Owner.ID] = true
		}
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
func (t *Tx) over(l *knownLane) {
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
func (t *Tx) leave(r *running, at time.Time) {
	if r.Run != uint64(t.w.run.ID) {
		var last int64
		t.query("select last from run where id = ?", []any{r.Run}, &last)
		at = time.Unix(0, last)
	}
	t.bound(r.TermFact, at)
}

// again handles a term whose end is stored already and of which more is known now, such as its cause. If the term was
// running when this run began, again sets its start to the stored one, which an earlier run saw.
func (t *Tx) again(f *tape.TermFact) {
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
func (t *Tx) bound(f tape.TermFact, at time.Time) {
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
func (t *Tx) dark(d *history.DarkChange, span history.Span) {
	var l uint64
	var scope int64
	if d.Ref != (sources.Ref{}) {
		l = t.lane(d.Ref, sources.KindUnknown, span.From).id
	} else {
		scope = t.scope(d.Source, d.Scope)
	}
	from := d.Dark.From.UnixNano()
	if f := t.w.filler; f != nil && l != 0 && from == f.mark {
		from++ // another run has a row from there
	}
	if d.Dark.From.Equal(d.Dark.To) { // the stretch was withdrawn
		t.exec("delete from dark where scope = ? and lane = ? and start = ? and run = ?", scope, l, from, t.w.run.ID)
		return
	}
	t.exec("insert into dark values(?,?,?,?,?) on conflict(scope, lane, start) do update set until = excluded.until where dark.run = excluded.run",
		scope, l, from, sql.NullInt64{Int64: d.Dark.To.UnixNano(), Valid: !d.Dark.To.IsZero()}, t.w.run.ID)
}

// event stores an event.
func (t *Tx) event(e *sources.Event) {
	f := tape.EventFact{Run: uint64(t.w.run.ID), Event: *e}
	if e.Ref.Name != "" {
		at := t.lane(e.Ref, e.RefKind, e.At)
		if t.Err != nil {
			return
		}
		f.Lane, f.Ref = at.id, sources.Ref{}
		if t.w.filled > t.w.before && !e.After.IsZero() && e.After.UnixNano() < t.w.filled && t.w.knows(at, e) {
			return
		}
	}
	t.events = append(t.events, f)
}

// knows reports whether the run that was filled saw what an event of the first look tells.
func (w *Writer) knows(l *knownLane, e *sources.Event) bool {
	switch gone := l.gone > w.before && l.gone < w.filled; {
	case e.Kind.BeginsOwner():
		r := l.runs(e.Owner.ID)
		return l.begun[e.Owner.ID] || r != nil && r.Start.At.UnixNano() <= w.filled
	case e.Kind.EndsOwner():
		return gone || l.over[e.Previous.ID]
	case e.Kind == sources.EventDeleted:
		return gone
	}
	return e.Kind == sources.EventCreated && l.filled != 0
}
