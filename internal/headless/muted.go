package headless

import (
	"slices"
	"time"

	"coordtop/internal/diagnose"
	"coordtop/internal/mute"
	"coordtop/sources"
	"coordtop/sources/verdict"
	uirows "coordtop/ui/rows"
)

// Muting is what people do not want to be told of.
type Muting struct {
	Mutes          []mute.Mute
	Unacknowledged bool // what they cover does not count, see GetOptions.FailOn, and is not printed, see GetOptions.Problems and Why
}

// decide returns what of the problems in a State is muted.
func (m *Muting) decide(j *verdict.Judge, list []*sources.Row, findings []diagnose.Finding, now time.Time) mute.Decision {
	return mute.Decide(&mute.Input{Mutes: m.Mutes, Judge: j, Rows: list, Findings: findings, Now: now, Matches: uirows.Matcher(j.State, now)})
}

// muting is Muting for Get, which explains problems only where something is muted.
func (o *GetOptions) muting(j *verdict.Judge, now time.Time) {
	if len(o.Mutes) == 0 {
		return
	}
	wrong := diagnose.ProblemRows(j, now)
	o.findings = diagnose.Find(&diagnose.Input{Judge: j, Rows: wrong, Now: now, Past: o.Past, Acts: o.Acts})
	o.muted = o.decide(j, wrong, o.findings, now)
}

// problemRows returns the rows with a problem.
func (o *GetOptions) problemRows(j *verdict.Judge, list []*sources.Row, now time.Time) []*sources.Row {
	return slices.DeleteFunc(slices.Clone(list), func(r *sources.Row) bool {
		v, _ := j.Weigh(r, now)
		return !v.Problem() || o.Unacknowledged && o.muted.Rows[r.Ref] != nil
	})
}

// acknowledgedJSON is the Mute of a problem.
type acknowledgedJSON struct {
	By    string  `json:"by"`
	Until *string `json:"until" is:"time"`
	Text  *string `json:"text"`
}

func acknowledged(m *mute.Mute) *acknowledgedJSON {
	if m == nil {
		return nil
	}
	return &acknowledgedJSON{text(m.By), instant(m.Until), orNull(m.Text)}
}
