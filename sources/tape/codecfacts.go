package tape

import (
	"coordtop/sources"
	"coordtop/sources/tape/internal/pack"
)

// TermFact is a term that is stored beside its Inputs.
type TermFact struct {
	Lane uint64 // number of the primitive in the store
	Run  uint64 // of the process that wrote it last
	sources.Term
}

// EventFact is an event that is stored beside its Inputs, without Mono, which is meaningless outside its run.
type EventFact struct {
	Lane uint64 // like TermFact.Lane, replaces Ref; 0 if without a primitive
	Run  uint64 // of the process that recorded it
	sources.Event
}

// Terms appends a list to dst that can be decoded alone. It needs few bytes if the terms of each primitive are
// consecutive.
func (e *Encoder) Terms(dst []byte, list []TermFact) []byte {
	e.begin()
	e.Write(dst)
	facts(&e.codec, list, termAfter, packTermFact)
	return e.Rest()
}

// Events appends a list to dst that can be decoded with the same terms. It needs few bytes if the events of each
// primitive are consecutive and terms has the terms that they ended, in order.
func (e *Encoder) Events(dst []byte, list []EventFact, terms []TermFact) []byte {
	e.begin()
	e.Write(dst)
	e.eventFacts(list, terms)
	return e.Rest()
}

// Terms decodes the bytes of Encoder.Terms. It needs no Keyframe, and ends the group that was being read.
func (d *Decoder) Terms(b []byte) ([]TermFact, error) {
	list := make([]TermFact, 0, len(b)/16) // some more than there are
	err := d.EachTerm(b, func(f *TermFact) { list = append(list, *f) })
	return list, err
}

// EachTerm calls f with each term that Terms would return, and with those before a damaged one. f must not keep the
// pointer.
func (d *Decoder) EachTerm(b []byte, f func(*TermFact)) error {
	d.alone(b)
	var before, t TermFact
	for range d.Count(0) {
		was := termAfter(&before)
		if pack.Item(&d.Stream, &t, &was, &d.codec, packTermFact); d.Err() != nil {
			break
		}
		before = t
		f(&t)
	}
	return d.end()
}

// Events decodes the bytes of Encoder.Events, see Terms.
func (d *Decoder) Events(b []byte, terms []TermFact) ([]EventFact, error) {
	d.alone(b)
	return d.eventFacts(nil, terms), d.end()
}

// alone starts to read a list that can be decoded alone.
func (d *Decoder) alone(b []byte) {
	d.began = false
	d.begin()
	d.Read(b)
}

// end returns the error of reading a list. Bytes after the list are also an error.
func (d *Decoder) end() error {
	if d.Err() == nil && len(d.Rest()) > 0 {
		d.Fail(pack.ErrDamaged)
	}
	return d.failure()
}

// facts writes or reads a list; each item is written as its difference from a guess that expected makes from the item
// before.
func facts[T any](c *codec, list []T, expected func(before *T) T, item func(c *codec, f *pack.Fields, v, was *T)) []T {
	if n := c.Count(len(list)); c.Reading() {
		list = make([]T, n)
	}
	before := new(T)
	for i := range list {
		was := expected(before)
		pack.Item(&c.Stream, &list[i], &was, c, item)
		before = &list[i]
	}
	return list
}

// termAfter returns the expected next term: it begins when the one before ended.
func termAfter(before *TermFact) TermFact {
	next := *before
	if next.End.How != sources.Unknown {
		next.Start = next.End
	}
	return next
}

func packTermFact(c *codec, f *pack.Fields, v, was *TermFact) {
	next := v.Lane - was.Lane
	if pack.Number(f, &next, 0); c.Reading() {
		v.Lane = was.Lane + next
	}
	pack.Number(f, &v.Run, was.Run)
	pack.Struct(f, &v.Term, &was.Term, c, packTerm)
}

// eventFacts writes or reads events. It expects each event to be the end of the next term.
func (c *codec) eventFacts(list []EventFact, terms []TermFact) []EventFact {
	ended := map[uint64][]TermFact{}
	for i := range terms {
		if t := &terms[i]; t.End.How != sources.Unknown {
			ended[t.Lane] = append(ended[t.Lane], *t)
		}
	}
	return facts(c, list, func(before *EventFact) EventFact {
		next := *before
		next.Seq++
		if before.Kind.EndsOwner() && len(ended[before.Lane]) > 0 {
			ended[before.Lane] = ended[before.Lane][1:]
		}
		if left := ended[before.Lane]; len(left) > 0 {
			next.expect(left)
		}
		return next
	}, packEventFact)
}

// expect turns a copy of the last event into the end of the first of terms.
func (e *EventFact) expect(terms []TermFact) {
	t := &terms[0].Term
	e.At, e.After, e.Cause, e.Previous, e.Held, e.Loss = t.End.At, t.End.After(), t.Cause, t.Owner, t.Held(), t.Cause.Loss(t.How)
	if e.Owner = (sources.OwnerRef{}); len(terms) > 1 && terms[1].Start.At.Equal(t.End.At) {
		e.Owner = terms[1].Owner
	}
}

func packEventFact(c *codec, f *pack.Fields, v, was *EventFact) {
	next := v.Lane - was.Lane
	if pack.Number(f, &next, 0); c.Reading() {
		v.Lane = was.Lane + next
	}
	pack.Number(f, &v.Run, was.Run)
	if !c.Reading() {
		was.Mono = v.Mono
	}
	if pack.Struct(f, &v.Event, &was.Event, c, packEvent); c.Reading() {
		v.Mono = 0
	}
}
