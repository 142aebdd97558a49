package sources

import (
	"cmp"
	"maps"
	"slices"

	"coordtop/sources/internal/pack"
)

func packKeyframe(c *codec, f *pack.Fields, v, _ *Keyframe) {
	if c.nested++; c.nested > 2 {
		c.Fail(pack.ErrDamaged)
	}
	pack.Number(f, &v.seq, 0)
	pack.Number(f, &v.lastEvent, 0)
	c.instant(f, &v.start, Instant{})
	c.instant(f, &v.at, v.start)
	pack.Struct(f, &v.limit, new(Thresholds), c, packThresholds)
	pack.List(f, &v.sources, nil, c, packHubSource)
	pack.List(f, &v.scopes, nil, c, packScope)
	c.rows(f, &v.rows)
	pack.List(f, &v.free, nil, c, packVacancy)
	c.bySlot(f, &v.known)
	c.bySlot(f, &v.queued)
	pack.List(f, &v.expected, nil, c, packExpectation)
	pack.Pointer(f, &v.published, c, func(c *codec, f *pack.Fields, s, _ *State) { packState(c, f, s, v) })
	pack.Pointer(f, &v.resume, c, packKeyframe)
	c.nested--
}

// rows are those of a Keyframe, each as what differs from the one before.
func (c *codec) rows(f *pack.Fields, v *[]*Row) {
	if !f.Field(len(*v) > 0) {
		return
	}
	if n := c.Count(len(*v)); c.Reading() {
		*v = make([]*Row, n)
	}
	last := &Row{Primitive: new(Primitive)}
	for slot, row := range *v {
		if row = c.row(row, last); row != nil {
			last = row
		}
		if c.Reading() {
			(*v)[slot] = row
		}
	}
}

func (c *codec) row(v, was *Row) *Row {
	some := uint64(0)
	if v != nil {
		some = 1
	}
	if c.Uint(some) == 0 {
		return nil
	}
	if c.Reading() {
		v = &Row{Primitive: new(Primitive)}
	}
	pack.Item(&c.Stream, v, was, c, packRow)
	return v
}

func packRow(c *codec, f *pack.Fields, v, was *Row) {
	pack.Value(f, &v.Ref, was.Ref, c, (*codec).ref)
	pack.Item(&c.Stream, v.Primitive, was.Primitive, c, packPrimitive)
	pack.Signed(f, &v.Slot, was.Slot)
	pack.Number(f, &v.Gen, was.Gen)
	pack.Number(f, &v.listing, was.listing)
	pack.Number(f, &v.Rev, was.Rev)
	pack.Signed(f, &v.Scope, was.Scope)
	terms, activity := c.terms(v)
	before, _ := c.terms(was)
	pack.List(f, &terms, before, c, packTerm)
	pack.Struct(f, &v.Nobody, &was.Nobody, c, packStamp)
	pack.Signed(f, &v.LowestLease, was.LowestLease)
	pack.Pointer(f, &v.levels, c, packLevels)
	pack.Pointer(f, &activity, c, packActivity)
	if pack.Pointer(f, &v.unknown, c, packDarkList); c.Reading() {
		v.Terms, v.activity = terms, activity
	}
}

// A Keyframe has about so many terms of its rows, and so many of each at least, as the pane of a row lists: in a recording of
// many rows the older ones would take far more room than all else, and each jump of a replay reads a Keyframe.
const (
	keyframeTerms = 1 << 15
	leastTerms    = 4
)

// terms are those of a row that a Keyframe has, the last ones, with what tells that there were others.
func (c *codec) terms(r *Row) ([]Term, *activity) {
	if c.Reading() || c.mostTerms == 0 || len(r.Terms) <= c.mostTerms {
		return r.Terms, r.activity
	}
	counts := *cmp.Or(r.activity, &noActivity)
	counts.cut = true
	return r.Terms[len(r.Terms)-c.mostTerms:], &counts
}

// bySlot is one field: primitives by slot, in the order of the slots.
func (c *codec) bySlot(f *pack.Fields, v *map[int]*Primitive) {
	if !f.Field(len(*v) > 0) {
		return
	}
	slots := slices.Sorted(maps.Keys(*v))
	if n := c.Count(len(slots)); c.Reading() {
		slots, *v = make([]int, n), make(map[int]*Primitive, n)
	}
	for _, slot := range slots {
		slot = int(c.Uint(uint64(slot)))
		p := (*v)[slot]
		if c.Reading() {
			p = new(Primitive)
			(*v)[slot] = p
		}
		pack.Item(&c.Stream, p, new(Primitive), c, func(c *codec, f *pack.Fields, v, was *Primitive) {
			pack.Value(f, &v.Ref, was.Ref, c, (*codec).ref)
			pack.Item(&c.Stream, v, was, c, packPrimitive)
		})
	}
}

// packState is the State that was published last, as what differs from what the Hub knows by now.
func packState(c *codec, f *pack.Fields, v *State, k *Keyframe) {
	now := State{Thresholds: k.limit}
	for i := range k.scopes {
		now.Scopes = append(now.Scopes, k.scopes[i].Scope)
	}
	for i := range k.sources {
		now.Sources = append(now.Sources, k.sources[i].SourceStatus)
	}
	pack.Number(f, &v.Rev, 0)
	f.Time(&v.At, k.at.Wall)
	pack.Number(f, &v.LastSeq, k.lastEvent)
	pack.List(f, &v.Scopes, now.Scopes, c, packShownScope)
	pack.List(f, &v.Sources, now.Sources, c, packStatus)
	pack.Struct(f, &v.Thresholds, &now.Thresholds, c, packThresholds)
	c.shownRows(f, &v.Rows, k.rows)
}

// shownRows are rows that were published: their number, and those that differ from now.
func (c *codec) shownRows(f *pack.Fields, v *[]*Row, now []*Row) {
	if !f.Field(len(*v) > 0) {
		return
	}
	n := c.Uint(uint64(len(*v)))
	if n > uint64(len(now)) {
		c.Fail(pack.ErrDamaged)
		return
	}
	if c.Reading() {
		*v = slices.Clone(now[:n])
	}
	var differ []uint64
	for slot, row := range *v {
		if row != now[slot] {
			differ = append(differ, uint64(slot))
		}
	}
	pack.Item(&c.Stream, &differ, nil, c, func(c *codec, f *pack.Fields, v, _ *[]uint64) {
		pack.Plain(f, v, nil, c, (*codec).Uint)
	})
	for _, slot := range differ {
		if slot >= n {
			c.Fail(pack.ErrDamaged)
			return
		}
		was := cmp.Or(now[slot], &Row{Primitive: new(Primitive)})
		if row := c.row((*v)[slot], was); c.Reading() {
			(*v)[slot] = row
		}
	}
}

// sound reports whether a model can be made of what was read: what refers to something finds
// it, and what is unique is.
func (k *Keyframe) sound() bool {
	m := &newHub(HubOptions{}).model
	for i := range k.sources {
		if m.source(k.sources[i].Name) != nil {
			return false
		}
		m.addSource(k.sources[i])
	}
	for i := range k.scopes {
		sc := &k.scopes[i]
		f := m.source(sc.Source)
		if f == nil || f.scopes[sc.Name] != nil || sc.dark && len(sc.Dark) == 0 {
			return false
		}
		m.addScope(f, *sc)
	}
	for slot, row := range k.rows {
		if row == nil {
			continue
		}
		if _, twice := m.index.find(row.Ref); twice || row.Slot != slot || !row.sound(len(k.scopes)) {
			return false
		}
		m.index.add(row.Ref, slot)
	}
	vacant := map[int]bool{}
	for _, v := range k.free {
		if v.slot < 0 || v.slot >= len(k.rows) || k.rows[v.slot] != nil || vacant[v.slot] {
			return false
		}
		vacant[v.slot] = true
	}
	for _, bySlot := range []map[int]*Primitive{k.known, k.queued} {
		for slot := range bySlot {
			if slot < 0 || slot >= len(k.rows) || k.rows[slot] == nil {
				return false
			}
		}
	}
	if k.published != nil {
		for _, row := range k.published.Rows {
			if row != nil && !row.sound(len(k.published.Scopes)) {
				return false
			}
		}
	}
	return k.resume == nil || k.resume.sound()
}

// sound reports whether a row of a model of so many scopes can be changed.
func (r *Row) sound(scopes int) bool {
	return r.Scope >= 0 && r.Scope < scopes && soundTerms(r.Terms) && soundTerms(r.OwnerTerms())
}

func soundTerms(list []Term) bool {
	return len(list) <= MaxTerms && !slices.ContainsFunc(list, func(t Term) bool { return t.Hue > MaxTerms })
}
