package pgsource

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"coordtop/coord/pgcoord"
	"coordtop/sources"
)

const (
	// tryRecent is how long ago a try may be for a session to count as a candidate. Programs
	// in use try every 5 or 10 s.
	tryRecent = time.Minute
	// tryKnown is how many locks may be tried for in one way before that tells nothing.
	tryKnown = 4
	// candidatesShown is how many candidates of a lock are listed.
	candidatesShown = 100
	tryWord         = "pg_try_advisory"
)

// traceOf is how a session tries; zero: its last query did not try.
func traceOf(a *activity) trace {
	if !strings.Contains(a.does.query, tryWord) {
		return trace{}
	}
	return trace{db: a.who.db, user: a.who.user, query: a.does.query}
}

// tryCall finds the numbers in a query that tries, where they are written in it.
var tryCall = regexp.MustCompile(`pg_try_advisory_(?:xact_)?lock(?:_shared)?\s*\(\s*(-?\d+)(?:\s*::\s*\w+)?\s*(?:,\s*(-?\d+)(?:\s*::\s*\w+)?\s*)?\)`)

// triedKey reads the key that a query tries for.
func triedKey(query string) (pgcoord.Key, bool) {
	m := tryCall.FindStringSubmatch(query)
	if m == nil {
		return pgcoord.Key{}, false
	}
	if m[2] == "" {
		n, err := strconv.ParseInt(m[1], 10, 64)
		return pgcoord.BigintKey(n), err == nil
	}
	x, err1 := strconv.ParseInt(m[1], 10, 32)
	y, err2 := strconv.ParseInt(m[2], 10, 32)
	return pgcoord.PairKey(int32(x), int32(y)), err1 == nil && err2 == nil
}

// candidates finds the sessions that try for locks without waiting for them: those whose
// last query names the lock, and those that try just as its owner does, or its last owner
// did. Who tries with a parameter for a lock that nobody is known to have tried for is
// counted to a selected lock without an owner, if there is but one such lock.
func (t *taking) candidates(touched []*lock) {
	for _, l := range touched {
		l.trying = nil
	}
	b := t.board
	var open []*session
	for _, s := range b.sessions {
		recent := s.does.queried != 0 && t.s.clock.age(s.does.queried) < tryRecent
		if s.seenRound != b.round || !recent || !strings.Contains(s.does.query, tryWord) {
			continue
		}
		if key, ok := triedKey(s.does.query); ok {
			t.link(b.locks[ident{s.who.db, key}], s)
		} else {
			open = append(open, s)
		}
	}
	if len(open) > 0 {
		t.byTrace(touched, open)
	}
	for _, l := range touched {
		slices.SortFunc(l.trying, func(x, y *session) int { return int(x.pid) - int(y.pid) })
		l.trying = l.trying[:min(len(l.trying), candidatesShown)]
	}
}

// byTrace links sessions whose query does not say which lock they try for.
func (t *taking) byTrace(touched []*lock, open []*session) {
	b := t.board
	ways := make(map[trace][]*lock, len(open))
	for _, s := range open {
		ways[s.trace] = nil
	}
	note := func(l *lock, way trace) {
		if found, asked := ways[way]; asked && len(found) <= tryKnown && !slices.Contains(found, l) {
			ways[way] = append(found, l)
		}
	}
	var orphans []*lock
	for _, l := range touched {
		for i := range l.next {
			if s := b.sessions[l.next[i].pid]; s != nil && l.next[i].granted {
				note(l, s.trace)
			}
		}
		note(l, l.tried)
		if len(l.next) == 0 && l.selected(b.server.oid) && l.tried == (trace{}) {
			orphans = append(orphans, l)
		}
	}
	for _, s := range open {
		found := ways[s.trace]
		if len(found) == 0 && len(orphans) == 1 && s.who.db == orphans[0].db {
			found = orphans
		}
		if len(found) > tryKnown {
			continue
		}
		for _, l := range found {
			t.link(l, s)
		}
	}
}

// link makes a session a candidate of a lock, unless it has it or waits for it.
func (t *taking) link(l *lock, s *session) {
	if l == nil || l.touched != t.board.round || slices.ContainsFunc(l.next, func(r lockRow) bool { return r.pid == s.pid }) {
		return
	}
	l.trying = append(l.trying, s)
}

// candidate shows a session that tries.
func (t *taking) candidate(s *session) sources.Waiter {
	return sources.Waiter{
		ID: s.id, Session: s.id, Label: label(s.who.application, s.pid), Permits: 1,
		Attrs: append(t.attrs(s), sources.Attr{Key: "candidate", Value: "probable: its last query tries for such a lock"}),
	}
}
