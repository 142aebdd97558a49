package pgsource

import (
	"slices"
	"time"

	"coordtop/coord/pgcoord"
	"coordtop/sources"
)

// board is what is known of the server's locks. It outlives a link, so that what is gone
// after a gap can be told.
type board struct {
	o     Options
	all   bool
	names map[pgcoord.Key]string

	server      *server
	keys        map[pgcoord.Key]*rule
	incarnation string
	databases   map[uint32]string // each name once
	locks       map[ident]*lock   // of one row each
	renamed     []*lock           // told under a name that their database does not have any more
	sessions    sessions
	order       queueOrder // of the selected lock
	became      became     // why it is another incarnation than before
	answered    int64      // when a look was answered last, on the server's clock

	round   uint64    // counts the looks
	sent    time.Time // of the last look; zero: none yet
	fresh   bool      // no look was taken in since the link began
	pinned  []*lock   // those that were asked for, in our database
	held    []*lock   // those that may differ in the next look though it has no rows of them
	waiters int       // rows of pg_locks that are not granted, of what is watched
	rows    int       // of pg_locks, all of them
	hidden  bool      // of some session we may not see much
	swept   time.Time
	dropped bool // locks that nobody owns were given up because there were too many
}

// news is what a look brought.
type news struct {
	changes []sources.Change // at least one after a gap
	again   bool             // something moved while we looked: look again soon
	moved   bool             // an owner or a waiter changed
}

// question is data to be asked for: of the owner with this name.
type question struct {
	key         pgcoord.Key
	pid         uint32
	application string
}

// questions lists the owners whose name says that their data goes on.
func (b *board) questions() []question {
	some := false
	for _, s := range b.sessions {
		some = some || s.cut
	}
	if !some {
		return nil
	}
	var list []question
	for _, l := range b.held {
		for i := range l.rows {
			s := b.sessions[l.rows[i].pid]
			if s != nil && s.cut && l.rows[i].granted && l.db == b.server.oid {
				list = append(list, question{key: l.key, pid: s.pid, application: s.who.application})
			}
		}
	}
	return list
}

func newBoard(o Options, all bool, names map[pgcoord.Key]string) *board {
	return &board{
		o: o, all: all, names: names, databases: map[uint32]string{}, locks: map[ident]*lock{}, sessions: sessions{},
		order: queueOrder{calls: make([]time.Time, blockingMost)},
	}
}

// connected begins a link. Another incarnation shares no session with the one before.
func (b *board) connected(s *server, keys map[pgcoord.Key]*rule) {
	if now := b.incarnationOf(s); now != b.incarnation {
		b.incarnation = now
		clear(b.sessions)
		clear(b.databases)
		for _, l := range b.locks {
			l.rows, l.owners = l.rows[:0], nil
		}
	}
	b.server, b.keys, b.fresh = s, keys, true
	b.order = queueOrder{refused: !s.blocking, calls: b.order.calls, oldest: b.order.oldest}
	b.named(s.oid, s.database)
	b.pinned = b.pinned[:0]
	for _, r := range keys {
		id := ident{db: s.oid, key: r.key}
		l := b.locks[id]
		if l == nil {
			l = b.add(id, r)
		}
		l.rule = r
		b.pinned = append(b.pinned, l)
	}
}

// pids are the processes of which the next look must say whether they live.
func (b *board) pids() []uint32 {
	list := make([]uint32, 0, len(b.sessions)+16)
	for pid, s := range b.sessions {
		if s.locks > 0 {
			list = append(list, pid)
		}
	}
	return list
}

// askAgain has the next look say whether the sessions live that owned a lock when it was last
// told: why they do not any more is told with the next look.
func (b *board) askAgain(l *lock) {
	for i := range l.rows {
		if s := b.sessions[l.rows[i].pid]; s != nil {
			s.locks++
		}
	}
}

// add makes a lock that nobody is known to own.
func (b *board) add(id ident, r *rule) *lock {
	l := &lock{ident: id, rule: r, read: b.sent}
	b.locks[id] = l
	return l
}

// choose makes the lock behind a row the one whose queue is asked for.
func (b *board) choose(ref sources.Ref) *lock {
	for _, l := range b.held {
		if ref.Name != "" && l.shown != nil && l.shown.Ref == ref {
			b.order.choose(l.ident)
			return l
		}
	}
	b.order.choose(ident{})
	return nil
}

// take compares a look with what is known.
func (b *board) take(s *snapshot, e *ears, f focus) news {
	b.round++
	b.sessions.take(s, b.round)
	t := &taking{board: b, s: s, ears: e, focus: f}
	t.databases()
	touched := b.spread(s)
	if b.fresh {
		touched = b.everything(touched)
	}
	t.candidates(touched)
	for _, l := range touched {
		t.lock(l)
		if l.unsteady > 0 {
			b.askAgain(l)
		}
	}
	t.renamed()
	b.held = b.held[:0]
	for _, l := range touched {
		tried := l.tried != trace{} && s.got.Sub(l.free) < tryRecent
		if len(l.rows) > 0 || len(l.candidates) > 0 || l.unsteady > 0 || tried {
			b.held = append(b.held, l)
		}
	}
	b.sweep(t)
	b.sessions.prune(b.round)
	n := t.finish()
	b.sent, b.fresh, b.answered = s.sent, false, s.clock.server
	return n
}

// spread hands the rows of a look to their locks. It returns the locks that may differ.
func (b *board) spread(s *snapshot) []*lock {
	touched := make([]*lock, 0, len(b.held)+len(b.pinned)+16)
	touch := func(l *lock) {
		if l.touched != b.round {
			l.touched, l.next = b.round, l.next[:0]
			touched = append(touched, l)
		}
	}
	for _, l := range b.held {
		touch(l)
	}
	for _, l := range b.pinned {
		touch(l)
	}
	b.waiters, b.rows, b.hidden = 0, s.rows, false
	for i := range s.locks {
		r := &s.locks[i]
		l := b.find(r.ident)
		if l == nil {
			continue
		}
		touch(l)
		l.next = append(l.next, *r)
		if !r.granted {
			b.waiters++
		}
		if owner := b.sessions[r.pid]; owner != nil {
			owner.locks++
			b.hidden = b.hidden || owner.who.hidden
		}
	}
	return touched
}

// find returns the lock that a row is about; nil: it is not watched.
func (b *board) find(id ident) *lock {
	if l := b.locks[id]; l != nil {
		return l
	}
	r := b.keys[id.key]
	if r == nil && !b.all {
		return nil
	}
	return b.add(id, r)
}

// everything is all locks: after a gap each must be told.
func (b *board) everything(touched []*lock) []*lock {
	for _, l := range b.locks {
		if l.touched != b.round {
			l.touched, l.next = b.round, l.next[:0]
			touched = append(touched, l)
		}
	}
	return touched
}

// sweepEvery is how often locks that nobody owns are counted, and freeKept is how many of
// them are kept at most: programs that lock a row's number leave thousands behind.
const (
	sweepEvery = 10 * time.Second
	freeKept   = 5000
)

// sweep drops the locks that nobody has owned for long. The Hub drops them by itself; those
// that are too many are told to be gone.
func (b *board) sweep(t *taking) {
	if t.s.got.Sub(b.swept) < sweepEvery {
		return
	}
	b.swept = t.s.got
	var free []*lock
	for id, l := range b.locks {
		switch {
		case l.selected(b.server.oid) || l.free.IsZero():
		case t.s.got.Sub(l.free) >= b.o.Forget:
			delete(b.locks, id)
		default:
			free = append(free, l)
		}
	}
	if b.dropped = len(free) > freeKept; !b.dropped {
		return
	}
	slices.SortFunc(free, func(x, y *lock) int { return x.free.Compare(y.free) })
	for _, l := range free[:len(free)-freeKept] {
		delete(b.locks, l.ident)
		t.gone = append(t.gone, l.shown.Ref)
	}
}
