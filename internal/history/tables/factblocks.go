package tables

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"time"

	"coordtop/sources"
	"coordtop/sources/tape"
)

// New terms and events become blocks as soon as there are mostRecent, because each query decodes all recent ones.
// Otherwise, every minute, blockFacts or more become blocks, and fewer become one row. Each block, except the last of a
// write, has at least blockFacts.
const (
	mostRecent = 20_000
	blockEvery = time.Minute
	blockFacts = 4000
)

// runningLanes is the number of lanes whose running terms share one row.
const runningLanes = 512

// recent are the terms and events that are in no block yet, as the file has them.
type recent struct {
	terms  []tape.TermFact // without duplicates
	place  map[termKey]int // in terms
	events []tape.EventFact
	stored int       // number of terms and events in the rows; some terms are in several
	opened time.Time // when the first row was written after the last join of all rows; zero: there is only one row
}

// termKey identifies a term.
type termKey struct {
	lane  uint64
	start int64
	owner string
}

func keyOf(f *tape.TermFact) termKey {
	return termKey{f.Lane, f.Start.At.UnixNano(), f.Owner.ID}
}

// add adds a term. If it is known, add replaces it, but keeps its Start and its longest Every.
func (r *recent) add(f *tape.TermFact) {
	i, known := r.place[keyOf(f)]
	if !known {
		r.place[keyOf(f)] = len(r.terms)
		r.terms = append(r.terms, *f)
		return
	}
	old := &r.terms[i]
	start, every := old.Start, max(old.Every, f.Every)
	*old = *f
	old.Start, old.Every = start, every
}

// keep stores the terms and events of a Batch that ends at now, and makes blocks if there are many.
func (t *Tx) keep(now time.Time) {
	r := &t.w.recent
	if len(t.terms)+len(t.events) > 0 {
		t.recent(t.terms, t.events)
		r.take(t.terms, t.events)
		if t.w.o.Rows != nil {
			for i := range t.terms { // as the block will have it
				t.terms[i] = r.terms[r.place[keyOf(&t.terms[i])]]
			}
			t.w.o.Rows(t, t.terms, t.events)
		}
		if r.opened.IsZero() {
			r.opened = now
		}
	}
	due := !r.opened.IsZero() && now.Sub(r.opened) >= blockEvery
	switch {
	case r.stored >= mostRecent || due && len(r.terms)+len(r.events) >= blockFacts:
		t.block()
	case due:
		t.exec("delete from recent")
		t.recent(r.terms, r.events)
		r.stored, r.opened = len(r.terms)+len(r.events), time.Time{}
	}
}

func (r *recent) take(terms []tape.TermFact, events []tape.EventFact) {
	for i := range terms {
		r.add(&terms[i])
	}
	r.events, r.stored = append(r.events, events...), r.stored+len(terms)+len(events)
}

// load reads the running terms, the recent ones, and the last owners from the file.
func (t *Tx) load() {
	t.w.recent, t.w.known = recent{place: map[termKey]int{}}, map[uint64]*knownLane{}
	if t.loadLanes(); t.w.filler != nil {
		return
	}
	t.query("select last from run where id < ? order by id desc limit 1", []any{t.w.run.ID}, &t.w.filled)
	t.w.filled = min(t.w.filled, t.w.run.From.UnixNano()) // a clock may have been set back
	var body []byte
	last := "(select id, terms from body order by id desc limit ?) b"
	t.each("select terms from "+last+" order by id", []any{hueBlocks}, []any{&body}, func() {
		for _, f := range t.decoded(body) {
			t.w.knownLane(f.Lane).owned(&f.Term)
		}
	})
	t.each("select body from running", nil, []any{&body}, func() { t.w.runs(t.decoded(body)) })
	t.eachRecent(context.Background(), func(terms []tape.TermFact, events []tape.EventFact) {
		t.w.runs(terms)
		t.w.recent.take(terms, events)
	})
}

// knownLane returns the lane with a number, and makes it if it is new.
func (w *Writer) knownLane(lane uint64) *knownLane {
	l := w.known[lane]
	if l == nil {
		l = &knownLane{id: lane}
		w.known[lane] = l
	}
	return l
}

// runs adds terms without an end to the lanes, with their hues.
func (w *Writer) runs(list []tape.TermFact) {
	for i := range list {
		f := &list[i]
		l := w.knownLane(f.Lane)
		l.owned(&f.Term)
		if r := l.runs(f.Owner.ID); r != nil && f.End.How != sources.Unknown && f.Start.At.Before(r.Start.At) {
			continue // written later, by a Filler
		}
		if l.ends(f.Owner.ID); f.End.How == sources.Unknown {
			l.running = append(l.running, running{TermFact: *f})
		}
	}
}

// block makes blocks of all recent terms and events. Terms without an end go to the running ones.
func (t *Tx) block() {
	r := &t.w.recent
	groups := map[uint64]bool{}
	for i := range r.terms {
		groups[r.terms[i].Lane/runningLanes] = true
	}
	terms, events := slices.DeleteFunc(r.terms, func(f tape.TermFact) bool { return f.End.How == sources.Unknown }), r.events
	slices.SortFunc(terms, compareTerms)
	slices.SortStableFunc(events, func(a, b tape.EventFact) int { return cmp.Compare(a.Lane, b.Lane) })
	for len(terms)+len(events) > 0 && t.Err == nil {
		n, m := 0, 0 // everything of a lane goes into one block
		for n+m < blockFacts && (n < len(terms) || m < len(events)) {
			lane := uint64(endless)
			if n < len(terms) {
				lane = terms[n].Lane
			}
			if m < len(events) {
				lane = min(lane, events[m].Lane)
			}
			for ; n < len(terms) && terms[n].Lane == lane; n++ {
			}
			for ; m < len(events) && events[m].Lane == lane; m++ {
			}
		}
		t.WriteBlock(terms[:n], events[:m])
		terms, events = terms[n:], events[m:]
	}
	t.writeRunning(groups)
	t.exec("delete from recent")
	t.w.recent = recent{place: map[termKey]int{}}
}

// writeRunning replaces the rows with the running terms of groups of lanes.
func (t *Tx) writeRunning(groups map[uint64]bool) {
	lists := map[uint64][]tape.TermFact{}
	for id, l := range t.w.known {
		if n := id / runningLanes; groups[n] {
			for i := range l.running {
				lists[n] = append(lists[n], l.running[i].TermFact)
			}
		}
	}
	for n := range groups {
		list := lists[n]
		if slices.SortFunc(list, compareTerms); len(list) == 0 {
			t.exec("delete from running where n = ?", n)
		} else {
			t.exec("insert into running values(?,?) on conflict(n) do update set body = excluded.body", n, t.packed(t.w.encoder.Terms(nil, list)))
		}
	}
}

// Running stores terms without an end in a store that has none yet.
func (s *Statements) Running(ctx context.Context, list []tape.TermFact) {
	groups := map[uint64][]tape.TermFact{}
	for _, f := range list {
		groups[f.Lane/runningLanes] = append(groups[f.Lane/runningLanes], f)
	}
	encoder, packer := tape.NewEncoder(tape.EncoderOptions{}), newPacker()
	for n, list := range groups {
		s.Change(ctx, "insert into running values(?,?)", n, packer.EncodeAll(encoder.Terms(nil, list), nil))
	}
}

func compareTerms(a, b tape.TermFact) int {
	return cmp.Or(cmp.Compare(a.Lane, b.Lane), a.Start.At.Compare(b.Start.At), cmp.Compare(a.Owner.ID, b.Owner.ID))
}

// WriteBlock stores ended terms and events, both in the order of their lanes.
func (t *Tx) WriteBlock(terms []tape.TermFact, events []tape.EventFact) {
	var b blockRow
	for i := range terms {
		f := &terms[i]
		b.spans(f.Lane, f.Start.Earliest().UnixNano(), f.End.At.UnixNano())
	}
	b.firstEvent = endless
	for i := range events {
		e := &events[i]
		at := e.At.UnixNano()
		b.spans(e.Lane, at, at)
		b.firstEvent, b.lastEvent = min(b.firstEvent, at), max(b.lastEvent, at)
		b.kinds |= 1 << e.Kind
	}
	id := t.insert("insert into block(start, until, first_event, last_event, kinds, terms, first_lane, last_lane, lanes) values(?,?,?,?,?,?,?,?,?)",
		b.span.from, b.span.to, b.firstEvent, b.lastEvent, b.kinds, len(terms), b.lanes[0], b.lanes[len(b.lanes)-1], encodeLanes(b.lanes))
	t.exec("insert into body values(?,?,?)", id, t.packed(t.w.encoder.Terms(nil, terms)), t.packed(t.w.encoder.Events(nil, events, terms)))
}

// blockRow is a block without its bodies.
type blockRow struct {
	span                  period // of all terms and events in it
	firstEvent, lastEvent int64
	kinds                 int64    // of its events, a bit for each
	lanes                 []uint64 // in order
}

// spans adds a lane, and the time of a term or event, to the description of the block.
func (b *blockRow) spans(lane uint64, from, to int64) {
	if len(b.lanes) == 0 {
		b.span = period{from, to}
	}
	b.span = period{min(b.span.from, from), max(b.span.to, to)}
	if i, known := slices.BinarySearch(b.lanes, lane); !known {
		b.lanes = slices.Insert(b.lanes, i, lane)
	}
}

// encodeLanes encodes the difference of each lane from the previous one.
func encodeLanes(lanes []uint64) (b []byte) {
	before := uint64(0)
	for _, lane := range lanes {
		b = binary.AppendUvarint(b, lane-before)
		before = lane
	}
	return b
}

// someOf reports whether one of the lanes that encodeLanes wrote is wanted.
func someOf(b []byte, wanted func(lane uint64) bool) bool {
	for lane := uint64(0); len(b) > 0; {
		next, n := binary.Uvarint(b)
		if n <= 0 {
			return true // it is damaged; reading the block returns the error
		}
		lane, b = lane+next, b[n:]
		if wanted(lane) {
			return true
		}
	}
	return false
}

// recent adds a row of recent terms and events.
func (t *Tx) recent(terms []tape.TermFact, events []tape.EventFact) {
	first := t.w.encoder.Terms(nil, terms)
	row := append(append(binary.AppendUvarint(nil, uint64(len(first))), first...), t.w.encoder.Events(nil, events, terms)...)
	t.exec("insert into recent(body) values(?)", t.packed(row))
}

// eachRecent calls f with the content of each row.
func (s *Statements) eachRecent(ctx context.Context, f func(terms []tape.TermFact, events []tape.EventFact)) {
	var body []byte
	s.Each(ctx, "select body from recent order by id", nil, []any{&body}, func() {
		var terms []tape.TermFact
		var events []tape.EventFact
		if raw := s.unpacked(body); s.Err == nil {
			terms, events, s.Err = decodeFacts(raw)
		}
		if s.Err == nil {
			f(terms, events)
		}
	})
}

// body returns the terms and events of a block.
func (s *Statements) body(ctx context.Context, id int64) (terms []tape.TermFact, events []tape.EventFact) {
	var first, second []byte
	s.Each(ctx, "select terms, events from body where id = ?", []any{id}, []any{&first, &second}, func() {
		terms = s.decoded(first)
		if raw := s.unpacked(second); s.Err == nil {
			events, s.Err = tape.NewDecoder().Events(raw, terms)
		}
	})
	return terms, events
}

// decoded returns the terms in a body.
func (s *Statements) decoded(body []byte) (list []tape.TermFact) {
	if raw := s.unpacked(body); s.Err == nil {
		list, s.Err = tape.NewDecoder().Terms(raw)
	}
	return list
}

func decodeFacts(b []byte) (terms []tape.TermFact, events []tape.EventFact, err error) {
	length, n := binary.Uvarint(b)
	if n <= 0 || length > uint64(len(b)-n) {
		return nil, nil, Damage("what is recent")
	}
	decoder := tape.NewDecoder()
	if terms, err = decoder.Terms(b[n : n+int(length)]); err == nil {
		events, err = decoder.Events(b[n+int(length):], terms)
	}
	return terms, events, err
}
