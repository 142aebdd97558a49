package history_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

func minute(n int) time.Time { return at(time.Duration(n) * time.Minute) }

func dark(from, to int) sources.Dark { return sources.Dark{From: minute(from), To: minute(to)} }

// drawn writes a term as its owner, its first and last minute, and how they are known where they were not seen: "-" where it lasts, and behind ! from when it is sure.
func drawn(terms []sources.Term) string {
	var all []string
	for _, t := range terms {
		stamp := func(s sources.Stamp) string {
			if s.At.IsZero() {
				return "-"
			}
			return map[sources.Known]string{sources.AtLeast: "≤", sources.Bound: "≥"}[s.How] + fmt.Sprint(int(s.At.Sub(at(0)).Minutes()))
		}
		sure := "" // from when it is
		if !t.Sure.IsZero() {
			sure = fmt.Sprintf("!%d", int(t.Sure.Sub(at(0)).Minutes()))
		}
		all = append(all, fmt.Sprintf("%s%d %s..%s%s", t.Owner.ID, t.Hue, stamp(t.Start), stamp(t.End), sure))
	}
	return strings.Join(all, ", ")
}

func darkness(list []sources.Dark) string {
	var all []string
	for _, d := range list {
		all = append(all, drawn([]sources.Term{{Start: sources.Stamp{At: d.From}, End: sources.Stamp{At: d.To}}})[2:])
	}
	return strings.Join(all, ", ")
}

// TestARecordingIsMergedWithMemory has memory begin at minute 60.
func TestARecordingIsMergedWithMemory(t *testing.T) {
	t.Parallel()
	term := func(owner string, hue uint8, from, to int, how ...sources.Known) sources.Term {
		term := sources.Term{Owner: sources.OwnerRef{ID: owner, Label: owner}, Hue: hue, Start: sources.Stamp{At: minute(from), How: sources.Seen}}
		if to > 0 {
			term.End = sources.Stamp{At: minute(to), How: sources.Seen}
		}
		if len(how) > 0 {
			term.Start.How = how[0]
		}
		if len(how) > 1 {
			term.End.How = how[1]
		}
		return term
	}
	bound := func(owner string, hue uint8, from, to int) sources.Term {
		return term(owner, hue, from, to, sources.Seen, sources.Bound)
	}
	found := func(owner string, hue uint8) sources.Term { return term(owner, hue, 60, 0, sources.AtLeast) }
	fenced := func(t sources.Term) sources.Term { t.Owner.Fence = 7; return t }
	lasts := func(from int) sources.Dark { return sources.Dark{From: minute(from)} }
	for _, c := range []struct {
		name       string
		many       bool
		past, live []sources.Term
		want       string
		read       [2]int // which minutes; none: 0 to 60
		pastDark   []sources.Dark
		wantDark   string
	}{
		{name: "an owner goes on over a restart", past: []sources.Term{bound("a", 0, 10, 50)}, live: []sources.Term{found("a", 0)}, want: "a0 10..-!60", pastDark: []sources.Dark{lasts(50)}, wantDark: "50..60"},
		{name: "a fence proves that it went on", past: []sources.Term{fenced(bound("a", 0, 10, 50))}, live: []sources.Term{fenced(found("a", 0))}, want: "a0 10..-"},
		{name: "another one was found after it", past: []sources.Term{bound("a", 0, 10, 50)}, live: []sources.Term{found("b", 0)}, want: "a1 10..≥50, b0 ≤60..-", pastDark: []sources.Dark{dark(50, 60)}, wantDark: "50..60"},
		{name: "an owner that ended, and came again", past: []sources.Term{term("a", 0, 10, 50)}, live: []sources.Term{found("a", 0)}, want: "a0 10..50, a0 ≤60..-"},
		{name: "it was free when memory began, and the owner came again", past: []sources.Term{bound("a", 0, 10, 50)}, live: []sources.Term{term("a", 0, 66, 0)}, want: "a0 10..≥50, a0 66..-", pastDark: []sources.Dark{dark(50, 60)}, wantDark: "50..60"},
		{name: "it was free when memory began, and another one came", past: []sources.Term{term("a", 0, 10, 0)}, live: []sources.Term{term("b", 1, 66, 0)}, want: "a2 10..≥60, b1 66..-"},
		{name: "it is known with another fence", past: []sources.Term{{Owner: sources.OwnerRef{ID: "a", Fence: 1}, Start: sources.Stamp{At: minute(10), How: sources.Seen}}},
			live: []sources.Term{{Owner: sources.OwnerRef{ID: "a", Fence: 2}, Start: sources.Stamp{At: minute(60), How: sources.Seen}}}, want: "a0 10..≥60, a0 60..-"},
		{name: "the recording ends inside of a live term", past: []sources.Term{term("b", 3, 5, 9), term("a", 7, 10, 0)}, live: []sources.Term{term("a", 0, 60, 70)}, want: "b1 5..9, a0 10..70", read: [2]int{0, 65}},
		{name: "both have the same", past: []sources.Term{term("a", 0, 10, 62), term("b", 1, 62, 0)}, live: []sources.Term{term("a", 0, 60, 62, sources.AtLeast), term("b", 1, 62, 0)}, want: "a0 10..62, b1 62..-", read: [2]int{0, 80}, pastDark: []sources.Dark{dark(20, 21), dark(61, 62)}, wantDark: "20..21"},
		{name: "darkness between the two that was not read", past: []sources.Term{term("a", 0, 10, 20)}, want: "a0 10..20", read: [2]int{0, 40}, pastDark: []sources.Dark{dark(15, 16)}, wantDark: "15..16, 40..60"},
		{name: "a clock that was set back", past: []sources.Term{term("a", 0, 10, 30), term("b", 1, 90, 95)}, live: []sources.Term{term("c", 0, 60, 0)}, want: "a1 10..30, c0 60..-", read: [2]int{0, 100}, pastDark: []sources.Dark{dark(50, 90), dark(95, 97)}, wantDark: "50..60"},
		{name: "nothing is recorded", live: []sources.Term{term("a", 0, 60, 0)}, want: "a0 60..-"},
		{name: "memory has nothing", past: []sources.Term{term("a", 2, 10, 20), term("b", 2, 30, 0)}, want: "a0 10..20, b0 30..≥60"},
		{name: "many: one goes on, one ended, one came", many: true, past: []sources.Term{bound("a", 0, 10, 50), term("b", 1, 20, 30), term("c", 2, 55, 0)},
			live: []sources.Term{found("a", 0), term("d", 1, 61, 0)}, want: "b2 20..30, c3 55..≥60, a0 10..-!60, d1 61..-"},
		{name: "many: one that came again is another term", many: true, past: []sources.Term{term("a", 0, 10, 50)}, live: []sources.Term{found("a", 0)}, want: "a0 10..50, a0 ≤60..-"},
	} {
		p := history.Past{Span: history.Span{From: minute(0), To: minute(60)}, Lane: history.Lane{Terms: c.past, Dark: c.pastDark, Since: minute(0), Kind: sources.KindMutex}}
		if c.read[1] > 0 {
			p.Span.To = minute(c.read[1])
		}
		if c.many {
			p.Kind = sources.KindSemaphore
		}
		live := slices.Clone(c.live)
		q := asked(&p, &sources.Row{Terms: live}, dark(70, 71))
		if c.many {
			q.Row.Terms, q.Row.Counted = nil, &sources.Counted{Owners: &sources.OwnerTerms{Running: live}}
		}
		l := q.Lane()
		terms := l.Terms
		if c.many {
			var since time.Time
			if terms, since = q.Owners(); !since.Equal(minute(0)) || len(l.Terms) > 0 {
				t.Errorf("%s: the owners are known since %v, and the lane has the terms %s", c.name, since, drawn(l.Terms))
			}
		}
		if got := drawn(terms); got != c.want {
			t.Errorf("%s: terms %s, want %s", c.name, got, c.want)
		}
		if !slices.Equal(live, c.live) {
			t.Errorf("%s: the terms of memory were changed", c.name)
		}
		if want := strings.TrimPrefix(c.wantDark+", 70..71", ", "); darkness(l.Dark) != want || !l.Since.Equal(minute(0)) {
			t.Errorf("%s: dark %s since %v, want %s", c.name, darkness(l.Dark), l.Since, want)
		}
	}
	none := history.Past{Span: history.Span{To: minute(60)}}
	if l := asked(&none, &sources.Row{}).Lane(); len(l.Dark) > 0 || !l.Since.Equal(minute(60)) {
		t.Errorf("of what was never recorded it is dark %s since %v", darkness(l.Dark), l.Since)
	}
}

// asked is the query for a row that memory knows since minute 60.
func asked(p *history.Past, row *sources.Row, dark ...sources.Dark) history.Query {
	if row.Primitive == nil {
		row.Primitive = &sources.Primitive{Ref: sources.Ref{Name: "a"}}
	}
	return history.Query{State: &sources.State{At: minute(90), Scopes: []sources.Scope{{Since: minute(60), Dark: dark}}}, Row: row, Past: p, Reads: true}
}

func TestLevelsOfARecordingEndWhereThoseOfMemoryBegin(t *testing.T) {
	t.Parallel()
	level := func(n int, taken uint64) sources.Level {
		return sources.Level{At: minute(n), Taken: taken}
	}
	p := history.Past{Lane: history.Lane{Levels: []sources.Level{level(10, 1), level(20, 2), level(70, 9)}}}
	q := asked(&p, &sources.Row{Counted: &sources.Counted{Past: []sources.Level{level(60, 3)}, Last: level(80, 4)}})
	var taken []uint64
	for l := range q.Levels() {
		taken = append(taken, l.Taken)
	}
	if !slices.Equal(taken, []uint64{1, 2, 3, 4}) {
		t.Errorf("taken %v", taken)
	}
	for range q.Levels() {
		break // no more is yielded
	}
}

func TestWhatWasOverBeforeAnInstantIsForgotten(t *testing.T) {
	t.Parallel()
	term := func(from, to int) sources.Term {
		return sources.Term{Owner: sources.OwnerRef{ID: "a"}, Start: sources.Stamp{At: minute(from)}, End: sources.Stamp{At: minute(to)}}
	}
	holes := []history.Hole{{Dark: dark(1, 2)}, {Dark: dark(8, 12)}, {Dark: sources.Dark{From: minute(20)}}}
	p := history.Past{Span: history.Span{From: minute(0), To: minute(30)}, Lane: history.Lane{
		Terms: []sources.Term{term(1, 2), term(3, 5), term(9, 12)}, Dark: []sources.Dark{dark(1, 2), dark(8, 12)}, Holes: holes,
		Levels: []sources.Level{{At: minute(1)}, {At: minute(5)}, {At: minute(11)}},
	}}
	p.Forget(minute(10))
	if got := drawn(p.Terms); got != "a0 3..5, a0 9..12" || darkness(p.Dark) != "8..12" || len(p.Levels) != 2 || len(p.Holes) != 2 || !p.Holes[0].From.Equal(minute(8)) {
		t.Errorf("terms %s, dark %s, levels %v, holes %v", got, darkness(p.Dark), p.Levels, p.Holes)
	}
}
