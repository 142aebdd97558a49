package pgsource

import (
	"strings"
	"time"

	"coordtop/coord/pgcoord"
	"coordtop/internal/format"
	"coordtop/internal/mask"
	"coordtop/sources"
)

// session is what is known of one process of the server, as long as every look sees it.
type session struct {
	pid       uint32
	who       identity
	does      doings
	query     string    // does.query as it is shown: without literals, comments and secrets
	id        string    // Owner.Session
	since     time.Time // the start of the backend, on our clock; zero: hidden
	whoRound  uint64    // the look in which who last changed
	doesRound uint64
	seenRound uint64
	locks     int // rows of pg_locks in the last look
	waited    int64
	waits     sources.Stamp // waited on our clock; a backend waits for one lock at a time
	trace     trace         // how it tries; zero: it does not
	cut       bool          // its name says that its data goes on
}

// trace is how a session tries for locks; others that try in the same way probably try for
// the same. The zero trace is none.
type trace struct {
	db          uint32
	user, query string
}

// newSession gives a process its identity. Where the start of the backend is hidden, the
// time when we first saw it must do: that no other process got the same number before.
func newSession(a *activity, c clock, round uint64) *session {
	s := &session{pid: a.pid, who: a.who, does: a.does, since: c.local(a.who.start), whoRound: round, doesRound: round, query: shownQuery(a.does.query)}
	if a.who.start == 0 {
		s.id = pgcoord.OwnerID(a.pid, time.Time{}) + "~" + instant(c.got, time.Microsecond)
	} else {
		s.id = pgcoord.OwnerID(a.pid, time.UnixMicro(a.who.start))
	}
	s.trace = traceOf(a)
	_, _, s.cut = pgcoord.ParseApplicationName(a.who.application)
	return s
}

// same reports whether a is the process that s is, as far as can be told.
func (s *session) same(a *activity) bool {
	if s.who.start != 0 && a.who.start != 0 {
		return s.who.start == a.who.start
	}
	return s.who.db == a.who.db && s.who.user == a.who.user
}

// update takes a look at the process in.
func (s *session) update(a *activity, c clock, round uint64) {
	if a.who != s.who {
		if s.since.IsZero() {
			s.since = c.local(a.who.start) // it is not hidden any more
		}
		if a.who.start == 0 {
			a.who.start = s.who.start
		}
		s.who, s.whoRound = a.who, round
		_, _, s.cut = pgcoord.ParseApplicationName(a.who.application)
	}
	if a.does != s.does {
		s.does, s.doesRound = a.does, round
		s.query = shownQuery(a.does.query)
		if t := traceOf(a); t != (trace{}) {
			s.trace = t
		}
	}
}

// waitsSince turns the server's beginning of the waiting into ours, once.
func (s *session) waitsSince(micros int64, c clock) sources.Stamp {
	switch {
	case micros != 0 && micros != s.waited:
		at := c.local(micros)
		s.waited, s.waits = micros, sources.StampBetween(at.Add(-c.got.Sub(c.asked)), at, sources.Told)
	case micros == 0 && s.does.queried != 0: // not told yet, or by this version: not before its statement began
		return sources.Stamp{At: c.local(s.does.queried), How: sources.Bound}
	case micros == 0:
		return sources.Stamp{}
	}
	return s.waits
}

// label is what people call it.
func label(application string, pid uint32) string {
	who, _, _ := pgcoord.ParseApplicationName(application)
	text := "pid " + utoa(pid)
	if who != "" {
		text = mask.Text(who) + " " + text
	}
	return text
}

// queryShown is how many bytes of a query are shown.
const queryShown = 200

// shownQuery is a query on one line, without what may be secret in it: a literal, a comment.
func shownQuery(text string) string {
	return format.Clean(strings.Join(strings.Fields(mask.Query(text)), " "), queryShown)
}

// sessions are all that the last look showed.
type sessions map[uint32]*session

// take brings the sessions up to date. Those that the look does not show any more stay
// until prune, so that it can be told that they ended.
func (all sessions) take(s *snapshot, round uint64) {
	for i := range s.sessions {
		a := &s.sessions[i]
		known := all[a.pid]
		if known == nil || !known.same(a) {
			known = newSession(a, s.clock, round)
			all[a.pid] = known
		} else {
			known.update(a, s.clock, round)
		}
		known.seenRound = round
		known.locks = 0
	}
}

// alive returns the session of a process that this look shows; nil: it ended.
func (all sessions) alive(pid uint32, round uint64) *session {
	if s := all[pid]; s != nil && s.seenRound == round {
		return s
	}
	return nil
}

func (all sessions) prune(round uint64) {
	for pid, s := range all {
		if s.seenRound != round {
			delete(all, pid)
		}
	}
}
