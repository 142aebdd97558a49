package sources

import (
	"slices"

	"coordtop/sources/internal/pack"
)

// The functions of this file and those beside it name each field of a type once, for writing
// and for reading. The place of a field in its list is its number in the recording: new fields
// come last. What is written is shared with the Hub: only what is read is assigned to.

// next is the next Input of the group.
func (c *codec) next(in *Input) {
	was := c.before(in)
	if c.Err() != nil {
		return
	}
	was.Seq = c.seq + 1
	c.input(in, was)
	c.seq = in.Seq
	*was = *in
	was.State = nil
	was.Change = Change{Scope: in.Change.Scope, Alive: in.Change.Alive}
}

// before is the last Input of the kind and source of in, which are written, or read into in.
func (c *codec) before(in *Input) *Input {
	n := slices.IndexFunc(c.last, func(was *Input) bool { return was.Kind == in.Kind && was.Source == in.Source })
	if n = int(c.Uint(uint64(n + 1))); n > len(c.last) || n < 0 {
		c.Fail(pack.ErrDamaged)
		return nil
	}
	if n == 0 {
		kind := c.Uint(uint64(in.Kind))
		if kind > uint64(InputPublished) {
			c.Fail(pack.ErrNewer)
		}
		was := &Input{Kind: InputKind(kind), Source: c.Text(in.Source)}
		if !c.Reading() {
			was.Source = in.Source
		}
		c.last = append(c.last, was)
		n = len(c.last)
	}
	was := c.last[n-1]
	if c.Reading() {
		in.Kind, in.Source = was.Kind, was.Source
	}
	return was
}

func (c *codec) input(v, was *Input) {
	f := c.Begin()
	c.instant(f, &v.At, was.At)
	pack.Struct(f, &v.Change, &was.Change, c, (*codec).change)
	f.Text(&v.Scope, was.Scope)
	f.Time(&v.Retry, was.Retry)
	pack.Pointer(f, &v.Problem, c, (*codec).problem)
	pack.Pointer(f, &v.Note, c, (*codec).event)
	pack.Pointer(f, &v.Expected, c, (*codec).expected)
	c.ref(f, &v.Ref, was.Ref)
	pack.Signed(f, &v.Step, was.Step)
	pack.List(f, &v.Added, nil, c, (*codec).added)
	pack.Pointer(f, &v.Thresholds, c, (*codec).thresholds)
	pack.Number(f, &v.Seq, was.Seq)
	pack.Pointer(f, &v.Resume, c, (*codec).keyframe)
	f.End()
}

// instant is two fields: what the monotonic clock shows follows the wall clock.
func (c *codec) instant(f *pack.Fields, v *Instant, was Instant) {
	f.Time(&v.Wall, was.Wall)
	expected := was.Mono + v.Wall.Sub(was.Wall)
	ahead := v.Mono - expected
	pack.Signed(f, &ahead, 0)
	if c.Reading() {
		v.Mono = expected + ahead
	}
}

func (c *codec) ref(f *pack.Fields, v *Ref, was Ref) {
	is := was
	if f.Field(*v != was) {
		is = c.oneRef(*v)
	}
	if c.Reading() {
		*v = is
	}
}

func (c *codec) oneRef(v Ref) Ref {
	if n := c.place(v); c.Reading() && c.Err() == nil {
		return c.refs[n]
	}
	return Ref{}
}

func (c *codec) added(v, was *AddedSource) {
	f := c.Begin()
	f.Text(&v.Name, was.Name)
	f.Word(&v.Type, was.Type)
	f.Text(&v.Address, was.Address)
	pack.Signed(f, &v.Silence, was.Silence)
	f.End()
}

func (c *codec) change(v, was *Change) {
	f := c.Begin()
	f.Time(&v.After, was.After)
	f.Time(&v.At, was.At)
	c.doubt = v.At.Sub(v.After)
	pack.Plain(f, &v.Set, nil, c.set)
	pack.Plain(f, &v.Alive, was.Alive, c.Text)
	f.Text(&v.Scope, was.Scope)
	pack.Pointer(f, &v.About, c, (*codec).about)
	pack.Plain(f, &v.Gone, nil, c.oneRef)
	pack.List(f, &v.Ended, nil, c, (*codec).ending)
	f.Flag(&v.Gap, false)
	f.Flag(&v.Synced, false)
	c.fault(f, &v.Down, nil)
	pack.List(f, &v.Unseen, nil, c, (*codec).unseen)
	f.End()
}

// set is a primitive as what differs from the last version that the group has.
func (c *codec) set(v *Primitive) *Primitive {
	var ref Ref
	if !c.Reading() {
		ref = v.Ref
	}
	n := c.place(ref)
	if c.Reading() {
		if v = new(Primitive); c.Err() != nil {
			return v
		}
		v.Ref = c.refs[n]
	}
	c.primitive(v, c.prims[n])
	c.prims[n] = v
	return v
}

func (c *codec) unseen(v, was *Unseen) {
	f := c.Begin()
	c.ref(f, &v.Ref, was.Ref)
	f.Time(&v.From, was.From)
	f.Time(&v.To, was.To)
	f.End()
}

func (c *codec) ending(v, was *Ending) {
	f := c.Begin()
	c.ref(f, &v.Ref, was.Ref)
	f.Text(&v.Owner, was.Owner)
	pack.Enum(f, &v.Cause, was.Cause, CauseSession)
	pack.Enum(f, &v.How, was.How, Ours)
	f.End()
}

func (c *codec) expected(v, was *Expected) {
	f := c.Begin()
	pack.Struct(f, &v.Ending, &was.Ending, c, (*codec).ending)
	pack.Signed(f, &v.Within, was.Within)
	f.End()
}

func (c *codec) about(v, was *About) {
	f := c.Begin()
	f.Word(&v.Mode, was.Mode)
	pack.Signed(f, &v.Sampling, was.Sampling)
	f.Word(&v.Version, was.Version)
	f.Text(&v.Incarnation, was.Incarnation)
	f.Text(&v.Became, was.Became)
	pack.Enum(f, &v.BecameHow, was.BecameHow, Ours)
	pack.Signed(f, &v.RoundTrip, was.RoundTrip)
	f.Word(&v.Role, was.Role)
	f.Flag(&v.Absent, was.Absent)
	pack.Plain(f, &v.Warnings, was.Warnings, c.Text)
	pack.List(f, &v.Config, was.Config, c, (*codec).attr)
	f.End()
}

// fault is an error as a Hub keeps it: see recordable.
func (c *codec) fault(f *pack.Fields, v *error, was error) {
	is, before := recordableOrNil(*v), recordableOrNil(was)
	if f.Field((is == nil) != (before == nil) || is != nil && *is != *before) {
		g := c.Begin()
		pack.Pointer(g, &is, c, (*codec).problem)
		g.End()
	} else {
		is = before
	}
	if c.Reading() && is != nil {
		*v = is
	}
}

func recordableOrNil(err error) *Problem {
	if err == nil {
		return nil
	}
	return recordable(err)
}

func (c *codec) problem(v, was *Problem) {
	silent := v.Cause != nil
	f := c.Begin()
	f.Text(&v.Text, was.Text)
	f.Flag(&v.Refused, was.Refused)
	f.Flag(&v.Login, was.Login)
	f.Flag(&silent, was.Cause != nil)
	f.End()
	if c.Reading() && silent {
		v.Cause = ErrSilent
	}
}

func (c *codec) event(v, was *Event) {
	f := c.Begin()
	pack.Number(f, &v.Seq, was.Seq)
	f.Time(&v.At, was.At)
	f.Time(&v.After, was.After)
	pack.Signed(f, &v.Mono, was.Mono)
	pack.Enum(f, &v.Kind, was.Kind, EventNote)
	pack.Enum(f, &v.RefKind, was.RefKind, KindSemaphore)
	pack.Enum(f, &v.Cause, was.Cause, CauseSession)
	pack.Enum(f, &v.How, was.How, Ours)
	c.ref(f, &v.Ref, was.Ref)
	f.Text(&v.Alias, was.Alias)
	pack.Enum(f, &v.AliasHow, was.AliasHow, Ours)
	pack.Struct(f, &v.Owner, &was.Owner, c, (*codec).ownerRef)
	pack.Struct(f, &v.Previous, &was.Previous, c, (*codec).ownerRef)
	pack.Struct(f, &v.Last, &was.Last, c, (*codec).ownerRef)
	f.Flag(&v.Loss, was.Loss)
	pack.Signed(f, &v.LeaseLeft, was.LeaseLeft)
	pack.Struct(f, &v.Gap, &was.Gap, c, (*codec).interval)
	pack.Struct(f, &v.Held, &was.Held, c, (*codec).interval)
	f.Text(&v.Scope, was.Scope)
	f.Text(&v.Detail, was.Detail)
	f.End()
}

func (c *codec) interval(v, was *Interval) {
	f := c.Begin()
	pack.Signed(f, &v.Min, was.Min)
	pack.Signed(f, &v.Max, was.Max)
	f.End()
}

func (c *codec) thresholds(v, was *Thresholds) {
	f := c.Begin()
	pack.Signed(f, &v.NoLeader, was.NoLeader)
	f.Float(&v.LateLeft, was.LateLeft)
	pack.Signed(f, &v.LateMissed, was.LateMissed)
	f.Float(&v.LateWorn, was.LateWorn)
	pack.Signed(f, &v.LateSeen, was.LateSeen)
	pack.Signed(f, &v.LossGap, was.LossGap)
	pack.Signed(f, &v.Gap, was.Gap)
	f.Float(&v.GapPart, was.GapPart)
	pack.Signed(f, &v.FlapLosses, was.FlapLosses)
	pack.Signed(f, &v.FlapWithin, was.FlapWithin)
	pack.Signed(f, &v.Wait, was.Wait)
	pack.Signed(f, &v.WaitPerson, was.WaitPerson)
	pack.Signed(f, &v.Full, was.Full)
	pack.Signed(f, &v.Stale, was.Stale)
	f.End()
}
