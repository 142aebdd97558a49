package sources

import (
	"maps"
	"slices"

	"coordtop/sources/internal/pack"
)

// whole is the Keyframe that a group begins with: Inputs that follow refer to its primitives.
func (c *codec) whole(k *Keyframe) {
	c.keyframe(k, new(Keyframe))
	for _, row := range k.rows {
		if row == nil || c.Err() != nil {
			continue
		}
		if place, ok := c.order[row.Ref]; ok {
			c.prims[place] = row.Primitive
		}
	}
	c.seq = k.seq
}

func (c *codec) keyframe(v, _ *Keyframe) {
	if c.nested++; c.nested > 2 {
		c.Fail(pack.ErrDamaged)
		return
	}
	defer func() { c.nested-- }()
	v = unshared(c, v)
	f := c.Begin()
	pack.Number(f, &v.seq, 0)
	pack.Number(f, &v.lastEvent, 0)
	c.instant(f, &v.start, Instant{})
	c.instant(f, &v.at, v.start)
	pack.Struct(f, &v.limit, new(Thresholds), c, (*codec).thresholds)
	pack.List(f, &v.feeds, nil, c, (*codec).feedFacts)
	pack.List(f, &v.scopes, nil, c, (*codec).scope)
	if f.Field(len(v.rows) > 0) {
		v.rows = c.rows(v.rows)
	}
	pack.List(f, &v.free, nil, c, (*codec).vacancy)
	c.bySlot(f, &v.known)
	c.bySlot(f, &v.queued)
	pack.List(f, &v.expected, nil, c, (*codec).expectation)
	if f.Field(v.published != nil) {
		v.published = c.state(v.published, v)
	}
	pack.Pointer(f, &v.resume, c, (*codec).keyframe)
	f.End()
}

// rows are those of a Keyframe, each as what differs from the one before.
func (c *codec) rows(rows []*Row) []*Row {
	n := c.Count(len(rows))
	if c.Reading() {
		rows = make([]*Row, n)
	}
	last := &Row{Primitive: new(Primitive)}
	for slot := range rows {
		row := c.oneRow(rows[slot], last)
		if row != nil {
			last = row
		}
		if c.Reading() {
			rows[slot] = row
		}
	}
	return rows
}

// oneRow is a row, or nil.
func (c *codec) oneRow(v, was *Row) *Row {
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
	c.row(v, was)
	return v
}

func (c *codec) row(v, was *Row) {
	f := c.Begin()
	c.ref(f, &v.Ref, was.Ref)
	c.primitive(v.Primitive, was.Primitive)
	pack.Signed(f, &v.Slot, was.Slot)
	pack.Number(f, &v.Gen, was.Gen)
	pack.Number(f, &v.gap, was.gap)
	pack.Number(f, &v.Rev, was.Rev)
	pack.Signed(f, &v.Scope, was.Scope)
	pack.List(f, &v.Terms, was.Terms, c, (*codec).term)
	pack.Struct(f, &v.Nobody, &was.Nobody, c, (*codec).stamp)
	pack.Signed(f, &v.LowestLease, was.LowestLease)
	pack.Pointer(f, &v.levels, c, (*codec).levels)
	pack.Pointer(f, &v.activity, c, (*codec).activity)
	pack.Pointer(f, &v.unknown, c, (*codec).darkList)
	f.End()
}

func (c *codec) term(v, was *Term) {
	f := c.Begin()
	pack.Struct(f, &v.Owner, &was.Owner, c, (*codec).ownerRef)
	pack.Number(f, &v.Hue, was.Hue)
	pack.Enum(f, &v.Cause, was.Cause, CauseSession)
	pack.Enum(f, &v.How, was.How, Ours)
	c.program(f, &v.Program, was.Program)
	pack.Struct(f, &v.Start, &was.Start, c, (*codec).stamp)
	pack.Struct(f, &v.End, &was.End, c, (*codec).stamp)
	f.End()
}

func (c *codec) levels(v, was *levels) {
	f := c.Begin()
	pack.List(f, &v.past, was.past, c, (*codec).level)
	pack.Struct(f, &v.last, &was.last, c, (*codec).level)
	pack.Pointer(f, &v.owners, c, (*codec).ownerTerms)
	f.End()
}

func (c *codec) ownerTerms(v, was *ownerTerms) {
	f := c.Begin()
	pack.List(f, &v.past, was.past, c, (*codec).term)
	pack.List(f, &v.running, was.running, c, (*codec).term)
	f.Time(&v.since, was.since)
	f.End()
}

func (c *codec) level(v, was *Level) {
	f := c.Begin()
	f.Time(&v.At, was.At)
	pack.Number(f, &v.Taken, was.Taken)
	pack.Number(f, &v.High, was.High)
	f.Flag(&v.Gone, was.Gone)
	f.End()
}

func (c *codec) activity(v, was *activity) {
	f := c.Begin()
	pack.Signed(f, &v.minute, was.minute)
	var counts []uint64 // of the minutes in which something was counted: where it stands, changes, losses
	for i := range v.changes {
		if v.changes[i]|v.losses[i] != 0 {
			counts = append(counts, uint64(i)<<16|uint64(v.changes[i])<<8|uint64(v.losses[i]))
		}
	}
	pack.Plain(f, &counts, nil, c.Uint)
	f.End()
	if c.Reading() {
		for _, count := range counts {
			i := count >> 16 % uint64(len(v.changes))
			v.changes[i], v.losses[i] = uint8(count>>8), uint8(count)
		}
	}
}

func (c *codec) darkList(v, was *darkList) {
	f := c.Begin()
	pack.List(f, &v.list, was.list, c, (*codec).dark)
	f.End()
}

func (c *codec) dark(v, was *Dark) {
	f := c.Begin()
	f.Time(&v.From, was.From)
	f.Time(&v.To, was.To)
	f.End()
}

func (c *codec) vacancy(v, was *vacancy) {
	f := c.Begin()
	pack.Signed(f, &v.slot, was.slot)
	pack.Number(f, &v.gen, was.gen)
	f.End()
}

// bySlot is one field: primitives by slot, in the order of the slots.
func (c *codec) bySlot(f *pack.Fields, v *map[int]*Primitive) {
	if !f.Field(len(*v) > 0) {
		return
	}
	slots := slices.Sorted(maps.Keys(*v))
	n := c.Count(len(slots))
	if c.Reading() {
		*v = make(map[int]*Primitive, n)
	}
	for i := range n {
		if c.Reading() {
			slot := int(c.Uint(0))
			(*v)[slot] = c.fresh(nil)
		} else {
			c.Uint(uint64(slots[i]))
			c.fresh((*v)[slots[i]])
		}
	}
}

// fresh is a primitive as a whole.
func (c *codec) fresh(v *Primitive) *Primitive {
	if c.Reading() {
		v = new(Primitive)
	}
	f := c.Begin()
	c.ref(f, &v.Ref, Ref{})
	c.primitive(v, new(Primitive))
	f.End()
	return v
}

func (c *codec) expectation(v, was *expectation) {
	f := c.Begin()
	pack.Struct(f, &v.Ending, &was.Ending, c, (*codec).ending)
	pack.Signed(f, &v.until, was.until)
	f.End()
}

func (c *codec) feedFacts(v, was *feedFacts) {
	f := c.Begin()
	pack.Struct(f, &v.SourceStatus, &was.SourceStatus, c, (*codec).status)
	pack.Signed(f, &v.silence, was.silence)
	pack.Signed(f, &v.rows, was.rows)
	pack.Struct(f, &v.outage, &was.outage, c, (*codec).outage)
	f.End()
}

func (c *codec) status(v, was *SourceStatus) {
	f := c.Begin()
	f.Text(&v.Name, was.Name)
	f.Word(&v.Type, was.Type)
	f.Text(&v.Address, was.Address)
	pack.Enum(f, &v.Health, was.Health, HealthStale)
	c.fault(f, &v.Err, was.Err)
	f.Time(&v.Retry, was.Retry)
	pack.Signed(f, &v.Rows, was.Rows)
	f.End()
}

func (c *codec) outage(v, was *outage) {
	f := c.Begin()
	pack.Plain(f, &v.told, was.told, c.Text)
	f.Text(&v.last, was.last)
	f.Text(&v.next, was.next)
	pack.Signed(f, &v.runs, was.runs)
	f.End()
}

func (c *codec) scope(v, was *scope) {
	f := c.Begin()
	pack.Struct(f, &v.Scope, &was.Scope, c, (*codec).shownScope)
	pack.Signed(f, &v.index, was.index)
	pack.Signed(f, &v.answered, was.answered)
	f.Flag(&v.listed, was.listed)
	f.Time(&v.completeUntil, was.completeUntil)
	f.Time(&v.lost, was.lost)
	f.Flag(&v.dark, was.dark)
	c.fault(f, &v.err, was.err)
	pack.Struct(f, &v.outage, &was.outage, c, (*codec).outage)
	f.End()
}

func (c *codec) shownScope(v, was *Scope) {
	f := c.Begin()
	f.Text(&v.Source, was.Source)
	f.Text(&v.Name, was.Name)
	pack.Enum(f, &v.Health, was.Health, HealthStale)
	f.Flag(&v.Synced, was.Synced)
	f.Time(&v.Alive, was.Alive)
	pack.Signed(f, &v.Silence, was.Silence)
	pack.Struct(f, &v.About, &was.About, c, (*codec).about)
	f.Time(&v.Since, was.Since)
	pack.List(f, &v.Dark, was.Dark, c, (*codec).dark)
	pack.Number(f, &v.gap, was.gap)
	f.End()
}

// state is the State that was published last, as what differs from what the Hub knows by now.
func (c *codec) state(v *State, k *Keyframe) *State {
	v = unshared(c, v)
	now := State{Thresholds: k.limit}
	for i := range k.scopes {
		now.Scopes = append(now.Scopes, k.scopes[i].Scope)
	}
	for i := range k.feeds {
		now.Sources = append(now.Sources, k.feeds[i].SourceStatus)
	}
	f := c.Begin()
	pack.Number(f, &v.Rev, 0)
	f.Time(&v.At, k.at.Wall)
	pack.Number(f, &v.LastSeq, k.lastEvent)
	pack.List(f, &v.Scopes, now.Scopes, c, (*codec).shownScope)
	pack.List(f, &v.Sources, now.Sources, c, (*codec).status)
	pack.Struct(f, &v.Thresholds, &now.Thresholds, c, (*codec).thresholds)
	if f.Field(len(v.Rows) > 0) {
		v.Rows = c.shownRows(v.Rows, k.rows)
	}
	f.End()
	return v
}

// shownRows are rows that were published: their number, and those that differ from now.
func (c *codec) shownRows(rows, now []*Row) []*Row {
	n := int(c.Uint(uint64(len(rows))))
	if c.Reading() {
		if n > len(now) || n < 0 {
			c.Fail(pack.ErrDamaged)
			return nil
		}
		rows = slices.Clone(now[:n])
	}
	var differ []uint64
	for slot, row := range rows {
		if row != now[slot] {
			differ = append(differ, uint64(slot))
		}
	}
	f := c.Begin()
	pack.Plain(f, &differ, nil, c.Uint)
	f.End()
	for _, slot := range differ {
		if slot >= uint64(n) {
			c.Fail(pack.ErrDamaged)
			return nil
		}
		was := now[slot]
		if was == nil {
			was = &Row{Primitive: new(Primitive)}
		}
		if row := c.oneRow(rows[slot], was); c.Reading() {
			rows[slot] = row
		}
	}
	return rows
}

// sound reports whether a model can be made of what was read: what refers to something finds
// it, and what is unique is.
func (k *Keyframe) sound() bool {
	m := &newHub(HubOptions{}).model
	for i := range k.feeds {
		if m.feed(k.feeds[i].Name) != nil {
			return false
		}
		m.addFeed(k.feeds[i])
	}
	for i := range k.scopes {
		sc := &k.scopes[i]
		f := m.feed(sc.Source)
		if f == nil || f.scopes[sc.Name] != nil || sc.dark && len(sc.Dark) == 0 {
			return false
		}
		m.addScope(f, *sc)
	}
	refs := make(map[Ref]bool, len(k.rows))
	for slot, row := range k.rows {
		if row != nil && (row.Slot != slot || refs[row.Ref] || !row.sound(len(k.scopes))) {
			return false
		}
		if row != nil {
			refs[row.Ref] = true
		}
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
