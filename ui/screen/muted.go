package screen

import (
	"time"

	"coordtop/internal/diagnose"
	"coordtop/internal/ground/format"
	"coordtop/internal/mute"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
)

// MutedRows counts the rows whose problem a Mute holds back now.
func (a *Attention) MutedRows(id string) (n int) {
	for _, m := range a.Muted.Rows {
		if m.ID == id {
			n++
		}
	}
	return n
}

// MutedBy returns the Mute of a row's problem; nil: it has none.
func (sc *Scene) MutedBy(row *sources.Row) *mute.Mute {
	if !sc.Rows.IsMuted(rows.HandleOf(row)) {
		return nil
	}
	return sc.Muted.Rows[row.Ref]
}

// mutedSource reports whether it is muted that a source does not answer.
func (a *Attention) mutedSource(name string) bool {
	for i, m := range a.Muted.Findings {
		if f := &a.Findings[i]; m != nil && f.Pattern == diagnose.ServerSilent && paint.Clean(f.Source) == name {
			return true
		}
	}
	return false
}

// severityStyle returns the style of a row's severity: what is muted is dim.
func severityStyle(sc *Scene, row *sources.Row, v verdict.Verdict) paint.Style {
	if sc.Rows.IsMuted(rows.HandleOf(row)) {
		return sc.Theme.Dim
	}
	return sc.Theme.Severity(v.Severity)
}

// MutedText tells until when something is muted, by whom and why.
func MutedText(sc *Scene, m *mute.Mute) string {
	until := m.Until.In(sc.Now.Location())
	form := "15:04"
	if until.Sub(sc.Now) > 12*time.Hour || until.Day() != sc.Now.Day() {
		form = "2006-01-02 15:04"
	}
	text := "until " + until.Format(form) + " by " + paint.Clean(m.By)
	return text + paint.When(m.Text != "", ": "+paint.Clean(m.Text))
}

// mutedCount counts the rows with a problem that is muted; "": none is.
func mutedCount(sc *Scene) string {
	return paint.When(sc.Rows.Muted > 0, format.Count(sc.Rows.Muted)+" muted")
}
