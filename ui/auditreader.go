package ui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/action"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

// auditEvery is the pause between two reads of the audit while it is shown, because other processes also write to it.
const auditEvery = 2 * time.Second

// auditReader reads the audit, for the Audit screen.
type auditReader struct {
	part
	options *Options
	rows    *rowList
	at      time.Time // when it was read last; zero: it is to be read
	running bool
	list    []action.AuditEntry // the newest first
}

// auditMsg brings the actions of the audit.
type auditMsg struct {
	list []action.AuditEntry
	err  error
}

// read is the command that reads the audit, when it is time for that; nil: it is not.
func (r *auditReader) read() tea.Cmd {
	if r.scene.Shown != screen.Audit {
		r.at = time.Time{}
		return nil
	}
	if r.running || !r.at.IsZero() && r.scene.Clock.Sub(r.at).Abs() < auditEvery {
		return nil
	}
	r.running, r.at = true, r.scene.Clock
	read := r.options.AuditEntries
	if read == nil {
		read = func() ([]action.AuditEntry, error) { return nil, nil }
	}
	return func() tea.Msg {
		list, err := read()
		return auditMsg{list, err}
	}
}

// have takes what was read.
func (r *auditReader) have(msg auditMsg) {
	r.running, r.scene.AuditRead, r.scene.AuditError = false, true, ""
	if msg.err != nil {
		r.scene.AuditError = paint.Clean(msg.err.Error())
		return
	}
	r.list = slices.Clone(msg.list)
	slices.Reverse(r.list)
}

// show brings the list of the Audit screen up to date. The cursor stays on its action.
func (r *auditReader) show() {
	r.scene.AuditEntries = r.list
	if r.feeds.replaying() {
		r.scene.AuditEntries = screen.AuditAt(r.list, r.scene.Now)
	}
	ids := make([]string, 0, len(r.scene.AuditEntries))
	for i := range r.scene.AuditEntries {
		if screen.PassesAudit(r.scene, &r.scene.AuditEntries[i]) {
			ids = append(ids, r.scene.AuditEntries[i].ID)
		}
	}
	r.scene.AuditList.SetKeys(ids)
}

// table is the actions that are listed, for use elsewhere.
func (r *auditReader) table() [][]string {
	table := [][]string{{"AT", "WHO", "ACTION", "SOURCE", "NAMESPACE", "KIND", "NAME", "OWNER", "REASON", "CALL", "RESULT", "DETAIL", "OWNER AFTER"}}
	for i := range r.scene.AuditEntries {
		if p := &r.scene.AuditEntries[i]; screen.PassesAudit(r.scene, p) {
			line := []string{p.At.Format(time.RFC3339Nano), p.Who, p.Action, p.Ref.Source, p.Ref.Space, p.Kind, p.Ref.Name, p.Before.Name(), p.Reason, p.Call, p.Result, p.Detail, p.After.Name()}
			for j := range line {
				line[j] = paint.Clean(line[j])
			}
			table = append(table, line)
		}
	}
	return table
}

// pick moves the cursor of the list to the row of the action under the cursor, or shows the reason why it cannot.
func (r *auditReader) pick() bool {
	id, _ := r.scene.AuditList.Selected()
	p := r.scene.FindAuditEntry(id)
	if p == nil || p.Ref.Name == "" {
		return false
	}
	r.scene.AuditList.Move(0)
	return r.rows.pickRow(p.Ref)
}
