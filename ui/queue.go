package ui

import (
	"strconv"
	"time"

	"coordtop/internal/format"
	"coordtop/sources"
)

// waiters is the queue in the order in which it will be served, as far as that is told. full: with headings and
// with what the backend says of each.
func (m *model) waiters(row *sources.Row, v verdict, w int, full bool) []string {
	l := m.th.line(w).skip(2).put(m.th.dim, "WAITING")
	q := &row.Queue
	switch {
	case q.How == sources.Unknown:
		return []string{l.put("", " ?").put(m.th.dim, "  this backend tells no queue").done()}
	case q.Len == 0:
		return []string{l.put(m.th.dim, " nobody").done()}
	}
	how := " in server order"
	if q.How == sources.Inferred {
		how = ", order inferred"
	}
	l.put("", " "+format.Count(q.Len)).put(m.th.dim, how)
	if d := m.now.Sub(q.At); !q.At.IsZero() && d >= oldQueue {
		l.put(m.th.dim, ", read "+format.Age(d)+" ago")
	}
	if len(q.Waiters) == 0 {
		return []string{l.put(m.th.dim, ", not told who").done()}
	}
	if len(q.Waiters) < q.Len {
		l.put(m.th.dim, ", the first "+format.Count(len(q.Waiters)))
	}
	next := ""
	if len(row.Owners) > 0 || row.Taken > 0 {
		next = m.th.arrow + " " + nextMark(q)
	}
	return append([]string{l.done()}, m.waiterTable(row, v, q.Waiters, w, next, full)...)
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

// oldQueue is how long ago a queue was read for that to be said.
const oldQueue = 5 * time.Second

// candidates are those that may take it, where they are seen.
func (m *model) candidates(row *sources.Row, w int, full bool) []string {
	if len(row.Candidates) == 0 {
		return nil
	}
	l := m.th.line(w).skip(2).put(m.th.dim, "CANDIDATES seen or probable")
	return append([]string{l.done()}, m.waiterTable(row, verdict{}, row.Candidates, w, "", full)...)
}

// waiterTable draws waiters; next is said of those of a queue that are served next.
func (m *model) waiterTable(row *sources.Row, v verdict, waiters []sources.Waiter, w int, next string, full bool) []string {
	g := grid{heads: []string{"", "WAITER", "SESSION", "MODE", "PERMITS", "SINCE", "GIVES UP", "", "DATA"},
		right: []bool{0: true, 4: true, 5: true}, leave: []int{2, 6}}
	ordered, mixed := next != "" || &waiters[0] == firstWaiter(row), mixedModes(waiters)
	for i := range waiters {
		q := &waiters[i]
		place, said, mode := "", part{}, ""
		if ordered {
			place = strconv.Itoa(i + 1)
		}
		if ordered && i < len(row.Queue.Next()) {
			said = part{m.th.accent, next}
		}
		if mixed {
			mode = q.Mode.String()
		}
		g.add(part{m.th.dim, place}, part{"", cleanLabel(q.Label)}, part{m.th.dim, m.shortSession(q.Session)}, part{m.th.dim, mode},
			part{"", permits(row, q.Permits)}, part{"", m.ageAt(q.Since, m.asOf(row, v))}, part{m.th.dim, m.givesUp(q)},
			said, part{m.th.dim, dataHead(q.Data)})
	}
	lines := g.lines(&m.th, w, 2)
	if !full {
		return lines[1:] // the line above says what they are
	}
	var out []string
	for i, line := range lines {
		if out = append(out, line); i > 0 {
			out = append(out, m.facts(waiters[i-1].Attrs, w, 6)...)
		}
	}
	return out
}

// firstWaiter is the head of the queue; nil where nobody is told.
func firstWaiter(row *sources.Row) *sources.Waiter {
	if len(row.Queue.Waiters) == 0 {
		return nil
	}
	return &row.Queue.Waiters[0]
}

func mixedModes(waiters []sources.Waiter) bool {
	for i := range waiters {
		if waiters[i].Mode == sources.Shared {
			return true
		}
	}
	return false
}

// givesUp says when a waiter stops to wait; "" where that is not told.
func (m *model) givesUp(q *sources.Waiter) string {
	switch {
	case q.Timeout <= 0:
		return ""
	case q.Since.How == sources.Unknown || q.Since.At.IsZero():
		return "after " + format.Left(q.Timeout)
	}
	return "in " + format.Left(q.Since.At.Add(q.Timeout).Sub(m.now))
}

// ifReleased says what is known of who would own it next and how soon; nil where nobody
// owns it, or it is old.
func (m *model) ifReleased(row *sources.Row, v verdict, w int) []string {
	if v.sev == sevBlind || len(row.Owners) == 0 && row.Taken == 0 {
		return nil
	}
	var who string
	q := &row.Queue
	switch next := q.NextText(func(w *sources.Waiter) string { return cleanLabel(w.Label) }); {
	case q.How == sources.Unknown && len(row.Candidates) > 0:
		who = "no queue here: whoever asks first, of " + count(len(row.Candidates), "candidate") + " seen"
	case q.How == sources.Unknown:
		who = "no queue here: whoever asks first"
	case next != "":
		who = next
	case q.Len > 0:
		who = count(q.Len, "program") + " wait, not told who is first"
	default:
		who = "nobody waits: it is free until somebody asks"
	}
	lines := []string{m.th.line(w).skip(2).put(m.th.dim, "IF RELEASED").skip(2).put("", who).done()}
	if g := row.Gaps(m.st, m.now, changesSpan); g.Count > 0 {
		text := "nobody owned it " + count(g.Count, "time") + " in 1 h: usually for " + intervalText(g.P50)
		if g.P95 != g.P50 {
			text += ", 95 % up to " + intervalText(g.P95)
		}
		lines = append(lines, m.th.line(w).skip(2+len("IF RELEASED")+2).put(m.th.dim, text).done())
	}
	return lines
}
