package tape

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"coordtop/sources"
	"coordtop/sources/tape/internal/pack"
)

// codec is the state of an Encoder or a Decoder within a group. Each pack function of this package names the fields of
// one type once, for writing and for reading. The position of a field in its function is its number in the recording,
// so that new fields must come last. Written values are shared with the Hub, so that a pack function assigns only while
// it reads.
type codec struct {
	pack.Stream
	version   uint64 // that wrote the group
	mostTerms int    // of a row in a Keyframe

	seq   uint64
	last  []*sources.Input // the last Input of each kind and source
	refs  []sources.Ref
	order map[sources.Ref]int  // place in refs, counted from 1
	prims []*sources.Primitive // the last version of each primitive, by the place of its Ref

	look      time.Duration // time between the looks of the primitive's last version and this one
	doubt     time.Duration // length of the look
	source    string        // of the primitive
	wasSource string        // of the primitive with which it is compared
	nested    int           // depth of nested keyframes

	withoutData func(source string) bool // may be nil
	disguises   map[string]string
	key         [32]byte // key of the digests
}

func (c *codec) begin() {
	c.Forget()
	c.seq, c.last, c.refs, c.prims, c.order = 0, nil, nil, nil, map[sources.Ref]int{}
	c.look, c.doubt, c.nested = 0, 0, 0
}

// disguise returns the replacement of s.
func (c *codec) disguise(s string) string {
	is, ok := c.disguises[s]
	if !ok {
		is = hex.EncodeToString(c.digest(s)[:5])
		c.disguises[s] = is
	}
	return is
}

// digest returns a digest of s with the key, which is never stored.
func (c *codec) digest(s string) []byte {
	mac := hmac.New(sha256.New, c.key[:])
	_, _ = mac.Write([]byte(s)) // never fails
	return mac.Sum(nil)
}

// place returns the index of ref in refs, and adds a ref that is new.
func (c *codec) place(ref sources.Ref) int {
	switch n := c.Uint(uint64(c.order[ref])); {
	case n > uint64(len(c.refs)):
		c.Fail(pack.ErrDamaged)
	case n > 0:
		return int(n) - 1
	}
	is := sources.Ref{Source: c.Text(ref.Source), Space: c.Text(ref.Space), Name: c.Text(ref.Name)}
	if c.Reading() {
		ref = is
	}
	c.refs, c.prims = append(c.refs, ref), append(c.prims, new(sources.Primitive))
	c.order[ref] = len(c.refs)
	return len(c.refs) - 1
}

func (c *codec) ref(v sources.Ref) sources.Ref { return c.refs[c.place(v)] }

// set writes or reads a primitive as its difference from its last version in the group.
func (c *codec) set(v *sources.Primitive) *sources.Primitive {
	if c.Reading() {
		v = new(sources.Primitive)
	}
	n := c.place(v.Ref)
	if c.Reading() {
		v.Ref = c.refs[n]
	}
	pack.Item(&c.Stream, v, c.prims[n], c, packPrimitive)
	c.prims[n] = v
	return v
}

// whole writes or reads the Keyframe of a group. Later Inputs refer to its primitives.
func (c *codec) whole(k *sources.Keyframe) {
	pack.Item(&c.Stream, k, nil, c, packKeyframe)
	for _, row := range k.Rows {
		if row == nil || c.Err() != nil {
			continue
		}
		if n := c.order[row.Ref]; n > 0 {
			c.prims[n-1] = row.Primitive
		}
	}
	c.seq = k.Seq
}

// next writes or reads the next Input of the group.
func (c *codec) next(in *sources.Input) {
	was := c.before(in)
	if c.Err() != nil {
		return
	}
	was.Seq = c.seq + 1
	pack.Item(&c.Stream, in, was, c, packInput)
	c.seq = in.Seq
	*was = *in
	was.State = nil
	was.Change = sources.Change{Scope: in.Change.Scope, Alive: in.Change.Alive}
}

// before returns the last Input with the same kind and source as in. It writes kind and source, or reads them into in.
func (c *codec) before(in *sources.Input) *sources.Input {
	n := slices.IndexFunc(c.last, func(was *sources.Input) bool { return was.Kind == in.Kind && was.Source == in.Source })
	if n = int(c.Uint(uint64(n + 1))); n > len(c.last) || n < 0 {
		c.Fail(pack.ErrDamaged)
		return nil
	}
	if n == 0 {
		kind := c.Uint(uint64(in.Kind))
		if kind > uint64(sources.InputPublished) {
			c.Fail(pack.ErrNewer)
		}
		was := &sources.Input{Kind: sources.InputKind(kind), Source: c.Text(in.Source)}
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
