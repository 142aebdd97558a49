package screen

import (
	"time"

	"coordtop/internal/action"
	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/cursor"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
)

// Pane is what stands below the list where there is room for one.
type Pane uint8

const (
	DetailPane Pane = iota
	EventPane
)

// HoldTime is how long rows keep their places after the cursor was last used, so that nobody
// acts on a row that has just moved to the cursor.
const HoldTime = 5 * time.Second

// Scene is all that the screens are drawn from. Drawing only reads it.
type Scene struct {
	Theme   paint.Theme
	Title   string // of the environment
	Home    string // folder of the person, which paths begin with ~ for
	Keys    keys.Table
	Layout  Layout
	columns columns
	Shape   Shape
	longest Longest // texts of the rows, since the screen has this width

	Clock   time.Time // the time, to the second
	Now     time.Time // what ages are counted to: clock, but held while paused
	Still   bool      // the second has only begun: strips wait for a frame of their own
	Started time.Time
	Paused  time.Time // since when the picture is held; zero: it is not
	Slow    bool      // the terminal keeps us waiting

	Recording  string            // what is unusual about the recording; "": nothing
	Unrecorded bool              // it stopped for that
	Replay     *history.Position // where the replay of the past is; nil: the present is shown

	OnlyPast bool // a recording is all there is

	State     *sources.State
	Rows      rows.Index
	Locks     cursor.List[rows.Handle]
	Marks     map[sources.Ref]bool
	Events    rows.Log
	EventList cursor.List[uint64] // the events that the Events screen lists, by number

	AuditEntries []action.AuditEntry // the actions of the audit, the newest first
	AuditRead    bool                // the audit was read
	AuditError   string              // why it cannot be read; "": it can
	AuditList    cursor.List[string] // the actions that the Audit screen lists, by ID

	Trouble TroubleState // what the Trouble screen shows

	Time TimelineState // what the Timeline screen shows

	Shown      View
	Trail      []View // what was left to open this one, the oldest first
	Pane       Pane
	KeyContext keys.Context // where a key would work now
	Menu       keys.Context // of one key, as InSort; 0: none is open
	Scroll     int          // first line of a view that is only read
	HelpAt     int          // the cursor of the help
	Topic      string       // of the reference that is open in the help; "": none

	Message string
	Command Typed // a command or words for the help
	Filter  Typed // a filter

	Acts       bool                    // there is an operator; else this board is read-only
	Abilities  func() []action.Ability // what it can do
	Status     *action.Status          // what it does
	DialogOpen bool                    // one stands over the board
	Deciding   bool                    // and its keys matter more than any message
}

// Typed is a line that is being typed.
type Typed struct {
	Context keys.Context // 0: nothing is typed
	Text    string
	Before  string   // the cursor
	Offers  []string // what else it could be completed with, the next one first
}

// Selected returns the row under the cursor; nil where there is none, as on a lane that a recording
// alone knows.
func (sc *Scene) Selected() (*sources.Row, verdict.Verdict) {
	h, ok := sc.Locks.Selected()
	if lane, _ := sc.Time.Lanes.Selected(); !ok || sc.Shown == Timeline && lane.Recorded() {
		return nil, verdict.Verdict{}
	}
	return sc.Rows.At(h)
}

// NameOf is how a primitive is called where nothing beside it says its source.
func NameOf(sc *Scene, ref sources.Ref) string { return paint.Clean(sc.Rows.Shown(ref)) }

// Arrange computes the boxes for the size and what there is to show.
func (sc *Scene) Arrange(w, h int) {
	sc.Layout = measure(w, h, sc.Rows.Total, len(sourceTroubles(sc)), len(bannerLines(sc, w)))
	sc.longest.measure(sc)
	sc.columns = fitColumns(sc.Layout.Width, sc.longest).shaped(sc.Shape)
	sc.Locks.SetHeight(sc.Layout.List)
}

// Remeasure has the texts of all rows measured again: they have changed, and the rows not.
func (sc *Scene) Remeasure() { sc.longest.rev = 0 }

// Forget drops what was measured of rows: those that follow are others.
func (sc *Scene) Forget() { sc.longest = Longest{} }

// Frame is a screen as it was drawn: lines of equal width, and where what was scrolled has
// come to, which is brought back to the last page.
type Frame struct {
	Lines          []string
	Scroll, HelpAt int
}

// scrollEnd is further than any text goes; drawing brings it back to the last page.
const scrollEnd = 1 << 20

// Scroll is where an intent moves to from at, in a view or a list of so many lines: a page keeps one
// of them in sight.
func Scroll(at int, i keys.Intent, page int) int {
	switch i {
	case keys.Up:
		at--
	case keys.Down:
		at++
	case keys.HalfUp:
		at -= max(page/2, 1)
	case keys.HalfDown:
		at += max(page/2, 1)
	case keys.PageUp:
		at -= max(page-1, 1)
	case keys.PageDown:
		at += max(page-1, 1)
	case keys.Top:
		at = 0
	case keys.Bottom:
		at = scrollEnd
	}
	return min(max(at, 0), scrollEnd)
}
