package screen

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/paint"
)

// waiterLines draws the queue in the order in which it will be served, as far as that is told. full:
// with headings and with the backend's facts about each waiter.
func waiterLines(sc *Scene, row *sources.Row, v verdict.Verdict, w int, full bool) []string {
	l := sc.Theme.Line(w).Skip(2).Put(sc.Theme.Dim, "WAITING")
	q := &row.Queue
	switch {
	case q.How == sources.Unknown:
		return []string{l.Put("", " ?").Put(sc.Theme.Dim, "  this backend tells no queue").Done()}
	case q.Len == 0:
		return []string{l.Put(sc.Theme.Dim, " nobody"+readAgo(sc, q)).Done()}
	}
	how := " in server order"
	if q.How == sources.Inferred {
		how = ", order inferred"
	}
	l.Put("", " "+format.Count(q.Len)).Put(sc.Theme.Dim, how+readAgo(sc, q))
	if len(q.Waiters) == 0 {
		return []string{l.Put(sc.Theme.Dim, ", not told who").Done()}
	}
	l.Put(sc.Theme.Dim, paint.When(len(q.Waiters) < q.Len, ", the first "+format.Count(len(q.Waiters))))
	next := paint.When(len(row.Owners) > 0 || row.Taken > 0, sc.Theme.Arrow+" "+nextMark(q))
	return append([]string{l.Done()}, waiterTable(sc, row, v, q.Waiters, w, next, full)...)
}

// nextMark returns the text beside the waiters that are served next.
func nextMark(q *sources.Queue) string {
	text := "next if released"
	if len(q.Next()) > 1 {
		text = "next, together"
	}
	return paint.When(q.How == sources.Inferred, "probably ") + text
}

// readAgo returns the age of a queue that was read more than oldQueue ago; "" for a newer one.
func readAgo(sc *Scene, q *sources.Queue) string {
	d := sc.Now.Sub(q.At)
	return paint.When(!q.At.IsZero() && d >= oldQueue, ", read "+format.Age(d)+" ago")
}

// oldQueue is the age from which on the age of a queue is shown.
const oldQueue = 5 * time.Second

// candidateLines draws the candidates that were seen.
func candidateLines(sc *Scene, row *sources.Row, w int, full bool) []string {
	if len(row.Candidates) == 0 {
		return nil
	}
	return titled(sc, "CANDIDATES seen or probable", waiterTable(sc, row, verdict.Verdict{}, row.Candidates, w, "", full), w)
}

// waiterTable draws waiters; next is the text beside those of a queue that are served next.
func waiterTable(sc *Scene, row *sources.Row, v verdict.Verdict, waiters []sources.Waiter, w int, next string, full bool) []string {
	g := paint.Grid{Heads: []string{"", "WAITER", "SESSION", "MODE", "PERMITS", "SINCE", "GIVES UP", "", "DATA"},
		Right: []bool{0: true, 4: true, 5: true}, Leave: []int{2, 6}}
	ordered := len(row.Queue.Waiters) > 0 && &waiters[0] == &row.Queue.Waiters[0]
	mixed := slices.ContainsFunc(waiters, func(w sources.Waiter) bool { return w.Mode == sources.Shared })
	for i := range waiters {
		q := &waiters[i]
		place, mode := paint.When(ordered, strconv.Itoa(i+1)), paint.When(mixed, q.Mode.String())
		said := paint.When(ordered && i < len(row.Queue.Next()), next)
		dim := sc.Theme.Dim
		g.Add(dim.Text(place), paint.Plain(paint.CleanLabel(q.Label)), dim.Text(shortSession(sc, q.Session)),
			dim.Text(mode), paint.Plain(permits(row, q.Permits)), paint.Plain(sc.Theme.Age(q.Since, asOf(sc, row, v))),
			dim.Text(givesUp(sc, q)), sc.Theme.Accent.Text(said), dim.Text(DataHead(q.Data)))
	}
	lines := g.Lines(&sc.Theme, w, 2)
	if !full {
		return lines[1:] // the line above names the table
	}
	var out []string
	for i, line := range lines {
		if out = append(out, line); i > 0 {
			out = append(out, factLines(sc, waiters[i-1].Attrs, w, 6)...)
		}
	}
	return out
}

// givesUp returns the time until a waiter gives up; "": unknown.
func givesUp(sc *Scene, q *sources.Waiter) string {
	switch {
	case q.Timeout <= 0:
		return ""
	case q.Since.How == sources.Unknown || q.Since.At.IsZero():
		return "after " + format.Left(q.Timeout)
	}
	return "in " + sc.Theme.Left(q.Since, q.Since.At.Add(q.Timeout).Sub(sc.Now))
}

// leastOf returns a function that reports whether an owner is the one that frees the fewest permits.
func leastOf(row *sources.Row) func(id, session string) bool {
	least := ""
	if len(row.Owners) > 0 {
		least = slices.MinFunc(row.Owners, func(a, b sources.Owner) int { return cmp.Compare(max(a.Permits, 1), max(b.Permits, 1)) }).ID
	}
	return func(id, _ string) bool { return id == least && id != "" }
}

// ifReleased names the next owner of a row after a release, and the delay; nil if nobody owns it, or the row is stale.
func ifReleased(sc *Scene, row *sources.Row, v verdict.Verdict, w int) []string {
	if v.Severity == verdict.Blind || len(row.Owners) == 0 && row.Taken == 0 {
		return nil
	}
	var who string
	q := &row.Queue
	switch next := row.NextText(leastOf(row), func(w *sources.Waiter) string { return paint.CleanLabel(w.Label) }); {
	case row.Limited() && row.Taken < row.Limit && next == "":
		who = format.Count(int(row.Limit-row.Taken)) + " of " + paint.Count(int(row.Limit), "permit") + " free now"
	case q.How == sources.Unknown && len(row.Candidates) > 0:
		who = "no queue here: whoever asks first, of " + paint.Count(len(row.Candidates), "candidate") + " seen"
	case q.How == sources.Unknown:
		who = "no queue here: whoever asks first"
	case next != "":
		who = next
	case q.Len == 1:
		who = "1 program waits, not told which"
	case q.Len > 0:
		who = paint.Count(q.Len, "program") + " wait, not told who is first"
	default:
		who = "nobody waits" + readAgo(sc, q) + ": it is free until somebody asks"
	}
	lines := []string{sc.Theme.Line(w).Skip(2).Put(sc.Theme.Dim, "IF RELEASED").Skip(2).Put("", who).Done()}
	if g := row.Gaps(sc.State, sc.Now, verdict.ChangesSpan); g.Count > 0 {
		long := "usually for " + g.P50.Text() + paint.When(g.P95 != g.P50, ", 95 % up to "+g.P95.Text())
		if g.Count < 3 { // too few to call anything usual
			long = "longest " + g.Longest.Text()
		}
		text := "nobody owned it " + paint.Count(g.Count, "time") + " in 1 h: " + long
		indent := 2 + len("IF RELEASED") + 2
		for _, s := range paint.Wrap(text, w-indent) {
			lines = append(lines, sc.Theme.Line(w).Skip(indent).Put(sc.Theme.Dim, s).Done())
		}
	}
	return lines
}
