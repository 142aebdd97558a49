package redissource

import (
	"hash/maphash"
	"strings"

	"coordtop/sources"
)

// facts are what a key keeps of what was shown of it last, but for the lease: the Hub has the rest, and
// a second copy of 100,000 rows would take 60 MB. Zero: nothing was shown yet.
type facts struct {
	all  uint64 // a sum of everything; 0: nothing was shown yet
	ids  uint64 // a sum of the IDs of the owners
	text int    // bytes of the owners and their data, as capacity counts them

	owners  int
	owner   string // the ID of the first one
	library string // see sources.Primitive.Format

	kind                  sources.Kind
	ownersHow, libraryHow sources.Known

	noExpiry bool // of the first owner
	guessed  bool // see sources.Primitive.Guessed
	noRight  bool // it is no string, and may not be read
}

var sumSeed = maphash.MakeSeed()

// factsOf draws from p all but text.
func factsOf(p *sources.Primitive) facts {
	f := facts{owners: len(p.Owners), kind: p.Kind, ownersHow: p.OwnersHow, guessed: p.Guessed(), noRight: strings.HasPrefix(p.Note, noTableRight)}
	if f.library, f.libraryHow = p.Format(); f.owners > 0 {
		f.owner, f.noExpiry = p.Owners[0].ID, p.Owners[0].NoExpiry
	}
	var all, ids maphash.Hash
	all.SetSeed(sumSeed)
	ids.SetSeed(sumSeed)
	write := func(attrs []sources.Attr, values ...any) {
		for _, v := range values {
			maphash.WriteComparable(&all, v)
		}
		maphash.WriteComparable(&all, len(attrs))
		for _, a := range attrs {
			maphash.WriteComparable(&all, a)
		}
	}
	write(p.Labels, p.Note, p.OwnersHow, p.Queue.How, p.Kind, p.Limit, len(p.Owners), p.Queue.Len, len(p.Queue.Waiters))
	for i := range p.Owners {
		o := &p.Owners[i]
		write(o.Attrs, o.ID, o.Label, o.Guard, o.Mode, o.Fence, o.Permits, o.Data)
		maphash.WriteComparable(&ids, o.ID)
	}
	for i := range p.Queue.Waiters {
		write(p.Queue.Waiters[i].Attrs, p.Queue.Waiters[i].ID)
	}
	f.all, f.ids = max(all.Sum64(), 1), ids.Sum64()
	return f
}

// checksum is equal for two strings that are shown alike but for their time left. 0: it is no string, or other
// keys were read too that decide what is shown.
func (r *reading) checksum() uint64 {
	if r.shape != text || len(r.beside) > 0 {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(sumSeed)
	_, _ = h.Write(r.head) // it never fails
	maphash.WriteComparable(&h, r.size)
	maphash.WriteComparable(&h, r.leased())
	return max(h.Sum64(), 1)
}

// unchanged reports whether r is the text again that was shown last, as after most renewals.
func (k *key) unchanged(r *reading) bool {
	sum := r.checksum()
	return sum != 0 && sum == k.checksum && k.shown.all != 0
}

// examine interprets a reading. p is nil where it shows what was shown last but for the lease: see again.
func (k *key) examine(o *Options, space string, r *reading) (f facts, p *sources.Primitive) {
	if k.unchanged(r) {
		return k.shown, nil
	}
	p = k.primitive(o, space, r)
	return factsOf(p), p
}
