package ydbsource

import (
	"slices"
	"time"

	"coordtop/coord/ydbcoord"
	"coordtop/sources"
)

// nodeState holds the semaphores of one node. It outlives links, so that waiters keep their Since.
type nodeState struct {
	o           *Options
	path        string
	found       bool        // found by walking, not named, so that missing semaphores are not shown
	fixed       []Selection // not from a file
	files       []*nameFile
	names       []*entry
	byName      map[string]*entry
	incarnation string

	synced  bool     // published as complete since continuity was last lost
	missing bool     // it was published that the node does not exist; no session was attached since
	begun   bool     // a listing was begun before, so that the next one starts again
	refresh uint64   // number of served refreshes
	unsaved []string // names for Options.Known to remember
}

// entry is one semaphore.
type entry struct {
	Selection
	shown  *sources.Primitive // as last published; nil if there is no row
	got    bool               // read since continuity was last lost
	absent bool               // the semaphore does not exist
	denied bool               // we may not read it
	known  bool               // it was seen to exist, and its name is remembered

	ephemeral bool          // when last seen, it was of the kind that ends with its last owner
	asked     time.Time     // when the last answered look was sent
	looked    time.Time     // when that answer had arrived
	asking    time.Time     // when the unanswered look was sent; zero if none
	pause     time.Duration // if absent: pause before the next look
}

func newNodeState(s *Source, path string) *nodeState {
	b := &nodeState{o: &s.o, path: path, found: s.plan.walk, byName: map[string]*entry{}}
	b.fixed = s.plan.selections(path)
	for _, f := range s.plan.files {
		if f.Node == "" || f.Node == path {
			b.files = append(b.files, &nameFile{NameFile: f})
		}
	}
	for _, sel := range b.fixed {
		b.add(sel)
	}
	return b
}

// add adds an entry for a name.
func (s *nodeState) add(sel Selection) *entry {
	e := &entry{Selection: sel}
	s.names = append(s.names, e)
	s.byName[sel.Pattern] = e
	return e
}

// begin starts a new listing.
func (s *nodeState) begin() {
	s.synced, s.missing = false, false
	for _, e := range s.names {
		e.got, e.asking = false, time.Time{}
	}
}

// loseTrack starts a new listing, if anything was published in this one, and reports whether it did.
func (s *nodeState) loseTrack() bool {
	if !s.synced && !slices.ContainsFunc(s.names, func(e *entry) bool { return e.got }) {
		return false
	}
	s.begin()
	return true
}

// complete reports the end of the listing, once.
func (s *nodeState) complete() bool {
	done := !s.synced && !slices.ContainsFunc(s.names, func(e *entry) bool { return !e.got })
	s.synced = s.synced || done
	return done
}

// unread returns the named rows that were not read yet.
func (s *nodeState) unread() []*sources.Primitive {
	if s.found {
		return nil
	}
	list := make([]*sources.Primitive, len(s.names))
	for i, e := range s.names {
		list[i] = &sources.Primitive{Ref: s.ref(e), Kind: e.Kind, Expected: e.Expected, Labels: s.o.Labels}
	}
	return list
}

func (s *nodeState) ref(e *entry) sources.Ref {
	return sources.Ref{Source: s.o.Name, Space: s.path, Name: e.Pattern}
}

// nothing returns a Change that the node does not exist, unless that was published already.
func (s *nodeState) nothing(now time.Time) sources.Change {
	for _, e := range s.names {
		e.asked = now
	}
	if s.missing {
		return sources.Change{}
	}
	c := sources.Change{At: now, Synced: true}
	for _, e := range s.names {
		if e.shown != nil {
			for i := range e.shown.Owners {
				c.Ended = append(c.Ended, sources.Ending{Ref: s.ref(e), Owner: e.shown.Owners[i].ID, Cause: sources.CauseDeleted, How: sources.Inferred})
			}
		}
		e.got, e.absent, e.pause = true, true, 0
		p := s.none(e, now)
		p.Note, p.Absent, p.NoSpace = noNode, true, true // even for a mutex, because nobody can acquire it there
		s.set(&c, e, p)
	}
	s.synced, s.missing = true, true
	return c
}

// set adds a row to the Change, or its end if it need not be shown.
func (s *nodeState) set(c *sources.Change, e *entry, p *sources.Primitive) {
	switch {
	case !s.found || !e.absent:
		p.OnWallClock()
		c.Set = append(c.Set, p)
		e.shown = p
	case e.shown != nil:
		c.Gone = append(c.Gone, p.Ref)
		e.shown = nil
	}
}

// changes compares a read with what is known, and returns the Changes to publish.
func (s *nodeState) changes(e *entry, read ydbcoord.SemaphoreState) []sources.Change {
	from := e.unseenSince(read)
	changes := s.compare(e, read)
	if !from.IsZero() {
		unseen := []sources.Unseen{{Ref: s.ref(e), From: from, To: read.At}}
		changes = slices.Insert(changes, 0, sources.Change{Unseen: unseen, At: read.At})
	}
	return changes
}

// unseenSince returns the time since which a semaphore that was free before the read may have had an owner unseen, or
// zero if that is impossible. It is possible if the notice was late, or if a missing semaphore was not looked for when
// due.
func (e *entry) unseenSince(read ydbcoord.SemaphoreState) time.Time {
	switch {
	case !e.got || e.denied || e.shown == nil || len(e.shown.Owners) > 0:
		return time.Time{}
	case e.absent && read.At.Sub(e.asked) > 2*longestWait:
		return e.asked
	}
	return read.Since
}

func (s *nodeState) compare(e *entry, read ydbcoord.SemaphoreState) []sources.Change {
	old, after := e.shown, e.asked
	first, wasAbsent := !e.got, e.absent
	e.record(read)
	if !e.known && !e.absent && !e.denied && s.o.Known != nil {
		e.known = true
		s.unsaved = append(s.unsaved, e.Pattern)
	}
	var p *sources.Primitive
	switch {
	case e.denied:
		p = s.denied(e, read)
	case e.absent:
		p = s.none(e, read.At)
	default:
		since := sources.StampBetween(after, read.At, sources.Seen)
		if first {
			since = sources.Stamp{At: read.At, How: sources.AtLeast}
		}
		p = s.primitive(e, read, old, since)
	}
	if !first && e.absent && wasAbsent && (old == nil || old.Note == p.Note) {
		return nil
	}
	c := sources.Change{At: read.At}
	if first {
		e.got = true
		c.Synced, c.After = s.complete(), after
		s.set(&c, e, p)
		return []sources.Change{c}
	}
	if old == nil || wasAbsent || !read.Fired || sameFacts(old, p) {
		c.After = after
		s.set(&c, e, p)
		return []sources.Change{c}
	}
	return s.pushed(e, old, p, read.Since, after)
}

// pushed returns the Changes for a pushed change, which may have happened at any time since `since` if the notice may
// have been late. Waiters that came or went since the last look were not pushed but seen, and get a Change of their own
// with its stretch of time. If the semaphore is gone, that Change comes first, because they may have left before.
func (s *nodeState) pushed(e *entry, old, p *sources.Primitive, since, after time.Time) []sources.Change {
	now := sources.Change{After: since, At: p.At}
	if e.absent && len(old.Queue.Waiters) > 0 {
		left := *old
		left.At, left.Queue = p.At, sources.Queue{How: sources.Told, At: p.At}
		s.set(&now, e, p)
		return []sources.Change{{After: after, At: p.At, Set: []*sources.Primitive{&left}}, now}
	}
	stay := old.Queue
	stay.Waiters = slices.DeleteFunc(slices.Clone(stay.Waiters), func(w sources.Waiter) bool {
		return !slices.ContainsFunc(old.Owners, owns(&w)) && slices.ContainsFunc(p.Owners, owns(&w))
	})
	stay.Len = len(stay.Waiters)
	if sameQueue(stay, p.Queue) {
		s.set(&now, e, p)
		return []sources.Change{now}
	}
	mid := *p
	mid.Queue = stay
	s.set(&now, e, &mid)
	then := sources.Change{After: after, At: p.At}
	s.set(&then, e, p)
	return []sources.Change{now, then}
}

// owns returns a function that reports whether an owner is the former waiter w, even by another claim of its session.
func owns(w *sources.Waiter) func(sources.Owner) bool {
	return func(o sources.Owner) bool { return o.ID == w.ID }
}

const (
	firstPause  = 50 * time.Millisecond // before the next look for a missing semaphore; doubles each time
	longestWait = time.Second
)

// record stores the facts of a read on which the pace depends.
func (e *entry) record(read ydbcoord.SemaphoreState) {
	e.pause = min(max(2*e.pause, firstPause), longestWait)
	if !read.Absent {
		e.pause = 0
	}
	if !read.Absent && read.Err == nil {
		e.ephemeral = read.Ephemeral
	}
	e.absent, e.denied = read.Absent, read.Err != nil
	e.asked, e.looked, e.asking = read.Asked, read.At, time.Time{}
}

// sameFacts reports whether two looks show the same owners and data.
func sameFacts(a, b *sources.Primitive) bool {
	return a.Limit == b.Limit && a.Taken == b.Taken && a.Ephemeral == b.Ephemeral && a.Note == b.Note && a.OwnersHow == b.OwnersHow &&
		a.Data == b.Data && a.Incarnation == b.Incarnation &&
		slices.EqualFunc(a.Owners, b.Owners, func(x, y sources.Owner) bool {
			return x.Guard == y.Guard && x.Permits == y.Permits && x.Data == y.Data
		})
}

func sameQueue(a, b sources.Queue) bool {
	return slices.EqualFunc(a.Waiters, b.Waiters, func(x, y sources.Waiter) bool {
		return x.Guard == y.Guard && x.Permits == y.Permits && x.Data == y.Data
	})
}
