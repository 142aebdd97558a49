package sources

import "time"

// termAge is how long an ended term is kept, at least until a newer one begins.
const termAge = 24 * time.Hour

// terms is the history of a row whose primitive has one owner at a time, oldest first.
// It is never changed in place, because published rows share it: every method
// returns another.
//
// In a conflict, when two exclusive owners are shown at once, the running term stays
// with the one that was first; the other's begins when that ends. So terms never
// overlap, and never have an end before their start.
type terms []Term

// running returns the last term if it has no end yet.
func (t terms) running() *Term {
	if n := len(t); n > 0 && t[n-1].End.How == Unknown {
		return &t[n-1]
	}
	return nil
}

// begin appends a term of owner, unless one runs.
func (t terms) begin(owner OwnerRef, start Stamp) terms {
	if t.running() != nil {
		return t
	}
	old := t.recent(start.At)
	next := make(terms, len(old), len(old)+1)
	copy(next, old)
	if n := len(next); n > 0 {
		next[n-1].End, start = meet(next[n-1].End, start)
	}
	return append(next, Term{Owner: owner, Hue: old.hue(owner), Start: start})
}

// end ends the running term if it is owner's.
func (t terms) end(owner OwnerRef, end Stamp, cause Cause, how Known) terms {
	r := t.running()
	if r == nil || r.Owner.ID != owner.ID {
		return t
	}
	next := append(terms(nil), t...)
	last := next.running()
	if end.At.Before(last.Start.At) {
		end = Stamp{At: last.Start.At, How: end.How}
	}
	last.End, last.Cause, last.How = notBefore(end, last.Start), cause, how
	return next
}

// named returns t with the running term under the name that its owner has by now: a
// fence or a label may become known later than the owner.
func (t terms) named(owners []Owner) terms {
	r := t.running()
	if r == nil {
		return t
	}
	for i := range owners {
		now := owners[i].ref()
		if now.ID != r.Owner.ID || now == r.Owner {
			continue
		}
		next := append(terms(nil), t...)
		next.running().Owner = now
		return next
	}
	return t
}

// recent leaves out what is too old or too much for one more term.
func (t terms) recent(now time.Time) terms {
	first := max(0, len(t)-(MaxTerms-1))
	for first < len(t)-1 && t[first].End.At.Before(now.Add(-termAge)) {
		first++
	}
	return t[first:]
}

// hue returns the hue that owner has in t, else the lowest that nobody has. The owner
// before is in t, so two that touch differ.
func (t terms) hue(owner OwnerRef) uint8 {
	var taken [MaxTerms + 1]bool
	for i := range t {
		if t[i].Owner.ID == owner.ID {
			return t[i].Hue
		}
		taken[t[i].Hue] = true
	}
	for h := range taken {
		if !taken[h] {
			return uint8(h)
		}
	}
	panic("sources: more hues than terms")
}

// meet makes an end and the start that follows it agree: where only one can own it, the
// first was over when the second began.
func meet(end, start Stamp) (Stamp, Stamp) {
	if !start.At.Before(end.At) {
		return end, notBefore(start, Stamp{At: earliest(end)})
	}
	if !end.After.IsZero() && !start.At.Before(end.After) {
		end.At = start.At
		return end, notBefore(start, Stamp{At: earliest(end)})
	}
	return end, Stamp{At: end.At, How: start.How}
}

// earliest is the first instant at which what s stamps can have happened.
func earliest(s Stamp) time.Time {
	if s.After.IsZero() {
		return s.At
	}
	return s.After
}

// notBefore narrows s to what is not before the earliest instant of other.
func notBefore(s, other Stamp) Stamp {
	if from := earliest(other); !s.After.IsZero() && s.After.Before(from) {
		s.After = from
	}
	return s
}
