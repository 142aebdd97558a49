package ui

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/lane"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
	"coordtop/ui/screen"
	"coordtop/ui/timeline"
)

// pastMsg is one query of the recording, and then its answer.
type pastMsg struct {
	refs  []sources.Ref  // whose lanes
	span  history.Span   // and what of them
	step  time.Duration  // of the columns of strips, whose cells are all that is wanted of them; 0: more is
	lanes []history.Lane // in the order of refs; none: nothing is recorded yet

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

const (
	restAfter = 5 * time.Second // after the recording could not be read
	sumRest   = 10              // multiple of the time that summing up took, until it is done again
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
	var errs [5]error
	if j := msg.jump; j != nil {
		before, after, from := 1, 0, j.from
		if j.step > 0 {
			before, after, from = 0, 1, j.from.Add(1)
		}
		msg.change, errs[0] = h.Events(ctx, from, before, after, history.EventFilter{Refs: j.refs, Kinds: ownerChanges()})
	}
	if len(msg.refs) > 0 {
		msg.lanes, errs[1] = h.Lanes(ctx, msg.refs, msg.span)
		for i := range msg.lanes {
			if l := &msg.lanes[i]; msg.step > 0 && !l.Leveled() {
				win := timeline.Ending(msg.span.To, msg.step, int(msg.span.To.Sub(msg.span.From)/msg.step)+2)
				l.Terms = win.Sparse(timeline.Lane{Lane: lane.Lane{Terms: l.Terms, Dark: l.Dark}}, msg.now)
			}
		}
	}
	if msg.marksOf != (history.Span{}) {
		msg.marks, errs[2] = h.Events(ctx, msg.marksOf.To, mostMarks, 0, history.EventFilter{Kinds: screen.MarkKinds()})
		msg.marks = slices.DeleteFunc(msg.marks, func(m history.Event) bool { return m.At.Before(msg.marksOf.From) })
		msg.runs, errs[3] = h.Runs(ctx)
	}
	if win := msg.totalsOf; win.Columns > 0 {
		msg.totals, errs[4] = h.Totals(ctx, history.Span{From: win.Start, To: sources.Earlier(win.End(), msg.now)})
	}
	for _, err := range errs {
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, history.ErrNothing) {
			msg.err = errors.Join(msg.err, err)
		}
	}
	return msg
}

// pastReader reads of the recording what the screen shows and memory has not.
type pastReader struct {
	part
	history history.Reader              // nil: there is no recording
	sums    *laneTotals                 // of the Timeline
	arrived func(jump, []history.Event) // takes the change that was looked for
	context context.Context             // of what is read; nil: there is no recording
	running bool                        // a query other than that of the sums is under way
	summing bool                        // that of the sums is
	rest    time.Time                   // after a failure nothing is asked until then
	jump    *jump                       // nil: no change is looked for
}

// askIn has the recording asked in a context.
func (r *pastReader) askIn(ctx context.Context) {
	if r.history != nil {
		r.scene.Time.Reads, r.context = true, ctx
	}
}

// readPast is the command that reads what the screen shows and nobody has read yet; nil: that is nothing.
func (r *pastReader) readPast() tea.Cmd {
	if r.context == nil || r.scene.State == nil || r.scene.Clock.Before(r.rest) {
		return nil
	}
	msg := pastMsg{now: r.scene.State.At}
	if !r.running {
		msg = r.unreadPast()
	}
	switch {
	case msg.jump != nil || msg.marksOf != (history.Span{}) || len(msg.refs) > 0:
		r.running = true
	case r.scene.Shown == screen.Timeline && (r.sums.wanted || r.recordedDue()) && !r.scene.Time.Summing && !r.summing && !r.scene.Clock.Before(r.sums.rest):
		r.summing, r.sums.rest, msg.totalsOf = true, r.scene.Clock, r.sums.window
	default:
		return nil
	}
	ctx, h := r.context, r.history
	return func() tea.Msg { return msg.read(ctx, h) }
}

// unreadPast is what the screen shows and nobody has read, but for the sums, which may take long.
func (r *pastReader) unreadPast() pastMsg {
	msg := pastMsg{now: r.scene.State.At, jump: r.jump}
	if r.scene.Shown == screen.Timeline {
		msg.marksOf = r.unreadMarks()
	} else {
		msg.step = screen.StripWindow(r.scene).Step
	}
	msg.refs, msg.span = r.unreadLanes()
	return msg
}

// shownLanes are the rows of which the screen shows lanes.
func (r *pastReader) shownLanes() []rows.Handle {
	switch h, ok := r.scene.Locks.Selected(); {
	case r.scene.Shown == screen.Timeline:
		return r.scene.Time.Lanes.Visible()
	case r.scene.Shown == screen.Locks && screen.StripWindow(r.scene).Columns > 0:
		return r.scene.Locks.Visible()
	case r.scene.Shown == screen.Detail && ok:
		return []rows.Handle{h}
	}
	return nil
}

// nearSpans bounds the distance between the beginnings of two spans that are read in one query; they end together.
const nearSpans = 10 * time.Second

// unreadLanes are those of the lanes in sight of which the same must be read.
func (r *pastReader) unreadLanes() (refs []sources.Ref, span history.Span) {
	for _, h := range r.shownLanes() {
		row, _ := r.scene.Rows.At(h)
		if row == nil {
			continue
		}
		want, ok := r.unread(row)
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

// unread returns the span of a row that must be read for the window: only the part that enters, and half a window more.
func (r *pastReader) unread(row *sources.Row) (history.Span, bool) {
	q := screen.QueryOf(r.scene, row)
	if r.scene.Shown == screen.Locks && tooFine(q.Past, screen.StripWindow(r.scene).Step) {
		q.Past = nil
	}
	return q.Missing(r.wanted())
}

// tooFine reports whether so many terms were read in shorter columns that they are read again for columns of a step.
func tooFine(p *history.Past, step time.Duration) bool {
	return p != nil && p.Step < step && len(p.Terms) > fewTerms
}

// wanted returns the span that must be known for the window, and the longer one that is read where it is not.
func (r *pastReader) wanted() (window, longer history.Span) {
	win := screen.TimeWindow(r.scene)
	if r.scene.Shown == screen.Locks {
		win = screen.StripWindow(r.scene)
	}
	window = win.Stretch()
	more := win.Span() / 2
	if r.scene.Shown == screen.Detail {
		window, more = history.Span{From: r.scene.Now.Add(-2 * screen.UsualSpan), To: r.scene.Now}, screen.UsualSpan // its columns are rounded up
	} else if r.scene.Time.Step == 0 || r.scene.Shown == screen.Locks { // how much is shown depends on how much is known
		window.From = sources.Earlier(window.From, r.scene.Now.Add(-screen.UsualSpan))
	}
	return window, history.Span{From: window.From.Add(-more), To: sources.Earlier(window.To.Add(more), r.scene.State.At)}
}

// unreadMarks is the span whose marks must be read; zero: they are known.
func (r *pastReader) unreadMarks() history.Span {
	window, span := r.wanted()
	kept := r.scene.Events.Kept(r.scene.Started, r.scene.Now)
	span.To = sources.Earlier(span.To, kept)
	to := sources.Earlier(window.To, span.To)
	if of := r.scene.Time.MarksOf; !window.From.Before(kept) || !of.From.After(window.From) && !of.To.Before(to) {
		return history.Span{}
	}
	return span
}

// havePast takes what was read.
func (r *pastReader) havePast(msg pastMsg) {
	if msg.totalsOf.Columns > 0 {
		r.summing, r.sums.rest = false, r.scene.Clock.Add(sumRest*r.scene.Clock.Sub(r.sums.rest))
	} else {
		r.running = false
	}
	if msg.jump == r.jump {
		r.jump = nil
	}
	if msg.err != nil {
		r.rest = r.scene.Clock.Add(restAfter)
		if text := paint.Clean(msg.err.Error()); text != r.scene.Time.ReadError {
			r.scene.Time.ReadError = text
			r.host.Say("the recording cannot be read: " + text)
		}
		return
	}
	r.scene.Time.ReadError = ""
	r.haveLanes(msg)
	if msg.marksOf != (history.Span{}) {
		r.scene.Time.MarksOf, r.scene.Time.Runs, r.scene.Time.Marks = msg.marksOf, msg.runs, nil
		for i := range msg.marks {
			r.scene.Time.Marks = append(r.scene.Time.Marks, msg.marks[i].Event)
		}
	}
	if j := msg.jump; j != nil && j.at.Equal(r.scene.Time.At) {
		r.arrived(*j, msg.change)
	}
}

// haveLanes takes the lanes that were read, and the sums of the others.
func (r *pastReader) haveLanes(msg pastMsg) {
	if r.scene.Time.Past == nil || len(r.scene.Time.Past) > keptPasts {
		r.scene.Time.Past = map[sources.Ref]*history.Past{}
	}
	window, _ := r.wanted()
	kept := window.From.Add(-2 * window.To.Sub(window.From))
	r.sums.at, r.sums.work = time.Time{}, nil
	if msg.totalsOf.Columns > 0 {
		s := r.sums
		s.totals, s.totalsOf, s.totalsAt = make(map[sources.Ref]history.Total, len(msg.totals)), msg.totalsOf, r.scene.Clock
		for _, t := range msg.totals {
			s.totals[t.Ref] = t
		}
		r.listRecorded(msg.totals, sources.Earlier(msg.totalsOf.End(), msg.now).Sub(msg.totalsOf.Start))
	}
	for i, ref := range msg.refs {
		p, l := r.scene.Time.Past[ref], history.Lane{}
		if len(msg.lanes) > 0 {
			l = msg.lanes[i]
		}
		if p == nil || tooFine(p, msg.step) {
			p = &history.Past{}
			r.scene.Time.Past[ref] = p
		}
		p.Step = max(p.Step, msg.step)
		p.Add(msg.span, l)
		p.Forget(kept)
		if since := p.ObservedFrom(r.scene.Now.Add(-screen.UsualSpan)); !since.IsZero() && (r.scene.Time.Since.IsZero() || since.Before(r.scene.Time.Since)) {
			r.scene.Time.Since = since
		}
	}
}

// lookFor has a change looked for in the recording, and reports whether there is one to look in.
func (r *pastReader) lookFor(from time.Time, step int, any bool, handles []rows.Handle) bool {
	if r.context == nil {
		return false
	}
	j := &jump{at: r.scene.Time.At, from: from, step: step, any: any}
	for _, h := range handles {
		if row, _ := r.scene.Rows.At(h); row != nil {
			j.refs = append(j.refs, row.Ref)
		}
	}
	r.jump = j
	r.host.Say("looking for it in the recording")
	return true
}

// Lanes of what a recording alone knows: a lock that is free now and selected by a pattern has no row.
const (
	mostRecordedLanes = 200         // of them, those that changed most
	recordedEvery     = time.Minute // between two searches for them
)

// recordedDue reports whether the recording must be searched again for primitives without a row.
func (r *pastReader) recordedDue() bool {
	s, win := r.sums, r.sums.window
	of := s.totalsOf
	return win.Columns > 0 && (s.totals == nil || of.Step != win.Step || of.Columns != win.Columns ||
		!r.scene.Time.End.IsZero() && win.Start.Sub(of.Start).Abs() > 4*win.Step || r.scene.Clock.Sub(s.totalsAt) >= recordedEvery)
}

// listRecorded makes lanes of the primitives that somebody owned in a span, and that have no row. Of
// semaphores only a row knows the count.
func (r *pastReader) listRecorded(totals []history.Total, span time.Duration) {
	totals = slices.DeleteFunc(slices.Clone(totals), func(t history.Total) bool {
		watched := slices.ContainsFunc(r.scene.State.Sources, func(s sources.SourceStatus) bool { return s.Name == t.Ref.Source })
		owned := t.Changes > 0 || t.Vacant().Min+t.Unseen < span
		return !watched || !owned || t.Kind == sources.KindSemaphore || r.feeds.shown().Row(r.scene.State, t.Ref) != nil
	})
	if len(totals) > mostRecordedLanes {
		slices.SortStableFunc(totals, func(a, b history.Total) int { return cmp.Compare(b.Changes, a.Changes) })
		totals = totals[:mostRecordedLanes]
	}
	slices.SortFunc(totals, func(a, b history.Total) int {
		return cmp.Or(strings.Compare(a.Ref.Name, b.Ref.Name), a.Ref.Compare(b.Ref))
	})
	found := make([]*sources.Primitive, len(totals))
	for i := range totals {
		found[i] = &sources.Primitive{Ref: totals[i].Ref, Kind: totals[i].Kind}
	}
	r.sums.recorded = r.scene.Rows.ListRecorded(found)
}

// recordedLanes are the lanes of what the recording alone knows that pass the filter.
func (t *timelinePart) recordedLanes() []rows.Handle {
	return slices.DeleteFunc(slices.Clone(t.sums.recorded), func(h rows.Handle) bool {
		row, _ := t.scene.Rows.At(h)
		return row == nil || t.feeds.shown().Row(t.scene.State, row.Ref) != nil || !t.scene.Rows.InList(h)
	})
}

// lanes are the rows of the list, most at most, and behind them what the recording alone knows.
func (t *timelinePart) lanes(most int) []rows.Handle {
	listed := t.scene.Rows.Handles
	return slices.Concat(listed[:min(len(listed), most)], t.recordedLanes())
}
