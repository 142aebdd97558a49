package screen

import (
	"slices"
	"strings"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// sourceScreen draws how each source is read and how well: a table of all, then all facts about each.
func sourceScreen(sc *Scene, w int) []string {
	gap := sc.Theme.Line(w).Done()
	head := sc.Theme.Line(w).Skip(1).Put(sc.Theme.Heading, "SOURCES").Skip(1).Put(sc.Theme.Dim, "how each is read, and how far it can be believed")
	lines := []string{sc.Theme.Line(w).Rule().Done(), head.Done()}
	for _, text := range append(paint.Wrap(paint.Clean(sc.Recording), w-6), paint.Wrap(paint.Clean(sc.Undelivered), w-6)...) {
		lines = append(lines, sc.Theme.Line(w).Skip(3).Put(sc.Theme.Warn, text).Done())
	}
	if len(sc.State.Sources) == 0 {
		return append(lines, gap, sc.Theme.Line(w).Skip(3).Put("", "no source has started yet").Done())
	}
	lines = append(append(lines, gap), sourceTable(sc, w)...)
	for i := range sc.State.Sources {
		lines = append(append(lines, gap), sourceInFull(sc, &sc.State.Sources[i], w)...)
	}
	return append(lines, gap)
}

// sourceTable has a line for each scope.
func sourceTable(sc *Scene, w int) []string {
	g := paint.Grid{
		Heads: []string{"", "NAME", "TYPE", "HEALTH", "MODE", "LOOKS", "ANSWERED", "ROUND TRIP", "VERSION", "ROLE", "ROWS", "ADDRESS"},
		Right: []bool{5: true, 6: true, 7: true, 10: true},
		Leave: []int{11, 9, 2, 8, 7, 5},
	}
	for i := range sc.State.Sources {
		s := &sc.State.Sources[i]
		h, scopes := sourceHealth(sc, s), scopesOf(sc, s)
		first := []paint.Part{h.st.Text(h.mark), paint.Plain(h.name), sc.Theme.Dim.Text(paint.Clean(s.Type))}
		last := []paint.Part{paint.Plain(format.Count(s.Rows)), sc.Theme.Dim.Text(paint.Clean(s.Address))}
		if len(scopes) == 0 {
			g.Add(slices.Concat(first, []paint.Part{h.st.Text(h.text)}, make([]paint.Part, 6), last)...)
		}
		for _, c := range scopes {
			first[1].Text = strings.TrimSpace(first[1].Text + " " + paint.Clean(c.Name))
			g.Add(slices.Concat(first, scopeCells(sc, c), last)...)
			first, last = make([]paint.Part, 3), make([]paint.Part, 2)
		}
	}
	return g.Lines(&sc.Theme, w, 1)
}

// scopeCells returns health, mode, interval of looks, age of the last answer, round trip, version and
// role.
func scopeCells(sc *Scene, c *sources.Scope) []paint.Part {
	st := sc.Theme.Good
	if c.Health == sources.HealthStale {
		var h sign
		markSilent(sc, &h, c.Alive)
		st = h.st
	}
	answered, trip := "never", "?"
	if !c.Alive.IsZero() {
		answered = answeredAgo(sc, c)
	}
	if c.About.RoundTrip > 0 {
		trip = format.Precise(c.About.RoundTrip)
	}
	return []paint.Part{st.Text(healthText(c)), paint.Plain(paint.Clean(c.About.Mode)), paint.Plain(looks(&c.About)),
		paint.Plain(answered), paint.Plain(trip),
		sc.Theme.Dim.Text(paint.Clean(c.About.Version)), sc.Theme.Dim.Text(paint.Clean(c.About.Role))}
}

// answeredAgo writes the age of the last answer. Healthy sources answer about once a second, so that a
// counter of seconds would not tell more than "just now".
func answeredAgo(sc *Scene, c *sources.Scope) string {
	switch d := sc.Now.Sub(c.Alive); {
	case c.Health == sources.HealthStale:
		return silenceText(sc, c.Alive) + " ago"
	case d >= 2*time.Second:
		return format.Age(d) + " ago"
	}
	return "just now"
}

// healthText returns the health of a scope in a word.
func healthText(c *sources.Scope) string {
	switch {
	case c.Health == sources.HealthLive && (!c.Synced || c.About.Partial == sources.Reading):
		return "reading"
	case c.Health == sources.HealthStale:
		return "STALE"
	}
	return c.Health.String()
}

// looks describes how often a scope is looked at.
func looks(a *sources.About) string {
	if a.Sampling > 0 {
		return "every " + paint.ShortDuration(a.Sampling)
	}
	return "pushed"
}

func scopesOf(sc *Scene, s *sources.SourceStatus) []*sources.Scope {
	var scopes []*sources.Scope
	for i := range sc.State.Scopes {
		if c := &sc.State.Scopes[i]; c.Source == s.Name {
			scopes = append(scopes, c)
		}
	}
	return scopes
}

// factSheet draws facts with their names, one below another.
type factSheet struct {
	sc    *Scene
	w     int
	label int // width of the names, with the gap behind them
	lines []string
}

// sourceInFull draws all facts about a source, with its error and its warnings.
func sourceInFull(sc *Scene, s *sources.SourceStatus, w int) []string {
	h, scopes := sourceHealth(sc, s), scopesOf(sc, s)
	l := sc.Theme.Line(w).Skip(1).Put(h.st, h.mark).Skip(1).Put(sc.Theme.Strong, h.name).Skip(2)
	l.Put(sc.Theme.Dim, strings.Join(paint.DropEmpty(paint.Clean(s.Type), paint.Clean(s.Address)), " "+sc.Theme.Dot+" "))
	l.Skip(2).Put("", paint.Count(s.Rows, "primitive"))
	var config []sources.Attr
	for _, c := range scopes {
		config = append(config, c.About.Config...)
	}
	f := factSheet{sc: sc, w: w, label: labelRoom(config, leastLabel, w), lines: []string{l.Done()}}
	if h.loud {
		f.say(h.st, h.text, why(s))
	}
	f.say(sc.Theme.Dim, "", retryText(sc, s))
	for _, c := range scopes {
		f.say(sc.Theme.Dim, "scope", paint.Clean(c.Name))
		f.scope(c)
	}
	return f.lines
}

// scope adds how a scope is read, and how well.
func (f *factSheet) scope(c *sources.Scope) {
	sc := f.sc
	f.say("", "read", paint.Clean(c.About.Mode)+", "+looks(&c.About)+
		paint.When(c.About.Sampling > 0, ": what changes between two looks is dated to within that")+
		paint.When(c.Silence > 0, "; stale after "+format.Precise(c.Silence)+" without an answer"))
	if trip := c.About.RoundTrip; trip > 0 || !c.Alive.IsZero() {
		roundTrip := paint.When(trip > 0, ", a round trip of "+format.Precise(trip))
		f.say("", "answers", "last answer "+answeredAgo(sc, c)+roundTrip)
	}
	server := paint.DropEmpty(paint.Clean(c.About.Version), paint.Clean(c.About.Role), paint.Clean(c.About.Incarnation))
	f.say("", "server", strings.Join(server, ", "))
	f.say(sc.Theme.Warn, "dark", darkText(sc, c))
	for _, text := range c.About.Warnings {
		f.say(sc.Theme.Warn, "warning", paint.Clean(text))
	}
	for _, a := range c.About.Config {
		f.say(sc.Theme.Dim, paint.Clean(a.Key), paint.Clean(a.Value))
	}
}

// darkText sums up the stretches in which a scope was not observed.
func darkText(sc *Scene, c *sources.Scope) string {
	if len(c.Dark) == 0 {
		return ""
	}
	var sum time.Duration
	for _, d := range c.Dark {
		to := d.To
		if to.IsZero() {
			to = sc.Now
		}
		sum += to.Sub(d.From)
	}
	if sum < 100*time.Millisecond {
		return ""
	}
	last := c.Dark[len(c.Dark)-1]
	text := "not observed " + paint.Count(len(c.Dark), "time") + ", " + format.Precise(sum) + " in all, the last from " + paint.TimeOfDay(last.From, sc.Now)
	if last.To.IsZero() {
		return text + " on"
	}
	return text + " to " + paint.TimeOfDay(last.To, sc.Now)
}

// The least width of the names of facts, and of the gap behind them.
const (
	leastLabel = 16
	labelGap   = 2
)

// labelRoom returns the width for the names of facts with the gap: at least least, at most a third of w.
func labelRoom(attrs []sources.Attr, least, w int) int {
	longest := least
	for _, a := range attrs {
		longest = max(longest, format.Width(paint.Clean(a.Key)))
	}
	return max(min(longest, w/3), least) + labelGap
}

// say adds a fact with its name, over as many lines as it needs: none if text is "".
func (f *factSheet) say(st paint.Style, name, text string) {
	for _, piece := range paint.Wrap(text, f.w-f.label-5) {
		l := f.sc.Theme.Line(f.w).Skip(4).Cell(f.sc.Theme.Dim, name, f.label-labelGap).Skip(labelGap)
		f.lines = append(f.lines, l.Put(st, piece).Done())
		name = ""
	}
}

// ReadOnlyText is shown if there is no operator.
const ReadOnlyText = "read-only: this board can change nothing"

// capsScreen draws the possible actions for each source, and which of them count as writes.
func capsScreen(sc *Scene, w int) []string {
	th := &sc.Theme
	gap := th.Line(w).Done()
	head := th.Line(w).Skip(1).Put(th.Heading, "CAPS").Skip(1).Put(th.Dim, "what can be done here, and what counts as a write")
	lines := []string{th.Line(w).Rule().Done(), head.Done(), gap}
	if !sc.Acts {
		return append(lines, th.Line(w).Skip(3).Put("", ReadOnlyText).Done(), gap)
	}
	f := factSheet{sc: sc, w: w, label: leastLabel + labelGap, lines: lines}
	f.title("WRITES", "sent only while writing is possible ("+sc.Keys.KeyOf(keys.Arm)+"), each with a line in the audit before and after")
	able := sc.Abilities()
	for _, d := range action.Verbs() {
		if known(able, d.Verb) {
			f.say("", d.Verb.String(), d.Changes)
		}
	}
	f.lines = append(f.lines, gap)
	f.title("NO WRITES", "possible at any time")
	f.say("", "look", "filter, order, mark, read again: servers are asked, and nothing there is changed")
	f.say("", "copy, export", "the terminal's clipboard, a file here")
	f.say("", "leave, call off", "leave a queue, call off what is under way, end coordtop: what is ours, or was to be, is given back")
	for i := range able {
		f.lines = append(f.lines, gap)
		f.ability(&able[i])
	}
	for i := range sc.State.Sources {
		if s := &sc.State.Sources[i]; !acted(able, s) {
			f.lines = append(f.lines, gap)
			f.title(paint.Clean(s.Name), paint.Clean(s.Type))
			f.say("", "can", "nothing: this program has no way to write to it")
		}
	}
	return append(f.lines, gap)
}

// title adds the first line of a section.
func (f *factSheet) title(name, text string) {
	f.lines = append(f.lines, f.sc.Theme.Line(f.w).Skip(1).Put(f.sc.Theme.Strong, name).Skip(2).Put(f.sc.Theme.Dim, text).Done())
}

// ability adds the section of one source: the verbs that are possible, and the others with the reasons.
func (f *factSheet) ability(a *action.Ability) {
	guard := ", protected: its name is typed to arm it, and each action needs a reason"
	f.title(paint.Clean(a.Source), paint.Clean(a.Type)+paint.When(a.Protect, guard))
	var can []string
	why := map[string][]string{}
	var order []string
	for _, c := range a.Choices {
		if c.Not == "" {
			can = append(can, c.Verb.String())
			continue
		}
		if why[c.Not] == nil {
			order = append(order, c.Not)
		}
		why[c.Not] = append(why[c.Not], c.Verb.String())
	}
	f.say("", "can", strings.Join(can, ", "))
	for _, not := range order {
		f.say(f.sc.Theme.Dim, "cannot", strings.Join(why[not], ", ")+": "+paint.Clean(not))
	}
	name := "how"
	for _, text := range a.Lines {
		f.say(f.sc.Theme.Dim, name, paint.Clean(text))
		name = ""
	}
}

// known reports whether any source has a verb.
func known(able []action.Ability, v action.Verb) bool {
	return slices.ContainsFunc(able, func(a action.Ability) bool {
		return slices.ContainsFunc(a.Choices, func(c action.Choice) bool { return c.Verb == v })
	})
}

// acted reports whether the operator has abilities for a source.
func acted(able []action.Ability, s *sources.SourceStatus) bool {
	return slices.ContainsFunc(able, func(a action.Ability) bool { return a.Source == s.Name })
}
