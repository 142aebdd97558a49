package ui

import (
	"coordtop/internal/format"

	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// entry is what there is to know of a view.
type entry struct {
	name  string      // on its tab; "": it has none, and leads back to where it was opened
	opens keys.Intent // what goes there; "": nothing does alone
	scope keys.Scope  // whose keys work
	draw  func(*scene) frame
}

// views are all that there are. Tabs stand in the order of the table; the numbers between
// their keys are kept for screens to come, so that a key never changes its meaning.
func views() [viewCount]entry {
	return [...]entry{
		viewList:    {name: "Locks", opens: keys.Locks, scope: keys.InList, draw: board},
		viewEvents:  {name: "Events", opens: keys.Events, scope: keys.InEvents, draw: eventScreen},
		viewSources: {name: "Sources", opens: keys.Sources, scope: keys.InSources, draw: scrolling(sourceScreen)},
		viewDetail:  {scope: keys.InDetail, draw: scrolling(detailScreen)},
		viewCaps:    {opens: keys.Caps, scope: keys.InCaps, draw: scrolling(capsScreen)},
		viewHelp:    {opens: keys.Help, scope: keys.InHelp, draw: helpScreen},
	}
}

// scope is where the keys of a view work.
func (v view) scope() keys.Scope { return views()[v].scope }

// viewOf is the view that an intent goes to, and whether it has a tab.
func viewOf(i keys.Intent) (v view, tab, ok bool) {
	for v, e := range views() {
		if e.opens == i && i != "" {
			return view(v), e.name != "", true
		}
	}
	return 0, false, false
}

// drawTabs writes the screens, the one that is shown underlined; a detail belongs to the
// screen from which it was opened. Where the room is short only that one is named.
func drawTabs(sc *scene, l *paint.Line, short bool) {
	shown := sc.view
	if len(sc.trail) > 0 {
		shown = sc.trail[0]
	}
	for v, e := range views() {
		switch {
		case e.name == "":
		case view(v) == shown:
			l.Skip(1).Put(sc.th.Dim, sc.table.KeyOf(e.opens)).Skip(1).Put(sc.th.Tab, e.name).Skip(1)
		case !short:
			l.Skip(1).Put(sc.th.Dim, sc.table.KeyOf(e.opens)+" "+e.name).Skip(1)
		}
	}
}

// tabsWidth is how many cells the tabs take.
func tabsWidth() int {
	w := 0
	for _, e := range views() {
		if e.name != "" {
			w += 4 + format.Width(e.name)
		}
	}
	return w
}
