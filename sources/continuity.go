package sources

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// look is the part of a Change about one primitive, with what the Hub adds about continuity.
type look struct {
	scope     *scope // nil if there is no event to emit
	after, at time.Time
	relisted  bool
	ended     []Ending      // of this primitive only
	decided   []Event       // of this primitive only, see Change
	ours      []Expectation // the ends that we expect from our own actions

	darkFrom time.Time  // the row was not observed from then until this look; zero if it was observed since its last read
	started  time.Time  // About.Started
	restarts bool       // another incarnation answered, so that earlier ownerships are lost
	unread   bool       // the row was not read; its next look can prove that an owner is the same
	inDoubt  []string   // IDs of owners that continue but may have lost the primitive in the dark
	unproved bool       // a continuing owner's grant was written to, so that it may have been lost and acquired again
	revealed bool       // the owners were unknown for a while before this look
	olds     []int      // for each owner, its index in the look before, or -1 if it is new
	queued   *Primitive // the last look with a whole queue, if the look before has none
}

// read reports whether p was ever read.
func read(p *Primitive) bool { return p != nil && !p.At.IsZero() }

// ownersKnown reports whether the list of owners is known, which may be empty.
func ownersKnown(p *Primitive) bool { return p.OwnersHow != Unknown || len(p.Owners) > 0 }

// counted reports whether the number of taken permits is known. Then unknown owners hide no change.
func counted(p *Primitive) bool { return p.Kind == KindSemaphore && p.LimitHow != Unknown }

// fact returns how a difference between two looks is known.
func (l *look) fact() Known {
	if l.after.IsZero() {
		return Told
	}
	return Seen
}

// stamp returns the instant of a change that this look shows, with How Seen.
func (l *look) stamp() Stamp { return StampBetween(l.after, l.at, Seen) }

func (l *look) event(kind EventKind, p *Primitive) Event {
	return Event{At: l.at, After: l.after, Kind: kind, Ref: p.Ref, Alias: p.Alias, AliasHow: p.AliasHow, RefKind: p.Kind, How: l.fact(), Scope: l.scope.Name}
}

// proclaimed returns the event that the data of an owner changed, or that of p itself; o may be nil then.
func (l *look) proclaimed(p *Primitive, o *Owner, data Blob) Event {
	e := l.event(EventProclaimed, p)
	if e.Detail = data.quoted(); o != nil {
		e.Owner = o.ref()
	}
	e.SetData(p, o)
	return e
}

func (l *look) acquired(p *Primitive, o *Owner) Event {
	e := l.event(EventAcquired, p)
	e.Owner = o.ref()
	e.SetData(p, o)
	return e
}

// complete returns a copy of after in which the owners' Since, Renewed, Rhythm and taker are filled in from this look
// and earlier ones. If there is nothing to fill in, it returns after itself.
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

// match finds the owners of after that were owners in before. Between two incarnations all ownerships were lost, so
// that an owner is the same only if its Proof is.
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

// old returns the owner in before that is owner i of this look, or nil if that owner is new.
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
	case ours.How == AtLeast && since.How == AtLeast && ours.At.Before(since.At): // from before the source connected again
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

// rhythm returns the rhythm of an owner that was an owner at the last look as well. A pause that was dark in part is
// not counted, because renewals may have been missed.
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

// Two readings of one lease's end differ by the duration of the reading, at most expiryNoise. If they contain that
// uncertainty, they differ only by the rounding of the remaining time.
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

// The attributes of an owner whose session had another name when it acquired the lock. TakenBy is the name at that
// time, and FirstSeenAs the name at the first look after it. Leaked warns that a pooler lends the session to others, or
// may do so.
const (
	TakenBy     = "taken by"
	FirstSeenAs = "first seen as"
	Leaked      = "leaked"
)

// taker returns the label and the attributes of o, with the name of the taker. The name comes from old, the same owner
// at the look before (may be nil), because a source that connected later knows only the session's present name. Leaked
// is kept while nothing is done in the session.
func (l *look) taker(old, o *Owner) (label string, attrs []Attr) {
	label, attrs = o.Label, o.Attrs
	if old == nil || l.doubts(old, o) {
		return label, attrs
	}
	for _, a := range old.Attrs {
		took := a.Key == TakenBy || a.Key == FirstSeenAs
		switch {
		case slices.ContainsFunc(o.Attrs, func(b Attr) bool { return a.Key == b.Key }):
		case took && !strings.HasPrefix(label, a.Value): // else the session has that name again
			label, attrs = a.Value+", now "+label, append(slices.Clip(attrs), a)
		case a.Key == Leaked && o.Proof != 0 && o.Proof == old.Proof:
			attrs = append(slices.Clip(attrs), a)
		}
	}
	return label, attrs
}

// found reports whether an owner that this look shows first may have owned the primitive before, because its take-over
// was not seen.
func (l *look) found(before *Primitive) bool {
	if before == nil {
		return l.relisted
	}
	return !read(before) || !before.Absent && !ownersKnown(before)
}

// madeUp reports whether, after darkness, an owner or waiter in before may be in after under another ID. If the server
// hides the part that distinguishes two sessions, the source makes that part up and writes it after a ~; a part that
// the server reports stands after an @.
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

// finder finds owners in a list that mostly keeps its order: it first tries the owner after the last one found, and
// builds an index if two lists differ.
type finder struct {
	look   *look
	owners []Owner
	next   int
	byID   map[string]int // index of the first owner with this ID; nil until two lists differ
}

// find returns the index of the owner that is the same as o in the other look, or -1.
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

// find returns the first wanted item of a list, or nil.
func find[T any](list []T, wanted func(*T) bool) *T {
	for i := range list {
		if wanted(&list[i]) {
			return &list[i]
		}
	}
	return nil
}

// goesOn reports whether an owner of the look before and one of this look belong to one term, maybe in doubt. The order
// of a and b does not matter.
func (l *look) goesOn(a, b *Owner) bool {
	switch {
	case !sameTerm(a, b), l.decision(a.ref(), decidedEnd) != nil:
		return false
	case l.restarts:
		return a.Proof != 0 && a.Proof == b.Proof
	}
	return !l.darkened() || sameGrant(a, b) || !l.outlivedBy(a) && !l.outlivedBy(b)
}

// sameTerm reports whether two owners of one incarnation can belong to one uninterrupted ownership.
func sameTerm(a, b *Owner) bool {
	return a.ID == b.ID && sameNumber(a.Fence, b.Fence) && sameNumber(uint64(a.Serial), uint64(b.Serial))
}

// sameNumber reports whether two numbers can belong to one ownership; 0 is unknown.
func sameNumber(a, b uint64) bool { return a == b || a == 0 || b == 0 }

// sameGrant reports whether it is proved that an owner has the same grant in two looks, whatever happened between them.
// Neither an equal ID nor a changed deadline is a proof.
func sameGrant(a, b *Owner) bool {
	return a.Fence != 0 && a.Fence == b.Fence || a.Proof != 0 && a.Proof == b.Proof || sameDeadline(a, b)
}

// sharpDeadline is the maximum uncertainty of a lease's end that still proves a grant, because the deadlines of two
// grants are as far apart as their takes or renewals.
const sharpDeadline = 100 * time.Millisecond

// sameDeadline reports whether two readings of the end of a lease agree, so that the lease was not written in between.
func sameDeadline(a, b *Owner) bool {
	if !leaseKnown(a) || !leaseKnown(b) {
		return false
	}
	x, y := a.Expires, b.Expires
	return max(x.Within(), y.Within()) <= sharpDeadline &&
		x.Earliest().Sub(y.At) <= expiryRounding && y.Earliest().Sub(x.At) <= expiryRounding
}

// outlivedBy reports whether the server started in the dark, after the end of o's lease.
func (l *look) outlivedBy(o *Owner) bool {
	return l.started.After(l.darkFrom) && leasePast(o, l.started)
}

// darkened reports whether the row was not observed for a while since it was last read.
func (l *look) darkened() bool { return !l.darkFrom.IsZero() }

// doubts reports whether a continuing owner may have lost the primitive in the dark and acquired it again.
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

// doubted returns the Since of an owner in doubt: AtLeast from this look on, and no earlier than its beginning if that
// was seen. A Since that the server told the source stays.
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

// Each reports whether an event is one kind of decision by a lease: an ownership ended, the lease changed, or the grant
// is the same after darkness (shown by a renewal).
func decidedEnd(e *Event, who OwnerRef) bool    { return e.Kind.EndsOwner() && e.Previous == who }
func decidedChange(e *Event, who OwnerRef) bool { return e.Kind == EventLeaseChanged && e.Owner == who }
func decidedSame(e *Event, who OwnerRef) bool   { return e.Kind == EventRenewed && e.Owner == who }

// decision returns the decision by an owner's lease that a recording has in place of the lease, or nil without a
// decision of that kind.
func (l *look) decision(who OwnerRef, what func(*Event, OwnerRef) bool) *Event {
	return find(l.decided, func(e *Event) bool { return what(e, who) })
}
