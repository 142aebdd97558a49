package sources

import (
	"slices"
	"time"
)

// goOn gives sources that are added what an earlier run knew of them, as if they had been
// disconnected from its end up to now. A source is the same if its name, type and address are.
// Where the clock was put back since, that time has no length, and what lies in the future is no past.
func (m *model) goOn(k *Keyframe, added []*hubSource) {
	if m.at.Wall.Before(k.At.Wall) {
		return
	}
	scopes, slots := map[int]*scope{}, map[int]int{} // by their place in k
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
		row.Gen, row.Rev, row.Primitive = 0, m.nextRev(), was.Primitive.resumed()
		m.rows[row.Slot], slots[slot] = row, row.Slot
	}
	for slot, now := range slots {
		if p := k.Known[slot]; p != nil {
			m.known[now] = p.resumed()
		}
		if p := k.Queued[slot]; p != nil {
			m.queued[now] = p.resumed()
		}
	}
}

// ended is the scope of an earlier run: nobody has answered in this one, and what it showed was
// not observed since.
func (sc *ScopeFacts) ended(silence time.Duration, now time.Time) ScopeFacts {
	is := ScopeFacts{Scope: sc.Scope, Listed: sc.Listed, InDark: sc.InDark, CompleteUntil: Earlier(sc.CompleteUntil, now)}
	is.Health, is.Silence = HealthConnecting, silenceAfter(silence, sc.About.Sampling)
	is.beginListing()
	return is
}

// resumed is a primitive of an earlier run: where its data is not all there, the sums of that
// run cannot be compared.
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
