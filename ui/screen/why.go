package screen

import (
	"strings"

	"coordtop/internal/diagnose"
	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// whyMost is the most lines that the cause of a row's problem takes above its detail.
const whyMost = 3

// whyLines draws why the row under the cursor has a problem, in at most n lines of full width: the cause and what
// it means for others, and last what to do next. Empty: it has none, or it is not explained yet.
func whyLines(sc *Scene, w, n int) (lines []string) {
	row, _ := sc.Selected()
	if row == nil || n < 1 {
		return nil
	}
	f := sc.Because(row.Ref)
	if f == nil {
		return nil
	}
	th := &sc.Theme
	indent := 6 // behind "WHY"
	text := causeText(f)
	if len(f.Rows) > 1 {
		text = paint.Count(len(f.Rows), "row") + " at once: " + text
	}
	head, st := "WHY", th.Severity(f.Severity)
	if known := sc.Muted.Rows[row.Ref]; known != nil {
		indent = 7
		head, st, text = "KNOWN", th.Dim, known.Reason(sc.Now)+"; "+text
	}
	next := stepsText(sc, f, 2)
	next += paint.When(f.Runbook != "", paint.When(next != "", "; ")+"runbook: "+paint.Clean(f.Runbook))
	lines = hanging(sc, w, indent, st.Text(head), text, max(n-BoolInt(next != ""), 1))
	if next != "" && len(lines) < n {
		lines = append(lines, hanging(sc, w, indent, th.Dim.Text("NEXT"), next, 1)...)
	}
	return lines
}

// hanging draws a text in at most n lines, all from column indent on, with a head before the first one. The last line
// ends in an ellipsis if there is more.
func hanging(sc *Scene, w, indent int, head paint.Part, text string, n int) (lines []string) {
	pieces := paint.Wrap(text, w-indent)
	if len(pieces) > n && n > 0 {
		pieces = append(pieces[:n-1:n-1], sc.Theme.Cut(strings.Join(pieces[n-1:], " "), w-indent))
	}
	for _, piece := range pieces[:min(len(pieces), max(n, 0))] {
		lines = append(lines, sc.Theme.Line(w).Skip(1).Put(head.Style, head.Text).To(indent).Put("", piece).Done())
		head.Text = ""
	}
	return lines
}

// causeText returns the cause of a Finding, and what it means for others.
func causeText(f *diagnose.Finding) string {
	return f.Cause() + paint.When(f.Effect != "", "; "+f.Effect)
}

// stepsText returns the first n steps of a Finding, with the keys that lead there.
func stepsText(sc *Scene, f *diagnose.Finding, n int) string {
	var texts []string
	for _, s := range f.Steps[:min(len(f.Steps), n)] {
		key := ""
		if i, ok := placeIntents[s.Place]; ok {
			key = sc.Keys.KeyOf(i)
		}
		texts = append(texts, s.Text+paint.When(key != "", " ("+key+")"))
	}
	return strings.Join(texts, "; ")
}

// placeIntents are the intents that lead to the places of a Step.
var placeIntents = map[diagnose.Place]keys.Intent{
	diagnose.AtRow: keys.Open, diagnose.AtActions: keys.Actions, diagnose.AtOwner: keys.Owners, diagnose.AtTimeline: keys.Timeline,
	diagnose.AtEvents: keys.Events, diagnose.AtSources: keys.Sources,
}

// vacantParts returns the state of a row without an owner in at most w cells. If it has a problem, who owned it last
// stands behind that as far as there is room.
func vacantParts(sc *Scene, row *sources.Row, v verdict.Verdict, w int) []paint.Part {
	last, state := lastEnded(row), sc.Theme.Cut(v.Status.String(), w)
	if !v.Severity.Problem() {
		return []paint.Part{sc.Theme.Dim.Text(state)}
	}
	parts := []paint.Part{severityStyle(sc, row, v).Text(state)}
	room := w - format.Width(state+", was A ")
	if last == nil || room < leastFormer {
		return parts
	}
	return append(parts, sc.Theme.Dim.Text(", was "), sc.Theme.OwnerLetter(last.Hue).Text(paint.Letter(last.Hue)),
		paint.Plain(" "+sc.Theme.FitWords(paint.CleanLabel(last.Owner.Name()), room)))
}

// leastFormer is the least number of cells for the name of a former owner.
const leastFormer = 6

// severityStyle returns the style of a row's severity: what is muted is dim.
func severityStyle(sc *Scene, row *sources.Row, v verdict.Verdict) paint.Style {
	if sc.Muted.Rows[row.Ref] != nil {
		return sc.Theme.Dim
	}
	return sc.Theme.Severity(v.Severity)
}
