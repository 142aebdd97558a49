package screen

import (
	"time"

	"coordtop/internal/action"
	"coordtop/internal/diagnose"
	"coordtop/internal/history"
	"coordtop/internal/mute"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/cursor"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
)

// Pane is the pane below the list if there is room for one only.
type Pane uint8

const (
	DetailPane Pane = iota
	EventPane
)

// HoldTime is the time for which rows keep their places after the cursor was used, so that nobody
// acts on a row that has just moved to the cursor.
const HoldTime = 5 * time.Second

// Scene holds everything that the screens draw. Drawing only reads it.
type Scene struct {
	Theme   paint.Theme
	Title   string // of the environment
	Home    string // home directory of the person, shown as ~ in paths
	Keys    keys.Table
	Layout  Layout
	columns columns
	Shape   Shape
	longest Longest // texts of the rows, since the screen has this width

	Clocks
	Recorded
	State *sources.State
	Rows  rows.Index
	Locks cursor.List[rows.Handle]
	Marks map[sources.Ref]bool

	EventState
	AuditState
	Attention
	Pulse PulseState

	Owners  OwnersState
	Trouble TroubleState
	Time    TimelineState

	Navigation
	Typing
	Acting
}

// Clocks are the times that a Scene is drawn for.
type Clocks struct {
	Clock   time.Time     // the time, to the second
	Now     time.Time     // ages are counted to it: Clock, but it stops while the picture is held
	Still   time.Duration // how far strips stand behind Now: a second has just begun, and they wait for a frame of their own
	Started time.Time
	Paused  time.Time // since when the picture is held; zero: it is not
	Slow    bool      // the terminal is slow
}

// EventState has the events, and those of them that the Events screen lists.
type EventState struct {
	Events    rows.Log
	EventList cursor.List[uint64] // by number
}

// Recorded is a recording that is shown, or made.
type Recorded struct {
	Recording  string // a problem of the recording; "": none
	Unrecorded bool   // the recording stopped because of it

	Seen    string // who saw what is shown, and how old that is; "": this program
	SeenOld bool   // it is too old to count as the present

	Undelivered string            // notifications that were not delivered; "": all were
	Replay      *history.Position // of the replay of the past; nil: the present is shown
	OnlyPast    bool              // the program only shows a recording
}

// AuditState is the contents of the Audit screen.
type AuditState struct {
	AuditEntries []action.AuditEntry // newest first
	AuditRead    bool                // the audit was read
	AuditError   string              // why it cannot be read; "": it can
	AuditList    cursor.List[string] // the actions that the Audit screen lists, by ID
}

// Attention has the findings, their causes and the mutes.
type Attention struct {
	Findings []diagnose.Finding  // those that are muted last
	Causes   map[sources.Ref]int // the place in Findings, by the row that is explained
	Muted    mute.Decision
}

// Because returns the Finding that explains a row's problem; nil: it has none, or it is not explained yet.
func (a *Attention) Because(ref sources.Ref) *diagnose.Finding {
	at, ok := a.Causes[ref]
	if !ok {
		return nil
	}
	return &a.Findings[at]
}

// Navigation is the view on screen, and the place in it.
type Navigation struct {
	Shown      View
	Trail      []View // the views before this one, the oldest first
	Pane       Pane
	KeyContext keys.Context // of the next key
	Menu       keys.Context // of an open menu, such as InSort; 0: none is open
	Scroll     int          // first line of a scrolling view
	HelpAt     int          // the cursor of the help
	Topic      string       // the open topic of the help; "": none
}

// Typing is the last line of the board.
type Typing struct {
	Message string
	Command Typed // a command, or words for the help
	Filter  Typed
}

// Acting is the operator, and the dialog over the board.
type Acting struct {
	Acts       bool                    // there is an operator; else this board is read-only
	Abilities  func() []action.Ability // of the operator
	Status     *action.Status          // of the operator
	DialogOpen bool                    // a dialog stands over the board
	Deciding   bool                    // and its keys matter more than any message
}

// Typed is a line that is being typed.
type Typed struct {
	Context keys.Context // 0: nothing is typed
	Text    string
	Before  string   // the text before the cursor
	Offers  []string // other completions, the next one first
}

// Selected returns the row under the cursor; nil in an empty list, and on a lane whose row exists in a recording only.
func (sc *Scene) Selected() (*sources.Row, verdict.Verdict) {
	h, ok := sc.Locks.Selected()
	if lane, _ := sc.Time.Lanes.Selected(); !ok || sc.Shown == Timeline && lane.Recorded() {
		return nil, verdict.Verdict{}
	}
	return sc.Rows.At(h)
}

// NameOf returns the name of a primitive for places that do not show its source.
func NameOf(sc *Scene, ref sources.Ref) string { return paint.Clean(sc.Rows.Shown(ref)) }

// Arrange computes the layout for a size.
func (sc *Scene) Arrange(w, h int) {
	sc.Layout = measure(w, h, sc.Rows.Total, len(sourceTroubles(sc)), len(bannerLines(sc, w)))
	sc.longest.measure(sc)
	sc.columns = fitColumns(sc.Layout.Width, sc.longest).shaped(sc.Shape)
	sc.Locks.SetHeight(sc.Layout.List)
}

// Remeasure makes the next Arrange measure all rows again: their texts have changed without them.
func (sc *Scene) Remeasure() { sc.longest.rev = 0 }

// Forget drops the measures of rows: other rows follow.
func (sc *Scene) Forget() { sc.longest = Longest{} }

// Frame is a drawn screen: lines of equal width, and the scroll positions, bounded to the last page.
type Frame struct {
	Lines          []string
	Scroll, HelpAt int
}

// scrollEnd is a line beyond the end of any text; drawing bounds it to the last page.
const scrollEnd = 1 << 20

// Scroll returns the line to which an intent moves from line at, in a view or list of page lines. Two
// pages have one line in common.
func Scroll(at int, i keys.Intent, page int) int {
	half, whole := max(page/2, 1), max(page-1, 1)
	by := map[keys.Intent]int{
		keys.Up: -1, keys.HalfUp: -half, keys.PageUp: -whole, keys.Top: -scrollEnd,
		keys.Down: 1, keys.HalfDown: half, keys.PageDown: whole, keys.Bottom: scrollEnd,
	}
	return min(max(at+by[i], 0), scrollEnd)
}

// Layout holds the boxes of the board for one size. Lines from top to bottom: header,
// trouble, rule, list with its heading, rule, lower panes, footer.
type Layout struct {
	Width, Height int
	Small         bool // too small for more than the list

	Header  int // lines
	Trouble int // lines about sources that do not answer
	rules   int // lines around the list: 0 or 2
	List    int // rows, without the heading
	lower   int // lines of the panes below

	Split   int // cells of the left one of two panes side by side; 0: they are not
	Stacked int // lines of the upper one of two panes, one above the other; 0: they are not
}

const (
	fullWidth, fullHeight = 80, 24 // a smaller screen has only the list
	splitWidth            = 150    // from this width on two panes are side by side
	stackHeight           = 36     // from this height on two panes are one above the other
)

// measure returns the layout of a screen of w x h cells. rows is the number of rows without the
// filter, so that typing a filter moves nothing; trouble is the number of troubles of sources. Below
// the banner the layout is that of a screen without its lines.
func measure(w, h, rows, trouble, banner int) Layout {
	l := Layout{Width: max(w, 0), Height: max(h, 0)}
	if w < fullWidth || h < fullHeight {
		l.Small = true
		l.Header = min(l.Height, 1+banner)
		l.List = max(l.Height-l.Header-2, 0) // the heading and the footer
		return l
	}
	h -= banner
	l.Header, l.rules = 2, 2
	l.Trouble = min(trouble, 2+(h-fullHeight)/6)
	body := h - l.Header - l.Trouble - l.rules - 2 // the heading and the footer
	if l.lower = 5 + (h-fullHeight)/3; h >= stackHeight {
		l.lower = body * 2 / 5
	}
	l.List = min(body-l.lower, max(rows, 8))
	l.lower = body - l.List
	switch {
	case w >= splitWidth:
		l.Split = w * 9 / 20 // events are sentences: they need more
	case h >= stackHeight:
		l.Stacked = l.lower * 3 / 5
	}
	l.Header += banner
	return l
}

// Body returns the number of lines between header and footer.
func (l Layout) Body() int { return max(l.Height-l.Header-1, 0) }

// RowsAt returns the line of the first row.
func (l Layout) RowsAt() int {
	if l.rules > 0 {
		return l.Header + l.Trouble + 2
	}
	return l.Header + 1
}
