package pgsource

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"coordtop/coord/pgcoord"
	"coordtop/internal/ground/lazy"
	"coordtop/sources"
)

const (
	// tryRecent is the greatest age of a try that makes its session a candidate. Programs in use try every 5 or
	// 10 s.
	tryRecent = time.Minute
	// tryKnown is the most locks that sessions may try for in one way: a way with more of them identifies none.
	tryKnown = 4
	// candidatesShown is the most candidates of a lock that are listed.
	candidatesShown = 100
	tryWord         = "pg_try_advisory"
)

// traceOf returns the way in which a session tries; zero: its last query did not try.
func traceOf(a *activity) trace {
	if !strings.Contains(a.does.query, tryWord) {
		return trace{}
	}
	return trace{db: a.who.db, user: a.who.user, query: a.does.query}
}

// tryCall finds the numbers in a query that tries, where they are written in it.
var tryCall = lazy.Regexp(`pg_try_advisory_(?:xact_)?lock(?:_shared)?\s*\(\s*(-?\d+)(?:\s*::\s*\w+)?\s*(?:,\s*(-?\d+)(?:\s*::\s*\w+)?\s*)?\)`)

// triedKey reads the key that a query tries for.
func triedKey(query string) (pgcoord.Key, bool) {
	m := tryCall().FindStringSubmatch(query)
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
// did. A session that tries with a parameter in a way that links it to no lock is counted to
// the selected lock without an owner, if there is but one such lock.
func (d *lookDiff) candidates() {
	var open []*session
	for _, s := range d.after.sessions {
		recent := d.s.clock.age(s.does.queried) < tryRecent // not where that is hidden
		if !recent || !strings.Contains(s.does.query, tryWord) {
			continue
		}
		if key, ok := triedKey(s.does.query); ok {
			d.tries(s, d.entry(ident{s.who.database, key}))
		} else {
			open = append(open, s)
		}
	}
	if len(open) > 0 {
		d.byTrace(open)
	}
	for i := range d.entries {
		e := &d.entries[i]
		slices.SortFunc(e.trying, func(x, y *session) int { return int(x.pid) - int(y.pid) })
		e.trying = e.trying[:min(len(e.trying), candidatesShown)]
	}
}

// inUse reports whether somebody may try for a lock: it is selected, or was owned lately.
func (d *lookDiff) inUse(e *entry) bool {
	return len(e.now) > 0 || len(e.rows) > 0 || len(e.lock.candidates) > 0 || e.unsteady > 0 || e.selected(d.after.server.database) ||
		e.tried != trace{} && d.before.got.Sub(e.free) < tryRecent || d.before.fresh
}

// byTrace links sessions whose query does not say which lock they try for.
func (d *lookDiff) byTrace(open []*session) {
	ways := make(map[trace][]*entry, len(open))
	for _, s := range open {
		ways[s.trace] = nil
	}
	note := func(e *entry, way trace) {
		if found, asked := ways[way]; asked && len(found) <= tryKnown && !slices.Contains(found, e) {
			ways[way] = append(found, e)
		}
	}
	var orphans []*entry
	for i := range d.entries {
		e := &d.entries[i]
		if !d.inUse(e) {
			continue
		}
		for _, r := range e.now {
			if s := d.after.sessions[r.pid]; s != nil && r.granted {
				note(e, s.trace)
			}
		}
		note(e, e.tried)
		if len(e.now) == 0 && e.selected(d.after.server.database) && e.tried == (trace{}) {
			orphans = append(orphans, e)
		}
	}
	for _, s := range open {
		found := ways[s.trace]
		if len(found) == 0 && len(orphans) == 1 && s.who.database == orphans[0].space {
			found = orphans
		}
		if len(found) > tryKnown {
			continue
		}
		for _, e := range found {
			d.tries(s, e)
		}
	}
}

// tries makes a session a candidate of a lock, unless it has it or waits for it.
func (d *lookDiff) tries(s *session, e *entry) {
	if e != nil && d.inUse(e) && !slices.ContainsFunc(e.now, func(r lockRow) bool { return r.pid == s.pid }) {
		e.trying = append(e.trying, s)
	}
}

// candidate shows a session that tries.
func (d *lookDiff) candidate(s *session) sources.Waiter {
	return sources.Waiter{
		ID: s.id, Session: s.id, Label: label(s.name(), s.pid), Permits: 1,
		Attrs: append(s.attrs(d.s.clock), sources.Attr{Key: "candidate", Value: "probable: its last query tries for such a lock"}),
	}
}
