package sources

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"coordtop/sources/internal/pack"
)

// ErrNewerRecording reports that what was to be decoded was written by a newer version, and
// cannot be read by this one.
var ErrNewerRecording = errors.New("it was recorded by a newer version of coordtop")

// codecMagic begins each encoded Keyframe. Behind it stand the version that wrote it and the
// lowest version that can read it.
const (
	codecMagic   = "coordtop"
	codecVersion = 1
	codecLowest  = 1
)

// EncoderOptions says what an Encoder leaves out, beside what no Encoder writes: see the
// package comment.
type EncoderOptions struct {
	// WithoutData reports whether the data of owners, waiters and primitives of a source is left
	// out; nil: of none.
	WithoutData func(source string) bool
	// Masked puts a made-up text in the place of every name, label and sentence, the same for the
	// same text in all that one Encoder writes, and leaves all data out.
	Masked bool
}

// Encoder writes Inputs in groups. A group begins with a Keyframe; each Input that follows is
// written as what differs from what the group has of its source and its primitives. One
// goroutine uses it.
type Encoder struct{ codec }

// NewEncoder returns an Encoder, of which the first thing must be a Keyframe.
func NewEncoder(o EncoderOptions) *Encoder {
	e := new(Encoder)
	_, _ = rand.Read(e.key[:]) // it never fails
	e.withoutData = o.WithoutData
	if o.Masked {
		e.withoutData = func(string) bool { return true }
		e.masked = map[string]string{"": ""}
		e.Disguise = e.disguise
	}
	return e
}

// Keyframe appends to dst the beginning of a new group.
func (e *Encoder) Keyframe(dst []byte, k *Keyframe) []byte {
	e.begin()
	e.Write(append(dst, codecMagic...))
	e.Uint(codecVersion)
	e.Uint(codecLowest)
	e.whole(k)
	return e.Rest()
}

// Input appends to dst the next Input of the group; its State is left out. What is appended by
// one call or several can be decoded for itself behind all that was encoded in the group before.
func (e *Encoder) Input(dst []byte, in *Input) []byte {
	e.Write(dst)
	e.next(in)
	return e.Rest()
}

// Event returns what may be recorded of an event: its Detail is left out where that is data of
// a source whose data is.
func (e *Encoder) Event(v Event) Event {
	if v.Kind == EventProclaimed && e.withoutData != nil && e.withoutData(v.Ref.Source) {
		v.Detail = "(not recorded)"
	}
	return v
}

// Decoder reads what an Encoder wrote. One goroutine uses it. Its errors wrap ErrRecording or
// ErrNewerRecording; after one, and where yield ended the reading, only a Keyframe can follow.
type Decoder struct {
	codec
	began bool
}

// NewDecoder returns a Decoder, of which the first thing must be a Keyframe.
func NewDecoder() *Decoder { return new(Decoder) }

// Keyframe reads the beginning of a group. It keeps nothing of b.
func (d *Decoder) Keyframe(b []byte) (*Keyframe, error) {
	d.began = false
	d.begin()
	rest, ok := bytes.CutPrefix(b, []byte(codecMagic))
	if !ok {
		return nil, fmt.Errorf("%w: it is no recording of coordtop", ErrRecording)
	}
	d.Read(rest)
	if d.Uint(0); d.Uint(0) > codecVersion {
		d.Fail(pack.ErrNewer)
	}
	k := new(Keyframe)
	if d.Err() == nil {
		d.whole(k)
	}
	if d.Err() == nil && (len(d.Rest()) > 0 || !k.sound()) {
		d.Fail(pack.ErrDamaged)
	}
	if err := d.failure(); err != nil {
		return nil, err
	}
	d.began = true
	return k, nil
}

// Inputs reads what was appended by one or several calls of Encoder.Input, and calls yield with
// each Input until that returns false. It keeps nothing of b.
func (d *Decoder) Inputs(b []byte, yield func(*Input) bool) error {
	if !d.began {
		return fmt.Errorf("%w: no keyframe begins it", ErrRecording)
	}
	d.Read(b)
	for len(d.Rest()) > 0 {
		in := new(Input)
		d.next(in)
		if d.Err() != nil || !yield(in) {
			d.began = false
			break
		}
	}
	return d.failure()
}

func (d *Decoder) failure() error {
	switch err := d.Err(); {
	case err == nil:
		return nil
	case errors.Is(err, pack.ErrNewer):
		return ErrNewerRecording
	default:
		return fmt.Errorf("%w: it is %w", ErrRecording, err)
	}
}

// codec is what an Encoder and a Decoder know of the group that they are in.
type codec struct {
	pack.Stream
	seq   uint64
	last  []*Input // the last one of each kind and source
	refs  []Ref
	order map[Ref]int  // the place of each in refs
	prims []*Primitive // the last version, by the place of its Ref

	look      time.Duration // by how much the look at the primitive moved from that at its last version
	doubt     time.Duration // how long the look took
	source    string        // of that primitive
	wasSource string        // of the one that it is told apart from
	nested    int           // how many keyframes are in each other

	withoutData func(source string) bool // nil: of no source
	masked      map[string]string
	key         [32]byte // of digests
}

func (c *codec) begin() {
	c.Forget()
	c.seq, c.last, c.refs, c.prims, c.order = 0, nil, nil, nil, map[Ref]int{}
	c.look, c.doubt, c.nested = 0, 0, 0
}

// disguise is a text that stands for s.
func (c *codec) disguise(s string) string {
	is, ok := c.masked[s]
	if !ok {
		is = hex.EncodeToString(c.digest(s)[:5])
		c.masked[s] = is
	}
	return is
}

// digest is a digest of s that nobody can make who has not the key, which is never stored.
func (c *codec) digest(s string) []byte {
	mac := hmac.New(sha256.New, c.key[:])
	_, _ = mac.Write([]byte(s)) // it never fails
	return mac.Sum(nil)
}

// place is the place of ref in refs, where it is put if it is new.
func (c *codec) place(ref Ref) int {
	n, known := c.order[ref]
	switch {
	case !c.Reading() && known:
		c.Uint(uint64(n) + 1)
		return n
	case c.Reading():
		if n := c.Uint(0); n > uint64(len(c.refs)) {
			c.Fail(pack.ErrDamaged)
		} else if n > 0 {
			return int(n) - 1
		}
	default:
		c.Uint(0)
	}
	is := Ref{Source: c.Text(ref.Source), Space: c.Text(ref.Space), Name: c.Text(ref.Name)}
	if c.Reading() {
		ref = is
	}
	n = len(c.refs)
	c.refs, c.prims, c.order[ref] = append(c.refs, ref), append(c.prims, new(Primitive)), n
	return n
}

// unshared is what is read into v, nil for a new one, or a copy of v to write: others may read v
// at the same time.
func unshared[T any](c *codec, v *T) *T {
	if c.Reading() && v != nil {
		return v
	}
	own := new(T)
	if v != nil {
		*own = *v
	}
	return own
}
