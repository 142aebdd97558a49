package screen

import (
	"strings"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/ground/format"
	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
)

// auditReadout is how many lines the action under the cursor takes in full.
const auditReadout = 8

// AuditRows is how many actions are listed in h lines.
func AuditRows(h int) int { return listedRows(h, auditReadout) }

// auditScreen lists what was done through coordtop, with all there is to say of the action under the
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
	text := "newest first, of " + paint.Clean(file)
	if sc.OnlyPast {
		text = ""
	}
	list := logList{title: "AUDIT", text: text, pos: sc.AuditList.Pos(), count: sc.AuditList.Len(),
		empty: noActions(sc), lines: len(shown), height: AuditRows(sc.Layout.Body()), readout: entryReadout(sc, sc.FindAuditEntry(selected), w)}
	return list.draw(sc, func(i int, l *paint.Line) {
		p := shown[i]
		l.Cursor(p.ID == selected).Cell(sc.Theme.Dim, instantCell(sc, p.At, ""), eventTime).Skip(1)
		l.Cell("", paint.Clean(p.User()), who).Skip(1).Cell(sc.Theme.Strong, paint.Clean(p.Action), len("cancel-wait")).Skip(1)
		l.Cell("", sc.Theme.FitName(aliased(sc, p.Ref, p.Alias), names), names).Skip(1)
		putParts(l, sc.Theme.FitParts(resultParts(sc, p), l.Width-l.X), l.Width)
	})
}

// resultParts is what came of an action, and why it was done; of a note its text.
func resultParts(sc *Scene, p *action.AuditEntry) []paint.Part {
	result := resultText(sc, p)
	if result == "" && p.Reason == "" {
		return []paint.Part{paint.Plain(paint.Clean(p.Detail))}
	}
	parts := []paint.Part{resultStyle(sc, p.Result).Text(result)}
	if p.Reason != "" {
		parts = append(parts, sc.Theme.Dim.Text(", because "), paint.Plain(paint.Clean(p.Reason)))
	}
	if p.Detail != "" {
		parts = append(parts, paint.Plain(": "+paint.Clean(p.Detail)))
	}
	return parts
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

// resultStyle is the style of the word for how an action ended.
func resultStyle(sc *Scene, result string) paint.Style {
	switch result {
	case action.Seen.String():
		return sc.Theme.Good
	case "", underWay, action.Dropped.String():
		return sc.Theme.Dim
	}
	return sc.Theme.Warn
}

// noActions says why no action is listed.
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

// entryReadout is one action in full.
func entryReadout(sc *Scene, p *action.AuditEntry, w int) []string {
	if p == nil {
		return nil
	}
	when := sc.Theme.Dim.Text("  " + p.At.In(sc.Now.Location()).Format("2006-01-02 15:04:05.000") + ", " + format.Age(sc.Now.Sub(p.At)) + " ago")
	lines := []string{readoutLine(sc, w, "WHO", paint.Plain(paint.Clean(p.Who)), when)}
	what := []paint.Part{sc.Theme.Strong.Text(paint.Clean(p.Action) + " " + aliased(sc, p.Ref, p.Alias))}
	what = append(what, sc.Theme.Dim.Text("  "+strings.Join(paint.DropEmpty(p.Kind, paint.Clean(p.Ref.Source), paint.Clean(p.Ref.Space)), " "+sc.Theme.Dot+" ")))
	lines = append(lines, readoutLine(sc, w, "WHAT", what...))
	if p.Before.Name() != "" || p.After.Name() != "" {
		owner := []paint.Part{paint.Plain(paint.CleanLabel(p.Before.Name()))}
		after := paint.CleanLabel(p.After.Name())
		if after == "" && p.Result == action.Seen.String() && (p.Action == action.Release.String() || p.Action == action.Resign.String()) {
			after = "nobody"
		}
		if after != "" {
			owner = append(owner, sc.Theme.Dim.Text("  afterwards "), paint.Plain(after))
		}
		lines = append(lines, readoutLine(sc, w, "OWNER", owner...))
	}
	say := func(name, text string) {
		for _, s := range paint.Wrap(paint.Clean(text), w-9) {
			lines = append(lines, readoutLine(sc, w, name, paint.Plain(s)))
			name = ""
		}
	}
	say("WHY", p.Reason)
	result := strings.Join(paint.DropEmpty(resultText(sc, p), p.Detail), ": ")
	if p.Took > 0 {
		result += " (answered after " + format.Precise(p.Took) + ")"
	}
	say("RESULT", result)
	say("SENT", p.Call) // the last, for it is the longest
	return lines
}

// underWay is the result of an action that has not ended yet.
const underWay = "under way"

// AuditAt returns the actions that had begun at an instant, with what was known of them then.
func AuditAt(all []action.AuditEntry, at time.Time) []action.AuditEntry {
	var begun []action.AuditEntry
	for _, e := range all {
		if e.At.After(at) {
			continue
		}
		if e.Ended.After(at) {
			e.Result, e.Detail, e.After, e.Took, e.Ended = underWay, "", sources.OwnerRef{}, 0, time.Time{}
		}
		begun = append(begun, e)
	}
	return begun
}

// FindAuditEntry returns the action with this ID; nil where it is not known.
func (sc *Scene) FindAuditEntry(id string) *action.AuditEntry {
	for i := range sc.AuditEntries {
		if sc.AuditEntries[i].ID == id {
			return &sc.AuditEntries[i]
		}
	}
	return nil
}

// PassesAudit reports whether an action is among what the filter selects.
func PassesAudit(sc *Scene, p *action.AuditEntry) bool {
	kind := sc.Rows.Kind
	return (kind == sources.KindUnknown || p.Kind == kind.String()) && sc.Rows.Filter.PassesAudit(p)
}
