package screen

import (
	"strings"

	"coordtop/internal/ground/format"
	"coordtop/sources/verdict"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// NoTitle is the title if the environment has no name.
const NoTitle = "coordtop"

// WindowTitle returns the environment and how many problems need a person, "2! prod-eu", for people who
// work in another window.
func WindowTitle(sc *Scene) string {
	name := "coordtop"
	if sc.Title != NoTitle {
		name += " " + sc.Title
	}
	switch n := needPerson(sc); {
	case sc.Replay != nil:
		return name + ": replay of " + sc.Now.Format("15:04")
	case n > 0:
		return format.Count(n) + "! " + sc.Title
	}
	return name + ": " + problemsText(sc, fullWidth)
}

// needPerson counts the rows and sources with a problem that needs a person.
func needPerson(sc *Scene) int {
	n := sc.Rows.BySeverity[verdict.Bad]
	for i := range sc.State.Sources {
		if h := sourceHealth(sc, &sc.State.Sources[i]); h.loud && h.sev == verdict.Bad {
			n++
		}
	}
	return n
}

// Draw returns a Frame of the layout's size; without lines if the size is not known yet.
func Draw(sc *Scene) Frame {
	l, f := sc.Layout, Frame{Scroll: sc.Scroll, HelpAt: sc.HelpAt}
	if l.Width == 0 || l.Height == 0 {
		return f
	}
	if sc.Replay != nil && sc.Replay.InHole() && sc.Shown != Trouble {
		faded := *sc
		faded.Theme.Over = sc.Theme.Dim
		sc = &faded
	}
	f.Lines = make([]string, 0, l.Height)
	f.Lines = append(f.Lines, drawHeader(sc, l.Width, l.Header)...)
	part := viewTable()[sc.Shown].draw(sc)
	f.Lines, f.Scroll, f.HelpAt = append(f.Lines, part.Lines...), part.Scroll, part.HelpAt
	foot := drawFooter(sc, l.Width)
	foot = foot[max(len(foot)-l.Height, 0):]
	f.Lines = append(sc.Theme.Box(f.Lines, l.Width, l.Height-len(foot)), foot...)
	return f
}

// fixed returns the frame of a screen that does not scroll.
func fixed(sc *Scene, lines []string) Frame { return Frame{lines, sc.Scroll, sc.HelpAt} }

// scrolling draws a screen from the scroll position on. The last line counts the lines below it.
func scrolling(draw func(sc *Scene, w int) []string) func(*Scene) Frame {
	return func(sc *Scene) Frame {
		lines, h := draw(sc, sc.Layout.Width), sc.Layout.Body()
		f := fixed(sc, nil)
		f.Scroll = max(min(f.Scroll, len(lines)-h), 0)
		f.Lines = sc.Theme.Box(lines[min(f.Scroll, len(lines)):], sc.Layout.Width, h)
		if below := len(lines) - f.Scroll - h; below > 0 && h > 1 {
			more := paint.Count(below+1, "more line") + ": " + sc.Keys.KeyIn(sc.KeyContext, keys.Down)
			f.Lines[h-1] = sc.Theme.Line(sc.Layout.Width).Skip(2).Put(sc.Theme.Dim, more).Done()
		}
		return f
	}
}

// locksScreen draws the troubles of sources, the list, and the panes.
func locksScreen(sc *Scene) Frame {
	l := sc.Layout
	lines := sourceTroubleLines(sc, l.Width, l.Trouble)
	if l.rules > 0 {
		lines = append(lines, sc.Theme.Line(l.Width).Rule().Done())
	}
	lines = append(lines, drawLocks(sc, l.Width, l.List)...)
	if l.rules > 0 {
		rule := sc.Theme.Line(l.Width)
		if l.Split > 0 {
			rule.Put(sc.Theme.Dim, strings.Repeat(sc.Theme.Glyphs.Rule, l.Split)).Put(sc.Theme.Dim, sc.Theme.Tee)
		}
		more := moreRows(sc)
		end := l.Width - paint.PartsWidth(more)
		rule.Put(sc.Theme.Dim, strings.Repeat(sc.Theme.Glyphs.Rule, max(end-rule.X, 0)))
		lines = append(lines, rule.Parts(more...).Done())
	}
	return fixed(sc, append(lines, drawLower(sc, l)...))
}

// moreRows counts on the rule below the list the rows that have no room in it, and their problems.
func moreRows(sc *Scene) []paint.Part {
	hidden := len(sc.Rows.Handles) - len(sc.Locks.Visible())
	if hidden <= 0 {
		return nil
	}
	count := sc.Rows.ListedProblems()
	for _, at := range sc.Locks.Visible() {
		if row, v := sc.Rows.At(at); row != nil && v.Problem() && sc.Muted.Rows[row.Ref] == nil {
			count[v.Known]--
		}
	}
	return append(moreParts(sc, hidden, count), sc.Theme.Dim.Text(" "+strings.Repeat(sc.Theme.Glyphs.Rule, 2)))
}

// moreParts counts what has no room above a rule, and its problems: "5 more, 1 !".
func moreParts(sc *Scene, hidden int, problems [verdict.Warn + 1]int) []paint.Part {
	parts := []paint.Part{sc.Theme.Dim.Text(" " + format.Count(hidden) + " more")}
	for sev, n := range problems {
		if n > 0 {
			st := sc.Theme.Severity(verdict.Severity(sev))
			parts = append(parts, sc.Theme.Dim.Text(", "), st.Text(format.Count(n)+" "+sc.Theme.Marks[sev]))
		}
	}
	return parts
}

// drawLower draws the pane or the two panes below the list, and above them why the row under the cursor has a
// problem.
func drawLower(sc *Scene, l Layout) []string {
	why := whyLines(sc, l.Width, min(whyMost, l.lower-2))
	l.lower -= len(why)
	if l.Stacked > 0 {
		l.Stacked -= len(why)
	}
	return append(why, drawPanes(sc, l)...)
}

// drawPanes draws the panes below the list.
func drawPanes(sc *Scene, l Layout) []string {
	switch {
	case l.lower == 0:
		return nil
	case l.Split > 0:
		left, right := detailPane(sc, l.Split, l.lower), eventPane(sc, l.Width-l.Split-2, l.lower)
		lines := make([]string, l.lower)
		for i := range lines {
			lines[i] = left[i] + string(sc.Theme.Dim) + sc.Theme.Upright + paint.Reset + " " + right[i]
		}
		return lines
	case l.Stacked > 0:
		lines := detailPane(sc, l.Width, l.Stacked-1)
		lines = append(lines, sc.Theme.Line(l.Width).Done())
		return append(lines, paint.Indented(eventPane(sc, l.Width-1, l.lower-l.Stacked))...)
	case sc.Pane == EventPane:
		return paint.Indented(eventPane(sc, l.Width-1, l.lower))
	}
	return detailPane(sc, l.Width, l.lower)
}

// View is a screen: the part between header and footer.
type View uint8

const (
	Pulse View = iota
	Locks
	Timeline
	Owners
	Events
	Audit
	Sources
	Detail
	Party
	Caps
	Trouble
	Help
	viewCount
)

// viewEntry describes a view.
type viewEntry struct {
	name    string       // on its tab; "": it has none, and the way back leads to the view before
	opens   keys.Intent  // opens it; "": no intent alone does
	context keys.Context // of its keys
	help    string       // the title of its keys in the help; "": they are in another section
	draw    func(*Scene) Frame
}

// viewTable lists all views. Tabs are in the order of the table. The unused numbers among their keys
// are reserved for new screens, so that a key never changes its meaning.
func viewTable() [viewCount]viewEntry {
	return [...]viewEntry{
		Pulse:    {name: "Pulse", opens: keys.Pulse, context: keys.InPulse, help: "PULSE", draw: pulseScreen},
		Locks:    {name: "Locks", opens: keys.Locks, context: keys.InLocks, help: "LIST", draw: locksScreen},
		Timeline: {name: "Timeline", opens: keys.Timeline, context: keys.InTimeline, help: "TIMELINE", draw: timelineScreen},
		Owners:   {name: "Owners", opens: keys.Owners, context: keys.InOwners, help: "OWNERS", draw: ownersScreen},
		Events:   {name: "Events", opens: keys.Events, context: keys.InEvents, help: "EVENTS", draw: eventScreen},
		Audit:    {name: "Audit", opens: keys.Audit, context: keys.InAudit, help: "AUDIT", draw: auditScreen},
		Sources:  {name: "Sources", opens: keys.Sources, context: keys.InSources, help: "SOURCES", draw: scrolling(sourceScreen)},
		Detail:   {context: keys.InDetail, help: "ONE ROW", draw: scrolling(detailScreen)},
		Party:    {context: keys.InParty, help: "ONE OWNER", draw: scrolling(partyScreen)},
		Caps:     {opens: keys.Caps, context: keys.InCaps, help: "WHAT CAN BE DONE", draw: scrolling(capsScreen)},
		Trouble:  {opens: keys.Trouble, context: keys.InTrouble, help: "TROUBLE", draw: troubleScreen},
		Help:     {opens: keys.Help, context: keys.InHelp, draw: helpScreen},
	}
}

// KeyContext returns the context of a view's keys.
func (v View) KeyContext() keys.Context { return viewTable()[v].context }

// Filtered reports whether the filter applies to the log of a view.
func (v View) Filtered() bool { return v == Events || v == Audit }

// Listed reports whether a view shows the rows of the list.
func (v View) Listed() bool { return v == Locks || v == Timeline }

// Tab reports whether a view has a tab; only tabs lead away from it then.
func (v View) Tab() bool { return viewTable()[v].name != "" }

// Openers returns the intents that open a view.
func Openers() map[keys.Intent]View {
	all := map[keys.Intent]View{}
	for v, e := range viewTable() {
		if e.opens != "" {
			all[e.opens] = View(v)
		}
	}
	return all
}

// drawTabs writes the tabs, that of the shown screen underlined; a detail belongs to the screen from
// which it was opened. If the room is short, only the shown tab has a name; in less room the keys of
// the others are left out too.
func drawTabs(sc *Scene, l *paint.Line, room int) {
	shown := sc.Shown
	named, short := tabWidths()
	if len(sc.Trail) > 0 {
		shown = sc.Trail[0]
	}
	for v, e := range viewTable() {
		switch key := sc.Keys.KeyOf(e.opens); {
		case e.name == "":
		case View(v) == shown:
			l.Skip(1).Put(sc.Theme.Dim, key).Skip(1).Put(sc.Theme.Tab, e.name).Skip(1)
		case room >= short:
			l.Skip(1).Put(sc.Theme.Dim, key+paint.When(room >= named, " "+e.name)).Skip(1)
		}
	}
}

// tabWidths returns the width of the tabs if all of them have names, and if only one has.
func tabWidths() (named, short int) {
	short = len("Timeline")
	for _, e := range viewTable() {
		if e.name != "" {
			named += 4 + len(e.name)
			short += 3
		}
	}
	return named, short
}
