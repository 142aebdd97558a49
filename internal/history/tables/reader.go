package tables

import (
	"context"
	"database/sql"
	"slices"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/tape"
)

// Reader answers queries about the tables of a store. It is safe for concurrent use.
type Reader struct {
	// Ask runs f in one transaction, so that all its statements see the same state.
	Ask func(ctx context.Context, f func(*Query) error) error
}

// Query is one query of a caller.
type Query struct {
	Statements
	Live     bool       // a process records now
	Blocks   bool       // the store has the tables recent, block, body and running
	Untitled bool       // runs have no titles
	Clocks   bool       // runs have how far their clocks were ahead
	Now      time.Time  // the present on the clock of the recorder; zero: that of this machine
	Rows     Rows       // nil: the store has no terms and events in rows
	Index    *TermIndex // nil: the terms of single lanes are read from blocks
}

// TermIndex finds the terms of single lanes, which many blocks may have.
type TermIndex struct {
	Since int64 // terms that began earlier may be in blocks alone

	// Terms calls f with the terms of lanes that began before until and touch the time from `from` on and, unless many
	// can own them at a time, the last one of each that began before.
	Terms func(ctx context.Context, q *Query, lanes []int64, many bool, from, until int64, f func(*tape.TermFact))
}

// mostIndexed is the most lanes for which finding single terms is faster than reading blocks.
const mostIndexed = 500

// Rows reads the terms and events that a store has in rows of its own, as SQLite files before version 6.
type Rows interface {
	// Terms calls f with the terms that r describes, oldest first.
	Terms(ctx context.Context, q *Query, r TermRows, f func(*tape.TermFact))

	// Events calls f with the events that r describes, or with more.
	Events(ctx context.Context, q *Query, r EventRows, f func(*tape.EventFact))
}

// TermRows are the terms of a lane that began before To and touch the time from From on and, unless many can own it at
// a time, the last one that began before From.
type TermRows struct {
	Lane     int64
	Many     bool
	From, To int64
}

// EventRows are the events of some lanes and kinds that are nearest to an instant, on one side of it.
type EventRows struct {
	At     int64
	Before bool
	Most   int
	Kinds  int64           // a bit for each
	Lanes  map[uint64]bool // nil: any
}

// Runs returns the processes that recorded, see history.Reader.
func (r *Reader) Runs(ctx context.Context) (runs []history.Run, err error) {
	err = r.Ask(ctx, func(q *Query) error {
		runs = q.runs(ctx)
		return q.Err
	})
	return runs, err
}

// longestHost bounds the name of a host, which is shown in many sentences.
const longestHost = 255

// runs returns the runs in order.
func (q *Query) runs(ctx context.Context) (runs []history.Run) {
	var r history.Run
	var began, last int64
	var ended sql.NullInt64
	titles := "title, color"
	if q.Untitled {
		titles = "'', ''"
	}
	ahead, micros := "0", int64(0)
	if q.Clocks {
		ahead = "coalesce((ahead_least + ahead_most) / 2, 0)"
	}
	q.Each(ctx, "select id, host, pid, version, "+titles+", began, last, ended, "+ahead+" from run order by id", nil,
		[]any{&r.ID, &r.Host, &r.PID, &r.Version, &r.Title, &r.TitleColor, &began, &last, &ended, &micros}, func() {
			r.Host = format.Clean(r.Host, longestHost)
			r.Span, r.Live = history.Span{From: Instant(began), To: Instant(last)}, !ended.Valid && q.Live
			if r.Ahead, r.Now = time.Duration(micros)*time.Microsecond, (time.Time{}); r.Ahead.Abs() < history.SameClock {
				r.Ahead = 0
			}
			if r.Live {
				r.Now = q.Now
			}
			runs = append(runs, r)
		})
	return runs
}

// Instant converts a stored instant; 0 stands for the zero Time.
func Instant(nanos int64) time.Time {
	if nanos == 0 {
		return time.Time{}
	}
	return time.Unix(0, nanos)
}

// Lanes returns the record of each of refs within span, see history.Reader.
func (r *Reader) Lanes(ctx context.Context, refs []sources.Ref, span history.Span) (lanes []history.Lane, err error) {
	err = r.Ask(ctx, func(q *Query) error {
		window := periodOf(span)
		all := q.everything(ctx, window, refs)
		if refs == nil {
			slices.SortFunc(all.lanes, func(a, b listed) int { return a.ref.Compare(b.ref) })
			for i := range all.lanes {
				refs = append(refs, all.lanes[i].ref)
			}
		}
		terms := q.terms(ctx, all.lanes, window, all.dark)
		lanes = make([]history.Lane, len(refs))
		next := 0
		for i, ref := range refs {
			if q.Over(ctx) {
				break
			}
			lanes[i].Ref, lanes[i].Holes = ref, all.dark.causes
			if next < len(all.lanes) && all.lanes[next].ref == ref {
				q.lane(ctx, &lanes[i], &all.lanes[next], terms[all.lanes[next].id], window, all)
				next++
			}
		}
		return q.Err
	})
	return lanes, err
}

func (q *Query) lane(ctx context.Context, l *history.Lane, known *listed, terms []sources.Term, window period, all *everything) {
	l.Kind, l.Since = known.kind, time.Unix(0, max(known.since, all.dark.kept))
	if l.Kind == sources.KindSemaphore {
		l.Levels = q.levels(ctx, known.id, window)
	}
	if len(terms) > 0 && terms[0].End.How != sources.Unknown && terms[0].End.At.Before(time.Unix(0, window.from)) {
		l.Before, terms = &terms[0], terms[1:]
	}
	l.Terms = terms
	l.Dark = all.unobserved(known)
}

const levelsOfALane = "select at, taken, high, gone from level where lane = ?1 and at < ?3 and at >= coalesce((select max(at) from level where lane = ?1 and at <= ?2), ?2) order by at"

func (q *Query) levels(ctx context.Context, lane int64, window period) (levels []sources.Level) {
	var l sources.Level
	var at int64
	q.Each(ctx, levelsOfALane, []any{lane, window.from, window.to}, []any{&at, (*Unsigned)(&l.Taken), (*Unsigned)(&l.High), &l.Gone}, func() {
		l.At = time.Unix(0, at)
		levels = append(levels, l)
	})
	return levels
}
