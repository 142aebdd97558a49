package keys

import (
	"slices"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
)

// Intent is something that a person can do, by its name in keys, help and scripts.
type Intent string

const (
	Up       Intent = "up"
	Down     Intent = "down"
	HalfUp   Intent = "half-page-up"
	HalfDown Intent = "half-page-down"
	PageUp   Intent = "page-up"
	PageDown Intent = "page-down"
	Top      Intent = "top"
	Bottom   Intent = "bottom"
	Open     Intent = "open"
	Pane     Intent = "next-pane"
	Back     Intent = "back"
	Filter   Intent = "filter"
	Clear    Intent = "clear-filter"
	Keep     Intent = "keep-filter"
	Complete Intent = "complete"
	Problems Intent = "only-problems"
	Sort     Intent = "sort"
	Kind     Intent = "kind"
	Pulse    Intent = "pulse"
	Locks    Intent = "locks"
	Events   Intent = "events"
	Audit    Intent = "audit"
	Trouble  Intent = "trouble"
	Sources  Intent = "sources"
	Caps     Intent = "caps"
	Pause    Intent = "pause"
	Refresh  Intent = "read-again"
	Help     Intent = "help"
	Redraw   Intent = "redraw"
	Suspend  Intent = "suspend"
	Quit     Intent = "quit"
	Abort    Intent = "abort"

	Owners      Intent = "owners"
	Group       Intent = "group-owners"
	Timeline    Intent = "timeline"
	BackOne     Intent = "earlier"
	OnOne       Intent = "later"
	EarlierPage Intent = "page-earlier"
	LaterPage   Intent = "page-later"
	LastChange  Intent = "previous-change"
	NextChange  Intent = "next-change"
	LastOfAny   Intent = "previous-change-of-any"
	NextOfAny   Intent = "next-change-of-any"
	ZoomIn      Intent = "zoom-in"
	ZoomOut     Intent = "zoom-out"
	ToNow       Intent = "now"
	Follow      Intent = "follow"
	Window      Intent = "window"
	OnlyChanged Intent = "only-changed"
	SortLanes   Intent = "sort-lanes"
	Legend      Intent = "legend"
	Note        Intent = "note"
	NoteText    Intent = "note-text"
	At          Intent = "at"
	WindowOf    Intent = "window-of"

	Present       Intent = "present"
	Past          Intent = "past"
	Play          Intent = "play"
	NextEvent     Intent = "next-event"
	PreviousEvent Intent = "previous-event"
	Faster        Intent = "faster"
	Slower        Intent = "slower"
	Start         Intent = "start"
	Believed      Intent = "believed"

	Arm     Intent = "write"
	Actions Intent = "actions"
	Know    Intent = "acknowledge"
	Crash   Intent = "end-process"

	Choose     Intent = "choose"
	Acquire    Intent = "acquire"
	Try        Intent = "try"
	Campaign   Intent = "campaign"
	Proclaim   Intent = "proclaim"
	Resign     Intent = "resign"
	Release    Intent = "release"
	CancelWait Intent = "cancel-wait"
	CallOff    Intent = "leave-queue"

	Create     Intent = "create"
	Update     Intent = "update"
	Delete     Intent = "delete"
	CreateNode Intent = "create-node"

	NextField     Intent = "next-field"
	PreviousField Intent = "previous-field"
	Press         Intent = "press-button"
	Yes           Intent = "yes"
	No            Intent = "no"
	Cancel        Intent = "cancel"
	ResignAll     Intent = "resign-and-quit"
	RunOut        Intent = "let-run-out"
	Anew          Intent = "decide-anew"
)

// Acts reports whether an intent begins an action, or allows one.
func (i Intent) Acts() bool {
	return i == Arm || i == Actions || i == Crash || i == AcquireBy || i == CampaignBy || i == Know || i == KnowBy || i == MuteBy
}

// Context is a set of the places in which a key works.
type Context uint32

const (
	InLocks Context = 1 << iota
	InDetail
	InHelp
	InInput // while a filter is typed: keys without a binding are text
	InEvents
	InSources
	InMenu     // the menu of actions
	InBox      // the box of one action: keys without a binding are text
	InChanged  // the box of an action whose target has changed
	InQuestion // yes or no
	InLeave    // the question about our leases when the program quits
	InCommand  // while a command is typed
	InHelpText // while words for the help are typed
	InSort     // the menu of orders
	InCopy     // the menu of copies
	InExport   // the menu of exports of rows
	InCaps
	InKeep // the question whether to quit and leave the screen as text
	InAudit
	InTimeline
	InTrouble
	InWindow   // the menu of windows
	InLaneSort // the menu of orders of lanes
	InPicture  // the menu of exports of the Timeline
	InReplay   // any screen that shows the past: its bindings come before those of the screen
	InOwners
	InParty // all about one party of the Owners screen
	InPulse
	InScreens = InPulse | InLocks | InDetail | InEvents | InAudit | InSources | InCaps | InTimeline | InTrouble | InOwners | InParty
	InViews   = InScreens | InHelp // letters without a binding in the help search for words
	inRow     = InLocks | InDetail | InTimeline
	inLogs    = InEvents | InAudit | InTimeline // lists to which the filter applies
	inTexts   = InInput | InCommand | InHelpText
	inMenus   = InSort | InCopy | InExport | InKeep | InWindow | InLaneSort | InPicture // closed by any key
	InDialogs = InMenu | InBox | InChanged | InQuestion | InLeave
	inAll     = InViews | inTexts | inMenus | InDialogs
)

// Binding is the keys and texts of an intent.
type Binding struct {
	Intent  Intent
	Context Context
	Keys    []string // and commands, such as ":sort COLUMN", which are typed after a :
	Hint    string   // in the footer; "": it is not there
	Help    string
}

// Bindings returns the one table of keys with the default keys, from which input, footer and help
// are made.
//
// Some keys must not be bound: those that terminals and multiplexers keep for themselves
// (ctrl+a b h i j k m q s space), alt combinations, and in the views the plain capitals
// A B C D H F P R S, and Q for anything that acts at once: over a slow link an arrow key arrives in
// parts that contain one of them or a [. An intent that only moves in time may have such a key.
func Bindings() Table {
	return slices.Concat(timelineBindings(), boardBindings(), replayBindings(), DialogBindings(), lineBindings())
}

// replayBindings returns the bindings for the past.
func replayBindings() []Binding {
	return []Binding{
		{Past, InTimeline, []string{"T"}, "", "all screens as it was at the cursor, where there is a recording"},
		{Start, InReplay, []string{"("}, "start", "to the beginning of the recording"},
		{Present, InReplay, []string{"0", ")", ":now"}, "end", "back to now; where there is only a recording, to its end"},
		{Play, InReplay, []string{"space", "p"}, "play", "play or stop the replay"},
		{PreviousEvent, InReplay, []string{","}, Joined, "replay back to the event before"},
		{NextEvent, InReplay, []string{"."}, "event", "replay on to the next event"},
		{Believed, InReplay, []string{"b"}, "believed then", "what was believed at that instant, instead of what is known now; again: as before"},
		{Faster, InReplay, []string{">"}, "", "play faster"},
		{Slower, InReplay, []string{"<"}, "", "play slower"},
	}
}

func boardBindings() []Binding {
	return []Binding{
		{Help, InViews, []string{"?", ":help"}, "help", "show or leave this help"},
		{Filter, InLocks | inLogs, []string{"/"}, "filter", "words, !words, kind=mutex, wait>30s, or ...; in the audit action=release, user=ana, result=failed"},
		{Keep, InInput, []string{"enter"}, "keep", "keep the filter and go back to the list"},
		{Complete, InInput | InCommand, []string{"tab"}, "complete", "complete the field or the value; again: the next one"},
		{Clear, InInput | InLocks | inLogs, []string{"esc"}, "", "clear the filter; show all rows again"},
		{Pulse, InScreens, []string{"1", ":pulse"}, "", "Pulse: what is wrong, why, and what to do next"},
		{Locks, InScreens, []string{"2", ":locks"}, "", "Locks: every primitive"},
		{Timeline, InScreens, []string{"3", "t"}, "", "Timeline: who owned what and when, a lane for each row of the list"},
		{Owners, InScreens, []string{"4", ":owners"}, "", "Owners: what each host, program or session owns, and what falls if it goes"},
		{Events, InScreens, []string{"5", ":events"}, "", "Events: what happened, newest first"},
		{Audit, InScreens, []string{"6", ":audit"}, "", "Audit: what was done through coordtop, by whom and why"},
		{Trouble, InScreens, []string{"7", ":trouble"}, "", "Trouble: what went wrong in the last hour, or in a recording"},
		{Sources, InScreens, []string{"o", ":sources"}, "", "Sources: how each is read, and how well"},
		{Caps, InSources, []string{"c"}, "caps", "what can be done with each source, and what counts as a write"},
		{Caps, InCommand, []string{":caps"}, "", "what can be done with each source, and what counts as a write"},
		{Open, InLocks | inLogs, []string{"enter"}, "open", "all there is to know about the row"},
		{Open, InTrouble, []string{"enter"}, "go there", "go to that instant, with the cursor on that row"},
		{Open, InPulse, []string{"enter"}, "its rows", "the rows of the cause, and no others, on the list; esc leads back"},
		{Timeline, InPulse, []string{"t"}, "timeline", "Timeline, of the rows of the cause only; esc leads back"},
		{Open, InOwners, []string{"enter"}, "in full", "all that it owns and awaits, and what happens if it dies now"},
		{SameOwner, InOwners | InParty, []string{"*"}, "its rows", "the list with only its rows: what it owns, awaits, or owned last"},
		{Group, InOwners | InParty, []string{"tab"}, "host, program, session", "by host, by program or by session"},
		{Problems, InLocks, []string{"!"}, "problems", "only problems, or all rows"},
		{Kind, InLocks | inLogs, []string{"K"}, "kind", "all kinds, only elections, mutexes or semaphores"},
		{Sort, InLocks, []string{"s"}, "sort", "order the list: a menu of columns; the same again reverses"},
		{Pane, InLocks, []string{"tab", "shift+tab"}, "pane", "on a small screen: details or events below the list"},
		{Actions, inRow | InEvents | InPulse, []string{"a"}, "actions", "what can be done to the row"},
		{Know, InLocks | InDetail | InPulse, []string{"i"}, "I know it", "acknowledge the problem: not counted until over, worse or of another cause; again: counted"},
		{Width, InLocks, []string{"z"}, "columns", "columns: normal, wide names, narrow with a long strip"},
		{Arm, InScreens | InMenu, []string{"W"}, "write", "arm writing for 5 minutes, or end it"},
		{Crash, InLocks | InDetail, []string{"X"}, "", "in the demo: crash the owner's process, to watch a failover"},
		{Pause, InScreens, []string{"p", ":pause"}, "pause", "hold the picture; data is still read"},
		{Refresh, inRow | InPulse | InSources | InAudit, []string{"r", ":read"}, "read again", "ask every source to look again now"},
		{Back, InDetail | InHelp | InSources | InCaps | InTrouble | InOwners | InParty, []string{"esc", "q"}, "back", "back to where this was opened"},
		{Back, inLogs, []string{"q"}, "back", "back to the list"},
		{Back, InPulse, []string{"esc"}, "", "to the list"},
		{Up, InViews, []string{"k", "up"}, "", "one line up"},
		{Down, InViews, []string{"j", "down"}, "", "one line down"},
		{HalfUp, InViews, []string{"ctrl+u"}, "", "half a page up"},
		{HalfDown, InViews, []string{"ctrl+d"}, "", "half a page down"},
		{PageUp, InViews, []string{"pgup"}, "", "a page up"},
		{PageDown, InViews, []string{"pgdown"}, "", "a page down"},
		{Top, InViews, []string{"g", "home"}, "", "to the top"},
		{Bottom, InViews, []string{"G", "end"}, "", "to the end"},
		{Redraw, inAll, []string{"ctrl+l"}, "", "draw the screen anew"},
		{Suspend, inAll, []string{"ctrl+z"}, "", "suspend; fg comes back"},
		{Quit, InLocks | InPulse, []string{"q"}, "quit", "quit"},
		{Quit, inAll, []string{"ctrl+c", ":q"}, "", "quit"},
		{Abort, inAll, []string{"ctrl+\\"}, "", "quit at once, with the stacks of all goroutines"},
		{KeepScreen, InScreens, []string{"Q"}, "", "quit and leave the screen as text; asks with one more key"},
	}
}

// DialogBindings returns the bindings of dialogs. Only a letter of the menu or the button with the
// verb begins an action.
func DialogBindings() []Binding {
	return []Binding{
		{Choose, InMenu, []string{"enter"}, "open", "open the box of the action under the cursor"},
		{Acquire, InMenu, []string{"a"}, "", "acquire, or campaign for an election"},
		{Try, InMenu, []string{"t"}, "", "acquire only if it is free now"},
		{Campaign, InMenu, []string{"c"}, "", "campaign, where the row can also be acquired"},
		{Proclaim, InMenu, []string{"p"}, "", "change the data of what we lead"},
		{Resign, InMenu, []string{"r"}, "", "give up what we own"},
		{Release, InMenu, []string{"x"}, "", "force-release: end what another owns"},
		{CancelWait, InMenu, []string{"e"}, "", "end the wait of another"},
		{Create, InMenu, []string{"n"}, "", "create what does not exist, with a limit and data"},
		{Update, InMenu, []string{"u"}, "", "replace the data of a semaphore itself"},
		{Delete, InMenu, []string{"d"}, "", "delete what nobody owns or awaits"},
		{CreateNode, InMenu, []string{"N"}, "", "create the coordination node that a row is to be in"},
		{CallOff, InMenu, []string{"l"}, "", "leave the queue; end an action that is under way"},
		{Up, InMenu, []string{"k", "up"}, "", "one line up"},
		{Down, InMenu, []string{"j", "down"}, "", "one line down"},
		{NextField, InBox, []string{"tab"}, "next", "next field or button"},
		{PreviousField, InBox, []string{"shift+tab"}, "", "previous field or button"},
		{Press, InBox, []string{"enter"}, "press the focused button", "press the focused button; Cancel is the first"},
		{Anew, InChanged, []string{"r"}, "decide anew", "decide anew, about the row as it is now"},
		{PageUp, InBox | InQuestion | InChanged, []string{"pgup"}, "", "back, where a box is longer than the screen"},
		{PageDown, InBox | InQuestion | InChanged, []string{"pgdown"}, "", "on, where a box is longer than the screen"},
		{Yes, InQuestion, []string{"y"}, "yes", "yes"},
		{No, InQuestion | InLeave, []string{"n", "enter"}, "no", "no"},
		{ResignAll, InLeave, []string{"r"}, "", "resign all that we hold, and quit"},
		{RunOut, InLeave, []string{"l"}, "", "quit and leave our leases to their TTL"},
		{Cancel, InMenu | InLeave, []string{"esc", "q"}, "cancel", "change nothing"},
		{Cancel, InBox | InQuestion | InChanged, []string{"esc"}, "cancel", "change nothing"},
	}
}

// Table is a list of bindings. Where two bindings of a context share a key, the last one counts.
type Table []Binding

// KeyOf returns the first key of an intent.
func (t Table) KeyOf(do Intent) string { return t.KeyIn(^Context(0), do) }

// KeyIn returns the first key of an intent in a context.
func (t Table) KeyIn(s Context, do Intent) string {
	for _, b := range t {
		if b.Intent == do && b.Context&s != 0 {
			return b.Keys[0]
		}
	}
	return ""
}

// Bound reports whether a key has a binding in a context.
func (t Table) Bound(s Context, key string) bool {
	return slices.ContainsFunc(t, func(b Binding) bool { return b.Context&s != 0 && slices.Contains(b.Keys, key) })
}

// Map holds intents by context and key.
type Map map[Context]map[string]Intent

// NewMap returns the Map of a table.
func NewMap(table Table) Map {
	m := Map{}
	for s := Context(1); s != 0; s <<= 1 {
		m[s] = map[string]Intent{}
		for _, a := range table {
			if a.Context&s == 0 {
				continue
			}
			for _, k := range a.Keys {
				if !isCommand(k) {
					m[s][k] = a.Intent
				}
			}
		}
	}
	return m
}

// Name returns the name of a key in the table. On a layout that is not Latin the key's position
// counts, if the terminal tells it.
func Name(k tea.KeyPressMsg) string {
	r, n := utf8.DecodeRuneInString(k.Text)
	if n == len(k.Text) && r >= utf8.RuneSelf && k.BaseCode > ' ' && k.BaseCode < utf8.RuneSelf {
		if k.Mod.Contains(tea.ModShift) {
			return string(unicode.ToUpper(k.BaseCode))
		}
		return string(k.BaseCode)
	}
	return k.String()
}
