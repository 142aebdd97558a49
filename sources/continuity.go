package sources

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// look is the part of a Change about one primitive, with the doubts that the Hub adds.
type look struct {
	scope     *scope // nil: there is nothing to tell of it
	after, at time.Time
	relisted  bool
	ended     []Ending      // of this primitive only
	decided   []Event       // alike: see Change
	ours      []Expectation // the ends that we bring about

	darkFrom time.Time  // since then the row was not observed, up to this look; zero: it was observed since its last read
	started  time.Time  // About.Started
	restarts bool       // another incarnation told it: the ownerships before are lost
	unread   bool       // the row was not read; its next look can prove an owner the same
	inDoubt  []string   // IDs of owners that go on, and may have lost the primitive in the dark
	unproved bool       // an owner that goes on was written to, and may have lost it and taken it again
	revealed bool       // the owners were unknown for a while before this look
	olds     []int      // for each owner, the index of the one in the look before that goes on as it; -1: it is new
	queued   *Primitive // the last with a whole queue, where that of before is not whole
}

// read reports whether p was ever read.
func read(p *Primitive) bool { return p != nil && !p.At.IsZero() }

// ownersKnown reports whether the list of owners is known, which may be empty.
func ownersKnown(p *Primitive) bool { return p.OwnersHow != Unknown || len(p.Owners) > 0 }

// counted reports whether the number of taken permits is told. Then unknown owners hide no change.
func counted(p *Primitive) bool { return p.Kind == KindSemaphore && p.LimitHow != Unknown }

// fact returns how a difference between two looks is known.
func (l *look) fact() Known {
	if l.after.IsZero() {
		return Told
	}
	return Seen
}

// stamp returns the instant of a change that this look shows, as we saw it.
func (l *look) stamp() Stamp { return StampBetween(l.after, l.at, Seen) }

func (l *look) event(kind EventKind, p *Primitive) Event {
	return Event{At: l.at, After: l.after, Kind: kind, Ref: p.Ref, Alias: p.Alias, AliasHow: p.AliasHow, RefKind: p.Kind, How: l.fact(), Scope: l.scope.Name}
}

// complete returns after with the owners' Since, Renewed, Rhythm and taker filled in from this look and
// those before. It copies a primitive that it completes: after does not change.
func (l *look) complete(before, after *Primitive) *Primitive {
	if !read(after) {
		return after
	}
	l.match(before, after)
	found := l.found(before) || l.madeUp(before, after)
	full := after
	for i := range after.Owners {
		o, old := &after.Owners[i], l.old(before, i)
		since, renewal, rhythm := l.completed(old, o, found)
		label, attrs := l.taker(old, o)
		if since == o.Since && renewal == o.Renewed && rhythm == o.Rhythm && len(attrs) == len(o.Attrs) {
			continue
		}
		if full == after {
			full = new(Primitive)
			*full = *after
			full.Owners = append([]Owner(nil), after.Owners...)
		}
		full.Owners[i].Since, full.Owners[i].Renewed, full.Owners[i].Rhythm = since, renewal, rhythm
		full.Owners[i].Label, full.Owners[i].Attrs = label, attrs
	}
	return full
}

// match finds out which owners of after go on from before. Between two incarnations all ownerships were lost:
// no owner is the same, whatever its ID, unless its Proof is.
func (l *look) match(before, after *Primitive) {
	was := finder{look: l}
	if read(before) {
		l.restarts = before.Incarnation != after.Incarnation && before.Incarnation != "" && after.Incarnation != ""
		was.owners = before.Owners
	}
	for i := range after.Owners {
		l.olds = append(l.olds, was.find(&after.Owners[i]))
	}
}

// old returns the owner of before that goes on as owner i of this look; nil: that one is new.
func (l *look) old(before *Primitive, i int) *Owner {
	if at := l.olds[i]; at >= 0 {
		return &before.Owners[at]
	}
	return nil
}

func (l *look) completed(old, o *Owner, found bool) (since, renewal Stamp, _ Rhythm) {
	since, renewal = o.Since, o.Renewed
	if old != nil && l.doubts(old, o) {
		l.inDoubt = append(l.inDoubt, o.ID)
		since = l.doubted(cmp.Or(since, old.Since), old.Since)
		return since, renewal, old.Rhythm // renewals in the dark are unknown
	}
	var ours Stamp
	switch {
	case old != nil:
		ours = old.Since
	case found:
		ours = Stamp{At: l.at, How: AtLeast}
	default:
		ours = l.stamp()
	}
	switch {
	case certainty[ours.How] > certainty[since.How]:
		since = ours
	case ours.How == AtLeast && since.How == AtLeast && ours.At.Before(since.At): // from before the source connected anew
		since = StampBetween(Later(ours.After(), since.After()), ours.At, AtLeast)
	case old != nil && ours.How == AtLeast && looked(since.How) && since.At.Before(ours.At): // the source knows of no doubt
		since = ours
	}
	if old == nil {
		return since, renewal, Rhythm{}
	}
	anew := renewed(old, o)
	if renewal.How == Unknown {
		renewal = old.Renewed
		if anew {
			renewal = l.stamp()
		}
	}
	return since, renewal, l.rhythm(old, anew)
}

// rhythm returns the rhythm of an owner that owned it at the last look, too. A pause with
// darkness in it is not counted: renewals may have been missed.
func (l *look) rhythm(old *Owner, anew bool) Rhythm {
	if !anew || l.darkened() {
		return old.Rhythm
	}
	last, ok := lastRenewed(old)
	if !ok {
		return old.Rhythm.renewed(0)
	}
	return old.Rhythm.renewed(l.at.Sub(last))
}

// Two readings of one lease's end differ by the time that the reading takes, at most expiryNoise. Ends
// that carry their doubt differ only by the rounding of the remaining time.
const (
	expiryRounding = 2 * time.Millisecond
	expiryNoise    = 25 * time.Millisecond
)

// renewed reports whether the lease was renewed between two looks at the same owner.
func renewed(before, after *Owner) bool {
	if before.Renewed.How == Told && after.Renewed.How == Told {
		return after.Renewed.At.After(before.Renewed.At)
	}
	if !leaseKnown(before) || !leaseKnown(after) {
		return false
	}
	if after.Expires.After().IsZero() {
		return after.Expires.At.Sub(before.Expires.At) > expiryNoise
	}
	return after.Expires.After().Sub(before.Expires.At) > expiryRounding
}

// The attributes of an owner whose session has another name than when it took the lock: TakenBy is its
// name at the take, FirstSeenAs its name at the first look after the take, and Leaked warns that a
// pooler lends the session to others, or may do so.
const (
	TakenBy     = "taken by"
	FirstSeenAs = "first seen as"
	Leaked      = "leaked"
)

// taker returns the label and the attributes of o, with the name of the taker from old, the same owner at
// the look before, or nil: a source that connected after the take knows only the session's present name.
// Leaked is kept as long as nothing was done in the session.
func (l *look) taker(old, o *Owner) (label string, attrs []Attr) {
	label, attrs = o.Label, o.Attrs
	if old == nil || l.doubts(old, o) {
		return label, attrs
	}
	for _, a := range old.Attrs {
		took := a.Key == TakenBy || a.Key == FirstSeenAs
		switch {
		case slices.ContainsFunc(o.Attrs, func(b Attr) bool { return a.Key == b.Key }):
		case took && !strings.HasPrefix(label, a.Value): // else it has that name again
			label, attrs = a.Value+", now "+label, append(slices.Clip(attrs), a)
		case a.Key == Leaked && o.Proof != 0 && o.Proof == old.Proof:
			attrs = append(slices.Clip(attrs), a)
		}
	}
	return label, attrs
}

// found reports whether an owner that this look shows first may have owned the primitive before: its
// take-over was not seen.
func (l *look) found(before *Primitive) bool {
	if before == nil {
		return l.relisted
	}
	return !read(before) || !before.Absent && !ownersKnown(before)
}

// madeUp reports whether, after darkness, an owner or waiter of before may be one of after under another
// ID. A source whose server hides the part that distinguishes two sessions makes that part up, and
// writes it behind a ~; a part that the server reports stands behind an @.
func (l *look) madeUp(before, after *Primitive) bool {
	if !l.darkened() || !read(before) || !slices.ContainsFunc(append(sessions(before), sessions(after)...), isMadeUp) {
		return false
	}
	number := func(session string) string {
		if i := strings.IndexAny(session, "@~"); i > 0 {
			return session[:i]
		}
		return session
	}
	was := map[string]string{}
	for _, session := range sessions(before) {
		was[number(session)] = session
	}
	return slices.ContainsFunc(sessions(after), func(is string) bool {
		session, known := was[number(is)]
		return known && session != is && (isMadeUp(session) || isMadeUp(is))
	})
}

// isMadeUp reports whether a part of the ID of a session is made up.
func isMadeUp(session string) bool { return strings.Contains(session, "~") }

// sessions lists the known sessions of all owners and listed waiters.
func sessions(p *Primitive) (list []string) {
	for i := range p.Owners {
		list = append(list, p.Owners[i].Session)
	}
	for i := range p.Queue.Waiters {
		list = append(list, p.Queue.Waiters[i].Session)
	}
	return slices.DeleteFunc(list, func(session string) bool { return session == "" })
}

// finder finds owners in a list that mostly keeps its order: it tries first the one after the
// last one found, and builds an index where two lists differ.
type finder struct {
	look   *look
	owners []Owner
	next   int
	byID   map[string]int // the first with this ID; nil until two lists differ
}

// find returns the index of the owner that goes on as o, or that o goes on from; -1: there is none.
func (f *finder) find(o *Owner) int {
	if f.next < len(f.owners) && f.look.goesOn(&f.owners[f.next], o) {
		f.next++
		return f.next - 1
	}
	if f.byID == nil {
		f.byID = make(map[string]int, len(f.owners))
		for i := range slices.Backward(f.owners) {
			f.byID[f.owners[i].ID] = i
		}
	}
	first, ok := f.byID[o.ID]
	if !ok {
		return -1
	}
	for i := first; i < len(f.owners); i++ {
		if f.look.goesOn(&f.owners[i], o) {
			f.next = i + 1
			return i
		}
	}
	return -1
}

// find returns the first wanted item of a list; nil: there is none.
func find[T any](list []T, wanted func(*T) bool) *T {
	for i := range list {
		if wanted(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// goesOn reports whether an owner of the look before and one of this look are one term, maybe
// in doubt. It is symmetric.
func (l *look) goesOn(a, b *Owner) bool {
	switch {
	case !sameTerm(a, b), l.decision(a.ref(), decidedEnd) != nil:
		return false
	case l.restarts:
		return a.Proof != 0 && a.Proof == b.Proof
	}
	return !l.darkened() || sameGrant(a, b) || !l.outlivedBy(a) && !l.outlivedBy(b)
}

// sameTerm reports whether two owners of one incarnation can be one uninterrupted ownership.
func sameTerm(a, b *Owner) bool {
	return a.ID == b.ID && sameNumber(a.Fence, b.Fence) && sameNumber(uint64(a.Serial), uint64(b.Serial))
}

// sameNumber reports whether two numbers can be of one ownership; 0 is unknown.
func sameNumber(a, b uint64) bool { return a == b || a == 0 || b == 0 }

// sameGrant reports whether it is proved that an owner has the same grant in two looks,
// whatever happened between them. An equal ID is no proof, nor is a deadline that moved.
func sameGrant(a, b *Owner) bool {
	return a.Fence != 0 && a.Fence == b.Fence || a.Proof != 0 && a.Proof == b.Proof || sameDeadline(a, b)
}

// sharpDeadline bounds the doubt of a lease's end that proves a grant: the deadlines of two grants are as
// far apart as their takes or renewals.
const sharpDeadline = 100 * time.Millisecond

// sameDeadline reports whether two readings of the end of a lease agree: then it was not written in between.
func sameDeadline(a, b *Owner) bool {
	if !leaseKnown(a) || !leaseKnown(b) {
		return false
	}
	x, y := a.Expires, b.Expires
	return max(x.Within(), y.Within()) <= sharpDeadline &&
		x.Earliest().Sub(y.At) <= expiryRounding && y.Earliest().Sub(x.At) <= expiryRounding
}

// outlivedBy reports whether the server was started in the dark, after the end of o's lease.
func (l *look) outlivedBy(o *Owner) bool {
	return l.started.After(l.darkFrom) && leasePast(o, l.started)
}

// darkened reports whether a stretch since the row was last read was not observed.
func (l *look) darkened() bool { return !l.darkFrom.IsZero() }

// doubts reports whether an owner that goes on may have lost it in the dark, and taken it again.
func (l *look) doubts(before, after *Owner) bool {
	switch {
	case !l.darkened():
		return false
	case l.unread:
		return after.Fence == 0 && after.Proof == 0 && after.Lease == 0
	}
	return !sameGrant(before, after) && l.decision(after.ref(), decidedSame) == nil
}

// looked reports whether a fact of this kind was learned by a look.
func looked(how Known) bool { return how == Seen || how == AtLeast || how == Inferred }

// doubted returns the Since of an owner in doubt: at least from this look on, and no earlier than its
// beginning where that was seen. A Since that the source was told stays.
func (l *look) doubted(told, old Stamp) Stamp {
	if told.How != Unknown && !looked(told.How) {
		return told
	}
	earliest := old.After()
	if old.Happened() {
		earliest = old.Earliest()
	}
	return StampBetween(earliest, l.at, AtLeast)
}

// The decisions by a lease: an ownership ended, the lease was changed, or it is the same grant after
// darkness, which a renewal stands for.
func decidedEnd(e *Event, who OwnerRef) bool    { return e.Kind.EndsOwner() && e.Previous == who }
func decidedChange(e *Event, who OwnerRef) bool { return e.Kind == EventLeaseChanged && e.Owner == who }
func decidedSame(e *Event, who OwnerRef) bool   { return e.Kind == EventRenewed && e.Owner == who }

// decision returns the decision by an owner's lease, where a recording has it in place of the lease; nil:
// there is none of that kind.
func (l *look) decision(who OwnerRef, what func(*Event, OwnerRef) bool) *Event {
	return find(l.decided, func(e *Event) bool { return what(e, who) })
}
