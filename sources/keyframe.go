package sources

import (
	"maps"
	"slices"
)

// Keyframe is all that a Hub knows between two Inputs, but for the events that it keeps. It is
// never changed and may be kept, encoded and used from any goroutine. The zero Keyframe is that
// of a Hub to which nothing has happened yet. Its fields are for package tape, which stores it.
type Keyframe struct {
	Seq        uint64  // of the last Input that is in it
	LastEvent  uint64  // the number of the last event of these Inputs, which may not be published yet
	Start, At  Instant // when the first and the last Input were taken in
	Thresholds Thresholds
	Sources    []SourceFacts
	Scopes     []ScopeFacts
	Rows       []*Row // by slot, as the next State will show them
	Free       []Vacancy
	Known      map[int]*Primitive // by slot: the last with known owners, where the row's are unknown
	Queued     map[int]*Primitive // by slot: the last with a whole queue, where the row's is not
	Expected   []Expectation
	Published  *State    // nil: the zero State
	Resume     *Keyframe // see HubOptions.Resume; nil once the sources were added
}

// Knows reports whether something was read of a source: of one with the same name, type and address.
func (k *Keyframe) Knows(of *SourceStatus) bool {
	return slices.ContainsFunc(k.Sources, func(f SourceFacts) bool { return f.is(of) }) &&
		slices.ContainsFunc(k.Scopes, func(sc ScopeFacts) bool { return sc.Source == of.Name })
}

// Keyframe returns what the Hub knows now. It holds the lock for no longer than a publish does.
func (h *Hub) Keyframe() *Keyframe {
	h.mu.Lock()
	defer h.mu.Unlock()
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
		if row != nil && row.Rev == m.nextRev() { // it is changed in place until it is published
			draft := *row
			k.Rows[slot] = &draft
		}
	}
	return k
}

// restore makes an empty model what it was.
func (m *model) restore(k *Keyframe) {
	m.inputs, m.ring.last, m.start, m.at, m.limit, m.resume = k.Seq, k.LastEvent, k.Start, k.At, k.Thresholds, k.Resume
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

// cloneSlots is a copy of a map that is not nil.
func cloneSlots(m map[int]*Primitive) map[int]*Primitive {
	clone := make(map[int]*Primitive, len(m))
	maps.Copy(clone, m)
	return clone
}

// own is a copy of the row that can be changed and grown.
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

// NewReplayerAt returns a Replayer to which all Inputs up to that of k have happened, and
// which has kept none of their events: the next one is k.Seq()+1. See NewReplayer for o.
func NewReplayerAt(k *Keyframe, o HubOptions) *Replayer {
	r := NewReplayer(o)
	r.hub.model.restore(k)
	r.hub.state.Store(r.hub.model.published)
	return r
}

// Sound reports whether a model can be made of what was read: what refers to something finds
// it, and what is unique is.
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
		for _, row := range k.Published.Rows {
			if row != nil && !row.sound(len(k.Published.Scopes)) {
				return false
			}
		}
	}
	return k.Resume == nil || k.Resume.Sound()
}

// sound reports whether a row of a model of so many scopes can be changed.
func (r *Row) sound(scopes int) bool {
	return r.Scope >= 0 && r.Scope < scopes && soundTerms(r.Terms) && soundTerms(r.OwnerTerms())
}

func soundTerms(list []Term) bool {
	return len(list) <= MaxTerms && !slices.ContainsFunc(list, func(t Term) bool { return t.Hue > MaxTerms })
}
