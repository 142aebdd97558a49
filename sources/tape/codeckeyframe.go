package tape

import (
	"cmp"
	"maps"
	"slices"

	"coordtop/sources"
	"coordtop/sources/tape/internal/pack"
)

func packKeyframe(c *codec, f *pack.Fields, v, _ *sources.Keyframe) {
	if c.nested++; c.nested > 2 {
		c.Fail(pack.ErrDamaged)
	}
	pack.Number(f, &v.Seq, 0)
	pack.Number(f, &v.LastEvent, 0)
	c.instant(f, &v.Start, sources.Instant{})
	c.instant(f, &v.At, v.Start)
	pack.Struct(f, &v.Thresholds, new(sources.Thresholds), c, packThresholds)
	pack.List(f, &v.Sources, nil, c, packHubSource)
	pack.List(f, &v.Scopes, nil, c, packScope)
	c.rows(f, &v.Rows)
	pack.List(f, &v.Free, nil, c, packVacancy)
	c.bySlot(f, &v.Known)
	c.bySlot(f, &v.Queued)
	pack.List(f, &v.Expected, nil, c, packExpectation)
	pack.Pointer(f, &v.Published, c, func(c *codec, f *pack.Fields, s, _ *sources.State) { packState(c, f, s, v) })
	pack.Pointer(f, &v.Resume, c, packKeyframe)
	c.nested--
}

// rows writes or reads the rows of a Keyframe, each as its difference from the one before.
func (c *codec) rows(f *pack.Fields, v *[]*sources.Row) {
	if !f.Field(len(*v) > 0) {
		return
	}
	if n := c.Count(len(*v)); c.Reading() {
		*v = make([]*sources.Row, n)
	}
	last := &sources.Row{Primitive: new(sources.Primitive)}
	for slot, row := range *v {
		if row = c.row(row, last); row != nil {
			last = row
		}
		if c.Reading() {
			(*v)[slot] = row
		}
	}
}

func (c *codec) row(v, was *sources.Row) *sources.Row {
	some := uint64(0)
	if v != nil {
		some = 1
	}
	if c.Uint(some) == 0 {
		return nil
	}
	if c.Reading() {
		v = &sources.Row{Primitive: new(sources.Primitive)}
	}
	pack.Item(&c.Stream, v, was, c, packRow)
	return v
}

func packRow(c *codec, f *pack.Fields, v, was *sources.Row) {
	pack.Value(f, &v.Ref, was.Ref, c, (*codec).ref)
	pack.Item(&c.Stream, v.Primitive, was.Primitive, c, packPrimitive)
	pack.Signed(f, &v.Slot, was.Slot)
	pack.Number(f, &v.Gen, was.Gen)
	pack.Number(f, &v.Listing, was.Listing)
	pack.Number(f, &v.Rev, was.Rev)
	pack.Signed(f, &v.Scope, was.Scope)
	terms, activity := c.terms(v)
	before, _ := c.terms(was)
	pack.List(f, &terms, before, c, packTerm)
	pack.Struct(f, &v.Nobody, &was.Nobody, c, packStamp)
	pack.Signed(f, &v.LowestLease, was.LowestLease)
	pack.Pointer(f, &v.Counted, c, packLevels)
	pack.Pointer(f, &activity, c, packActivity)
	if pack.Pointer(f, &v.OwnersUnknown, c, packDarkList); c.Reading() {
		v.Terms, v.Activity = terms, activity
	}
}

// A Keyframe keeps about keyframeTerms terms, and at least leastTerms of each row: its pane lists that number. With
// many rows, older terms would need far more room than everything else, and each jump of a replay reads a Keyframe.
const (
	keyframeTerms = 1 << 15
	leastTerms    = 4
)

// terms returns the last terms of a row, as many as a Keyframe keeps, and its Activity, with Cut set if terms were left
// out.
func (c *codec) terms(r *sources.Row) ([]sources.Term, *sources.Activity) {
	if c.Reading() || c.mostTerms == 0 || len(r.Terms) <= c.mostTerms {
		return r.Terms, r.Activity
	}
	var counts sources.Activity
	if r.Activity != nil {
		counts = *r.Activity
	}
	counts.Cut = true
	return r.Terms[len(r.Terms)-c.mostTerms:], &counts
}

// bySlot writes or reads a field with primitives by slot, in the order of the slots.
func (c *codec) bySlot(f *pack.Fields, v *map[int]*sources.Primitive) {
	if !f.Field(len(*v) > 0) {
		return
	}
	slots := slices.Sorted(maps.Keys(*v))
	if n := c.Count(len(slots)); c.Reading() {
		slots, *v = make([]int, n), make(map[int]*sources.Primitive, n)
	}
	for _, slot := range slots {
		slot = int(c.Uint(uint64(slot)))
		p := (*v)[slot]
		if c.Reading() {
			p = new(sources.Primitive)
			(*v)[slot] = p
		}
		pack.Item(&c.Stream, p, new(sources.Primitive), c, func(c *codec, f *pack.Fields, v, was *sources.Primitive) {
			pack.Value(f, &v.Ref, was.Ref, c, (*codec).ref)
			pack.Item(&c.Stream, v, was, c, packPrimitive)
		})
	}
}

// packState writes or reads the last published State, as its difference from the model.
func packState(c *codec, f *pack.Fields, v *sources.State, k *sources.Keyframe) {
	now := sources.State{Thresholds: k.Thresholds}
	for i := range k.Scopes {
		now.Scopes = append(now.Scopes, k.Scopes[i].Scope)
	}
	for i := range k.Sources {
		now.Sources = append(now.Sources, k.Sources[i].SourceStatus)
	}
	pack.Number(f, &v.Rev, 0)
	f.Time(&v.At, k.At.Wall)
	pack.Number(f, &v.LastSeq, k.LastEvent)
	pack.List(f, &v.Scopes, now.Scopes, c, packShownScope)
	pack.List(f, &v.Sources, now.Sources, c, packStatus)
	pack.Struct(f, &v.Thresholds, &now.Thresholds, c, packThresholds)
	c.shownRows(f, &v.Rows, k.Rows)
}

// shownRows writes or reads the published rows: their number, and those that differ from now.
func (c *codec) shownRows(f *pack.Fields, v *[]*sources.Row, now []*sources.Row) {
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
		was := cmp.Or(now[slot], &sources.Row{Primitive: new(sources.Primitive)})
		if row := c.row((*v)[slot], was); c.Reading() {
			(*v)[slot] = row
		}
	}
}
