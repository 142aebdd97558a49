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

// waiterLines is the queue in the order in which it will be served, as far as that is told. full: with headings and
// with what the backend says of each.
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
	if len(q.Waiters) < q.Len {
		l.Put(sc.Theme.Dim, ", the first "+format.Count(len(q.Waiters)))
	}
	next := ""
	if len(row.Owners) > 0 || row.Taken > 0 {
		next = sc.Theme.Arrow + " " + nextMark(q)
	}
	return append([]string{l.Done()}, waiterTable(sc, row, v, q.Waiters, w, next, full)...)
}

// nextMark is what is said beside those that are served next.
func nextMark(q *sources.Queue) string {
	text := "next if released"
	if len(q.Next()) > 1 {
		text = "next, together"
	}
	if q.How == sources.Inferred {
		return "probably " + text
	}
	return text
}

// readAgo says how long ago a queue was read; "": just now.
func readAgo(sc *Scene, q *sources.Queue) string {
	if d := sc.Now.Sub(q.At); !q.At.IsZero() && d >= oldQueue {
		return ", read " + format.Age(d) + " ago"
	}
	return ""
}

// oldQueue is how long ago a queue was read for that to be said.
const oldQueue = 5 * time.Second

// candidateLines are those that may take it, where they are seen.
func candidateLines(sc *Scene, row *sources.Row, w int, full bool) []string {
	if len(row.Candidates) == 0 {
		return nil
	}
	return titled(sc, "CANDIDATES seen or probable", waiterTable(sc, row, verdict.Verdict{}, row.Candidates, w, "", full), w)
}

// waiterTable draws waiters; next is said of those of a queue that are served next.
func waiterTable(sc *Scene, row *sources.Row, v verdict.Verdict, waiters []sources.Waiter, w int, next string, full bool) []string {
	g := paint.Grid{Heads: []string{"", "WAITER", "SESSION", "MODE", "PERMITS", "SINCE", "GIVES UP", "", "DATA"},
		Right: []bool{0: true, 4: true, 5: true}, Leave: []int{2, 6}}
	ordered := len(row.Queue.Waiters) > 0 && &waiters[0] == &row.Queue.Waiters[0]
	mixed := slices.ContainsFunc(waiters, func(w sources.Waiter) bool { return w.Mode == sources.Shared })
	for i := range waiters {
		q := &waiters[i]
		place, said, mode := "", paint.Part{}, ""
		if ordered {
			place = strconv.Itoa(i + 1)
		}
		if ordered && i < len(row.Queue.Next()) {
			said = sc.Theme.Accent.Text(next)
		}
		if mixed {
			mode = q.Mode.String()
		}
		g.Add(sc.Theme.Dim.Text(place), paint.Plain(paint.CleanLabel(q.Label)), sc.Theme.Dim.Text(shortSession(sc, q.Session)), sc.Theme.Dim.Text(mode),
			paint.Plain(permits(row, q.Permits)), paint.Plain(sc.Theme.Age(q.Since, asOf(sc, row, v))), sc.Theme.Dim.Text(givesUp(sc, q)),
			said, sc.Theme.Dim.Text(DataHead(q.Data)))
	}
	lines := g.Lines(&sc.Theme, w, 2)
	if !full {
		return lines[1:] // the line above says what they are
	}
	var out []string
	for i, line := range lines {
		if out = append(out, line); i > 0 {
			out = append(out, factLines(sc, waiters[i-1].Attrs, w, 6)...)
		}
	}
	return out
}

// givesUp says when a waiter stops to wait; "" where that is not told.
func givesUp(sc *Scene, q *sources.Waiter) string {
	switch {
	case q.Timeout <= 0:
		return ""
	case q.Since.How == sources.Unknown || q.Since.At.IsZero():
		return "after " + format.Left(q.Timeout)
	}
	return "in " + sc.Theme.Left(q.Since, q.Since.At.Add(q.Timeout).Sub(sc.Now))
}

// leastOf reports the owner of a row that frees the fewest permits.
func leastOf(row *sources.Row) func(id, session string) bool {
	least := ""
	if len(row.Owners) > 0 {
		least = slices.MinFunc(row.Owners, func(a, b sources.Owner) int { return cmp.Compare(max(a.Permits, 1), max(b.Permits, 1)) }).ID
	}
	return func(id, _ string) bool { return id == least && id != "" }
}

// ifReleased says what is known of who would own it next and how soon; nil where nobody
// owns it, or it is old.
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
	case q.Len > 0:
		who = paint.Count(q.Len, "program") + " wait, not told who is first"
		if q.Len == 1 {
			who = "1 program waits, not told which"
		}
	default:
		who = "nobody waits" + readAgo(sc, q) + ": it is free until somebody asks"
	}
	lines := []string{sc.Theme.Line(w).Skip(2).Put(sc.Theme.Dim, "IF RELEASED").Skip(2).Put("", who).Done()}
	if g := row.Gaps(sc.State, sc.Now, verdict.ChangesSpan); g.Count > 0 {
		text := "nobody owned it " + paint.Count(g.Count, "time") + " in 1 h: "
		switch {
		case g.Count < 3: // too few to call anything usual
			text += "longest " + g.Longest.Text()
		case g.P95 != g.P50:
			text += "usually for " + g.P50.Text() + ", 95 % up to " + g.P95.Text()
		default:
			text += "usually for " + g.P50.Text()
		}
		indent := 2 + len("IF RELEASED") + 2
		for _, s := range paint.Wrap(text, w-indent) {
			lines = append(lines, sc.Theme.Line(w).Skip(indent).Put(sc.Theme.Dim, s).Done())
		}
	}
	return lines
}
