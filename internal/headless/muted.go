package headless

import (
	"time"

	"coordtop/internal/diagnose"
	"coordtop/internal/mute"
	"coordtop/sources"
	"coordtop/sources/verdict"
	uirows "coordtop/ui/rows"
)

// Muting holds the mutes that apply to an output.
type Muting struct {
	Mutes          []mute.Mute
	Unacknowledged bool // what they cover does not count, see GetOptions.FailOn, and is not printed, see GetOptions.Problems and Why
}

// decide returns what of the problems in a State is muted.
func (m *Muting) decide(j *verdict.Judge, list []*sources.Row, findings []diagnose.Finding, now time.Time) mute.Decision {
	return mute.Decide(&mute.Input{Mutes: m.Mutes, Judge: j, Rows: list, Findings: findings, Now: now, Matches: uirows.Matcher(j.State, now)})
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
