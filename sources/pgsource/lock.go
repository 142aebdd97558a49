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
	oid   uint32    // of the database, as the server last had it
	rule  *rule     // that selects it; nil: none
	rows  []lockRow // of the last look that showed who owns it, waiters as they came
	line  line      // of rows
	asked bool      // for its order, at the last look

	shown       *sources.Primitive // as it was published last; nil: it was not yet
	published   uint64             // in which look
	publishedAt time.Time
	free        time.Time // since when we see nobody own it; zero: somebody does
	unsteady    int       // looks in a row that did not show who owns it
	read        time.Time // when the one before them was sent

	owners     []term
	tried      trace      // how the last owner that tried did it
	candidates []*session // as they were published
	programs   []program  // that take this number
}

// term describes an owner for as long as it owns.
type term struct {
	id, owner   string // owner: the session, or the name of a prepared transaction
	mode        mode
	since       sources.Stamp
	transaction int64  // the one that was open when we first saw it own
	session     bool   // the lock surely belongs to the session and not to a transaction
	name        string // of the session when we first saw it own
	taker       bool   // and right after it took the lock, which we saw
	took        bool   // and its last statement was then one that takes locks
	proof       uint64 // as it was published last, see lookDiff.proof
}

// never is a ForgetAfter for locks that stay: they have no existence of their own either.
const never = time.Duration(math.MaxInt64)

// selected reports whether the lock stays in the list whatever happens: it was asked for, in the database that
// was asked for.
func (l *lock) selected(database string) bool { return l.rule != nil && l.space == database }

// inOrder returns rows by lock, of each the owners first, then waiters as they came.
func inOrder(rows []lockRow) []lockRow {
	order := make([]*lockRow, len(rows)) // rows are too large to be moved about
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

// compareRows orders rows. A waiter whose beginning the server did not report yet has just come.
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

// guard returns the text that compare-and-act compares: exactly this session, on exactly this lock, in this
// mode, and of a waiter exactly this wait. It returns "" where the start of the backend is hidden, because
// another session may have its number by now, and while the server has not reported yet since when it waits.
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

// ownerID identifies an ownership by its session, as our own drivers name theirs. A session
// that owns in a second mode too owns twice: then the ID names the mode that came later.
// before are the terms of the last look, now those of this look that are known so far.
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
