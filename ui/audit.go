package ui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

// auditEvery is how often the audit is read while it is shown: others may write to it, too.
const auditEvery = 2 * time.Second

// auditMsg brings the actions of the audit.
type auditMsg struct {
	list []action.AuditEntry
	err  error
}

// readAudit is the command that reads the audit, when it is time for that; nil: it is not.
func (m *model) readAudit() tea.Cmd {
	if m.Shown != screen.Audit {
		m.auditRead.at = time.Time{}
		return nil
	}
	if m.auditRead.running || !m.auditRead.at.IsZero() && m.Clock.Sub(m.auditRead.at).Abs() < auditEvery {
		return nil
	}
	m.auditRead.running, m.auditRead.at = true, m.Clock
	read := m.options.AuditEntries
	if read == nil {
		read = func() ([]action.AuditEntry, error) { return nil, nil }
	}
	return func() tea.Msg {
		list, err := read()
		return auditMsg{list, err}
	}
}

// haveAudit takes what was read.
func (m *model) haveAudit(msg auditMsg) {
	m.auditRead.running, m.AuditRead, m.AuditError = false, true, ""
	if msg.err != nil {
		m.AuditError = paint.Clean(msg.err.Error())
		return
	}
	m.auditRead.list = slices.Clone(msg.list)
	slices.Reverse(m.auditRead.list)
}

// listAudit brings the list of the Audit screen up to date. The cursor stays on its action.
func (m *model) listAudit() {
	m.AuditEntries = m.auditRead.list
	if m.feeds.replaying() {
		m.AuditEntries = screen.AuditAt(m.auditRead.list, m.Now)
	}
	ids := make([]string, 0, len(m.AuditEntries))
	for i := range m.AuditEntries {
		if screen.PassesAudit(&m.Scene, &m.AuditEntries[i]) {
			ids = append(ids, m.AuditEntries[i].ID)
		}
	}
	m.AuditList.SetKeys(ids)
}

// auditTable is the actions that are listed, for use elsewhere.
func (m *model) auditTable() [][]string {
	table := [][]string{{"AT", "WHO", "ACTION", "SOURCE", "NAMESPACE", "KIND", "NAME", "OWNER", "REASON", "CALL", "RESULT", "DETAIL", "OWNER AFTER"}}
	for i := range m.AuditEntries {
		if p := &m.AuditEntries[i]; screen.PassesAudit(&m.Scene, p) {
			line := []string{p.At.Format(time.RFC3339Nano), p.Who, p.Action, p.Ref.Source, p.Ref.Space, p.Kind, p.Ref.Name, p.Before.Name(), p.Reason, p.Call, p.Result, p.Detail, p.After.Name()}
			for j := range line {
				line[j] = paint.Clean(line[j])
			}
			table = append(table, line)
		}
	}
	return table
}
