package ui

import (
	"coordtop/internal/diagnose"
	"coordtop/sources"
	"coordtop/ui/screen"
)

// beginning explains the problems that are known as long as the first screen depends on them.
func (m *model) beginning() {
	if !m.pulse.decided {
		m.diagnose()
		m.pulse.note()
	}
}

// diagnose explains the problems that are known now. It runs once a second, and takes as long as there are
// problems, not rows.
func (m *model) diagnose() {
	in := diagnose.Input{
		Judge: m.Rows.Judge(), Rows: m.Rows.ProblemRowList(), Now: m.Now, Began: m.Started, Runbooks: m.options.Runbooks,
		Name: m.Rows.Shown, Owned: m.Rows.OwnedBy,
	}
	for i := range m.Events.List {
		if e := &m.Events.List[i]; e.Kind == sources.EventAction {
			in.Acts = append(in.Acts, *e)
		}
	}
	m.Attention = screen.Attention{Findings: diagnose.Find(&in), Causes: map[sources.Ref]screen.Cause{}}
	for i := range m.Findings {
		for j := range m.Findings[i].Rows {
			m.Causes[m.Findings[i].Rows[j].Ref] = screen.Cause{Finding: i, Row: j}
		}
	}
}
