package screen

import (
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// View is a screen: the part between header and footer.
type View uint8

const (
	Locks View = iota
	Timeline
	Events
	Audit
	Sources
	Detail
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
		Locks:    {name: "Locks", opens: keys.Locks, context: keys.InLocks, help: "LIST", draw: locksScreen},
		Timeline: {name: "Timeline", opens: keys.Timeline, context: keys.InTimeline, help: "TIMELINE", draw: timelineScreen},
		Events:   {name: "Events", opens: keys.Events, context: keys.InEvents, help: "EVENTS", draw: eventScreen},
		Audit:    {name: "Audit", opens: keys.Audit, context: keys.InAudit, help: "AUDIT", draw: auditScreen},
		Sources:  {name: "Sources", opens: keys.Sources, context: keys.InSources, help: "SOURCES", draw: scrolling(sourceScreen)},
		Detail:   {context: keys.InDetail, help: "ONE ROW", draw: scrolling(detailScreen)},
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
