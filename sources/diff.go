package sources

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// look is the part of a Change about one primitive, with the doubts that the Hub adds.
type look struct {
	scope     string
	of        *scope // nil: no pace is known of it
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
	proved   []OwnerRef // owners that go on, proved to have the same grant
	unproved bool       // an owner that goes on was written to, and may have lost it and taken it again
	revealed bool       // the owners were unknown for a while before this look
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
	return Event{At: l.at, After: l.after, Kind: kind, Ref: p.Ref, Alias: p.Alias, AliasHow: p.AliasHow, RefKind: p.Kind, How: l.fact(), Scope: l.scope}
}

// diff appends the events of one primitive between two looks, in the order in which they must
// be applied: ends before beginnings, one event for each. The events have no numbers and no Gap
// yet, which need more than two looks. before nil: never seen; after nil: it is
// gone. A primitive that was not read (At zero) has no events.
func (l *look) diff(events []Event, before, after *Primitive) []Event {
	switch {
	case after == nil && !read(before), after != nil && !read(after):
		return events
	case after == nil:
		return l.vanished(events, before)
	case after.Absent && !read(before):
		return append(events, l.first(EventAbsent, after, AtLeast))
	case after.Absent && before.Absent:
		return events
	case after.Absent:
		return l.vanished(events, before)
	case !read(before), before.Absent:
		return l.appeared(events, before, after)
	}
	l.restarts = restarted(before, after)
	switch {
	case l.madeUp(before, after):
		events = l.ownerUnknown(events, before, after)
		return l.waitersPresent(l.present(events, after), after)
	case ownersKnown(after) && ownersKnown(before):
		events = l.owners(events, before, after)
	case ownersKnown(after):
		events = l.present(events, after)
	case !counted(after):
		events = l.ownerUnknown(events, before, after)
	default:
		events = l.counts(events, before.Counts(), after)
	}
	return l.waiters(events, l.withQueue(before), after)
}

// counts appends the change of a semaphore's numbers where its owners are unknown.
func (l *look) counts(events []Event, was Counts, after *Primitive) []Event {
	now := after.Counts()
	was.Limit = cmp.Or(was.Limit, now.Limit) // to learn it is no change
	if was == now || ownersKnown(after) {
		return events
	}
	e := l.event(EventCountChanged, after)
	e.Was, e.Now, e.Detail = was, now, now.Text()+"; before "+was.Text()
	return append(events, e)
}

// Counts returns the numbers of p.
func (p *Primitive) Counts() Counts {
	c := Counts{Taken: p.Taken, Waiting: uint64(p.Queue.Len)}
	if p.LimitHow != Unknown {
		c.Limit = p.Limit
	}
	return c
}

// ownerUnknown appends the event that the owners are unknown from now on, if they were known before.
func (l *look) ownerUnknown(events []Event, before, after *Primitive) []Event {
	if !ownersKnown(before) {
		return events
	}
	e := l.event(EventOwnerUnknown, after)
	e.Detail = after.Note
	if len(before.Owners) == 1 {
		e.Last = before.Owners[0].ref()
	}
	return append(events, e)
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

// restarted reports whether before and after are of two incarnations, so that all ownerships in between
// were lost: then no owner is the same, whatever its ID, unless its Proof is.
func restarted(before, after *Primitive) bool {
	return before.Incarnation != after.Incarnation && before.Incarnation != "" && after.Incarnation != ""
}

// appeared appends the events of a first look. A primitive that was configured and is now read for
// the first time existed before, as far as is known; one that was read as absent did not.
func (l *look) appeared(events []Event, before, after *Primitive) []Event {
	if l.found(before) {
		return l.waitersPresent(l.present(events, after), after)
	}
	if after.ForgetAfter == 0 {
		events = append(events, l.event(EventCreated, after))
	}
	for i := range after.Owners {
		e := l.event(EventAcquired, after)
		e.Owner = after.Owners[i].ref()
		events = append(events, e)
	}
	return l.joined(l.counts(events, Counts{}, after), nil, after)
}

// found reports whether an owner that this look shows first may have owned the primitive before: its
// take-over was not seen.
func (l *look) found(before *Primitive) bool {
	if before == nil {
		return l.relisted
	}
	return !read(before) || !before.Absent && !ownersKnown(before)
}

// first makes an event about the state at the first look.
func (l *look) first(kind EventKind, p *Primitive, how Known) Event {
	e := l.event(kind, p)
	if e.After, e.How = (time.Time{}), how; p.Absent || how == Unknown {
		e.Detail = p.Note
	}
	return e
}

func (l *look) present(events []Event, p *Primitive) []Event {
	if !ownersKnown(p) {
		e := l.first(EventPresent, p, Unknown)
		if counted(p) {
			e.Now = p.Counts()
			e.Detail = cmp.Or(e.Detail, e.Now.Text())
		}
		return append(events, e)
	}
	e := l.first(EventPresent, p, AtLeast)
	if len(p.Owners) == 0 {
		e.Detail = p.MaybeMisspelt()
		return append(events, e)
	}
	for i := range p.Owners {
		e.Owner = p.Owners[i].ref()
		events = append(events, e)
	}
	return events
}

func (l *look) vanished(events []Event, before *Primitive) []Event {
	follows := CauseDeleted
	if !l.after.IsZero() { // its owner may have released it before
		follows = CauseUnknown
	}
	for i := range before.Owners {
		events = append(events, l.end(before, &before.Owners[i], follows))
	}
	events = l.left(events, l.withQueue(before), nil)
	if before.ForgetAfter == 0 {
		events = append(events, l.event(EventDeleted, before))
	}
	return events
}

// owners appends the events of owners that came, went or changed.
func (l *look) owners(events []Event, before, after *Primitive) []Event {
	follows := CauseUnknown
	if l.restarts {
		follows = CauseRestart
	}
	start := len(events)
	events = l.ends(events, before, after, follows)
	ended := len(events) - start
	events = l.begins(events, before, after)
	if l.revealed && len(events) == start { // no owner came or went meanwhile
		events = l.present(events, after)
	}
	if ended == 1 && len(events)-start == 2 && l.replaces(before, after, &events[start], &events[start+1]) {
		events[start] = l.replacement(&events[start], &events[start+1])
		events = events[:start+1]
	}
	if l.restarts {
		return events
	}
	return l.continued(events, before, after)
}

func (l *look) ends(events []Event, before, after *Primitive, follows Cause) []Event {
	now := finder{look: l, owners: after.Owners}
	for i := range before.Owners {
		if o := &before.Owners[i]; now.find(o) == nil {
			events = append(events, l.end(before, o, follows))
		}
	}
	return events
}

func (l *look) begins(events []Event, before, after *Primitive) []Event {
	was := finder{look: l, owners: before.Owners}
	for i := range after.Owners {
		if o := &after.Owners[i]; was.find(o) == nil {
			e := l.event(EventAcquired, after)
			e.Owner = o.ref()
			if after.conflict() {
				other := &after.Owners[0]
				if i == 0 {
					other = &after.Owners[1]
				}
				e.Detail = "while " + cmp.Or(other.Label, other.ID) + " owns it too"
			}
			events = append(events, e)
		}
	}
	return events
}

// continued appends the changes of owners that stay, and of the primitive's data.
func (l *look) continued(events []Event, before, after *Primitive) []Event {
	was := finder{look: l, owners: before.Owners}
	data := after.Data.changed(before.Data)
	stays := !after.Ephemeral
	for i := range after.Owners {
		o := &after.Owners[i]
		old := was.find(o)
		if old == nil {
			continue
		}
		stays = true
		l.unproved = l.unproved || !sameGrant(old, o)
		if l.doubts(old, o) { // its renewals in the dark are unknown
		} else if renewed(old, o) {
			e := l.event(EventRenewed, after)
			e.Owner = o.ref()
			if !l.darkened() {
				e.LeaseLeft = leaseLeft(old, l.at)
			}
			events = append(events, e)
		} else if e, ok := l.leaseChanged(after, old, o, before.At); ok {
			events = append(events, e)
		}
		if o.Data.changed(old.Data) {
			events = append(events, l.proclaimed(after, o.ref(), o.Data))
			data = data && len(after.Owners) > 1 // one event is enough
		}
	}
	if data && stays { // the data of an ephemeral primitive went with its last owner
		var who OwnerRef
		if len(after.Owners) == 1 {
			who = after.Owners[0].ref()
		}
		events = append(events, l.proclaimed(after, who, after.Data))
	}
	return events
}

func (l *look) proclaimed(p *Primitive, who OwnerRef, data Blob) Event {
	e := l.event(EventProclaimed, p)
	e.Owner, e.Detail = who, data.quoted()
	return e
}

func (o *Owner) ref() OwnerRef { return OwnerRef{ID: o.ID, Label: o.Label, Fence: o.Fence} }

// quotedBytes bounds the part of a value that an event's Detail quotes.
const quotedBytes = 120

// quoted returns the beginning of b as a Go string literal, without control characters.
func (b Blob) quoted() string {
	head := b.Head[:min(len(b.Head), quotedBytes)]
	if len(head) < b.Len {
		return fmt.Sprintf("%q... (%d bytes)", head, b.Len)
	}
	return strconv.Quote(head)
}

// sameLook reports whether two looks differ only in their times and in fields that each renewal changes. It
// allocates nothing.
func sameLook(p, q *Primitive) bool {
	return p.Ref == q.Ref && p.Kind == q.Kind && p.LimitHow == q.LimitHow && p.OwnersHow == q.OwnersHow && p.AliasHow == q.AliasHow &&
		p.Ephemeral == q.Ephemeral && p.Expected == q.Expected && p.Absent == q.Absent && p.NoSpace == q.NoSpace &&
		p.Limit == q.Limit && p.Taken == q.Taken && p.Data == q.Data && p.Incarnation == q.Incarnation && p.Note == q.Note &&
		p.Alias == q.Alias && p.ForgetAfter == q.ForgetAfter &&
		p.Queue.How == q.Queue.How && p.Queue.CandidatesHow == q.Queue.CandidatesHow && p.Queue.Len == q.Queue.Len &&
		slices.Equal(p.Labels, q.Labels) && slices.EqualFunc(p.Owners, q.Owners, sameOwner) &&
		slices.EqualFunc(p.Queue.Waiters, q.Queue.Waiters, sameWaiter) && slices.EqualFunc(p.Candidates, q.Candidates, sameWaiter)
}

// sameOwner reports whether two looks at an owner differ only in its lease.
func sameOwner(a, b Owner) bool {
	return a.ID == b.ID && a.Session == b.Session && a.Label == b.Label && a.Permits == b.Permits && a.Fence == b.Fence &&
		a.Mode == b.Mode && a.Idle == b.Idle && a.NoExpiry == b.NoExpiry && a.Serial == b.Serial && a.Program == b.Program &&
		a.Lease == b.Lease && a.Proof == b.Proof && a.Since == b.Since && a.Data == b.Data && a.Guard == b.Guard && slices.Equal(a.Attrs, b.Attrs)
}

func sameWaiter(a, b Waiter) bool {
	return a.ID == b.ID && a.Session == b.Session && a.Label == b.Label && a.Mode == b.Mode && a.Permits == b.Permits && a.Order == b.Order &&
		a.Turn == b.Turn && a.Since == b.Since && a.Timeout == b.Timeout && a.Data == b.Data && a.Guard == b.Guard && slices.Equal(a.Attrs, b.Attrs)
}
