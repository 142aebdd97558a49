package ui

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/history"
	"coordtop/internal/lane"
	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
	"coordtop/ui/screen"
	"coordtop/ui/timeline"
)

// pastMsg is what is read of the recording in one go, and then what was found.
type pastMsg struct {
	refs  []sources.Ref // whose lanes
	span  history.Span  // and what of them
	step  time.Duration // of the columns of strips, whose cells are all that is wanted of them; 0: more is
	lanes []history.Lane

	marksOf history.Span // zero: no marks
	marks   []history.Event
	runs    []history.Run

	totalsOf timeline.Window // zero: no sums
	totals   []history.Total

	jump   *jump // nil: none
	change []history.Event

	now time.Time // up to which there is a state
	err error
}

// jump is the change that is looked for in the recording.
type jump struct {
	at   time.Time // of the cursor, as in screen.Time
	from time.Time // where that is
	step int       // -1: before it; +1: after it
	any  bool      // of any lane
	refs []sources.Ref
}

// asked is what the board wants of the recording.
type asked struct {
	read    func(pastMsg) pastMsg // nil: there is no recording
	context context.Context       // of what is read; nil: there is no recording
	running bool
	rest    time.Time // after a failure nothing is asked until then
	jump    *jump     // nil: no change is looked for
}

const (
	restAfter = 5 * time.Second // after the recording could not be read
	keptPasts = 2000            // of how many rows what was read is kept
	mostMarks = 10_000          // before the end of the window
	fewTerms  = 1000            // of a row are merged with those of memory in each frame, where the list shows it
)

// ownerChanges are the kinds of events at which a lane changes.
func ownerChanges() []sources.EventKind {
	return []sources.EventKind{sources.EventAcquired, sources.EventReleased, sources.EventExpired, sources.EventOwnerChanged, sources.EventOwnerUnknown}
}

// read asks a recording. It may wait for a disk. A recording that was not begun holds nothing.
func (msg pastMsg) read(ctx context.Context, h history.Reader) pastMsg {
	var err error
	got := func(e error) {
		if !errors.Is(e, fs.ErrNotExist) && !errors.Is(e, history.ErrNothing) {
			err = errors.Join(err, e)
		}
	}
	if j := msg.jump; j != nil {
		before, after, from := 1, 0, j.from
		if j.step > 0 {
			before, after, from = 0, 1, j.from.Add(1)
		}
		var e error
		msg.change, e = h.Events(ctx, from, before, after, history.EventFilter{Refs: j.refs, Kinds: ownerChanges()})
		got(e)
	}
	if len(msg.refs) > 0 {
		var e error
		msg.lanes, e = h.Lanes(ctx, msg.refs, msg.span)
		got(e)
		for i := range msg.lanes {
			if l := &msg.lanes[i]; msg.step > 0 && !l.Leveled() {
				win := timeline.Ending(msg.span.To, msg.step, int(msg.span.To.Sub(msg.span.From)/msg.step)+2)
				l.Terms = win.Sparse(timeline.Lane{Lane: lane.Lane{Terms: l.Terms, Dark: l.Dark}}, msg.now)
			}
		}
		if e != nil {
			msg.lanes = make([]history.Lane, len(msg.refs))
			for i, ref := range msg.refs {
				msg.lanes[i].Ref = ref
			}
		}
	}
	if msg.marksOf != (history.Span{}) {
		marks, e := h.Events(ctx, msg.marksOf.To, mostMarks, 0, history.EventFilter{Kinds: screen.MarkKinds()})
		got(e)
		msg.marks = slices.DeleteFunc(marks, func(m history.Event) bool { return m.At.Before(msg.marksOf.From) })
		msg.runs, e = h.Runs(ctx)
		got(e)
	}
	if win := msg.totalsOf; win.Columns > 0 {
		var e error
		msg.totals, e = h.Totals(ctx, history.Span{From: win.Start, To: sources.Earlier(win.End(), msg.now)})
		got(e)
	}
	msg.err = err
	return msg
}

// pastReader is the model as it reads a recording.
type pastReader struct{ *model }

// askIn has the recording asked in a context.
func (m pastReader) askIn(ctx context.Context) {
	if h := m.options.History; h != nil {
		m.Time.Reads, m.asked.context = true, ctx
		m.asked.read = func(msg pastMsg) pastMsg { return msg.read(ctx, h) }
	}
}

// readPast is the command that reads what the screen shows and nobody has read yet; nil: that is nothing.
func (m pastReader) readPast() tea.Cmd {
	if m.asked.read == nil || m.asked.running || m.State == nil || m.Clock.Before(m.asked.rest) {
		return nil
	}
	msg := pastMsg{now: m.State.At, jump: m.asked.jump}
	if m.Shown == screen.Timeline {
		msg.marksOf = m.unreadMarks()
	} else {
		msg.step = screen.StripWindow(&m.Scene).Step
	}
	msg.refs, msg.span = m.unreadLanes()
	if m.Shown == screen.Timeline && (m.laneTotals.wanted || m.recordedDue()) && !m.Time.Summing {
		msg.totalsOf = m.laneTotals.window
	}
	if msg.jump == nil && msg.marksOf == (history.Span{}) && len(msg.refs) == 0 && msg.totalsOf.Columns == 0 {
		return nil
	}
	m.asked.running = true
	read := m.asked.read
	return func() tea.Msg { return read(msg) }
}

// shownLanes are the rows of which the screen shows lanes.
func (m pastReader) shownLanes() []rows.Handle {
	switch h, ok := m.Locks.Selected(); {
	case m.Shown == screen.Timeline:
		return m.Time.Lanes.Visible()
	case m.Shown == screen.Locks && screen.StripWindow(&m.Scene).Columns > 0:
		return m.Locks.Visible()
	case m.Shown == screen.Detail && ok:
		return []rows.Handle{h}
	}
	return nil
}

// nearSpans is how far apart two spans up to the same instant may begin that are read in one go.
const nearSpans = 10 * time.Second

// unreadLanes are those of the lanes in sight of which the same must be read.
func (m pastReader) unreadLanes() (refs []sources.Ref, span history.Span) {
	for _, h := range m.shownLanes() {
		row, _ := m.Rows.At(h)
		if row == nil {
			continue
		}
		want, ok := m.unread(row)
		switch {
		case !ok:
			continue
		case len(refs) == 0:
			span = want
		case !want.To.Equal(span.To) || want.From.Sub(span.From).Abs() > nearSpans:
			continue
		}
		span.From = sources.Earlier(span.From, want.From)
		refs = append(refs, row.Ref)
	}
	return refs, span
}

// unread is what of a row must be read for the window: only what enters, and half a window more.
func (m pastReader) unread(row *sources.Row) (span history.Span, ok bool) {
	known := row.RecordedSince(m.State)
	if rows.HandleOf(row).Recorded() {
		known = time.Time{}
	}
	from, to, wanted := m.wanted()
	p := m.Time.Past[row.Ref]
	switch {
	case !known.IsZero() && !from.Before(known):
		return wanted, false
	case p == nil || to.Before(p.Span.From) || from.After(p.Span.To), m.Shown == screen.Locks && p.Step < screen.StripWindow(&m.Scene).Step && len(p.Terms) > fewTerms:
		return wanted, true
	case from.Before(p.Span.From) && !p.Whole():
		return history.Span{From: wanted.From, To: p.Span.From}, true
	case p.Span.To.Before(to) && p.Span.To.Before(known):
		return history.Span{From: p.Span.To, To: wanted.To}, true
	}
	return wanted, false
}

// wanted is what must be known for the window, and what is read where that is not.
func (m pastReader) wanted() (from, to time.Time, span history.Span) {
	win := screen.TimeWindow(&m.Scene)
	if m.Shown == screen.Locks {
		win = screen.StripWindow(&m.Scene)
	}
	from, to = win.Start, win.End()
	more := win.Span() / 2
	if m.Shown == screen.Detail {
		from, to, more = m.Now.Add(-2*screen.UsualSpan), m.Now, screen.UsualSpan // its columns are rounded up
	} else if m.Time.Step == 0 || m.Shown == screen.Locks { // how much is shown depends on how much is known
		from = sources.Earlier(from, m.Now.Add(-screen.UsualSpan))
	}
	return from, to, history.Span{From: from.Add(-more), To: sources.Earlier(to.Add(more), m.State.At)}
}

// unreadMarks is the span whose marks must be read; zero: they are known.
func (m pastReader) unreadMarks() history.Span {
	from, to, span := m.wanted()
	kept := m.Events.Kept(m.Started, m.Now)
	span.To = sources.Earlier(span.To, kept)
	to = sources.Earlier(to, span.To)
	if of := m.Time.MarksOf; !from.Before(kept) || !of.From.After(from) && !of.To.Before(to) {
		return history.Span{}
	}
	return span
}

// havePast takes what was read.
func (m pastReader) havePast(msg pastMsg) {
	m.asked.running = false
	if msg.jump == m.asked.jump {
		m.asked.jump = nil
	}
	if msg.err != nil {
		m.asked.rest = m.Clock.Add(restAfter)
		if text := paint.Clean(msg.err.Error()); text != m.Time.ReadError {
			m.Time.ReadError = text
			m.Say("the recording cannot be read: " + text)
		}
		return
	}
	m.Time.ReadError = ""
	m.haveLanes(msg)
	if msg.marksOf != (history.Span{}) {
		m.Time.MarksOf, m.Time.Runs, m.Time.Marks = msg.marksOf, msg.runs, nil
		for i := range msg.marks {
			m.Time.Marks = append(m.Time.Marks, msg.marks[i].Event)
		}
	}
	if j := msg.jump; j != nil && j.at.Equal(m.Time.At) {
		timelineScreen(m).land(*j, msg.change)
	}
}

// haveLanes takes the lanes that were read, and the sums of the others.
func (m pastReader) haveLanes(msg pastMsg) {
	if m.Time.Past == nil || len(m.Time.Past) > keptPasts {
		m.Time.Past = map[sources.Ref]*screen.Past{}
	}
	from, to, _ := m.wanted()
	kept := from.Add(-2 * to.Sub(from))
	m.laneTotals.at, m.laneTotals.work = time.Time{}, nil
	if msg.totalsOf.Columns > 0 {
		s := &m.laneTotals
		s.totals, s.totalsOf, s.totalsAt = make(map[sources.Ref]history.Total, len(msg.totals)), msg.totalsOf, m.Clock
		for _, t := range msg.totals {
			s.totals[t.Ref] = t
		}
		m.listRecorded(msg.totals, sources.Earlier(msg.totalsOf.End(), msg.now).Sub(msg.totalsOf.Start))
	}
	for _, l := range msg.lanes {
		p := m.Time.Past[l.Ref]
		if p == nil || p.Step < msg.step && len(p.Terms) > fewTerms {
			p = &screen.Past{}
			m.Time.Past[l.Ref] = p
		}
		p.Step = max(p.Step, msg.step)
		p.Add(msg.span, l)
		p.Forget(kept)
		if since := p.ObservedFrom(m.Now.Add(-screen.UsualSpan)); !since.IsZero() && (m.Time.Since.IsZero() || since.Before(m.Time.Since)) {
			m.Time.Since = since
		}
	}
}

// joinLanes joins what was read to the rows as they are now: to those whose lanes are shown, or summed up.
func (m pastReader) joinLanes() {
	if m.Shown != screen.Timeline {
		for _, h := range m.shownLanes() {
			if row, _ := m.Rows.At(h); row != nil {
				screen.JoinPast(&m.Scene, row)
			}
		}
		return
	}
	maps.DeleteFunc(m.Time.Past, func(_ sources.Ref, p *screen.Past) bool { return p.Step > 0 })
	for ref := range m.Time.Past {
		row := m.feeds.shown().Row(m.State, ref)
		if row == nil {
			row = m.Rows.RecordedRow(ref)
		}
		if row != nil {
			screen.JoinPast(&m.Scene, row)
		}
	}
}

// lookFor has a change looked for in the recording, and reports whether there is one to look in.
func (m pastReader) lookFor(from time.Time, step int, any bool, handles []rows.Handle) bool {
	if m.asked.read == nil {
		return false
	}
	j := &jump{at: m.Time.At, from: from, step: step, any: any}
	for _, h := range handles {
		if row, _ := m.Rows.At(h); row != nil {
			j.refs = append(j.refs, row.Ref)
		}
	}
	m.asked.jump = j
	m.Say("looking for it in the recording")
	return true
}
