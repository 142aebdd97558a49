package sources

import (
	"cmp"
	"maps"
	"math"
	"reflect"
	"slices"
	"time"
)

// Thinner leaves the renewals of leases out of a recording. Its Keyframe, and the Inputs that
// follow it, make the same States and Events again as those of the whole recording, but for this:
//
//   - When a lease ends, when it was renewed, its rhythm and how low it came are unknown everywhere,
//     and so is when the queue of a row with a lease was read. No renewal is an event.
//   - A look that shows nothing new of a row is left out: Row.At is that of an earlier one. Where
//     the row changes, and where continuity is lost, it is that of the last one.
//   - Of the answers of a server that show nothing else one a second is left, and the last one
//     before continuity is lost. A State that shows nothing else is not published.
//   - Seq, Rev and the numbers of events count what is left.
//
// How a lease made an ownership end, or was cut, cannot be seen then: Change.Decided has it. One
// goroutine uses a Thinner.
type Thinner struct {
	whole  *Replayer
	events *Subscription
	key    *Keyframe
	seq    uint64 // of the last Input that was taken
	kept   []Input
	news   bool // something was kept since the last publish that was, or may have been in the Keyframe

	looks  map[Ref]leftOut
	proofs map[int]*proofs // by the place of the scope
}

// leftOut is the last look at a row, which was left out.
type leftOut struct {
	*Primitive
	source, scope string
	at            time.Time // of the Change
}

// proofs are the answers of a scope that were left out.
type proofs struct {
	alive, complete *Input        // the last that moved Scope.Alive, and completeUntil; nil: it was kept
	answered        time.Duration // of the last that was kept
}

// proofEvery is how often an answer is kept.
const proofEvery = time.Second

// NewThinner returns a Thinner for the Inputs that follow k.
func NewThinner(k *Keyframe) *Thinner {
	t := &Thinner{key: k, seq: k.Seq(), news: true, looks: map[Ref]leftOut{}, proofs: map[int]*proofs{}}
	t.whole = NewReplayerAt(k, HubOptions{Events: math.MaxInt})
	t.whole.hub.model.ring.age = 1 // at least those of one Input are kept
	t.events = t.whole.hub.Subscribe(math.MaxUint64)
	return t
}

// Keyframe makes what the Inputs of Take follow. It must be called before Add.
func (t *Thinner) Keyframe() *Keyframe { return t.key.thin() }

// Add adds the next Input of the whole recording. An error wraps ErrRecording.
func (t *Thinner) Add(in Input) error {
	in.State = nil
	before := t.before(&in)
	if c := &in.Change; c.Relists || c.Down != nil || in.Kind == InputDisconnected || in.Kind == InputSilent || in.Kind == InputClockStep {
		t.keepProofs()
		t.keepLooks(&in, slices.Collect(maps.Keys(t.looks))...)
	}
	t.keepLooks(&in, in.Change.Gone...)
	if err := t.whole.Apply(in); err != nil {
		return err
	}
	events, _ := t.events.Events(0)
	switch {
	case in.Kind == InputChange:
		t.change(in, before, events)
	case in.Kind != InputPublished || t.news:
		in.Resume = in.Resume.thin()
		t.keep(in)
		t.news = in.Kind != InputPublished
	}
	if in.Kind == InputForgotten {
		delete(t.looks, in.Ref)
	}
	return nil
}

// Take returns what is left of the Inputs since the last call.
func (t *Thinner) Take() []Input {
	t.keepProofs()
	kept := t.kept
	t.kept = nil
	slices.SortStableFunc(kept, func(a, b Input) int { return cmp.Compare(a.Seq, b.Seq) })
	for i := range kept {
		t.seq++
		kept[i].Seq = t.seq
	}
	return kept
}

func (t *Thinner) keep(in Input) {
	t.kept = append(t.kept, in)
	t.news = true
}

// keepLooks keeps the last looks at rows, where they were left out, just before in.
func (t *Thinner) keepLooks(in *Input, refs ...Ref) {
	var looks []leftOut
	for _, ref := range refs {
		if l, ok := t.looks[ref]; ok {
			looks = append(looks, l)
			delete(t.looks, ref)
		}
	}
	slices.SortFunc(looks, func(a, b leftOut) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.scope, b.scope), a.at.Compare(b.at), cmp.Compare(a.Space, b.Space), cmp.Compare(a.Name, b.Name))
	})
	for i, l := range looks {
		if i == 0 || l.source != looks[i-1].source || l.scope != looks[i-1].scope {
			t.keep(Input{Seq: in.Seq, At: in.At, Kind: InputChange, Source: l.source, Change: Change{Scope: l.scope}})
		}
		c := &t.kept[len(t.kept)-1].Change
		c.Set, c.At = append(c.Set, l.Primitive), l.at
	}
}

// keepProofs keeps the last answers that were left out.
func (t *Thinner) keepProofs() {
	kept := map[*Input]bool{nil: true}
	for _, p := range t.proofs {
		for _, in := range []*Input{p.alive, p.complete} {
			if !kept[in] {
				kept[in] = true
				t.keep(*in)
			}
		}
		p.alive, p.complete = nil, nil
	}
}

// changing is what a Change may change, as it was.
type changing struct {
	source hubSourceFacts
	scopes map[int]scope // those that were there
	rows   []Row         // as in Change.Set; zero: it was not there
}

func (t *Thinner) before(in *Input) (b changing) {
	m := &t.whole.hub.model
	f := m.source(in.Source)
	if in.Kind != InputChange || f == nil {
		return b
	}
	b.source, b.scopes, b.rows = f.hubSourceFacts, map[int]scope{}, make([]Row, len(in.Change.Set))
	for sc := range f.touched(&in.Change) {
		b.scopes[sc.index] = *sc
	}
	for i, p := range in.Change.Set {
		if slot, ok := m.index.find(p.Ref); ok {
			b.rows[i] = *m.rows[slot]
		}
	}
	return b
}

// touched are the scopes that a Change says anything of, as far as they are known.
func (f *hubSource) touched(c *Change) func(yield func(*scope) bool) {
	return func(yield func(*scope) bool) {
		for _, sc := range f.inOrder {
			if (sc.Name == c.Scope && c.ofScope() || slices.Contains(c.Alive, sc.Name)) && !yield(sc) {
				return
			}
		}
	}
}

// change keeps of a Change what is more than renewals and proof of life.
func (t *Thinner) change(in Input, was changing, events []Event) {
	m := &t.whole.hub.model
	f, c := m.source(in.Source), in.Change
	events = slices.DeleteFunc(events, func(e Event) bool { return e.Kind == EventRenewed })
	told := byRef(slices.Concat(events, m.proved), func(e Event) Ref { return e.Ref })
	in.Change.Set = nil
	var last *Primitive // that was left out
	for i, p := range c.Set {
		slot, ok := m.index.find(p.Ref)
		if ok && told[p.Ref] == nil && was.rows[i].sameButLease(m.rows[slot]) {
			last = p.thin()
			t.looks[p.Ref] = leftOut{last, in.Source, c.Scope, cmp.Or(c.At, in.At.Wall)}
			continue
		}
		t.keepLooks(&in, p.Ref)
		in.Change.Set = append(in.Change.Set, p.thin())
	}
	keep := len(events)+len(in.Change.Set)+len(c.Gone)+len(c.Unseen)+len(c.Ended) > 0 || c.Relists || c.Synced || c.Down != nil || !reflect.DeepEqual(was.source, f.hubSourceFacts)
	for sc := range f.touched(&c) {
		before, known := was.scopes[sc.index]
		keep = keep || !known || !before.sameButAlive(sc) || sc.answered-t.proofsOf(sc).answered >= proofEvery
	}
	if len(in.Change.Set) == 0 && last != nil { // so that it is of its scope
		in.Change.Set = []*Primitive{last}
	}
	left := &in
	if keep {
		left = nil
		if len(in.Change.Set) == 1 && in.Change.Set[0] == last {
			delete(t.looks, last.Ref)
		}
		for _, e := range events {
			if e.Kind.EndsOwner() || e.Kind == EventLeaseChanged {
				in.Change.Decided = append(in.Change.Decided, Event{Kind: e.Kind, Ref: e.Ref, Owner: e.Owner, Previous: e.Previous, Cause: e.Cause, How: e.How, LeaseLeft: e.LeaseLeft, Detail: e.Detail})
			}
		}
		in.Change.Decided = append(in.Change.Decided, m.proved...)
		t.keep(in)
	}
	for sc := range f.touched(&c) {
		p, before := t.proofsOf(sc), was.scopes[sc.index]
		if before.Alive != sc.Alive {
			p.alive = left
		}
		if before.completeUntil != sc.completeUntil {
			p.complete = left
		}
		if keep {
			p.answered = sc.answered
		}
	}
}

func (t *Thinner) proofsOf(sc *scope) *proofs {
	p := t.proofs[sc.index]
	if p == nil {
		p = &proofs{answered: math.MinInt64 / 2}
		t.proofs[sc.index] = p
	}
	return p
}
