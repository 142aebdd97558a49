package fleet

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/origin"
)

// Ends is the event that ends an ownership if its owner dies now.
type Ends uint8

// The ways to end, that which is known best first.
const (
	WithLease   Ends = iota // when the lease runs out
	WithSession             // once its server notices that the session has ended
	EndUnknown
	Never // it has neither lease nor session
)

// String returns "lease", "session", "unknown" or "never".
func (e Ends) String() string { return [...]string{"lease", "session", "unknown", "never"}[e] }

// Next classifies the next owner of a row after a party.
type Next uint8

// The classes of next owners, those that hurt most first.
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

// Holding is a row that a party owns, with all its owners of this party.
type Holding struct {
	Row   *sources.Row
	Owner *sources.Owner // the one whose ownership lasts longest
	Ends  Ends
	Until time.Time // the last end of a lease; zero: Ends is not WithLease
	Next  Next
	Names []string // of those who are next, as far as they are known: fit for a terminal
}

// add adds an owner.
func (h *Holding) add(o *sources.Owner, fresh bool) {
	ends, until := EndUnknown, time.Time{}
	switch {
	case !fresh:
	case o.Endless():
		ends = Never
	case !o.NoExpiry && o.Expires.How != sources.Unknown && !o.Expires.At.IsZero():
		ends, until = WithLease, o.Expires.At
	case o.BySession():
		ends = WithSession
	}
	if h.Owner == nil || ends > h.Ends || ends == h.Ends && until.After(h.Until) {
		h.Owner, h.Ends, h.Until = o, ends, until
	}
}

// EndText returns how it ends, in a word: "19s", "session", "idle in tx", "no end", "?".
func (h *Holding) EndText(now time.Time) string {
	switch {
	case h.Ends == WithLease:
		return format.Left(h.Until.Sub(now))
	case h.Owner.Idle == sources.IdleInTransaction:
		return "idle in tx"
	case h.Ends == WithSession:
		return "session"
	case h.Ends == Never:
		return "no end"
	}
	return "?"
}

// NextText returns who is next, in a few words: "host-15", "probably host-15", "nobody else waits".
func (h *Holding) NextText() string {
	who := format.Some(h.Names, 2)
	switch h.Next {
	case First:
		return who
	case Likely:
		return "probably " + who
	case Race:
		return "perhaps " + who
	case Counted:
		return "one of " + format.Count(h.Row.Queue.Len) + " that wait"
	case Nobody:
		return "nobody else waits"
	case Kept:
		return "others keep it"
	}
	return "?"
}

// next returns who follows a party on a row whose owners and waiters have been read, and their names.
func (b *builder) next(p *Party, row *sources.Row) (next Next, names []string) {
	q, permits := &row.Queue, uint64(0)
	for i, other := range b.owners {
		if other != p {
			return Kept, nil
		}
		permits += max(row.Owners[i].Permits, 1)
	}
	switch {
	case row.Limited() && row.Taken > permits:
		return Kept, nil // by owners that are not told
	case !row.Fresh(b.in.State):
		return Unseen, nil
	}
	turn := 0
	for i, other := range b.waiters[:min(len(b.waiters), most)] {
		if w := &q.Waiters[i]; other != p && (len(names) == 0 || turn != 0 && w.Turn == turn) {
			names, turn = append(names, label(w.Label)), w.Turn
		}
	}
	switch {
	case len(names) > 0 && q.How == sources.Inferred:
		return Likely, names
	case len(names) > 0:
		return First, names
	case q.How != sources.Unknown && q.Len > len(q.Waiters):
		return Counted, nil
	}
	if names = b.rivals(p, row); len(names) > 0 {
		return Race, names
	}
	if q.How == sources.Unknown || row.Kind == sources.KindElection && q.CandidatesHow == sources.Unknown {
		return Unseen, nil
	}
	return Nobody, nil
}

// rivals names those outside a party that were seen to try for a row, or owned it in the last hour. Of former owners
// only the label is known.
func (b *builder) rivals(p *Party, row *sources.Row) (names []string) {
	add := func(o origin.Origin, name string) {
		if b.keyOf(row.Source, o) != p.Key && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for i := range row.Candidates[:min(len(row.Candidates), most)] {
		c := &row.Candidates[i]
		add(b.labels.OfWaiter(c), label(c.Label))
	}
	for i := len(row.Terms) - 1; i >= 0; i-- {
		t := &row.Terms[i]
		if t.End.How == sources.Unknown {
			continue // it owns it now
		}
		if t.End.At.Before(b.hour) {
			break
		}
		if o := b.labels.OfName(t.Owner.Name()); o.Host != "" || b.named(p, row) { // else it may have been the party itself
			add(o, label(t.Owner.Name()))
		}
	}
	return names
}

// named reports whether the labels of the owners of a row name the party, so that those of former owners do too.
func (b *builder) named(p *Party, row *sources.Row) bool {
	return slices.ContainsFunc(row.Owners[:min(len(row.Owners), most)], func(o sources.Owner) bool {
		return b.keyOf(row.Source, b.labels.OfName(cmp.Or(o.Label, o.ID))) == p.Key
	})
}

// Fall sums up what happens if a party dies now.
type Fall struct {
	Rows   int        // that others may own then: nobody else keeps them, and they do end
	Alone  int        // of them, those for which nobody else is known
	Ends   [Never]int // of Rows, by how they end
	Last   time.Time  // the last end of a lease of them
	Sooner bool       // a session's end may end a lease before
}

func (f *Fall) add(h *Holding) {
	if h.Next == Kept || h.Ends == Never {
		return
	}
	f.Rows++
	f.Ends[h.Ends]++
	if h.Next <= Unseen {
		f.Alone++
	}
	if h.Ends == WithLease {
		f.Last = sources.Later(f.Last, h.Until)
		f.Sooner = f.Sooner || h.Owner.Session != ""
	}
}

// Sentence answers what happens if the party dies now in one line: "if host-22 goes, these 11 fall, the longest in 30s".
func (p *Party) Sentence(now time.Time) string { return "if " + p.Label() + " goes, " + p.Outcome(now) }

// Outcome returns the part of Sentence after the name of the party.
func (p *Party) Outcome(now time.Time) string {
	f := &p.Fall
	if f.Rows == 0 {
		return "nothing falls: " + p.calm()
	}
	text := "1 falls"
	if f.Rows > 1 {
		text = "these " + format.Count(f.Rows) + " fall"
	}
	var parts []string
	for e, n := range f.Ends {
		switch n {
		case 0:
		case f.Rows:
			text += f.end(Ends(e), now)
		default:
			parts = append(parts, format.Count(n)+f.end(Ends(e), now))
		}
	}
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, "; ")
	}
	switch {
	case f.Alone == 0:
		return text
	case f.Rows == 1:
		return text + "; nobody else is known for it"
	case f.Alone == f.Rows:
		return text + "; nobody else is known for any of them"
	}
	return text + "; nobody else is known for " + format.Count(f.Alone) + " of them"
}

// end returns the time at which the rows that end in one way lose their owner.
func (f *Fall) end(e Ends, now time.Time) string {
	many := f.Ends[e] > 1
	switch {
	case e == EndUnknown:
		return ", nobody knows when"
	case e == WithSession && many:
		return " when their sessions end"
	case e == WithSession:
		return " when its session ends"
	}
	text, left := " ", f.Last.Sub(now)
	if many {
		text = ", the longest "
	}
	if left <= 0 {
		return text + "at once: the lease is over"
	}
	text += "in " + format.Left(left)
	if f.Sooner {
		text += " at most"
	}
	return text
}

// calm returns the reason why no row loses its owner.
func (p *Party) calm() string {
	switch {
	case len(p.Owns) == 0 && len(p.Lost) > 0:
		return "it lost " + format.Count(len(p.Lost)) + ", and nobody took over"
	case len(p.Owns) == 0:
		return "it owns nothing"
	case p.Owns[0].Next == Kept: // and so are all behind it
		return "others keep what it owns"
	}
	return "what only it owns has no end"
}
