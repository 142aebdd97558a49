package rows

import (
	"time"

	"coordtop/sources"
)

// limit is what makes a row worse by the passing of time alone: grade asks which have passed,
// until which are still to come.
type limit uint8

const (
	vacant        limit = iota // nobody owns it for longer than a hand-over takes
	waitsLong                  // somebody waits for long
	waitsVeryLong              // for so long that a person should look
	overdue                    // what has no end lasts for longer than is usual
	full                       // no permit was free for long, and somebody waits
	limits
)

// limitTable has the instant of each limit; zero: never.
var limitTable = [limits]func(row *sources.Row, t *sources.Thresholds) time.Time{
	vacant:        func(row *sources.Row, t *sources.Thresholds) time.Time { return row.Nobody.At.Add(t.NoLeader) },
	waitsLong:     func(row *sources.Row, t *sources.Thresholds) time.Time { return waitedFor(row, t.Wait) },
	waitsVeryLong: func(row *sources.Row, t *sources.Thresholds) time.Time { return waitedFor(row, t.WaitPerson) },
	overdue: func(row *sources.Row, _ *sources.Thresholds) time.Time {
		if !endless(row) {
			return time.Time{}
		}
		return overdueAt(row)
	},
	full: fullAt,
}

// passed reports whether a limit has passed. Nobody may own a row for less than the limit;
// each of the others may be reached.
func (l limit) passed(row *sources.Row, t *sources.Thresholds, now time.Time) bool {
	at := limitTable[l](row, t)
	return !at.IsZero() && (now.After(at) || l == vacant && now.Equal(at))
}

// waitedFor is when the first waiter will have waited for so long. Zero: never, because
// nobody is known to wait, or because candidates of an election wait as long as it takes.
func waitedFor(row *sources.Row, limit time.Duration) time.Time {
	first := row.Queue.WaitingSince()
	if row.Kind == sources.KindElection || first.IsZero() {
		return time.Time{}
	}
	return first.Add(limit)
}

// overdueAt is when the running term has lasted as long as the longest before it. Zero: never,
// because no earlier one is of known length, so that nothing is usual.
func overdueAt(row *sources.Row) time.Time {
	n := len(row.Terms)
	if n < 2 || row.Terms[n-1].End.How != sources.Unknown {
		return time.Time{}
	}
	var usual time.Duration
	known := false
	for i := range row.Terms[:n-1] {
		held := row.Terms[i].Held()
		if held.Max == sources.Endless {
			held.Max = held.Min // it lasted so long at least, which alone makes nothing usual
		} else {
			known = known || held.Max > 0
		}
		usual = max(usual, held.Max)
	}
	if !known {
		return time.Time{}
	}
	return row.Terms[n-1].Start.At.Add(usual)
}

// fullAt is when no permit of a semaphore will have been free for long while somebody waits. Zero:
// never, because one is free, nobody waits, or since when is not known.
func fullAt(row *sources.Row, t *sources.Thresholds) time.Time {
	since := row.TakenSince()
	if since.IsZero() || !row.Limited() || row.Taken < row.Limit || row.Queue.Len == 0 {
		return time.Time{}
	}
	return since.Add(t.Full)
}
