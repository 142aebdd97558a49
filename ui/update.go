package ui

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"coordtop/sources"
	"coordtop/ui/dialog"
	"coordtop/ui/paint"
	"coordtop/ui/terminal"
)

// Update takes a message and draws the next frame if it changed anything.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	now := m.feeds.clock()
	if !m.heard.IsZero() && dialog.Stepped(m.heard, now) {
		m.resumed()
	}
	m.heard = now
	cmd, changed := m.handle(msg)
	if later := m.acting.Later(); len(later) > 0 {
		cmd = tea.Batch(append(later, cmd)...)
	}
	if reading := m.audit.read(); reading != nil {
		cmd = tea.Batch(reading, cmd)
	}
	if counting := m.owners.count(); counting != nil {
		cmd = tea.Batch(counting, cmd)
	}
	if reading := m.attention.read(); reading != nil {
		cmd = tea.Batch(reading, cmd)
	}
	if reading := m.trouble.read(); reading != nil {
		cmd = tea.Batch(reading, cmd)
	}
	if reading := m.objective.read(); reading != nil {
		cmd = tea.Batch(reading, cmd)
	}
	if calls := m.alerts.send(); calls != nil {
		cmd = tea.Batch(calls, cmd)
	}
	if changed {
		m.draw()
	}
	if reading := m.past.readPast(); reading != nil {
		cmd = tea.Batch(reading, cmd)
	}
	if more := m.timeline.sumMore(); more != nil {
		cmd = tea.Batch(more, cmd)
	}
	return m, cmd
}

// View returns the frame of the last Update: Bubble Tea asks after every message.
func (m *model) View() tea.View { return m.drawn.frame }

func (m *model) handle(msg tea.Msg) (cmd tea.Cmd, changed bool) {
	switch msg := msg.(type) {
	case terminal.WakeMsg:
		if m.feeds.replaying() { // its time is as new as its state
			m.second()
			return nil, true
		}
		m.receive()
		m.pulse.begin()
		m.acting.Receive()
		return nil, m.Paused.IsZero() || m.Acts
	case dialog.DoneMsg:
		m.acting.Answer(msg)
		return nil, true
	case terminal.SecondMsg:
		if m.second(); msg.Whole {
			m.Still = 0
		}
		return nil, true
	case terminal.ColumnMsg:
		return nil, m.moveStrips()
	case tea.WindowSizeMsg:
		m.w, m.h = msg.Width, msg.Height
		m.Scene.Arrange(m.w, m.h)
		return nil, true
	case tea.KeyPressMsg:
		m.pulse.decided = true
		m.catchUp()
		pressed, cmd := m.joiner.Press(msg)
		return tea.Batch(cmd, m.press(pressed)), true
	case terminal.JoinTimeout:
		return m.press(m.joiner.Timeout(msg)), true
	case auditMsg:
		m.audit.have(msg)
		return nil, true
	case partiesMsg:
		m.owners.have(msg)
		return nil, true
	case mutesMsg:
		return nil, m.attention.have(msg)
	case troubleMsg:
		m.trouble.have(msg)
		return nil, true
	case objectivesMsg:
		return nil, m.objective.have(msg)
	case pastMsg:
		m.past.havePast(msg)
		return nil, true
	case sumMsg:
		m.timeline.sums.asked = false
		return nil, true
	case exportedMsg:
		m.exporter.exported(msg)
		return nil, true
	case tea.BackgroundColorMsg:
		m.scheme.Told, m.scheme.Dark = true, msg.IsDark()
		m.repaint()
		return nil, true
	case tea.ColorProfileMsg:
		m.scheme.Complete = lipgloss.Complete(msg.Profile)
		m.repaint()
		return nil, true
	case tea.FocusMsg:
		m.alerts.away = false
	case tea.BlurMsg:
		m.alerts.away = true
	case tea.MouseMsg:
		m.pulse.decided = true
		m.point(msg)
		return nil, true
	case tea.PasteMsg:
		return m.edit(msg), true
	case tea.ResumeMsg:
		m.second()
		m.resumed()
		return nil, true
	}
	m.alerts.Answer(msg)
	return nil, false
}

// catchUp lets the time pass that no message has told of: in a calm not every second has one.
func (m *model) catchUp() {
	if clock, _ := m.feeds.times(m.utc); clock.Sub(m.Clock) >= time.Second {
		m.second()
	}
}

// resumed makes the person decide again in an open dialog, with the rows that the sources read after the suspend.
func (m *model) resumed() {
	if r, ok := m.feeds.shown().(sources.Refresher); ok && m.acting.Open() {
		r.Refresh()
	}
	m.acting.Resumed()
}

// second lets time pass: ages, countdowns and what depends on them.
func (m *model) second() {
	var now time.Time
	m.Clock, now = m.feeds.times(m.utc)
	m.acting.Receive()
	if m.Message != "" && !m.Clock.Before(m.until) {
		m.Message = ""
	}
	if !m.Paused.IsZero() {
		return
	}
	m.Slow = m.options.slow != nil && m.options.slow()
	m.Still = min(max(now.Sub(m.Now), 0), terminal.CalmStep) // back to where they stood
	if m.Now = now; m.feeds.replaying() {
		m.Still = 0
	}
	if m.Rows.Held && !m.Clock.Before(m.rowList.heldUntil) { // the cursor was not used for a while
		m.Rows.Held = false
	}
	if p, ok := m.feeds.shown().(Publisher); ok {
		p.Publish()
	}
	m.receive()
	m.Events.Second()
	if m.Rows.Sweep(m.Now, m.focus.inSight()) {
		m.Locks.SetKeys(m.Rows.Handles)
	}
	m.attention.diagnose()
	m.pulse.note()
	m.alerts.second()
	m.feeds.soon.Store(!m.Rows.StaysFor(2*terminal.CalmStep + time.Second))
}

// times returns the clock, and the time that ages are counted to: in a recording it is another one.
func (f *feeds) times(utc bool) (clock, now time.Time) {
	clock = zoned(utc, f.clock())
	if now = clock; f.replaying() && f.player.Position().Run != 0 {
		now = zoned(utc, f.shown().Now())
	}
	return clock, now
}

// zoned is a time in the zone that times are shown in.
func zoned(utc bool, t time.Time) time.Time {
	if utc {
		return t.UTC()
	}
	return t
}

// Init asks the terminal for its background where that is wanted, and how it calls. The answers come
// later, or never. All other messages that come by themselves come from the pump.
func (m *model) Init() tea.Cmd {
	var ask tea.Cmd
	if q := m.alerts.Query(); q != "" {
		ask = tea.Raw(q)
	}
	if m.scheme.Asks() {
		return tea.Batch(ask, tea.RequestBackgroundColor)
	}
	return ask
}

// setScheme takes another theme.
func (m *model) setScheme(name string) tea.Cmd {
	name = strings.ToLower(name)
	if !slices.Contains(paint.Schemes(), name) {
		m.Say("themes: " + strings.Join(paint.Schemes(), ", "))
		return nil
	}
	m.scheme.Asked = name
	m.repaint()
	m.Say("theme " + name)
	return m.Init()
}

// repaint rebuilds the styles.
func (m *model) repaint() { m.Theme = m.scheme.Theme(m.Theme.Glyphs.ASCII) }
