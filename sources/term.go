package sources

import "time"

// termAge is how long an ended term is kept, at least until a newer one begins.
const termAge = 24 * time.Hour

// terms is the history of a row whose primitive has one owner at a time, while it is
// brought up to date. Published rows share the list, so the first change copies it.
//
// In a conflict, when two exclusive owners are shown at once, the running term stays
// with the one that was first; the other's begins when that ends. So terms never
// overlap, and never have an end before their start.
type terms struct {
	list []Term // oldest first, the running one last
	own  bool   // list is a copy that nobody else sees
}

// running returns the last term if it has no end yet. It is for reading.
func (t *terms) running() *Term {
	if n := len(t.list); n > 0 && t.list[n-1].End.How == Unknown {
		return &t.list[n-1]
	}
	return nil
}

// last returns the last term for changing. There must be one.
func (t *terms) last() *Term {
	if !t.own {
		old := t.list
		t.list = make([]Term, len(old), len(old)+1) // one more often follows
		copy(t.list, old)
		t.own = true
	}
	return &t.list[len(t.list)-1]
}

// begin appends a term of owner, unless one runs.
func (t *terms) begin(owner OwnerRef, program Program, start Stamp) {
	if t.running() != nil {
		return
	}
	t.forget(start.At)
	if len(t.list) > 0 {
		last := t.last()
		last.End, start = meet(last.End, start)
	}
	t.list = append(t.list, Term{Owner: owner, Program: program, Hue: hue(owner, program, t.list), Start: start})
	t.own = true
}

// end ends the running term if it is owner's.
func (t *terms) end(owner OwnerRef, end Stamp, cause Cause, how Known) {
	if r := t.running(); r == nil || r.Owner.ID != owner.ID {
		return
	}
	endTerm(t.last(), end, cause, how)
}

// endTerm ends a term, not before its start.
func endTerm(t *Term, end Stamp, cause Cause, how Known) {
	if end.At.Before(t.Start.At) {
		end = Stamp{At: t.Start.At, How: end.How}
	}
	t.End, t.Cause, t.How = notBefore(end, t.Start), cause, how
}

// rename gives the running term the name that its owner has by now: a fence or a label
// may become known later than the owner.
func (t *terms) rename(owners []Owner) {
	r := t.running()
	if r == nil {
		return
	}
	for i := range owners {
		if now := owners[i].ref(); now.ID == r.Owner.ID && now != r.Owner {
			t.last().Owner = now
			return
		}
	}
}

// forget drops what is too old or too much for one more term.
func (t *terms) forget(now time.Time) {
	first := max(0, len(t.list)-(MaxTerms-1))
	for first < len(t.list)-1 && t.list[first].End.At.Before(now.Add(-termAge)) {
		first++
	}
	t.list = t.list[first:]
}

// hue returns the hue that owner has in the lists, else the lowest that nobody has. The owner
// before is in one, so two that touch and look different have different hues.
func hue(owner OwnerRef, program Program, lists ...[]Term) uint8 {
	var taken [MaxTerms + 1]bool
	for _, list := range lists {
		for i := range list {
			if list[i].SameProgram(owner, program) {
				return list[i].Hue
			}
			taken[list[i].Hue] = true
		}
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
		return end, notBefore(start, Stamp{At: end.Earliest()})
	}
	if after := end.After(); !after.IsZero() && !start.At.Before(after) {
		end = StampBetween(after, start.At, end.How)
		return end, notBefore(start, Stamp{At: end.Earliest()})
	}
	return end, Stamp{At: end.At, How: start.How}
}

// notBefore narrows s to what is not before the earliest instant of other.
func notBefore(s, other Stamp) Stamp {
	if from := other.Earliest(); s.Earliest().Before(from) {
		return StampBetween(from, s.At, s.How)
	}
	return s
}
