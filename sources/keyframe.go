package sources

import (
	"maps"
	"slices"
)

// Keyframe is all that a Hub knows between two Inputs, but for the events that it keeps. It is
// never changed and may be kept, encoded and used from any goroutine. The zero Keyframe is that
// of a Hub to which nothing has happened yet.
type Keyframe struct {
	seq, lastEvent uint64
	start, at      Instant
	limit          Thresholds
	sources        []hubSourceFacts
	scopes         []scope // without source
	rows           []*Row  // by slot, as the next State will show them
	free           []vacancy
	known, queued  map[int]*Primitive
	expected       []expectation
	published      *State    // nil: the zero State
	resume         *Keyframe // see HubOptions.Resume; nil once the sources were added
}

// Seq is the number of the last Input that is in it.
func (k *Keyframe) Seq() uint64 { return k.seq }

// LastEvent is the number of the last event of these Inputs, which may not be published yet.
func (k *Keyframe) LastEvent() uint64 { return k.lastEvent }

// At is when that Input was taken in.
func (k *Keyframe) At() Instant { return k.at }

// Knows reports whether something was read of a source: of one with the same name, type and address.
func (k *Keyframe) Knows(of *SourceStatus) bool {
	return slices.ContainsFunc(k.sources, func(f hubSourceFacts) bool { return f.is(of) }) &&
		slices.ContainsFunc(k.scopes, func(sc scope) bool { return sc.Source == of.Name })
}

// Keyframe returns what the Hub knows now. It holds the lock for no longer than a publish does.
func (h *Hub) Keyframe() *Keyframe {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.model.keyframe()
}

func (m *model) keyframe() *Keyframe {
	k := &Keyframe{
		seq: m.inputs, lastEvent: m.ring.newest(), start: m.start, at: m.at, limit: m.limit,
		sources: make([]hubSourceFacts, len(m.sources)), scopes: make([]scope, len(m.scopes)),
		rows: slices.Clone(m.rows), free: slices.Clone(m.free), known: maps.Clone(m.known), queued: maps.Clone(m.queued),
		expected: append([]expectation(nil), m.expected...), published: m.published, resume: m.resume,
	}
	for i, f := range m.sources {
		k.sources[i] = f.hubSourceFacts
		k.sources[i].outage.reasons = slices.Clip(f.outage.reasons)
	}
	for i, sc := range m.scopes {
		k.scopes[i] = *sc
		k.scopes[i].source = nil
		k.scopes[i].outage.reasons = slices.Clip(sc.outage.reasons)
	}
	for slot, row := range k.rows {
		if row != nil && row.Rev == m.nextRev() { // it is changed in place until it is published
			draft := *row
			k.rows[slot] = &draft
		}
	}
	return k
}

// restore makes an empty model what it was.
func (m *model) restore(k *Keyframe) {
	m.inputs, m.ring.last, m.start, m.at, m.limit, m.resume = k.seq, k.lastEvent, k.start, k.at, k.limit, k.resume
	for i := range k.sources {
		m.addSource(k.sources[i])
	}
	for i := range k.scopes {
		m.addScope(m.source(k.scopes[i].Source), k.scopes[i])
	}
	m.rows = slices.Grow(m.rows, len(k.rows))
	for slot, row := range k.rows {
		m.rows = append(m.rows, row.own())
		if row != nil {
			m.index.add(row.Ref, slot)
		}
	}
	m.free, m.known, m.queued = slices.Clone(k.free), cloneSlots(k.known), cloneSlots(k.queued)
	m.expected = slices.Clone(k.expected)
	if k.published == nil {
		return
	}
	m.published = new(State)
	*m.published = *k.published
	m.published.Rows = slices.Clone(k.published.Rows)
	for slot, row := range m.published.Rows {
		if row == k.rows[slot] {
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
	if r.levels != nil {
		l := *r.levels
		l.past = slices.Clip(l.past)
		if l.owners != nil {
			o := *l.owners
			o.past = slices.Clip(o.past)
			l.owners = &o
		}
		own.levels = &l
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
