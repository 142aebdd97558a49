package tape

import (
	"coordtop/sources"
	"coordtop/sources/tape/internal/pack"
)

func packInput(c *codec, f *pack.Fields, v, was *sources.Input) {
	c.instant(f, &v.At, was.At)
	pack.Struct(f, &v.Change, &was.Change, c, packChange)
	f.Text(&v.Scope, was.Scope)
	f.Time(&v.Retry, was.Retry)
	pack.Pointer(f, &v.Problem, c, packProblem)
	pack.Pointer(f, &v.Note, c, packEvent)
	pack.Pointer(f, &v.Expected, c, packExpected)
	pack.Value(f, &v.Ref, was.Ref, c, (*codec).ref)
	pack.Signed(f, &v.Step, was.Step)
	pack.List(f, &v.Added, nil, c, packAdded)
	pack.Pointer(f, &v.Thresholds, c, packThresholds)
	pack.Number(f, &v.Seq, was.Seq)
	pack.Pointer(f, &v.Resume, c, packKeyframe)
}

// instant writes or reads two fields; the monotonic clock is written as its difference from the wall clock.
func (c *codec) instant(f *pack.Fields, v *sources.Instant, was sources.Instant) {
	f.Time(&v.Wall, was.Wall)
	expected := was.Mono + v.Wall.Sub(was.Wall)
	ahead := v.Mono - expected
	pack.Signed(f, &ahead, 0)
	if c.Reading() {
		v.Mono = expected + ahead
	}
}

func packAdded(_ *codec, f *pack.Fields, v, was *sources.AddedSource) {
	f.Text(&v.Name, was.Name)
	f.Word(&v.Type, was.Type)
	f.Text(&v.Address, was.Address)
	pack.Signed(f, &v.Silence, was.Silence)
	pack.Signed(f, &v.Agree, was.Agree)
}

func packChange(c *codec, f *pack.Fields, v, was *sources.Change) {
	f.Time(&v.After, was.After)
	f.Time(&v.At, was.At)
	c.doubt = v.At.Sub(v.After)
	pack.Plain(f, &v.Set, nil, c, (*codec).set)
	pack.Plain(f, &v.Alive, was.Alive, c, (*codec).Text)
	f.Text(&v.Scope, was.Scope)
	pack.Pointer(f, &v.About, c, packAbout)
	pack.Plain(f, &v.Gone, nil, c, (*codec).ref)
	pack.List(f, &v.Ended, nil, c, packEnding)
	f.Flag(&v.Relists, false)
	f.Flag(&v.Synced, false)
	c.fault(f, &v.Down, nil)
	pack.List(f, &v.Unseen, nil, c, packUnseen)
	pack.List(f, &v.Decided, nil, c, packEvent)
}

func packUnseen(c *codec, f *pack.Fields, v, was *sources.Unseen) {
	pack.Value(f, &v.Ref, was.Ref, c, (*codec).ref)
	f.Time(&v.From, was.From)
	f.Time(&v.To, was.To)
}

func packEnding(c *codec, f *pack.Fields, v, was *sources.Ending) {
	pack.Value(f, &v.Ref, was.Ref, c, (*codec).ref)
	f.Text(&v.Owner, was.Owner)
	pack.Enum(f, &v.Cause, was.Cause, sources.CauseSession)
	pack.Enum(f, &v.How, was.How, sources.Ours)
}

func packExpected(c *codec, f *pack.Fields, v, was *sources.Expected) {
	pack.Struct(f, &v.Ending, &was.Ending, c, packEnding)
	pack.Signed(f, &v.Within, was.Within)
}

func packAbout(c *codec, f *pack.Fields, v, was *sources.About) {
	f.Word(&v.Mode, was.Mode)
	pack.Signed(f, &v.Sampling, was.Sampling)
	f.Word(&v.Version, was.Version)
	f.Text(&v.Incarnation, was.Incarnation)
	f.Text(&v.Became, was.Became)
	pack.Enum(f, &v.BecameHow, was.BecameHow, sources.Ours)
	pack.Signed(f, &v.RoundTrip, was.RoundTrip)
	f.Word(&v.Role, was.Role)
	f.Flag(&v.Absent, was.Absent)
	pack.Plain(f, &v.Warnings, was.Warnings, c, (*codec).Text)
	pack.List(f, &v.Config, was.Config, c, packAttr)
	f.Time(&v.Started, was.Started)
	pack.Enum(f, &v.Partial, was.Partial, sources.Refused)
	f.Text(&v.LeftOut, was.LeftOut)
}

// fault writes or reads an error in the form that a Hub keeps, see sources.Recordable.
func (c *codec) fault(f *pack.Fields, v *error, was error) {
	is, before := sources.Recordable(*v), sources.Recordable(was)
	if f.Field((is == nil) != (before == nil) || is != nil && *is != *before) {
		now := is // escapes to the heap
		pack.Item(&c.Stream, &now, nil, c, func(c *codec, f *pack.Fields, v, _ **sources.Problem) {
			pack.Pointer(f, v, c, packProblem)
		})
		is = now
	} else {
		is = before
	}
	if c.Reading() && is != nil {
		*v = is
	}
}

func packProblem(c *codec, f *pack.Fields, v, was *sources.Problem) {
	silent := v.Cause != nil
	f.Text(&v.Text, was.Text)
	f.Flag(&v.Refused, was.Refused)
	f.Flag(&v.Login, was.Login)
	f.Flag(&silent, was.Cause != nil)
	if c.Reading() && silent {
		v.Cause = sources.ErrSilent
	}
}

func packEvent(c *codec, f *pack.Fields, v, was *sources.Event) {
	pack.Number(f, &v.Seq, was.Seq)
	f.Time(&v.At, was.At)
	f.Time(&v.After, was.After)
	pack.Signed(f, &v.Mono, was.Mono)
	pack.Enum(f, &v.Kind, was.Kind, sources.EventCountChanged)
	pack.Enum(f, &v.RefKind, was.RefKind, sources.KindSemaphore)
	pack.Enum(f, &v.Cause, was.Cause, sources.CauseSession)
	pack.Enum(f, &v.How, was.How, sources.Ours)
	pack.Value(f, &v.Ref, was.Ref, c, (*codec).ref)
	f.Text(&v.Alias, was.Alias)
	pack.Enum(f, &v.AliasHow, was.AliasHow, sources.Ours)
	pack.Struct(f, &v.Owner, &was.Owner, c, packOwnerRef)
	pack.Struct(f, &v.Previous, &was.Previous, c, packOwnerRef)
	pack.Struct(f, &v.Last, &was.Last, c, packOwnerRef)
	f.Flag(&v.Loss, was.Loss)
	pack.Signed(f, &v.LeaseLeft, was.LeaseLeft)
	pack.Struct(f, &v.Gap, &was.Gap, c, packInterval)
	pack.Struct(f, &v.Held, &was.Held, c, packInterval)
	f.Text(&v.Scope, was.Scope)
	f.Text(&v.Detail, was.Detail)
	pack.Struct(f, &v.Was, &was.Was, c, packCounts)
	pack.Struct(f, &v.Now, &was.Now, c, packCounts)
	pack.Struct(f, &v.LastSeen, &was.LastSeen, c, packOwnerRef)
}

func packCounts(_ *codec, f *pack.Fields, v, was *sources.Counts) {
	pack.Number(f, &v.Taken, was.Taken)
	pack.Number(f, &v.Limit, was.Limit)
	pack.Number(f, &v.Waiting, was.Waiting)
}

func packInterval(_ *codec, f *pack.Fields, v, was *sources.Interval) {
	pack.Signed(f, &v.Min, was.Min)
	pack.Signed(f, &v.Max, was.Max)
	pack.Signed(f, &v.Every, was.Every)
}

func packThresholds(_ *codec, f *pack.Fields, v, was *sources.Thresholds) {
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
}
