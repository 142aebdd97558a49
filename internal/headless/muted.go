package headless

import (
	"slices"
	"time"

	"coordtop/internal/diagnose"
	"coordtop/internal/ground/format"
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

// mutedSource returns the Mute of a source that does not answer; nil: it has none.
func (o *GetOptions) mutedSource(name string) *mute.Mute {
	for i := range o.findings {
		if f := &o.findings[i]; f.Pattern == diagnose.ServerSilent && f.Source == name {
			return o.muted.Findings[i]
		}
	}
	return nil
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

// mutedText describes a Mute in a line; "": there is none.
func mutedText(m *mute.Mute, now time.Time) string {
	if m == nil {
		return ""
	}
	by := format.Clean(m.By, maxText) + " until " + m.Until.In(now.Location()).Format(time.DateTime)
	if m.Text != "" {
		by += ": " + format.Clean(m.Text, maxText)
	}
	return by
}
