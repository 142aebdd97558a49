package fleet

import (
	"slices"
	"time"

	"coordtop/sources"
	"coordtop/sources/origin"
)

// Ends says when an ownership ends if its owner dies now.
type Ends uint8

// The ways to end, that which is known best first.
const (
	WithSession Ends = iota // once its server notices that the session has ended
	WithLease               // when the lease runs out
	EndUnknown
	Never // it has neither lease nor session
)

// String returns "session", "lease", "unknown" or "never".
func (e Ends) String() string { return [...]string{"session", "lease", "unknown", "never"}[e] }

// Next says who owns a row after a party.
type Next uint8

// The ways to go on.
const (
	Nobody  Next = iota // the server tells that nobody waits
	Unseen              // nobody else was seen; there may be somebody
	Race                // whoever asks first of those that were seen
	Counted             // somebody waits, and it is not told who is first
	Likely              // the first of a queue whose order is inferred
	First               // the first in the queue
	Kept                // other owners keep it: it does not fall
)

// String returns "nobody", "unknown", "race", "waiting", "inferred", "told" or "kept".
func (n Next) String() string {
	return [...]string{"nobody", "unknown", "race", "waiting", "inferred", "told", "kept"}[n]
}

// alone reports whether nobody else is known for a row.
func (n Next) alone() bool { return n <= Unseen }

// Holding is a row that a party owns, with all its owners of this party.
type Holding struct {
	Row     *sources.Row
	Owner   *sources.Owner // the one whose ownership lasts longest
	Permits uint64         // of all of them
	Next    Next

	ends  Ends
	until time.Time // the last end of a lease; zero: none
	stale bool      // nobody knows whether it is still so
}

// add adds an owner.
func (h *Holding) add(o *sources.Owner) {
	h.Permits += max(o.Permits, 1)
	ends, until := EndUnknown, time.Time{}
	switch {
	case h.stale:
	case o.Endless():
		ends = Never
	case !o.NoExpiry && o.Expires.How != sources.Unknown && !o.Expires.At.IsZero():
		ends, until = WithLease, o.Expires.At
	case o.BySession():
		ends = WithSession
	}
	if h.Owner == nil || ends > h.ends || ends == h.ends && until.After(h.until) {
		h.Owner, h.ends = o, ends
	}
	h.until = sources.Later(h.until, until)
}

// Ends returns how it ends, and when at the latest if that is known.
func (h *Holding) Ends() (Ends, time.Time) {
	if h.ends != WithLease {
		return h.ends, time.Time{}
	}
	return h.ends, h.until
}

// Stale reports whether it is only known from before its source fell silent.
func (h *Holding) Stale() bool { return h.stale }

// Falls reports whether others may own it after its party has died: nobody else keeps it, and it does end.
func (h *Holding) Falls() bool { return h.Next != Kept && h.ends != Never }

// rank orders holdings: those without a next first, those that others keep last.
func (h *Holding) rank() int {
	switch {
	case h.Next == Kept:
		return 3
	case h.ends == Never:
		return 0
	case h.Next.alone():
		return 1
	}
	return 2
}

// next returns who follows a party on a row whose owners and waiters have been read.
func (b *builder) next(p *Party, row *sources.Row) Next {
	q, permits := &row.Queue, uint64(0)
	for i, other := range b.owners {
		if other != p {
			return Kept
		}
		permits += max(row.Owners[i].Permits, 1)
	}
	if row.Limited() && row.Taken > permits {
		return Kept // by owners that are not told
	}
	if !row.Fresh(b.in.State) {
		return Unseen
	}
	own := 0
	for _, other := range b.waiters[:min(len(b.waiters), most)] {
		switch {
		case other == p:
			own++
		case q.How == sources.Inferred:
			return Likely
		default:
			return First
		}
	}
	switch {
	case q.How != sources.Unknown && q.Len > max(own, len(q.Waiters)):
		return Counted
	case len(rivals(p, row, b.hour)) > 0:
		return Race
	case q.How == sources.Unknown, row.Kind == sources.KindElection && q.CandidatesHow == sources.Unknown:
		return Unseen
	}
	return Nobody
}

// rivals names those outside a party that were seen to try for a row, or owned it since an instant. Of former owners
// only the label is known.
func rivals(p *Party, row *sources.Row, since time.Time) (names []string) {
	add := func(o origin.Origin, name string) {
		if KeyOf(p.By, row.Source, o) != p.Key && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i := range row.Candidates[:min(len(row.Candidates), most)] {
		c := &row.Candidates[i]
		add(origin.OfWaiter(c), label(c.Label))
	}
	for i := len(row.Terms) - 1; i >= 0; i-- {
		t := &row.Terms[i]
		if t.End.How == sources.Unknown {
			continue // it owns it now
		}
		if t.End.At.Before(since) {
			break
		}
		if o := origin.OfRef(t.Owner); o.Host != "" || p.named(row) { // else it may have been the party itself
			add(o, label(t.Owner.Name()))
		}
	}
	return names
}

// Fall sums up what happens if a party dies now.
type Fall struct {
	Rows    int // that fall: see Holding.Falls
	Alone   int // of them, those for which nobody else is known
	Session int // of Rows, those that end with a session
	Lease   int // of Rows, those that end with a lease, the first at First, the last at Last
	Unknown int // of Rows, those of which nobody knows when
	Stale   int // of Unknown and Kept, those whose source does not answer
	Kept    int // that others keep
	Never   int // that stay as they are: nothing ends them

	First, Last time.Time
	Sooner      bool // a session's end may end a lease before
}

func (f *Fall) add(h *Holding) {
	if h.stale {
		f.Stale++
	}
	switch {
	case h.Next == Kept:
		f.Kept++
		return
	case h.ends == Never:
		f.Never++
		return
	}
	f.Rows++
	if h.Next.alone() {
		f.Alone++
	}
	switch h.ends {
	case WithSession:
		f.Session++
	case WithLease:
		f.Lease++
		f.Sooner = f.Sooner || h.Owner.Session != ""
		if f.First.IsZero() || h.until.Before(f.First) {
			f.First = h.until
		}
		f.Last = sources.Later(f.Last, h.until)
	default:
		f.Unknown++
	}
}

// named reports whether the labels of the owners of a row name the party, so that those of former owners do too.
func (p *Party) named(row *sources.Row) bool {
	return slices.ContainsFunc(row.Owners[:min(len(row.Owners), most)], func(o sources.Owner) bool {
		return KeyOf(p.By, row.Source, origin.OfRef(sources.OwnerRef{ID: o.ID, Label: o.Label})) == p.Key
	})
}
