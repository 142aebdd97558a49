package ui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/screen"
)

// History is a recording, which knows more of the past than the rows in memory. Lanes may wait for
// a disk: see history.Reader.
type History interface {
	Lanes(ctx context.Context, refs []sources.Ref, span history.Span) ([]history.Lane, error)
}

// lanesMsg brings what was read of a recording.
type lanesMsg struct {
	span  history.Span
	lanes []history.Lane
	err   error
}

// asked is what the board wants of the recording.
type asked struct {
	lanes   func(refs []sources.Ref, span history.Span) ([]history.Lane, error) // nil: there is no recording
	running bool
	rest    time.Time   // after a failure nothing is asked until then
	back    sources.Ref // the lane whose change before is looked for further back
}

const (
	askedLanes = 200             // how many lanes of the list are read besides those in sight
	restAfter  = 5 * time.Second // after the recording could not be read
	keptPasts  = 2000            // of how many rows what was read is kept
	lookBack   = 30 * 24 * time.Hour
)

// pastReader is the model as it reads a recording.
type pastReader struct{ *model }

// askIn has the recording asked in a context.
func (m pastReader) askIn(ctx context.Context) {
	if h := m.options.History; h != nil {
		m.Time.Reads = true
		m.asked.lanes = func(refs []sources.Ref, span history.Span) ([]history.Lane, error) { return h.Lanes(ctx, refs, span) }
	}
}

// readLanes is the command that reads what the Timeline shows and nobody has read yet; nil: that is
// nothing.
func (m pastReader) readLanes() tea.Cmd {
	if m.asked.lanes == nil || m.asked.running || m.Shown != screen.Timeline || m.Clock.Before(m.asked.rest) {
		return nil
	}
	var refs []sources.Ref
	var span history.Span
	handles := append(m.Rows.Handles[:min(len(m.Rows.Handles), askedLanes):min(len(m.Rows.Handles), askedLanes)], m.Time.Lanes.Visible()...)
	seen := map[sources.Ref]bool{}
	for _, h := range handles {
		row, _ := m.Rows.At(h)
		if row == nil || seen[row.Ref] {
			continue
		}
		seen[row.Ref] = true
		want, ok := m.unread(row)
		if !ok || len(refs) > 0 && want != span {
			continue
		}
		refs, span = append(refs, row.Ref), want
	}
	if len(refs) == 0 {
		return nil
	}
	m.asked.running = true
	lanes := m.asked.lanes
	return func() tea.Msg {
		found, err := lanes(refs, span)
		return lanesMsg{span, found, err}
	}
}

// unread is what of a row must be read for the window: only what enters, and half a window more.
func (m pastReader) unread(row *sources.Row) (span history.Span, ok bool) {
	win, known := screen.TimeWindow(&m.Scene), row.RecordedSince(m.State)
	from, to, more := win.Start, win.End(), win.Span()/2
	if m.Time.Step == 0 { // how much is shown depends on how much is known
		from = sources.Earlier(from, m.Now.Add(-screen.UsualSpan))
	}
	wanted := history.Span{From: from.Add(-more), To: sources.Earlier(to.Add(more), m.State.At)}
	p := m.Time.Past[row.Ref]
	switch {
	case m.asked.back == row.Ref:
		if p != nil {
			known = sources.Earlier(known, p.Span.From)
		}
		return history.Span{From: known.Add(-lookBack), To: known}, true
	case !known.IsZero() && !from.Before(known):
		return wanted, false
	case p == nil || to.Before(p.Span.From) || from.After(p.Span.To):
		return wanted, true
	case from.Before(p.Span.From) && !p.Whole():
		return history.Span{From: wanted.From, To: p.Span.From}, true
	case p.Span.To.Before(to) && p.Span.To.Before(known):
		return history.Span{From: p.Span.To, To: wanted.To}, true
	}
	return wanted, false
}

// haveLanes takes what was read.
func (m pastReader) haveLanes(msg lanesMsg) {
	m.asked.running = false
	if msg.err != nil {
		m.asked.rest, m.asked.back = m.Clock.Add(restAfter), sources.Ref{}
		if text := paint.Clean(msg.err.Error()); text != m.Time.ReadError {
			m.Time.ReadError = text
			m.Say("the recording cannot be read: " + text)
		}
		return
	}
	m.Time.ReadError = ""
	if m.Time.Past == nil || len(m.Time.Past) > keptPasts {
		m.Time.Past = map[sources.Ref]*screen.Past{}
	}
	m.summed.at = time.Time{}
	back := m.asked.back
	for _, l := range msg.lanes {
		p := m.Time.Past[l.Ref]
		if p == nil {
			p = &screen.Past{}
			m.Time.Past[l.Ref] = p
		}
		p.Add(msg.span, l)
		if since := p.ObservedFrom(m.Now.Add(-screen.UsualSpan)); !since.IsZero() && (m.Time.Since.IsZero() || since.Before(m.Time.Since)) {
			m.Time.Since = since
		}
		if l.Ref == back {
			m.asked.back = sources.Ref{}
		}
	}
	if back != (sources.Ref{}) && m.asked.back == (sources.Ref{}) {
		m.joinLanes()
		timelineScreen(m).jump(-1, false)
	}
}

// joinLanes joins what was read to the rows as they are now.
func (m pastReader) joinLanes() {
	for ref := range m.Time.Past {
		if row := m.feeds.Row(m.State, ref); row != nil {
			screen.JoinPast(&m.Scene, row)
		}
	}
}

// furtherBack has the change of the selected lane before what is known looked for in the recording, and
// reports whether there is more of it.
func (m pastReader) furtherBack() bool {
	row, _ := m.Selected()
	if row == nil {
		return false
	}
	p := m.Time.Past[row.Ref]
	if m.asked.lanes == nil || p != nil && p.Whole() {
		return false
	}
	m.asked.back = row.Ref
	m.Say("looking for it in the recording")
	return true
}
