package sources

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// Keyframe is the whole model of a Hub between two Inputs, without its events. It is immutable and
// safe for concurrent use. The zero Keyframe is that of a Hub without any Input. Its fields are
// for package tape, which stores it.
type Keyframe struct {
	Seq        uint64  // of the last Input in the Keyframe
	LastEvent  uint64  // number of the last event from these Inputs, which may not be published yet
	Start, At  Instant // of the first and the last Input
	Thresholds Thresholds
	Sources    []SourceFacts
	Scopes     []ScopeFacts
	Rows       []*Row // by slot, as in the next State
	Free       []Vacancy
	Known      map[int]*Primitive // by slot: the last look with known owners, if the row has none
	Queued     map[int]*Primitive // by slot: the last look with a whole queue, if the row has none
	Expected   []Expectation
	Published  *State    // nil for the zero State
	Resume     *Keyframe // see HubOptions.Resume; nil once the sources were added
}

// Knows reports whether the Keyframe has a scope of a source with the same name, type and address.
func (k *Keyframe) Knows(of *SourceStatus) bool {
	return slices.ContainsFunc(k.Sources, func(f SourceFacts) bool { return f.is(of) }) &&
		slices.ContainsFunc(k.Scopes, func(sc ScopeFacts) bool { return sc.Source == of.Name })
}

// Keyframe returns the present model. It holds the lock no longer than a publish.
func (h *Hub) Keyframe() *Keyframe {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.model.private.Store(false)
	return h.model.keyframe()
}

func (m *model) keyframe() *Keyframe {
	k := &Keyframe{
		Seq: m.inputs, LastEvent: m.ring.newest(), Start: m.start, At: m.at, Thresholds: m.limit,
		Sources: make([]SourceFacts, len(m.sources)), Scopes: make([]ScopeFacts, len(m.scopes)),
		Rows: slices.Clone(m.rows), Free: slices.Clone(m.free), Known: maps.Clone(m.known), Queued: maps.Clone(m.queued),
		Expected: append([]Expectation(nil), m.expected...), Published: m.published, Resume: m.resume,
	}
	for i, f := range m.sources {
		k.Sources[i] = f.SourceFacts
		k.Sources[i].Outage.Reasons = slices.Clip(f.Outage.Reasons)
	}
	for i, sc := range m.scopes {
		k.Scopes[i] = sc.ScopeFacts
		k.Scopes[i].Outage.Reasons = slices.Clip(sc.Outage.Reasons)
	}
	for slot, row := range k.Rows {
		if row != nil && row.Rev == m.nextRev() { // this row is changed in place until it is published
			draft := *row
			k.Rows[slot] = &draft
		}
	}
	return k
}

// restore fills an empty model from a Keyframe.
func (m *model) restore(k *Keyframe) {
	m.inputs, m.start, m.at, m.limit, m.resume = k.Seq, k.Start, k.At, k.Thresholds, k.Resume
	m.ring.jump(k.LastEvent)
	for i := range k.Sources {
		m.addSource(k.Sources[i])
	}
	for i := range k.Scopes {
		m.addScope(m.source(k.Scopes[i].Source), k.Scopes[i])
	}
	m.rows = slices.Grow(m.rows, len(k.Rows))
	for slot, row := range k.Rows {
		m.rows = append(m.rows, row.own())
		if row != nil {
			m.index.add(row.Ref, slot)
		}
	}
	m.free, m.known, m.queued = slices.Clone(k.Free), cloneSlots(k.Known), cloneSlots(k.Queued)
	m.expected = slices.Clone(k.Expected)
	if k.Published == nil {
		return
	}
	m.published = new(State)
	*m.published = *k.Published
	m.published.Rows = slices.Clone(k.Published.Rows)
	for slot, row := range m.published.Rows {
		if row == k.Rows[slot] {
			m.published.Rows[slot] = m.rows[slot]
		}
	}
}

// cloneSlots returns a copy of a map, which is never nil.
func cloneSlots(m map[int]*Primitive) map[int]*Primitive {
	clone := make(map[int]*Primitive, len(m))
	maps.Copy(clone, m)
	return clone
}

// own returns a copy of the row. Lists in the copy can grow without changing those of r.
func (r *Row) own() *Row {
	if r == nil {
		return nil
	}
	own := *r
	own.Terms = slices.Clip(r.Terms)
	if r.Counted != nil {
		l := *r.Counted
		l.Past = slices.Clip(l.Past)
		if l.Owners != nil {
			o := *l.Owners
			o.Past = slices.Clip(o.Past)
			l.Owners = &o
		}
		own.Counted = &l
	}
	return &own
}

// NewReplayerAt returns a Replayer that has applied all Inputs up to that of k, but has none of their events. The next
// Input is number k.Seq+1. See NewReplayer for o.
func NewReplayerAt(k *Keyframe, o HubOptions) *Replayer {
	r := NewReplayer(o)
	r.hub.model.restore(k)
	r.hub.state.Store(r.hub.model.published)
	return r
}

// Sound reports whether a model can be made from a Keyframe that was read: its references are valid, and names and
// slots are unique.
func (k *Keyframe) Sound() bool {
	m := &newHub(HubOptions{}).model
	for i := range k.Sources {
		if m.source(k.Sources[i].Name) != nil {
			return false
		}
		m.addSource(k.Sources[i])
	}
	for i := range k.Scopes {
		sc := &k.Scopes[i]
		f := m.source(sc.Source)
		if f == nil || f.scopes[sc.Name] != nil || sc.InDark && len(sc.Dark) == 0 {
			return false
		}
		m.addScope(f, *sc)
	}
	for slot, row := range k.Rows {
		if row == nil {
			continue
		}
		if _, twice := m.index.find(row.Ref); twice || row.Slot != slot || !row.sound(len(k.Scopes)) {
			return false
		}
		m.index.add(row.Ref, slot)
	}
	vacant := map[int]bool{}
	for _, v := range k.Free {
		if v.Slot < 0 || v.Slot >= len(k.Rows) || k.Rows[v.Slot] != nil || vacant[v.Slot] {
			return false
		}
		vacant[v.Slot] = true
	}
	for _, bySlot := range []map[int]*Primitive{k.Known, k.Queued} {
		for slot := range bySlot {
			if slot < 0 || slot >= len(k.Rows) || k.Rows[slot] == nil {
				return false
			}
		}
	}
	if k.Published != nil {
		if len(k.Published.Rows) > len(k.Rows) {
			return false
		}
		for _, row := range k.Published.Rows {
			if row != nil && !row.sound(len(k.Published.Scopes)) {
				return false
			}
		}
	}
	return k.Resume == nil || k.Resume.Sound()
}

// sound reports whether a row is valid in a model with that many scopes.
func (r *Row) sound(scopes int) bool {
	return r.Scope >= 0 && r.Scope < scopes && soundTerms(r.Terms) && soundTerms(r.OwnerTerms())
}

func soundTerms(list []Term) bool {
	return len(list) <= MaxTerms && !slices.ContainsFunc(list, func(t Term) bool { return t.Hue > MaxTerms })
}

// ErrRecording reports that the Inputs are not all Inputs of one Hub, from its beginning and in order.
var ErrRecording = errors.New("not a whole recording")

// Replayer reproduces the States and Events of a Hub from its Inputs. It starts no goroutine and reads no clock.
type Replayer struct{ hub *Hub }

// NewReplayer returns a Replayer without any Input. It uses only o.Events; with the value of the recorded Hub it keeps
// the same events.
func NewReplayer(o HubOptions) *Replayer {
	r := &Replayer{newHub(HubOptions{Events: o.Events})}
	r.hub.model.private.Store(true)
	return r
}

// Hub returns the replayed Hub. It can be read and subscribed to like a live one; its other methods
// must not be called, and it needs no Close.
func (r *Replayer) Hub() *Hub { return r.hub }

// Published returns the Rev and the LastSeq of the last published State. Both are 0 before the first one. Publishing costs
// less before the first call of Hub.State or Hub.Keyframe.
func (r *Replayer) Published() (rev, lastSeq uint64) {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	return r.hub.model.published.Rev, r.hub.model.published.LastSeq
}

// Apply applies the next Input of a recording; none may be left out, and Seq gives the order. If it returns an error,
// the error wraps ErrRecording and the Input was not applied.
func (r *Replayer) Apply(in Input) error {
	h := r.hub
	h.mu.Lock()
	defer h.mu.Unlock()
	f, err := h.model.replayable(&in)
	if err != nil {
		return fmt.Errorf("%w: input %d, %s: %w", ErrRecording, in.Seq, in.Kind, err)
	}
	h.enterLocked(f, &in)
	return nil
}

// replayable returns the source of the Input (may be nil), or an error if the Input cannot be applied.
func (m *model) replayable(in *Input) (f *hubSource, err error) {
	switch {
	case in.Seq != m.inputs+1:
		return nil, fmt.Errorf("input %d is due", m.inputs+1)
	case (in.Kind == InputStarted) != (in.Seq == 1):
		return nil, errors.New("it is the first and nothing else")
	}
	switch k := in.Kind; {
	case k == InputStarted && in.Thresholds == nil, k == InputExpected && in.Expected == nil,
		k == InputNote && in.Note == nil, k == InputDisconnected && in.Problem == nil:
		return nil, errors.New("it says nothing")
	}
	switch in.Kind {
	case InputChange, InputConnected, InputDisconnected, InputSilent:
		f = m.source(in.Source)
		if f == nil || in.Kind == InputSilent && f.scopes[in.Scope] == nil {
			return nil, fmt.Errorf("no scope %q of source %q", in.Scope, in.Source)
		}
	}
	return f, nil
}

// goOn gives added sources the rows and scopes of an earlier run, as if they had been disconnected since the end of
// that run. A source is the same if its name, type and address are. It does nothing if the clock shows less than at the
// end of that run.
func (m *model) goOn(k *Keyframe, added []*hubSource) {
	if m.at.Wall.Before(k.At.Wall) {
		return
	}
	scopes := map[int]*scope{} // by their index in k
	for i := range k.Scopes {
		was := &k.Scopes[i]
		of := slices.IndexFunc(k.Sources, func(f SourceFacts) bool { return f.Name == was.Source })
		at := slices.IndexFunc(added, func(f *hubSource) bool { return f.is(&k.Sources[of].SourceStatus) })
		if at >= 0 {
			m.addScope(added[at], was.ended(added[at].SilenceLimit, m.at.Wall))
			scopes[i] = m.scopes[len(m.scopes)-1]
		}
	}
	for slot, was := range k.Rows {
		if was == nil || scopes[was.Scope] == nil {
			continue
		}
		row := was.own()
		row.Slot, row.Scope = m.occupy(scopes[was.Scope], was.Ref), scopes[was.Scope].Index
		row.Gen, row.Rev, row.Primitive = m.rows[row.Slot].Gen, m.nextRev(), was.Primitive.resumed()
		m.rows[row.Slot] = row
		if p := k.Known[slot]; p != nil {
			m.known[row.Slot] = p.resumed()
		}
		if p := k.Queued[slot]; p != nil {
			m.queued[row.Slot] = p.resumed()
		}
	}
}

// ended returns the scope of an earlier run in its state at the start of this run: without an answer, and dark since
// its last answer.
func (sc *ScopeFacts) ended(silence time.Duration, now time.Time) ScopeFacts {
	is := ScopeFacts{Scope: sc.Scope, Listed: sc.Listed, InDark: sc.InDark, CompleteUntil: Earlier(sc.CompleteUntil, now)}
	is.Health, is.Silence = HealthConnecting, silenceAfter(silence, sc.About.Sampling)
	is.beginListing()
	return is
}

// resumed returns a copy of a primitive of an earlier run. It drops the sums of data that is incomplete or masked,
// because they are comparable only within one run.
func (p *Primitive) resumed() *Primitive {
	is := *p
	is.Owners = slices.Clone(p.Owners)
	is.Data = p.Data.resumed()
	for i := range is.Owners {
		is.Owners[i].Data = is.Owners[i].Data.resumed()
	}
	return &is
}

func (b Blob) resumed() Blob {
	if b.Head == "" || b.Masked() {
		b.Sum = 0
	}
	return b
}
