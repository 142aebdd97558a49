package tape

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"

	"coordtop/sources"
	"coordtop/sources/tape/internal/pack"
)

// ErrNewerRecording reports that a recording was written by a newer version, and cannot be read
// by this one.
var ErrNewerRecording = errors.New("it was recorded by a newer version of coordtop")

// codecMagic is the beginning of each encoded Keyframe. After it come the version that wrote it and the lowest version
// that can read it.
const (
	codecMagic   = "coordtop"
	codecVersion = 2
	codecLowest  = 2
)

// EncoderOptions selects data that an Encoder leaves out, in addition to what no Encoder writes, see the package
// comment.
type EncoderOptions struct {
	// WithoutData reports whether the data of owners, waiters and primitives of a source is left out. It may be nil.
	WithoutData func(source string) bool
	// Disguised replaces every name, label and sentence by a made-up text, and leaves out all data. An Encoder replaces
	// equal texts by the same text.
	Disguised bool
}

// Encoder writes Inputs in groups. A group begins with a Keyframe; each later Input is written as its difference from
// the group's last values of its source and its primitives. It is not safe for concurrent use.
type Encoder struct{ codec }

// NewEncoder returns an Encoder. The first call must be Keyframe.
func NewEncoder(o EncoderOptions) *Encoder {
	e := new(Encoder)
	_, _ = rand.Read(e.key[:]) // never fails
	e.withoutData = o.WithoutData
	if o.Disguised {
		e.withoutData = func(string) bool { return true }
		e.disguises = map[string]string{"": ""}
		e.Disguise = e.disguise
	}
	return e
}

// Keyframe appends to dst the beginning of a new group.
func (e *Encoder) Keyframe(dst []byte, k *sources.Keyframe) []byte {
	e.begin()
	e.Write(append(dst, codecMagic...))
	e.version, e.mostTerms = codecVersion, max(keyframeTerms/max(len(k.Rows), 1), leastTerms)
	e.Uint(codecVersion)
	e.Uint(codecLowest)
	e.whole(k)
	return e.Rest()
}

// Input appends to dst the next Input of the group, without its State. The bytes of one or several
// calls can be decoded after all bytes of the group before them.
func (e *Encoder) Input(dst []byte, in *sources.Input) []byte {
	e.Write(dst)
	e.next(in)
	return e.Rest()
}

// Disguised returns the replacement of a text, see EncoderOptions.
func (e *Encoder) Disguised(s string) string {
	if e.disguises == nil {
		return s
	}
	return e.disguise(s)
}

// Event returns an event in the form in which it may be recorded: without its Detail if that contains data of a source
// whose data is left out.
func (e *Encoder) Event(v sources.Event) sources.Event {
	if v.Kind == sources.EventProclaimed && e.withoutData != nil && e.withoutData(v.Ref.Source) {
		v.Detail = "(not recorded)"
	}
	return v
}

// Decoder reads the bytes of an Encoder. It is not safe for concurrent use. Its errors wrap
// ErrRecording or ErrNewerRecording; after an error, and after yield returned false, the next call
// must be Keyframe.
type Decoder struct {
	codec
	began bool
}

// NewDecoder returns a Decoder. The first call must be Keyframe.
func NewDecoder() *Decoder { return new(Decoder) }

// Keyframe reads the beginning of a group. It keeps nothing of b.
func (d *Decoder) Keyframe(b []byte) (*sources.Keyframe, error) {
	d.began = false
	d.begin()
	rest, ok := bytes.CutPrefix(b, []byte(codecMagic))
	if !ok {
		return nil, fmt.Errorf("%w: it is no recording of coordtop", sources.ErrRecording)
	}
	d.Read(rest)
	if d.version = d.Uint(0); d.Uint(0) > codecVersion {
		d.Fail(pack.ErrNewer)
	}
	k := new(sources.Keyframe)
	if d.Err() == nil {
		d.whole(k)
	}
	if d.Err() == nil && (len(d.Rest()) > 0 || !k.Sound()) {
		d.Fail(pack.ErrDamaged)
	}
	if err := d.failure(); err != nil {
		return nil, err
	}
	d.began = true
	return k, nil
}

// Inputs reads the bytes of one or several calls of Encoder.Input, and calls yield with
// each Input until yield returns false. It keeps nothing of b.
func (d *Decoder) Inputs(b []byte, yield func(*sources.Input) bool) error {
	if !d.began {
		return fmt.Errorf("%w: no keyframe begins it", sources.ErrRecording)
	}
	d.Read(b)
	for len(d.Rest()) > 0 {
		in := new(sources.Input)
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
		return fmt.Errorf("%w: it is %w", sources.ErrRecording, err)
	}
}
