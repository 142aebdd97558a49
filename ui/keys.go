package ui

import (
	"slices"
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
	doCaps     intent = "caps"
	doPause    intent = "pause"
	doRefresh  intent = "read-again"
	doHelp     intent = "help"
	doRedraw   intent = "redraw"
	doSuspend  intent = "suspend"
	doQuit     intent = "quit"
	doAbort    intent = "abort"

	doArm     intent = "write"
	doActions intent = "actions"
	doCrash   intent = "end-process"

	doChoose   intent = "choose"
	doAcquire  intent = "acquire"
	doTry      intent = "try"
	doCampaign intent = "campaign"
	doProclaim intent = "proclaim"
	doResign   intent = "resign"
	doCallOff  intent = "leave-queue"

	doCreate     intent = "create"
	doUpdate     intent = "update"
	doDelete     intent = "delete"
	doCreateNode intent = "create-node"

	doNextField     intent = "next-field"
	doPreviousField intent = "previous-field"
	doPress         intent = "press-button"
	doYes           intent = "yes"
	doNo            intent = "no"
	doCancel        intent = "cancel"
	doResignAll     intent = "resign-and-quit"
	doRunOut        intent = "let-run-out"
	doAnew          intent = "decide-anew"
)

// scope is where a key works.
type scope uint32

const (
	inList scope = 1 << iota
	inDetail
	inHelp
	inInput // while text is typed: what is no key here is text
	inEvents
	inSources
	inMenu     // of actions
	inBox      // of one action: what is no key here is text
	inChanged  // of one action whose target is another by now
	inQuestion // yes or no
	inLeave    // what is to become of what we hold
	inCommand  // while a command is typed
	inHelpText // while words for the help are typed
	inSort     // the menu of orders
	inCopy     // of what can be copied
	inExport   // of how rows can be exported
	inCaps     // what can be done at all
	inKeep     // whether to quit and leave the screen as text
	inBoards   = inList | inDetail | inEvents | inSources | inCaps
	inViews    = inBoards | inHelp // letters that are no keys in the help look for words
	inRow      = inList | inDetail
	inTexts    = inInput | inCommand | inHelpText
	inMenus    = inSort | inCopy | inExport | inKeep // of one key
	inDialogs  = inMenu | inBox | inChanged | inQuestion | inLeave
	inAll      = inViews | inTexts | inMenus | inDialogs
)

// binding joins an intent to its keys and its words.
type binding struct {
	intent intent
	scope  scope
	keys   []string // and commands, as ":sort COLUMN", which are typed after a :
	hint   string   // for the footer, in the order of the table; "": not there
	help   string
}

// bindings is the one table of keys, as they are where nobody has changed them: input,
// footer and help are read from it.
//
// Not bound, and not to be bound: keys that terminals and multiplexers take for
// themselves (ctrl+a b h i j k m q s space), alt combinations, and in the views the
// plain capitals A B C D H F P R S, nor Q for what acts at once: over a slow link an arrow
// key arrives in parts that end in one of them.
func bindings() []binding { return slices.Concat(boardBindings(), dialogBindings(), lineBindings()) }

func boardBindings() []binding {
	return []binding{
		{doHelp, inViews, []string{"?", ":help"}, "help", "show or leave this help"},
		{doFilter, inList | inEvents, []string{"/"}, "filter", "rows with words, !words, kind=mutex, wait>30s, or ..."},
		{doKeep, inInput, []string{"enter"}, "keep", "keep the filter and go back to the list"},
		{doComplete, inInput | inCommand, []string{"tab"}, "complete", "complete the field or the value; again: the next one"},
		{doClear, inInput | inList | inEvents, []string{"esc"}, "", "clear the filter; show all rows again"},
		{doLocks, inBoards, []string{"2", ":locks"}, "", "Locks: every primitive"},
		{doEvents, inBoards, []string{"5", ":events"}, "", "Events: what happened, newest first"},
		{doSources, inBoards, []string{"o", ":sources"}, "", "Sources: how each is read, and how well"},
		{doCaps, inSources, []string{"c"}, "caps", "what can be done with each source, and what counts as a write"},
		{doCaps, inCommand, []string{":caps"}, "", "what can be done with each source, and what counts as a write"},
		{doOpen, inList | inEvents, []string{"enter"}, "open", "all there is to know about the row"},
		{doProblems, inList, []string{"!"}, "problems", "only problems, or all rows"},
		{doKind, inList | inEvents, []string{"K"}, "kind", "all kinds, only elections, mutexes or semaphores"},
		{doSort, inList, []string{"s"}, "sort", "order the list: a menu of columns; the same again reverses"},
		{doPane, inList, []string{"tab", "shift+tab"}, "pane", "on a small screen: details or events below the list"},
		{doActions, inRow | inEvents, []string{"a"}, "actions", "what can be done to the row"},
		{doArm, inBoards | inMenu, []string{"W"}, "write", "arm writing for 5 minutes, or end it"},
		{doCrash, inRow, []string{"X"}, "", "in the demo: end the owner's process, to watch a failover"},
		{doPause, inBoards, []string{"p", ":pause"}, "pause", "hold the picture; data is still read"},
		{doRefresh, inList | inDetail | inSources, []string{"r", ":read"}, "read again", "ask every source to look again now"},
		{doBack, inDetail | inHelp | inSources | inCaps, []string{"esc", "q"}, "back", "back to where this was opened"},
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
		{doQuit, inAll, []string{"ctrl+c", ":q"}, "", "quit"},
		{doAbort, inAll, []string{"ctrl+\\"}, "", "quit at once, with the stacks of all goroutines"},
		{doKeepScreen, inBoards, []string{"Q"}, "", "quit and leave the screen as text; asks with one more key"},
		{doQuit, inList, []string{"q"}, "quit", "quit"},
	}
}

// dialogBindings are the keys of what stands over the board. Nothing but a letter of the
// menu or the button with the verb on it begins an action.
func dialogBindings() []binding {
	return []binding{
		{doChoose, inMenu, []string{"enter"}, "open", "open the box of the action under the cursor"},
		{doAcquire, inMenu, []string{"a"}, "", "acquire, or campaign for an election"},
		{doTry, inMenu, []string{"t"}, "", "acquire only if it is free now"},
		{doCampaign, inMenu, []string{"c"}, "", "campaign, where the row can also be acquired"},
		{doProclaim, inMenu, []string{"p"}, "", "change the data of what we lead"},
		{doResign, inMenu, []string{"r"}, "", "give up what we own"},
		{doCreate, inMenu, []string{"n"}, "", "create what does not exist, with a limit and data"},
		{doUpdate, inMenu, []string{"u"}, "", "replace the data of a semaphore itself"},
		{doDelete, inMenu, []string{"d"}, "", "delete what nobody owns or awaits"},
		{doCreateNode, inMenu, []string{"N"}, "", "create the coordination node that a row is to be in"},
		{doCallOff, inMenu, []string{"l"}, "", "leave the queue; end an action that is under way"},
		{doUp, inMenu, []string{"k", "up"}, "", "one line up"},
		{doDown, inMenu, []string{"j", "down"}, "", "one line down"},
		{doNextField, inBox, []string{"tab"}, "next", "next field or button"},
		{doPreviousField, inBox, []string{"shift+tab"}, "", "previous field or button"},
		{doPress, inBox, []string{"enter"}, "press the focused button", "press the focused button; Cancel is the first"},
		{doAnew, inChanged, []string{"r"}, "decide anew", "decide anew, about the row as it is now"},
		{doPageUp, inBox | inQuestion | inChanged, []string{"pgup"}, "", "back, where a box is longer than the screen"},
		{doPageDown, inBox | inQuestion | inChanged, []string{"pgdown"}, "", "on, where a box is longer than the screen"},
		{doYes, inQuestion, []string{"y"}, "yes", "yes"},
		{doNo, inQuestion | inLeave, []string{"n", "enter"}, "no", "no"},
		{doResignAll, inLeave, []string{"r"}, "", "resign all that we hold, and quit"},
		{doRunOut, inLeave, []string{"l"}, "", "quit and leave our leases to their TTL"},
		{doCancel, inMenu | inLeave, []string{"esc", "q"}, "cancel", "change nothing"},
		{doCancel, inBox | inQuestion | inChanged, []string{"esc"}, "cancel", "change nothing"},
	}
}

// keymap finds intents by scope and key.
type keymap map[scope]map[string]intent

func newKeymap(table []binding) keymap {
	m := keymap{}
	for s := scope(1); s != 0; s <<= 1 {
		m[s] = map[string]intent{}
		for _, a := range table {
			if a.scope&s == 0 {
				continue
			}
			for _, k := range a.keys {
				if !isCommand(k) {
					m[s][k] = a.intent
				}
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
