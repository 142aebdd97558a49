package ui

import (
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// intent is what a person wants: the name under which keys, help and scripts know it.
type intent string

const (
	doUp       intent = "up"
	doDown     intent = "down"
	doHalfUp   intent = "half-page-up"
	doHalfDown intent = "half-page-down"
	doPageUp   intent = "page-up"
	doPageDown intent = "page-down"
	doTop      intent = "top"
	doBottom   intent = "bottom"
	doOpen     intent = "open"
	doPane     intent = "next-pane"
	doBack     intent = "back"
	doFilter   intent = "filter"
	doClear    intent = "clear-filter"
	doKeep     intent = "keep-filter"
	doComplete intent = "complete"
	doProblems intent = "only-problems"
	doSort     intent = "sort"
	doKind     intent = "kind"
	doLocks    intent = "locks"
	doEvents   intent = "events"
	doSources  intent = "sources"
	doPause    intent = "pause"
	doRefresh  intent = "read-again"
	doHelp     intent = "help"
	doRedraw   intent = "redraw"
	doSuspend  intent = "suspend"
	doQuit     intent = "quit"
)

// scope is where a key works.
type scope uint8

const (
	inList scope = 1 << iota
	inDetail
	inHelp
	inInput // while text is typed: what is no key here is text
	inEvents
	inSources
	inViews = inList | inDetail | inHelp | inEvents | inSources
	inAll   = inViews | inInput
)

// binding joins an intent to its keys and its words.
type binding struct {
	intent intent
	scope  scope
	keys   []string
	hint   string // for the footer, in the order of the table; "": not there
	help   string
}

// bindings is the one table of keys: input, footer and help are read from it.
//
// Not bound, and not to be bound: keys that terminals and multiplexers take for
// themselves (ctrl+a b h i j k m q s space), alt combinations, and in the views the
// plain capitals A B C D H F P Q R S: over a slow link an arrow key arrives in parts
// that end in one of them.
func bindings() []binding {
	return []binding{
		{doHelp, inViews, []string{"?"}, "help", "show or leave this help"},
		{doFilter, inList | inEvents, []string{"/"}, "filter", "rows with words, !words, kind=mutex, wait>30s, or ..."},
		{doKeep, inInput, []string{"enter"}, "keep", "keep the filter and go back to the list"},
		{doComplete, inInput, []string{"tab"}, "complete", "complete the field or the value; again: the next one"},
		{doClear, inInput | inList | inEvents, []string{"esc"}, "", "clear the filter; show all rows again"},
		{doLocks, inViews, []string{"2"}, "", "Locks: every primitive"},
		{doEvents, inViews, []string{"5"}, "", "Events: what happened, newest first"},
		{doSources, inViews, []string{"o"}, "", "Sources: how each is read, and how well"},
		{doOpen, inList | inEvents, []string{"enter"}, "open", "all there is to know about the row"},
		{doProblems, inList, []string{"!"}, "problems", "only problems, or all rows"},
		{doKind, inList | inEvents, []string{"K"}, "kind", "all kinds, only elections, mutexes or semaphores"},
		{doSort, inList, []string{"s"}, "sort", "next order: problems first, by name, most changes first"},
		{doPane, inList, []string{"tab"}, "pane", "on a small screen: details or events below the list"},
		{doPause, inList | inDetail | inEvents | inSources, []string{"p"}, "pause", "hold the picture; data is still read"},
		{doRefresh, inList | inDetail | inSources, []string{"r"}, "read again", "ask every source to look again now"},
		{doBack, inDetail | inHelp | inSources, []string{"esc", "q"}, "back", "back to where this was opened"},
		{doBack, inEvents, []string{"q"}, "back", "back to the list"},
		{doUp, inViews, []string{"k", "up"}, "", "one line up"},
		{doDown, inViews, []string{"j", "down"}, "", "one line down"},
		{doHalfUp, inViews, []string{"ctrl+u"}, "", "half a page up"},
		{doHalfDown, inViews, []string{"ctrl+d"}, "", "half a page down"},
		{doPageUp, inViews, []string{"pgup"}, "", "a page up"},
		{doPageDown, inViews, []string{"pgdown"}, "", "a page down"},
		{doTop, inViews, []string{"g", "home"}, "", "to the top"},
		{doBottom, inViews, []string{"G", "end"}, "", "to the end"},
		{doRedraw, inAll, []string{"ctrl+l"}, "", "draw the screen anew"},
		{doSuspend, inAll, []string{"ctrl+z"}, "", "suspend; fg comes back"},
		{doQuit, inAll, []string{"ctrl+c"}, "", "quit"},
		{doQuit, inList, []string{"q"}, "quit", "quit"},
	}
}

// keymap finds intents by scope and key.
type keymap map[scope]map[string]intent

func newKeymap(table []binding) keymap {
	m := keymap{}
	for _, s := range []scope{inList, inDetail, inHelp, inInput, inEvents, inSources} {
		m[s] = map[string]intent{}
		for _, a := range table {
			if a.scope&s == 0 {
				continue
			}
			for _, k := range a.keys {
				m[s][k] = a.intent
			}
		}
	}
	return m
}

// keyName is the name of a key in the table. Where the terminal says which key was
// pressed on a layout that is not Latin, that key counts.
func keyName(k tea.KeyPressMsg) string {
	r, n := utf8.DecodeRuneInString(k.Text)
	if n == len(k.Text) && r >= utf8.RuneSelf && k.BaseCode > ' ' && k.BaseCode < utf8.RuneSelf {
		if k.Mod.Contains(tea.ModShift) {
			return string(unicode.ToUpper(k.BaseCode))
		}
		return string(k.BaseCode)
	}
	return k.String()
}
