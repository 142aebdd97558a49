package screen

import (
	"coordtop/internal/ground/format"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// View is what fills the screen between header and footer.
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

// viewEntry is what there is to know of a view.
type viewEntry struct {
	name    string       // on its tab; "": it has none, and leads back to where it was opened
	opens   keys.Intent  // what goes there; "": nothing does alone
	context keys.Context // whose keys work
	help    string       // the title over its keys in the help; "": they stand elsewhere
	draw    func(*Scene) Frame
}

// viewTable lists all views. Tabs stand in the order of the table; the numbers between
// their keys are kept for screens to come, so that a key never changes its meaning.
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

// KeyContext is where the keys of a view work.
func (v View) KeyContext() keys.Context { return viewTable()[v].context }

// Filtered reports whether the filter holds for a log of a view.
func (v View) Filtered() bool { return v == Events || v == Audit }

// Listed reports whether a view shows the rows of the list.
func (v View) Listed() bool { return v == Locks || v == Timeline }

// Tab reports whether a view has a tab, and so no way back but the tabs.
func (v View) Tab() bool { return viewTable()[v].name != "" }

// Openers are the intents that go to a view.
func Openers() map[keys.Intent]View {
	all := map[keys.Intent]View{}
	for v, e := range viewTable() {
		if e.opens != "" {
			all[e.opens] = View(v)
		}
	}
	return all
}

// drawTabs writes the screens, the one that is shown underlined; a detail belongs to the
// screen from which it was opened. Where the room is short only that one is named, and in less
// room the keys of the others are left out, too.
func drawTabs(sc *Scene, l *paint.Line, room int) {
	shown := sc.Shown
	if len(sc.Trail) > 0 {
		shown = sc.Trail[0]
	}
	for v, e := range viewTable() {
		switch {
		case e.name == "":
		case View(v) == shown:
			l.Skip(1).Put(sc.Theme.Dim, sc.Keys.KeyOf(e.opens)).Skip(1).Put(sc.Theme.Tab, e.name).Skip(1)
		case room < keysWidth():
		case room < tabsWidth():
			l.Skip(1).Put(sc.Theme.Dim, sc.Keys.KeyOf(e.opens)).Skip(1)
		default:
			l.Skip(1).Put(sc.Theme.Dim, sc.Keys.KeyOf(e.opens)+" "+e.name).Skip(1)
		}
	}
}

// keysWidth is how many cells the tabs take where only one is named, and tabsWidth where all are.
func keysWidth() int { return widthOfTabs(func(string) int { return 3 }) + len("Timeline") }

func tabsWidth() int { return widthOfTabs(func(name string) int { return 4 + format.Width(name) }) }

func widthOfTabs(width func(name string) int) int {
	w := 0
	for _, e := range viewTable() {
		if e.name != "" {
			w += width(e.name)
		}
	}
	return w
}
