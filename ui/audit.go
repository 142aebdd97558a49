package ui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

// pastEvery is how often the audit is read while it is shown: others may write to it, too.
const pastEvery = 2 * time.Second

// pastMsg brings the actions of the audit.
type pastMsg struct {
	list []action.Past
	err  error
}

// readPast is the command that reads the audit, when it is time for that; nil: it is not.
func (m *model) readPast() tea.Cmd {
	if m.Shown != screen.Audit {
		m.pastAt = time.Time{}
		return nil
	}
	if m.reading || !m.pastAt.IsZero() && m.Clock.Sub(m.pastAt).Abs() < pastEvery {
		return nil
	}
	m.reading, m.pastAt = true, m.Clock
	past := m.options.Past
	if past == nil {
		past = func() ([]action.Past, error) { return nil, nil }
	}
	return func() tea.Msg {
		list, err := past()
		return pastMsg{list, err}
	}
}

// havePast takes what was read.
func (m *model) havePast(msg pastMsg) {
	m.reading, m.PastRead, m.PastError = false, true, ""
	if msg.err != nil {
		m.PastError = paint.Clean(msg.err.Error())
		return
	}
	m.Past = slices.Clone(msg.list)
	slices.Reverse(m.Past)
}

// listPast brings the list of the Audit screen up to date. The cursor stays on its action.
func (m *model) listPast() {
	ids := make([]string, 0, len(m.Past))
	for i := range m.Past {
		if screen.PassesPast(&m.Scene, &m.Past[i]) {
			ids = append(ids, m.Past[i].ID)
		}
	}
	m.AuditList.SetKeys(ids)
}

// pastTable is the actions that are listed, for use elsewhere.
func (m *model) pastTable() [][]string {
	table := [][]string{{"AT", "WHO", "ACTION", "SOURCE", "NAMESPACE", "KIND", "NAME", "OWNER", "REASON", "CALL", "RESULT", "DETAIL", "OWNER AFTER"}}
	for i := range m.Past {
		if p := &m.Past[i]; screen.PassesPast(&m.Scene, p) {
			line := []string{p.At.Format(time.RFC3339Nano), p.Who, p.Action, p.Ref.Source, p.Ref.Space, p.Kind, p.Ref.Name, p.Before, p.Reason, p.Call, p.Result, p.Detail, p.After}
			for j := range line {
				line[j] = paint.Clean(line[j])
			}
			table = append(table, line)
		}
	}
	return table
}
