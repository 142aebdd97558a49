package screen

import (
	"slices"
	"strings"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// auditReadout is the number of lines for the action under the cursor.
const auditReadout = 8

// AuditRows returns the number of actions that are listed in h lines.
func AuditRows(h int) int { return listedRows(h, auditReadout) }

// auditScreen lists the actions that were done through coordtop, with all facts about the one under the
// cursor below.
func auditScreen(sc *Scene) Frame {
	w := sc.Layout.Width
	selected, _ := sc.AuditList.Selected()
	var shown []*action.AuditEntry
	names, who := minEventName, 0
	for _, id := range sc.AuditList.Visible() {
		if p := sc.FindAuditEntry(id); p != nil {
			shown = append(shown, p)
			names = max(names, format.Width(aliased(sc, p.Ref, p.Alias)))
			who = max(who, format.Width(paint.Clean(p.User())))
		}
	}
	names, who = min(names, w/eventNamePart, maxEventName), min(who, w/8)
	file := sc.Status.Audit
	if below, ok := strings.CutPrefix(file, sc.Home+"/"); ok && sc.Home != "" {
		file = "~/" + below
	}
	list := logList{title: "AUDIT", text: paint.When(!sc.OnlyPast, "newest first, of "+paint.Clean(file)),
		pos: sc.AuditList.Pos(), count: sc.AuditList.Len(), empty: noActions(sc), lines: len(shown),
		height: AuditRows(sc.Layout.Body()), readout: entryReadout(sc, sc.FindAuditEntry(selected), w)}
	return list.draw(sc, func(i int, l *paint.Line) {
		p := shown[i]
		l.Cursor(p.ID == selected).Cell(sc.Theme.Dim, instantCell(sc, p.At, ""), eventTime).Skip(1)
		l.Cell("", paint.Clean(p.User()), who).Skip(1).Cell(sc.Theme.Strong, paint.Clean(p.Action), len("cancel-wait")).Skip(1)
		l.Cell("", sc.Theme.FitName(aliased(sc, p.Ref, p.Alias), names), names).Skip(1).Fit(resultParts(sc, p), l.Width)
	})
}

// resultParts returns the result of an action and its reason; of a note its text.
func resultParts(sc *Scene, p *action.AuditEntry) []paint.Part {
	result := resultText(sc, p)
	if result == "" && p.Reason == "" {
		return []paint.Part{paint.Plain(paint.Clean(p.Detail))}
	}
	because, detail := paint.When(p.Reason != "", ", because "), paint.When(p.Detail != "", ": "+paint.Clean(p.Detail))
	return []paint.Part{resultStyle(sc, p.Result).Text(result), sc.Theme.Dim.Text(because),
		paint.Plain(paint.Clean(p.Reason)), paint.Plain(detail)}
}

func resultText(sc *Scene, p *action.AuditEntry) string {
	switch r := RunUnder(sc, p.Ref); {
	case p.Result != "":
		return paint.Clean(p.Result)
	case p.Ours && r != nil && r.Request.Verb.String() == p.Action:
		return underWay
	case p.Call != "":
		return p.Unfinished()
	}
	return ""
}

// resultStyle returns the style of a result.
func resultStyle(sc *Scene, result string) paint.Style {
	switch result {
	case action.Seen.String():
		return sc.Theme.Good
	case "", underWay, action.Dropped.String():
		return sc.Theme.Dim
	}
	return sc.Theme.Warn
}

// noActions explains why no action is listed.
func noActions(sc *Scene) string {
	switch {
	case sc.OnlyPast:
		return "the audit is not in a recording; Events has what people did (" + sc.Keys.KeyOf(keys.Events) + ")"
	case sc.AuditError != "":
		return sc.AuditError
	case !sc.AuditRead:
		return "reading the audit"
	case len(sc.AuditEntries) == 0 && sc.Replay != nil:
		return "nothing was done through coordtop up to this time"
	case len(sc.AuditEntries) == 0:
		return "nothing was done through coordtop yet"
	}
	return "no action of what is selected: " + sc.Keys.KeyIn(keys.InAudit, keys.Clear) + " shows all"
}

// entryReadout draws all facts about one action.
func entryReadout(sc *Scene, p *action.AuditEntry, w int) []string {
	if p == nil {
		return nil
	}
	when := sc.Theme.Dim.Text("  " + p.At.In(sc.Now.Location()).Format("2006-01-02 15:04:05.000") + ", " + format.Age(sc.Now.Sub(p.At)) + " ago")
	lines := []string{readoutLine(sc, w, "WHO", paint.Plain(paint.Clean(p.Who)), when)}
	what := sc.Theme.Strong.Text(paint.Clean(p.Action) + " " + aliased(sc, p.Ref, p.Alias))
	lines = append(lines, readoutLine(sc, w, "WHAT", what, placePart(sc, p.Kind, p.Ref)))
	if p.Before.Name() != "" || p.After.Name() != "" {
		before, after := paint.CleanLabel(p.Before.Name()), paint.CleanLabel(p.After.Name())
		if after == "" && p.Result == action.Seen.String() && (p.Action == action.Release.String() || p.Action == action.Resign.String()) {
			after = "nobody"
		}
		afterwards := sc.Theme.Dim.Text(paint.When(after != "", "  afterwards "))
		lines = append(lines, readoutLine(sc, w, "OWNER", paint.Plain(before), afterwards, paint.Plain(after)))
	}
	say := func(name, text string) {
		for _, s := range paint.Wrap(paint.Clean(text), w-9) {
			lines = append(lines, readoutLine(sc, w, name, paint.Plain(s)))
			name = ""
		}
	}
	say("WHY", p.Reason)
	result := strings.Join(paint.DropEmpty(resultText(sc, p), p.Detail), ": ")
	say("RESULT", result+paint.When(p.Took > 0, " (answered after "+format.Precise(p.Took)+")"))
	say("SENT", p.Call) // last, because it is the longest
	return lines
}

// placePart returns the kind of a primitive, its source and its space, to stand behind its name.
func placePart(sc *Scene, kind string, ref sources.Ref) paint.Part {
	words := paint.DropEmpty(kind, paint.Clean(ref.Source), paint.Clean(ref.Space))
	return sc.Theme.Dim.Text("  " + strings.Join(words, " "+sc.Theme.Dot+" "))
}

// underWay is the result of an action that has not ended yet.
const underWay = "under way"

// AuditAt returns the actions that had begun at an instant, as they were known then.
func AuditAt(all []action.AuditEntry, at time.Time) []action.AuditEntry {
	begun := slices.DeleteFunc(slices.Clone(all), func(e action.AuditEntry) bool { return e.At.After(at) })
	for i := range begun {
		if e := &begun[i]; e.Ended.After(at) {
			e.Result, e.Detail, e.After, e.Took, e.Ended = underWay, "", sources.OwnerRef{}, 0, time.Time{}
		}
	}
	return begun
}

// FindAuditEntry returns the action with this ID; nil if it is unknown.
func (s *AuditState) FindAuditEntry(id string) *action.AuditEntry {
	for i := range s.AuditEntries {
		if s.AuditEntries[i].ID == id {
			return &s.AuditEntries[i]
		}
	}
	return nil
}

// PassesAudit reports whether filter and kind select an action.
func PassesAudit(sc *Scene, p *action.AuditEntry) bool {
	kind := sc.Rows.Kind
	return (kind == sources.KindUnknown || p.Kind == kind.String()) && sc.Rows.Filter.PassesAudit(p)
}

// logList is a list of entries, with all facts about the entry under the cursor below.
type logList struct {
	title, text string // of the heading
	warn        string
	under       []string // lines below the heading
	pos, count  int      // of the cursor; of all entries
	empty       string   // shown if there is no line
	lines       int      // visible entries
	height      int      // of the list
	readout     []string
}

// listedRows returns the number of entries in h lines above a readout of so many lines. The readout is
// left out if the list would be shorter than the readout.
func listedRows(h, readout int) int {
	if h < 2*readout+3 {
		return h - 2
	}
	return h - 2 - readout
}

// draw draws the list; line draws visible entry i.
func (g *logList) draw(sc *Scene, line func(i int, l *paint.Line)) Frame {
	w, h := sc.Layout.Width, sc.Layout.Body()
	lines := append([]string{sc.Theme.Line(w).Rule().Done(), g.heading(sc, w)}, g.under...)
	for i := range g.lines {
		l := sc.Theme.Line(w)
		line(i, l)
		lines = append(lines, l.Done())
	}
	if g.lines == 0 {
		lines = append(lines, sc.Theme.Line(w).Done(), sc.Theme.Line(w).Skip(3).Put("", g.empty).Done())
	}
	top := g.height + 2 + len(g.under)
	lines = sc.Theme.Box(lines, w, top)
	if top < h {
		lines = append(append(lines, sc.Theme.Line(w).Rule().Done()), g.readout...)
	}
	return fixed(sc, sc.Theme.Box(lines, w, h))
}

func (g *logList) heading(sc *Scene, w int) string {
	l := sc.Theme.Line(w).Skip(1).Put(sc.Theme.Heading, g.title).Skip(1).Put(sc.Theme.Dim, g.text)
	l.Skip(2).Put(sc.Theme.Warn, g.warn)
	right := format.Count(g.pos+min(g.count, 1)) + " of " + format.Count(g.count)
	if x := w - len(right) - 1; l.X < x {
		l.To(x).Put(sc.Theme.Dim, right)
	}
	return l.Done()
}

// readoutLine draws a line of a readout, with its name.
func readoutLine(sc *Scene, w int, name string, parts ...paint.Part) string {
	return sc.Theme.Line(w).Skip(1).Cell(sc.Theme.Dim, name, 8).Parts(parts...).Done()
}
