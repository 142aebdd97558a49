package tape

import (
	"encoding/binary"
	"time"

	"coordtop/sources"
	"coordtop/sources/tape/internal/pack"
)

// packPrimitive writes or reads all fields except Ref, which v has already. An owner's stamps often move with the time
// of the look.
func packPrimitive(c *codec, f *pack.Fields, v, was *sources.Primitive) {
	f.Time(&v.At, was.At)
	c.look = 0
	if !v.At.IsZero() && !was.At.IsZero() {
		c.look = v.At.Sub(was.At)
	}
	c.source, c.wasSource = v.Source, was.Source
	pack.List(f, &v.Owners, was.Owners, c, packOwner)
	pack.Struct(f, &v.Queue, &was.Queue, c, packQueue)
	pack.List(f, &v.Candidates, was.Candidates, c, packWaiter)
	pack.Number(f, &v.Taken, was.Taken)
	pack.Struct(f, &v.Data, &was.Data, c, packBlob)
	f.Text(&v.Incarnation, was.Incarnation)
	pack.Number(f, &v.Limit, was.Limit)
	pack.Enum(f, &v.Kind, was.Kind, sources.KindSemaphore)
	pack.Enum(f, &v.LimitHow, was.LimitHow, sources.Ours)
	pack.Enum(f, &v.OwnersHow, was.OwnersHow, sources.Ours)
	pack.Enum(f, &v.AliasHow, was.AliasHow, sources.Ours)
	f.Flag(&v.Ephemeral, was.Ephemeral)
	f.Flag(&v.Expected, was.Expected)
	f.Flag(&v.Absent, was.Absent)
	f.Flag(&v.NoSpace, was.NoSpace)
	f.Text(&v.Note, was.Note)
	pack.List(f, &v.Labels, was.Labels, c, packAttr)
	f.Text(&v.Alias, was.Alias)
	pack.Signed(f, &v.ForgetAfter, was.ForgetAfter)
	c.look = 0
}

// packOwner writes or reads an owner without Guard, with which a reader of the recording could act.
func packOwner(c *codec, f *pack.Fields, v, was *sources.Owner) {
	pack.Struct(f, &v.Expires, &was.Expires, c, packStamp)
	pack.Struct(f, &v.Renewed, &was.Renewed, c, packStamp)
	pack.Struct(f, &v.Since, &was.Since, c, packStamp)
	f.Text(&v.ID, was.ID)
	f.Text(&v.Session, was.Session)
	f.Text(&v.Label, was.Label)
	pack.Number(f, &v.Permits, was.Permits)
	pack.Number(f, &v.Fence, was.Fence)
	pack.Enum(f, &v.Mode, was.Mode, sources.Shared)
	pack.Enum(f, &v.Idle, was.Idle, sources.IdleInTransaction)
	f.Flag(&v.NoExpiry, was.NoExpiry)
	pack.Struct(f, &v.Rhythm, &was.Rhythm, c, packRhythm)
	pack.Number(f, &v.Serial, was.Serial)
	hashed(c, f, &v.Program, was.Program)
	pack.Signed(f, &v.Lease, was.Lease)
	pack.Struct(f, &v.Data, &was.Data, c, packBlob)
	pack.List(f, &v.Attrs, was.Attrs, c, packAttr)
	hashed(c, f, &v.Proof, was.Proof)
}

func packRhythm(c *codec, f *pack.Fields, v, was *sources.Rhythm) {
	millis, renewals := uint32(v.Every().Milliseconds()), uint8(v.Renewals())
	pack.Number(f, &millis, uint32(was.Every().Milliseconds()))
	if pack.Number(f, &renewals, uint8(was.Renewals())); c.Reading() {
		*v = sources.RhythmOf(time.Duration(millis)*time.Millisecond, int(renewals))
	}
}

func packQueue(c *codec, f *pack.Fields, v, was *sources.Queue) {
	f.Time(&v.At, was.At)
	pack.Signed(f, &v.Len, was.Len)
	pack.List(f, &v.Waiters, was.Waiters, c, packWaiter)
	pack.Enum(f, &v.How, was.How, sources.Ours)
	pack.Enum(f, &v.CandidatesHow, was.CandidatesHow, sources.Ours)
}

// packWaiter writes or reads a waiter without Guard, see packOwner.
func packWaiter(c *codec, f *pack.Fields, v, was *sources.Waiter) {
	pack.Struct(f, &v.Since, &was.Since, c, packStamp)
	f.Text(&v.ID, was.ID)
	f.Text(&v.Session, was.Session)
	f.Text(&v.Label, was.Label)
	pack.Number(f, &v.Order, was.Order)
	pack.Signed(f, &v.Turn, was.Turn)
	pack.Number(f, &v.Permits, was.Permits)
	pack.Enum(f, &v.Mode, was.Mode, sources.Shared)
	pack.Signed(f, &v.Timeout, was.Timeout)
	pack.Struct(f, &v.Data, &was.Data, c, packBlob)
	pack.List(f, &v.Attrs, was.Attrs, c, packAttr)
}

// packStamp writes or reads a Stamp. It expects a changed Stamp to have moved as far as the look, with the same
// uncertainty.
func packStamp(c *codec, f *pack.Fields, v, was *sources.Stamp) {
	guess := was.At
	if !guess.IsZero() {
		guess = guess.Add(c.look)
	}
	f.TimeNear(&v.At, was.At, guess)
	within := v.Within()
	pack.Value(f, &within, was.Within(), c, (*codec).length)
	if c.Reading() {
		*v = v.Widened(within)
	}
	pack.Enum(f, &v.How, was.How, sources.Ours)
}

func (c *codec) length(v time.Duration) time.Duration {
	return max(time.Duration(c.Int(int64(v-c.doubt)))+c.doubt, 0)
}

func packAttr(_ *codec, f *pack.Fields, v, was *sources.Attr) {
	f.Word(&v.Key, was.Key)
	if v.NamesLibrary() {
		f.Word(&v.Value, was.Value)
	} else {
		f.Text(&v.Value, was.Value)
	}
	f.Flag(&v.Odd, was.Odd)
}

// packBlob writes or reads a Blob. If the source's data is not recorded, it writes only the length and a digest of the
// sum, because the sum would reveal a short value.
func packBlob(c *codec, f *pack.Fields, v, was *sources.Blob) {
	is, before := *v, *was
	if !c.Reading() && (is != before || c.source != c.wasSource) {
		is, before = c.recorded(is, c.source), c.recorded(before, c.wasSource)
	}
	f.Text(&is.Head, before.Head)
	pack.Signed(f, &is.Len, before.Len)
	if c.version > 1 && is.Head != before.Head {
		before.Sum = sources.PlainSum(is.Head, is.Len)
	}
	if pack.Number(f, &is.Sum, before.Sum); c.Reading() {
		*v = is
	}
}

// recorded returns the data of a source in the form in which it is written.
func (c *codec) recorded(b sources.Blob, source string) sources.Blob {
	if c.withoutData == nil || !c.withoutData(source) {
		return b
	}
	return sources.Blob{Len: b.Len, Sum: c.digestOfSum(b.Sum)}
}

// hashed writes or reads a number. If names are disguised, it writes a digest of it, because the number could confirm a
// guessed name.
func hashed[T sources.Program | uint64](c *codec, f *pack.Fields, v *T, was T) {
	is := *v
	if !c.Reading() && c.disguises != nil {
		is, was = T(c.digestOfSum(uint64(is))), T(c.digestOfSum(uint64(was)))
	}
	if pack.Number(f, &is, was); c.Reading() {
		*v = is
	}
}

func (c *codec) digestOfSum(sum uint64) uint64 {
	if sum == 0 {
		return 0
	}
	return max(binary.LittleEndian.Uint64(c.digest(string(binary.LittleEndian.AppendUint64(nil, sum)))), 1)
}

func packOwnerRef(_ *codec, f *pack.Fields, v, was *sources.OwnerRef) {
	f.Text(&v.ID, was.ID)
	f.Text(&v.Label, was.Label)
	pack.Number(f, &v.Fence, was.Fence)
}
