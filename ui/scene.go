package ui

import (
	"time"

	"coordtop/internal/action"
	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
	"coordtop/ui/table"
)

// view is what fills the screen between header and footer.
type view uint8

const (
	viewList view = iota
	viewEvents
	viewSources
	viewDetail
	viewCaps
	viewHelp
	viewCount
)

// pane is what stands below the list where there is room for one.
type pane uint8

const (
	paneDetail pane = iota
	paneEvents
)

// scene is all that the screens are drawn from. Drawing only reads it.
type scene struct {
	th      paint.Theme
	title   string // of the environment
	table   keys.Table
	lay     layout
	columns columns
	shape   shape
	longest longest // texts of the rows, since the screen has this width

	clock   time.Time // the time, to the second
	now     time.Time // what ages are counted to: clock, but held while paused
	still   bool      // the second has only begun: strips wait for a frame of their own
	started time.Time
	paused  time.Time // since when the picture is held; zero: it is not
	slow    bool      // the terminal keeps us waiting

	st     *sources.State
	idx    rows.Index
	tbl    table.Table[rows.Handle]
	marks  map[sources.Ref]bool
	events rows.Log
	told   table.Table[uint64] // the events that the Events screen lists, by number

	view   view
	trail  []view // what was left to open this one, the oldest first
	pane   pane
	scope  keys.Scope // where a key would work now
	menu   keys.Scope // of one key, as InSort; 0: none is open
	scroll int        // first line of a view that is only read
	helpAt int        // the cursor of the help

	message string
	command typedText // a command or words for the help
	filter  typedText // a filter

	acts     bool                    // there is an operator; else this board is read-only
	able     func() []action.Ability // what it can do
	status   *action.Status          // what it does
	dialog   bool                    // one stands over the board
	deciding bool                    // and its keys matter more than any message
}

// typedText is a line that is being typed.
type typedText struct {
	scope  keys.Scope // 0: nothing is typed
	text   string
	before string   // the cursor
	offers []string // what else it could be completed with, the next one first
}

// selected returns the row under the cursor; nil where there is none.
func (sc *scene) selected() (*sources.Row, rows.Verdict) {
	h, ok := sc.tbl.Selected()
	if !ok {
		return nil, rows.Verdict{}
	}
	return sc.idx.At(h)
}

// arrange computes the boxes for the size and what there is to show.
func (sc *scene) arrange(w, h int) {
	sc.lay = measure(w, h, sc.idx.Total, len(troubles(sc)))
	sc.longest.measure(sc)
	sc.columns = fitColumns(sc.lay.w, sc.longest).shaped(sc.shape)
	sc.tbl.SetHeight(sc.lay.list)
}

// remeasure has the texts of all rows measured again: they have changed, and the rows not.
func (sc *scene) remeasure() { sc.longest.rev = 0 }

// frame is a screen as it was drawn: lines of equal width, and where what was scrolled has
// come to, which is brought back to the last page.
type frame struct {
	lines          []string
	scroll, helpAt int
}
