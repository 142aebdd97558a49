package screen

import (
	"strings"
	"time"

	"coordtop/internal/ground/format"
	"coordtop/internal/history"
	"coordtop/internal/history/trouble"
	"coordtop/sources"
	"coordtop/ui/cursor"
	"coordtop/ui/paint"
)

// TroubleState is the state of the Trouble screen.
type TroubleState struct {
	Read  bool   // something was read
	Error string // why the recording cannot be read; "": it can
	Span  history.Span
	Found []trouble.Trouble    // in order of time
	Rows  []history.Summary    // if only a recording is shown: a line for each primitive
	Dark  []history.DarkChange // and its stretches without observation
	Runs  []history.Run
	Names map[sources.Ref]string // of the primitives of Found and Rows, if they differ from those in the list
	Holes []history.Hole         // the stretches without a record
	List  cursor.List[int]       // indexes of Found, heading, then indexes of Rows plus len(Found)
}

// heading is the place of the heading between Found and Rows.
const heading = -1

// Places returns the places of the list.
func (s *TroubleState) Places() (places []int) {
	for i := range s.Found {
		places = append(places, i)
	}
	if len(s.Rows) > 0 {
		places = append(places, heading)
	}
	for i := range s.Rows {
		places = append(places, len(s.Found)+i)
	}
	return places
}

// SelectedRow returns the row under the cursor; nil: there is none.
func (s *TroubleState) SelectedRow() *history.Summary {
	if i, ok := s.List.Selected(); ok && i >= len(s.Found) && i-len(s.Found) < len(s.Rows) {
		return &s.Rows[i-len(s.Found)]
	}
	return nil
}

// Selected returns the trouble under the cursor; nil: there is none.
func (s *TroubleState) Selected() *trouble.Trouble {
	if i, ok := s.List.Selected(); ok && i != heading && i < len(s.Found) {
		return &s.Found[i]
	}
	return nil
}

// troubleReadout is the number of lines for the trouble under the cursor.
const troubleReadout = 7

// TroubleRows returns the number of visible lines of the list.
func TroubleRows(sc *Scene) int {
	return max(listedRows(sc.Layout.Body(), troubleReadout)-len(recordedLines(sc)), 1)
}

// troubleScreen lists the troubles of a recording in order of time, and then its primitives, with all facts
// about the entry under the cursor below.
func troubleScreen(sc *Scene) Frame {
	s, w := &sc.Trouble, sc.Layout.Width
	selected, _ := s.List.Selected()
	shown := s.List.Visible()
	list := logList{title: "WHAT WENT WRONG", text: troubleSpan(sc), pos: s.List.Pos(), count: s.List.Len(), under: recordedLines(sc),
		empty: noTrouble(sc), lines: len(shown), height: TroubleRows(sc), readout: troubleInFull(sc, s.Selected(), w)}
	if row := s.SelectedRow(); row != nil {
		list.readout = summaryInFull(sc, row, w)
	}
	if len(s.Rows) == 0 {
		list.warn = unrecordedText(s)
	}
	words := troubleWords(sc)
	return list.draw(sc, func(i int, l *paint.Line) {
		switch at := shown[i]; {
		case at == heading:
			summaryHeading(sc, l)
		case at >= len(s.Found):
			rowSummary(sc, l.Cursor(at == selected), &s.Rows[at-len(s.Found)])
		default:
			t := &s.Found[at]
			l.Cursor(at == selected).Cell(sc.Theme.Dim, instantCell(sc, t.From, ""), eventTime).Skip(1)
			l.Right(troubleStyle(sc, t), t.Lasted(s.Span.To), lengthCells).Skip(2).Put("", t.What(words))
			why, then := t.Why(words), t.Then(words)
			l.Put(sc.Theme.Dim, paint.When(why != "", ": "+why)).Put(sc.Theme.Dim, paint.When(then != "", "; "+then))
		}
	})
}

// lengthCells is the width of a length in the list.
const lengthCells = 13

// troubleWords returns the functions that write names on the screen.
func troubleWords(sc *Scene) trouble.Words {
	return trouble.Words{Text: paint.CleanLabel, Ref: func(ref sources.Ref) string {
		if name := sc.Trouble.Names[ref]; name != "" {
			return paint.Clean(name)
		}
		return NameOf(sc, ref)
	}}
}

func troubleStyle(sc *Scene, t *trouble.Trouble) paint.Style {
	switch {
	case t.Kind <= trouble.Outage:
		return sc.Theme.Bad
	case t.Kind == trouble.Waited:
		return sc.Theme.Warn
	}
	return ""
}

func troubleSpan(sc *Scene) string {
	s := &sc.Trouble
	if !s.Read {
		return ""
	}
	layout := time.DateTime
	if s.Span.To.Sub(s.Span.From) <= 12*time.Hour {
		layout = time.TimeOnly
	}
	in := sc.Now.Location()
	return s.Span.From.In(in).Format(time.DateTime) + " to " + s.Span.To.In(in).Format(layout+" MST")
}

// unrecordedText sums up the holes of the recording by cause; "": it has none.
func unrecordedText(s *TroubleState) string {
	sums := map[history.Why]time.Duration{}
	for _, h := range s.Holes {
		sums[h.Why()] += h.To.Sub(h.From)
	}
	var texts []string
	for _, why := range []history.Why{history.NotRecorded, history.Dropped} {
		if sums[why] > 0 {
			texts = append(texts, why.String()+" for "+format.Precise(sums[why]))
		}
	}
	return strings.Join(texts, ", ")
}

// noTrouble explains why nothing is listed.
func noTrouble(sc *Scene) string {
	switch s := &sc.Trouble; {
	case !sc.Time.Reads:
		return "nothing is recorded here"
	case s.Error != "":
		return "the recording cannot be read: " + s.Error
	case !s.Read:
		return "reading the recording..."
	}
	return "Nothing is known to have gone wrong in what was recorded."
}

// namedInFull bounds the primitives that are named for one trouble: more than a wide line has room for.
const namedInFull = 20

// troubleInFull draws all facts about a trouble.
func troubleInFull(sc *Scene, t *trouble.Trouble, w int) []string {
	if t == nil {
		return nil
	}
	words, in := troubleWords(sc), sc.Now.Location()
	var lines []string
	say := func(name, text string) {
		if text != "" {
			lines = append(lines, readoutLine(sc, w, name, paint.Plain(text)))
		}
	}
	say("WHAT", t.What(words))
	say("WHY", t.Why(words))
	say("THEN", strings.TrimPrefix(t.Then(words), "then "))
	end := paint.When(t.To.After(t.From), " to "+t.To.In(in).Format(exactLayout))
	say("WHEN", t.From.In(in).Format(exactLayout)+end)
	words.Ref = func(ref sources.Ref) string { return paint.Clean(ref.FullName()) }
	say("WHERE", t.Where(words, namedInFull))
	return lines
}
