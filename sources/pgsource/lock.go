package pgsource

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"time"

	"coordtop/coord/pgcoord"
	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// lock is the state of one advisory lock after a look. It is never changed.
type lock struct {
	ident
	oid   uint32    // of the database, as last read
	rule  *rule     // that selects the lock; may be nil
	rows  []lockRow // of the last look that showed its owners; waiters in the order of their arrival
	line  line      // of rows
	asked bool      // its order was asked for at the last look

	shown       *sources.Primitive // as last published; nil before that
	published   uint64             // number of the look that published it
	publishedAt time.Time
	free        time.Time // since when we have seen no owner; zero if it is owned
	unsteady    int       // consecutive looks that did not show its owners
	read        time.Time // when the last look before those was sent

	owners     []term
	tried      trace      // how the last owner that tried for the lock did that
	candidates []*session // as published
	programs   []program  // known to use this key
}

// term describes one ownership.
type term struct {
	id, owner   string // owner: the session, or the name of a prepared transaction
	mode        mode
	since       sources.Stamp
	transaction int64  // the open one when we first saw the ownership
	session     bool   // the lock surely belongs to the session and not to a transaction
	name        string // of the session when we first saw the ownership
	taker       bool   // we saw the take-over, so that name is the name just after it
	took        bool   // and its last statement was then one that acquires locks
	proof       uint64 // as last published, see lookDiff.proof
}

// never is a ForgetAfter for locks that stay, although locks exist only while they are owned.
const never = time.Duration(math.MaxInt64)

// selected reports whether the lock is configured and in the configured database, so that it always stays in the list.
func (l *lock) selected(database string) bool { return l.rule != nil && l.space == database }

// inOrder returns rows sorted by lock, each with its owners first, then its waiters in the order of their arrival.
func inOrder(rows []lockRow) []lockRow {
	order := make([]*lockRow, len(rows)) // sort pointers, because rows are large
	for i := range rows {
		order[i] = &rows[i]
	}
	slices.SortFunc(order, compareRows)
	list := make([]lockRow, len(rows))
	for i, r := range order {
		list[i] = *r
	}
	return list
}

// compareRows orders rows. A waiter without a reported beginning has just arrived.
func compareRows(a, b *lockRow) int {
	if c := a.ident.compare(&b.ident); c != 0 {
		return c
	}
	switch {
	case a.granted != b.granted:
		if a.granted {
			return -1
		}
		return 1
	case !a.granted && a.wait != b.wait && (a.wait == 0 || b.wait == 0):
		return -cmp.Compare(a.wait, b.wait)
	}
	return cmp.Or(cmp.Compare(a.wait, b.wait), cmp.Compare(a.pid, b.pid), cmp.Compare(b.mode, a.mode),
		cmp.Compare(a.virtual, b.virtual))
}

// guard returns the text that compare-and-act compares: this session, this lock, this mode, and for a waiter this wait.
// It returns "" if the start of the backend is hidden, because another session may have the number by now, and while
// the server has not reported the beginning of the wait.
func (d *lookDiff) guard(r *lockRow, s *session) string {
	g := pgcoord.Guard{Database: r.oid, Key: r.ident.key, Mode: modeNames[r.mode]}
	toldSince := d.after.server.major >= toldWaits
	switch {
	case s == nil:
		g.GID = format.Clean(d.s.prepared[r.virtual].gid, 0)
		return g.String()
	case s.who.start == 0, r.mode == modeUnknown, !r.granted && toldSince && r.wait == 0:
		return ""
	case !r.granted && toldSince:
		g.Since = r.wait
	}
	g.PID, g.Start = r.pid, s.who.start
	return g.String()
}

func utoa(n uint32) string { return strconv.FormatUint(uint64(n), 10) }

// ownerID identifies an ownership by its session, in the form that our own drivers use. A session that owns a lock in
// two modes owns it twice; the ID of the later ownership names its mode. The terms in before are from the last look;
// now has those of this look that are known so far.
func ownerID(session string, m mode, before, now []term) string {
	if i := slices.IndexFunc(before, func(t term) bool { return t.owner == session && t.mode == m }); i >= 0 {
		return before[i].id
	}
	first := func(t term) bool { return t.owner == session && t.id == session }
	if slices.ContainsFunc(before, first) || slices.ContainsFunc(now, first) {
		return session + " " + m.word()
	}
	return session
}
