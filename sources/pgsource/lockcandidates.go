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
	// tryRecent is the maximum age of a try that makes its session a candidate. Programs in use try every 5 or 10 s.
	tryRecent = time.Minute
	// tryKnown is the maximum number of locks that sessions may try for in one way. If there are more, the way
	// identifies no lock.
	tryKnown = 4
	// candidatesShown is the maximum number of candidates that are listed for a lock.
	candidatesShown = 100
	tryWord         = "pg_try_advisory"
)

// traceOf returns the way in which a session tries, or zero if its last query did not try.
func traceOf(a *activity) trace {
	if !strings.Contains(a.does.query, tryWord) {
		return trace{}
	}
	return trace{db: a.who.db, user: a.who.user, query: a.does.query}
}

// tryCall matches a call that tries for a lock, with the numbers of the key if the query contains them.
var tryCall = lazy.Regexp(`pg_try_advisory_(?:xact_)?lock(?:_shared)?\s*\(\s*(-?\d+)(?:\s*::\s*\w+)?\s*(?:,\s*(-?\d+)(?:\s*::\s*\w+)?\s*)?\)`)

// triedKey returns the key that a query tries for.
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

// candidates finds the sessions that try for locks without waiting for them: those whose last query names the lock, and
// those that try in the same way as its present or last owner. A session that tries with a parameter, in a way that
// identifies no lock, counts as a candidate of the selected lock without an owner, if there is only one such lock.
func (d *lookDiff) candidates() {
	var open []*session
	for _, s := range d.after.sessions {
		recent := d.s.clock.age(s.does.queried) < tryRecent // false if that is hidden
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

// inUse reports whether somebody may try for a lock, because it is selected or was owned lately.
func (d *lookDiff) inUse(e *entry) bool {
	return len(e.now) > 0 || len(e.rows) > 0 || len(e.lock.candidates) > 0 || e.unsteady > 0 || e.selected(d.after.server.database) ||
		e.tried != trace{} && d.before.got.Sub(e.free) < tryRecent || d.before.fresh
}

// byTrace finds the locks for sessions whose query does not contain the key that they try for.
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

// tries makes a session a candidate of a lock, unless the session owns the lock or waits for it.
func (d *lookDiff) tries(s *session, e *entry) {
	if e != nil && d.inUse(e) && !slices.ContainsFunc(e.now, func(r lockRow) bool { return r.pid == s.pid }) {
		e.trying = append(e.trying, s)
	}
}

// candidate returns a session that tries as a Waiter.
func (d *lookDiff) candidate(s *session) sources.Waiter {
	return sources.Waiter{
		ID: s.id, Session: s.id, Label: label(s.name(), s.pid), Permits: 1,
		Attrs: append(s.attrs(d.s.clock), sources.Attr{Key: "candidate", Value: "probable: its last query tries for such a lock"}),
	}
}
