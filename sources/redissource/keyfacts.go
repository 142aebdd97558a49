package redissource

import (
	"fmt"
	"hash/maphash"
	"strings"

	"coordtop/sources"
)

// facts summarise the row of a key without its lease. A key keeps them, instead of the row, for comparison with the
// next reading. The Hub keeps the row, and a second copy of 100,000 rows would need 60 MB. The zero facts stand for a
// missing row.
type facts struct {
	all  uint64 // a hash of the row; 0 if there is no row yet
	ids  uint64 // a hash of the IDs of the owners
	text int    // see textOf

	owners  int
	owner   string // the ID of the first owner
	library string // see sources.Primitive.Format

	kind                  sources.Kind
	ownersHow, libraryHow sources.Known

	noExpiry bool // of the first owner
	guessed  bool // see sources.Primitive.Guessed
	noRight  bool // the key is no string, and a right to read it is missing
}

var sumSeed = maphash.MakeSeed()

// factsOf returns the facts of p. It leaves their text 0.
func factsOf(p *sources.Primitive) facts {
	f := facts{owners: len(p.Owners), kind: p.Kind, ownersHow: p.OwnersHow, guessed: p.Guessed(), noRight: strings.HasPrefix(p.Note, noTableRight)}
	if f.library, f.libraryHow = p.Format(); f.owners > 0 {
		f.owner, f.noExpiry = p.Owners[0].ID, p.Owners[0].NoExpiry
	}
	var all, ids maphash.Hash
	all.SetSeed(sumSeed)
	ids.SetSeed(sumSeed)
	fmt.Fprintf(&all, "%q %d %d %d %d %d %#v\n", p.Note, p.OwnersHow, p.Queue.How, p.Kind, p.Limit, p.Queue.Len, p.Labels)
	for i := range p.Owners {
		o := &p.Owners[i]
		fmt.Fprintf(&all, "owner %q %q %q %d %d %d %q %d %d %#v\n", o.ID, o.Label, o.Guard, o.Mode, o.Fence, o.Permits, o.Data.Head, o.Data.Len, o.Data.Sum, o.Attrs)
		fmt.Fprintf(&ids, "%q", o.ID)
	}
	for i := range p.Queue.Waiters {
		fmt.Fprintf(&all, "waiter %q %#v\n", p.Queue.Waiters[i].ID, p.Queue.Waiters[i].Attrs)
	}
	f.all, f.ids = max(all.Sum64(), 1), ids.Sum64()
	return f
}

// checksum returns a number that is equal for two strings whose rows differ at most in the remaining time. It returns 0
// if the key is no string or the row also depends on companions.
func (r *reading) checksum() uint64 {
	if r.shape != text || len(r.beside) > 0 {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(sumSeed)
	_, _ = h.Write(r.head) // never fails
	maphash.WriteComparable(&h, r.size)
	maphash.WriteComparable(&h, r.leased())
	return max(h.Sum64(), 1)
}

// unchanged reports whether r has the same text as the previous reading, which is so after most renewals.
func (k *key) unchanged(r *reading) bool {
	sum := r.checksum()
	return sum != 0 && sum == k.checksum && k.shown.all != 0
}

// examine returns the facts and the row that a reading shows. p is nil if only the lease can have changed; primitive
// then makes the row if it is needed.
func (k *key) examine(o *Options, space string, r *reading) (f facts, p *sources.Primitive) {
	if k.unchanged(r) {
		return k.shown, nil
	}
	p = k.primitive(o, space, r)
	return factsOf(p), p
}
