package pgsource

import (
	"cmp"
	"strings"
	"time"

	"coordtop/coord/pgcoord"
	"coordtop/internal/ground/format"
	"coordtop/internal/ground/mask"
	"coordtop/internal/ground/pgwire"
	"coordtop/sources"
)

// session is one process of the server, while every look shows it. It is never changed.
type session struct {
	pid      uint32
	who      identity
	does     doings
	query    string    // does.query as shown: without literals, comments and secrets
	id       string    // Owner.Session
	since    time.Time // the start of the backend, on our clock; zero: hidden
	whoLook  uint64    // the look in which who last changed
	doesLook uint64
	wait     int64         // since when it waits, or last waited; 0: not reported
	waits    sources.Stamp // the same on our clock; a backend waits for only one lock at a time
	trace    trace         // how it tries; zero if it does not
	lent     bool          // it has also answered us, so a pooler lends it
}

// trace is the way in which a session tries for locks; sessions that try in the same way probably try for the same
// lock. The zero trace means no try.
type trace struct {
	db          uint32
	user, query string
}

// newSession returns the session of a new process. If the start of the backend is hidden, the time when we first saw
// the process replaces it, because no other process had the number before.
func newSession(a *activity, c clock, look uint64) *session {
	s := &session{pid: a.pid, who: a.who, whoLook: look, since: c.local(a.who.start)}
	if a.who.start == 0 {
		s.id = pgcoord.OwnerID(a.pid, time.Time{}) + "~" + c.got.UTC().Format(exactly)
	} else {
		s.id = pgcoord.OwnerID(a.pid, time.UnixMicro(a.who.start))
	}
	s.acts(a, look)
	return s
}

// acts records what a session does. It is called only while the session is made.
func (s *session) acts(a *activity, look uint64) {
	s.does, s.doesLook, s.query = a.does, look, shownQuery(a.does.query)
	if t := traceOf(a); t != (trace{}) {
		s.trace = t
	}
}

// same reports whether a describes the same process as s, as far as can be known.
func (s *session) same(a *activity) bool {
	if s.who.start != 0 && a.who.start != 0 {
		return s.who.start == a.who.start
	}
	return s.who.db == a.who.db && s.who.user == a.who.user
}

// after returns the session with the activity a that a look shows.
func (s *session) after(a *activity, wait int64, c clock, look uint64) *session {
	who := a.who
	who.start = cmp.Or(who.start, s.who.start)
	if who == s.who && a.does == s.does && (wait == 0 || wait == s.wait) {
		return s
	}
	next := *s
	if who != s.who {
		next.who, next.whoLook = who, look
		if s.since.IsZero() {
			next.since = c.local(who.start) // the start is not hidden any more
		}
	}
	if a.does != s.does {
		next.acts(a, look)
	}
	next.noteWait(wait, c)
	return &next
}

// noteWait converts the beginning of a wait to our clock. It is called once, while the session is made.
func (s *session) noteWait(wait int64, c clock) {
	if wait != 0 && wait != s.wait {
		at := c.local(wait)
		s.wait, s.waits = wait, sources.StampBetween(at.Add(-c.got.Sub(c.asked)), at, sources.Told)
	}
}

// waitsSince returns the time since which a session waits. If told is false, the server did not report it; the time is
// then that of the beginning of the statement, before which it cannot wait.
func (s *session) waitsSince(told bool, c clock) sources.Stamp {
	switch {
	case told:
		return s.waits
	case s.does.queried != 0:
		return sources.Stamp{At: c.local(s.does.queried), How: sources.Bound}
	}
	return sources.Stamp{}
}

// name returns the name that the session gives itself, without the data after it.
func (s *session) name() string {
	who, _ := pgcoord.ParseApplicationName(s.who.application)
	return who
}

// data returns the data after its name.
func (s *session) data() []byte {
	_, text := pgcoord.ParseApplicationName(s.who.application)
	return []byte(text)
}

// label returns the name of a session for the screen.
func label(who string, pid uint32) string {
	text := "pid " + utoa(pid)
	if who != "" {
		text = mask.Text(who) + " " + text
	}
	return text
}

// queryShown is the maximum length of a shown query, in bytes.
const queryShown = 200

// shownQuery returns a query on one line, without what may be secret: literals and comments.
func shownQuery(text string) string {
	return format.Clean(strings.Join(strings.Fields(mask.Query(text)), " "), queryShown)
}

// sessionsAfter returns the sessions in a look, by process.
func (t *lockTable) sessionsAfter(s *snapshot, look uint64) map[uint32]*session {
	waits := map[uint32]int64{}
	for i := range s.locks {
		if r := &s.locks[i]; !r.granted {
			waits[r.pid] = r.wait
		}
	}
	list := make(map[uint32]*session, len(s.sessions))
	for i := range s.sessions {
		a := &s.sessions[i]
		if known := t.sessions[a.pid]; known != nil && known.same(a) {
			list[a.pid] = known.after(a, waits[a.pid], s.clock, look)
			continue
		}
		next := newSession(a, s.clock, look)
		next.noteWait(waits[a.pid], s.clock)
		list[a.pid] = next
	}
	if us := list[s.pid]; us != nil && !us.lent && t.server.pooler == pgwire.Lent {
		lent := *us
		lent.lent, lent.whoLook = true, look
		list[s.pid] = &lent
	}
	return list
}
