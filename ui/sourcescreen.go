package ui

import (
	"strings"
	"time"

	"coordtop/internal/format"
	"coordtop/sources"
)

// sourceScreen is how each source is read and how well: a table to compare them, then
// each in full.
func (m *model) sourceScreen(w int) []string {
	gap := m.th.line(w).done()
	head := m.th.line(w).skip(1).put(m.th.heading, "SOURCES").skip(1).put(m.th.dim, "how each is read, and how far it can be believed")
	lines := []string{m.th.line(w).rule().done(), head.done()}
	if len(m.st.Sources) == 0 {
		return append(lines, gap, m.th.line(w).skip(3).put("", "no source has started yet").done())
	}
	lines = append(append(lines, gap), m.sourceTable(w)...)
	for i := range m.st.Sources {
		lines = append(append(lines, gap), m.sourceInFull(&m.st.Sources[i], w)...)
	}
	return append(lines, gap)
}

// sourceTable has a line for each scope.
func (m *model) sourceTable(w int) []string {
	g := grid{
		heads: []string{"", "NAME", "TYPE", "HEALTH", "MODE", "LOOKS", "ANSWERED", "ROUND TRIP", "VERSION", "ROLE", "ROWS", "ADDRESS"},
		right: []bool{5: true, 6: true, 7: true, 10: true},
		leave: []int{11, 9, 2, 8, 7, 5},
	}
	for i := range m.st.Sources {
		s := &m.st.Sources[i]
		h, scopes := m.sourceHealth(s), m.scopesOf(s)
		first := []part{{h.st, h.mark}, {"", h.name}, {m.th.dim, clean(s.Type)}}
		last := []part{{"", format.Count(s.Rows)}, {m.th.dim, clean(s.Address)}}
		if len(scopes) == 0 {
			g.add(append(append(first, part{h.st, h.text}, part{}, part{}, part{}, part{}, part{}, part{}), last...)...)
		}
		for j, c := range scopes {
			if j > 0 {
				first, last = []part{{}, {}, {}}, []part{{}, {}}
			}
			if c.Name != "" {
				first[1].text = strings.TrimSpace(first[1].text + " " + clean(c.Name))
			}
			g.add(append(append(append([]part{}, first...), m.scopeCells(c)...), last...)...)
		}
	}
	return g.lines(&m.th, w, 1)
}

// scopeCells are health, mode, pause between looks, age of the last answer, round trip,
// version and role.
func (m *model) scopeCells(c *sources.Scope) []part {
	st := m.th.good
	if c.Health == sources.HealthStale {
		st = m.silentStyle(c)
	}
	answered, trip := "never", "?"
	if !c.Alive.IsZero() {
		answered = m.ago(c)
	}
	if c.About.RoundTrip > 0 {
		trip = format.Precise(c.About.RoundTrip)
	}
	return []part{{st, healthText(c)}, {"", clean(c.About.Mode)}, {"", looks(&c.About)}, {"", answered}, {"", trip},
		{m.th.dim, clean(c.About.Version)}, {m.th.dim, clean(c.About.Role)}}
}

// ago writes how long ago an answer came. Sources prove that they live about once a second:
// a number that goes on counting would say no more.
func (m *model) ago(c *sources.Scope) string {
	switch d := m.now.Sub(c.Alive); {
	case c.Health == sources.HealthStale:
		return m.silence(c.Alive) + " ago"
	case d >= 2*time.Second:
		return format.Age(d) + " ago"
	}
	return "just now"
}

// silentStyle is the style of a scope that is stale.
func (m *model) silentStyle(c *sources.Scope) style {
	var h sign
	m.silent(&h, c.Alive)
	return h.st
}

// healthText is the health of a scope in a word.
func healthText(c *sources.Scope) string {
	if c.Health == sources.HealthLive && !c.Synced {
		return "reading"
	}
	if c.Health == sources.HealthStale {
		return "STALE"
	}
	return c.Health.String()
}

// looks says how often a scope is looked at.
func looks(a *sources.About) string {
	if a.Sampling > 0 {
		return "every " + shortDuration(a.Sampling)
	}
	return "pushed"
}

func (m *model) scopesOf(s *sources.SourceStatus) []*sources.Scope {
	var scopes []*sources.Scope
	for i := range m.st.Scopes {
		if c := &m.st.Scopes[i]; c.Source == s.Name {
			scopes = append(scopes, c)
		}
	}
	return scopes
}

// factSheet is facts with their names, one under another.
type factSheet struct {
	m     *model
	w     int
	label int // cells for the names, with the gap behind them
	lines []string
}

// sourceInFull is a source with nothing cut: errors, warnings, facts.
func (m *model) sourceInFull(s *sources.SourceStatus, w int) []string {
	h, scopes := m.sourceHealth(s), m.scopesOf(s)
	l := m.th.line(w).skip(1).put(h.st, h.mark).skip(1).put(m.th.strong, h.name).skip(2)
	l.put(m.th.dim, strings.Join(dropEmpty(clean(s.Type), clean(s.Address)), " "+m.th.dot+" "))
	l.skip(2).put("", count(s.Rows, "primitive"))
	f := factSheet{m: m, w: w, label: labelRoom(scopes, w), lines: []string{l.done()}}
	if h.loud {
		f.say(h.st, h.text, why(s))
	}
	if retry := m.retry(s); retry != "" {
		f.say(m.th.dim, "", retry)
	}
	for _, c := range scopes {
		if c.Name != "" {
			f.say(m.th.dim, "scope", clean(c.Name))
		}
		f.scope(c)
	}
	return f.lines
}

// scope says how a scope is read, and how well.
func (f *factSheet) scope(c *sources.Scope) {
	m := f.m
	how := clean(c.About.Mode) + ", " + looks(&c.About)
	if c.About.Sampling > 0 {
		how += ": what changes between two looks is dated to within that"
	}
	if c.Silence > 0 {
		how += "; stale after " + format.Precise(c.Silence) + " without an answer"
	}
	f.say("", "read", how)
	if c.About.RoundTrip > 0 || !c.Alive.IsZero() {
		answer := "last answer " + m.ago(c)
		if c.About.RoundTrip > 0 {
			answer += ", a round trip of " + format.Precise(c.About.RoundTrip)
		}
		f.say("", "answers", answer)
	}
	if server := strings.Join(dropEmpty(clean(c.About.Version), clean(c.About.Role), clean(c.About.Incarnation)), ", "); server != "" {
		f.say("", "server", server)
	}
	if dark := m.darkText(c); dark != "" {
		f.say(m.th.warn, "dark", dark)
	}
	for _, text := range c.About.Warnings {
		f.say(m.th.warn, "warning", clean(text))
	}
	for _, a := range c.About.Config {
		f.say(m.th.dim, clean(a.Key), clean(a.Value))
	}
}

// darkText sums up when a scope was not observed.
func (m *model) darkText(c *sources.Scope) string {
	if len(c.Dark) == 0 {
		return ""
	}
	var sum time.Duration
	for _, d := range c.Dark {
		to := d.To
		if to.IsZero() {
			to = m.now
		}
		sum += to.Sub(d.From)
	}
	if sum < 100*time.Millisecond {
		return ""
	}
	last := c.Dark[len(c.Dark)-1]
	text := "not observed " + count(len(c.Dark), "time") + ", " + format.Precise(sum) + " in all, the last from " + m.timeOfDay(last.From)
	if last.To.IsZero() {
		return text + " on"
	}
	return text + " to " + m.timeOfDay(last.To)
}

// leastLabel is how many cells the names of facts take at least, and labelGap what stays
// empty behind them.
const (
	leastLabel = 16
	labelGap   = 2
)

// labelRoom is how many cells the names of the scopes' facts need, up to a third of w.
func labelRoom(scopes []*sources.Scope, w int) int {
	longest := leastLabel
	for _, c := range scopes {
		for _, a := range c.About.Config {
			longest = max(longest, format.Width(clean(a.Key)))
		}
	}
	return max(min(longest, w/3), leastLabel) + labelGap
}

// say adds a fact with its name, over as many lines as it needs.
func (f *factSheet) say(st style, name, text string) {
	for _, piece := range wrapWords(text, f.w-f.label-5) {
		l := f.m.th.line(f.w).skip(4).cell(f.m.th.dim, name, f.label-labelGap).skip(labelGap)
		f.lines = append(f.lines, l.put(st, piece).done())
		name = ""
	}
}

// wrapWords cuts clean text at blanks into pieces of at most w cells; a word that is
// longer is cut anywhere.
func wrapWords(s string, w int) []string {
	w = max(w, 8)
	var lines []string
	line, x := "", 0
	for _, word := range strings.Fields(s) {
		n := format.Width(word)
		if x > 0 && x+1+n <= w {
			line, x = line+" "+word, x+1+n
			continue
		}
		if x > 0 {
			lines = append(lines, line)
		}
		pieces := wrap(word, w)
		lines = append(lines, pieces[:len(pieces)-1]...)
		line = pieces[len(pieces)-1]
		x = format.Width(line)
	}
	if x > 0 || len(lines) == 0 {
		lines = append(lines, line)
	}
	return lines
}
