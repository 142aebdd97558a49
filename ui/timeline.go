package ui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/format"
	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
	"coordtop/ui/screen"
	"coordtop/ui/timeline"
)

// timelineScreen is the model as the keys of the Timeline change it.
type timelineScreen struct{ *model }

// onTime is a handler that changes what the Timeline shows.
func onTime(do func(timelineScreen)) handler { return simply(func(m *model) { do(timelineScreen{m}) }) }

// timelineHandlers are those of the Timeline screen.
func timelineHandlers() map[keys.Intent]handler {
	typed := func(do func(timelineScreen, string), offered ...string) handler {
		return taking(func(m *model, argument string) { do(timelineScreen{m}, argument) }, oneOf(func(*model) []string { return slices.Clone(offered) }))
	}
	lengths := []string{"1m", "5m", "15m", "1h", "6h", "24h", "168h", "720h"}
	all := map[keys.Intent]handler{
		keys.BackOne:     onTime(func(m timelineScreen) { m.moveCursor(-1) }),
		keys.OnOne:       onTime(func(m timelineScreen) { m.moveCursor(+1) }),
		keys.EarlierPage: onTime(func(m timelineScreen) { m.turnPage(-1) }),
		keys.LaterPage:   onTime(func(m timelineScreen) { m.turnPage(+1) }),
		keys.LastChange:  onTime(func(m timelineScreen) { m.jump(-1, false) }),
		keys.NextChange:  onTime(func(m timelineScreen) { m.jump(+1, false) }),
		keys.LastOfAny:   onTime(func(m timelineScreen) { m.jump(-1, true) }),
		keys.NextOfAny:   onTime(func(m timelineScreen) { m.jump(+1, true) }),
		keys.ZoomIn:      onTime(func(m timelineScreen) { m.zoom(-1) }),
		keys.ZoomOut:     onTime(func(m timelineScreen) { m.zoom(+1) }),
		keys.ToNow:       simply(func(m *model) { m.Time.End, m.Time.At = time.Time{}, time.Time{} }),
		keys.Follow:      onTime(timelineScreen.switchFollow),
		keys.OnlyChanged: simply(func(m *model) { m.Time.Changed = !m.Time.Changed }),
		keys.Legend:      simply(func(m *model) { m.Time.Swapped = !m.Time.Swapped }),
		keys.Window:      simply(func(m *model) { m.Menu = keys.InWindow }),
		keys.SortLanes:   simply(func(m *model) { m.Menu = keys.InLaneSort }),
		keys.At:          typed(func(m timelineScreen, text string) { m.replay.goBack(text) }, "-5m", "-15m", "-1h", "-6h"),
		keys.WindowOf:    typed(timelineScreen.showWindow, lengths...),
		keys.NoteText:    {arguments: oneOf(func(*model) []string { return nil }), do: func(m *model, text string) tea.Cmd { return timelineScreen{m}.note(text) }},
		keys.Note:        asking(func(m *model) tea.Cmd { return m.line.begin(keys.InCommand, "note ") }),
	}
	for i, o := range map[keys.Intent]screen.LaneOrder{
		"lanes-as-list": screen.LanesAsList, "lanes-by-changes": screen.LanesByChanges, "lanes-by-gaps": screen.LanesByGaps,
	} {
		all[i] = simply(func(m *model) { m.Time.Order = o })
	}
	for _, length := range lengths {
		all[keys.Intent("window-"+length)] = onTime(func(m timelineScreen) { m.showWindow(length) })
	}
	return all
}

// listLanes brings the lanes up to date: the rows of the list, in the order that was asked for. The
// cursor of the list and that of the lanes are one.
func (m timelineScreen) listLanes() {
	m.sumLanes()
	handles := m.lanes()
	if m.Time.Changed || m.Time.Order != screen.LanesAsList {
		handles = m.laneTotals.order(m.Time.Changed, m.Time.Order)
	}
	m.Time.Lanes.SetKeys(handles)
	m.Time.Lanes.SetHeight(screen.LaneRows(&m.Scene))
	picked, ok := m.Locks.Selected()
	if at, _ := m.Time.Lanes.Selected(); at.Recorded() && picked == m.Time.Beside {
		return
	} else if ok && at != picked && !m.Time.Lanes.Select(picked) {
		if at, ok = m.Time.Lanes.Selected(); ok && !at.Recorded() {
			m.Locks.Select(at)
		}
	}
}

// moveLane moves the cursor from lane to lane.
func (m timelineScreen) moveLane(i keys.Intent) {
	moveIn(&m.Time.Lanes, i)
	if h, ok := m.Time.Lanes.Selected(); h.Recorded() {
		m.Time.Beside, _ = m.Locks.Selected()
	} else if ok {
		m.Locks.Select(h)
	}
}

// moveCursor moves the cursor by columns.
func (m timelineScreen) moveCursor(n int) {
	win := screen.TimeWindow(&m.Scene)
	m.goTo(screen.CursorAt(&m.Scene).Add(time.Duration(n)*win.Step), win)
}

// goTo puts the cursor at an instant, and brings that into sight: the present follows, where the
// cursor came from before it.
func (m timelineScreen) goTo(at time.Time, win timeline.Window) {
	if !at.Before(screen.DrawnTo(&m.Scene)) {
		m.Time.At = time.Time{}
		if !m.Time.End.IsZero() && !m.Now.Before(m.Time.End) {
			m.stopFollowing(m.Now, win)
			m.Time.At = m.Now
		}
		return
	}
	m.Time.At = at
	switch c := win.Column(at); {
	case c < 0:
		m.stopFollowing(at.Add(win.Step*time.Duration(win.Columns-1)), win)
	case c >= win.Columns:
		m.stopFollowing(at, win)
	}
}

// far is goTo for an instant that may be far away: it is brought to the middle.
func (m timelineScreen) far(at time.Time, win timeline.Window) {
	if c := win.Column(at); c < 0 || c >= win.Columns {
		m.stopFollowing(at.Add(win.Span()/2), win)
	}
	m.goTo(at, screen.TimeWindow(&m.Scene))
}

// stopFollowing has the window end with the column that an instant lies in, but not later than one
// that follows the present. It no longer moves with the time.
func (m timelineScreen) stopFollowing(last time.Time, win timeline.Window) {
	if m.Time.End.IsZero() {
		m.Say("the window stays here: " + m.Keys.KeyIn(keys.InTimeline, keys.ToNow) + " goes to now, " + m.Keys.KeyIn(keys.InTimeline, keys.Follow) + " follows again")
	}
	m.Time.Step = win.Step
	latest := timeline.Following(m.Now, win.Step, win.Columns).End()
	m.Time.End = timeline.Ending(sources.Earlier(last, latest.Add(-1)), win.Step, win.Columns).End()
}

// turnPage moves the window by its length, and the cursor with it.
func (m timelineScreen) turnPage(n int) {
	win := screen.TimeWindow(&m.Scene)
	at := screen.CursorAt(&m.Scene).Add(time.Duration(n) * win.Span())
	m.stopFollowing(win.End().Add(time.Duration(n)*win.Span()-1), win)
	m.goTo(sources.Later(at, screen.TimeWindow(&m.Scene).Start), screen.TimeWindow(&m.Scene))
}

// jump goes to the change before the cursor, or with +1 to the next one, of the selected lane or of
// any. What may lie nearer in the recording is looked for there.
func (m timelineScreen) jump(step int, any bool) {
	handles := slices.Concat(m.Rows.Handles[:min(len(m.Rows.Handles), summedLanes)], m.recordedLanes())
	if !any {
		h, ok := m.Time.Lanes.Selected()
		if m.Shown != screen.Timeline {
			h, ok = m.Locks.Selected()
		}
		if handles = nil; ok {
			handles = []rows.Handle{h}
		}
	}
	from := screen.CursorAt(&m.Scene)
	if step < 0 && m.Shown != screen.Timeline {
		from = from.Add(-published) // where the jump to that change led
	}
	found, name, known := m.nearest(from, step, handles)
	if known || !pastReader(m).lookFor(from, step, any, handles) {
		m.arrive(found, name, step, any)
	}
}

// nearest is the nearest change of lanes that is known, and whether the recording knows of none
// that is nearer.
func (m timelineScreen) nearest(from time.Time, step int, handles []rows.Handle) (found time.Time, name string, known bool) {
	var since time.Time // from when on all changes are known
	for _, h := range handles {
		row, _ := m.Rows.At(h)
		if row == nil {
			continue
		}
		since = sources.Later(since, screen.KnownFrom(&m.Scene, row))
		if t := screen.LaneChange(&m.Scene, row, from, step); nearer(t, found, step) {
			found, name = t, screen.NameOf(&m.Scene, row.Ref)
		}
	}
	if step < 0 {
		return found, name, since.IsZero() || !found.IsZero() && !found.Before(since)
	}
	return found, name, !from.Before(since) && (!found.IsZero() || !m.feeds.replaying())
}

// nearer reports whether a change at t is nearer than one at found, which may be none.
func nearer(t, found time.Time, step int) bool {
	return !t.IsZero() && (found.IsZero() || step < 0 == t.After(found))
}

// land ends a jump with what was found in the recording, if anything.
func (m timelineScreen) land(j jump, change []history.Event) {
	var handles []rows.Handle
	for _, ref := range j.refs {
		if h, ok := m.find(ref); ok {
			handles = append(handles, h)
		}
	}
	found, name, _ := m.nearest(j.from, j.step, handles)
	if len(change) > 0 && nearer(change[0].At, found, j.step) {
		found, name = change[0].At, screen.NameOf(&m.Scene, change[0].Ref)
	}
	m.arrive(found, name, j.step, j.any)
}

// arrive moves the cursor to the change that was found; without one a message says so.
func (m timelineScreen) arrive(found time.Time, name string, step int, any bool) {
	switch {
	case !found.IsZero() && m.feeds.replaying() && (m.Shown != screen.Timeline || found.After(m.Now)):
		m.Message = ""
		m.replay.travel(found.Add(published))
	case !found.IsZero():
		m.Message = ""
		if m.far(found, screen.TimeWindow(&m.Scene)); any {
			m.Say(name + " changed")
		}
	case step < 0:
		m.Say("no change before is known")
	default:
		m.Say("no change after this one")
	}
}

// zoom takes the next longer or shorter columns. The cursor keeps its column, and where it is at
// the present, the window goes on to follow.
func (m timelineScreen) zoom(n int) {
	win := screen.TimeWindow(&m.Scene)
	step := timeline.Zoomed(win.Step, n)
	if step == win.Step {
		m.Say("1 column = " + format.Age(step) + " is the " + map[bool]string{true: "longest", false: "shortest"}[n > 0])
	}
	m.resize(step, win)
}

// resize takes columns of another length.
func (m timelineScreen) resize(step time.Duration, win timeline.Window) {
	m.Time.Step = step
	at := m.Time.At
	if at.IsZero() && m.Time.End.IsZero() {
		return
	}
	if at.IsZero() {
		at = win.End().Add(-1)
	}
	column := min(max(win.Column(at), 0), win.Columns-1)
	last := at.Add(step * time.Duration(win.Columns-1-column))
	if m.Time.End.IsZero() && !last.Before(m.Now) {
		return // the present is in sight, so it goes on to follow
	}
	m.stopFollowing(last, timeline.Window{Step: step, Columns: win.Columns})
}

// switchFollow has the window move with the time, or stay.
func (m timelineScreen) switchFollow() {
	if m.Time.End.IsZero() {
		win := screen.TimeWindow(&m.Scene)
		m.stopFollowing(m.Now, win)
		return
	}
	m.Time.End = time.Time{}
	if win := screen.TimeWindow(&m.Scene); !m.Time.At.IsZero() && win.Column(m.Time.At) < 0 {
		m.Time.At = time.Time{}
	}
	m.Say("follows the present")
}

// showWindow has the window show at least a length of time.
func (m timelineScreen) showWindow(text string) {
	length, ok := format.ParseLength(text)
	if !ok || length == 0 {
		m.Say("no length: " + paint.Clean(text) + "; write " + format.LengthForms)
		return
	}
	if m.Shown != screen.Timeline {
		m.switchTo(screen.Timeline)
	}
	win := screen.TimeWindow(&m.Scene)
	m.resize(timeline.Fit(m.Now, length, win.Columns).Step, win)
}

// goToTime shows the Timeline at a time.
func (m timelineScreen) goToTime(text string) {
	at, ok := m.replay.instant(text)
	switch {
	case !ok:
		return
	case at.After(m.Now) && m.feeds.replaying():
		m.replay.travel(at)
		return
	case at.After(m.Now):
		m.Say(paint.Clean(text) + " is still to come")
		return
	}
	if m.Shown != screen.Timeline {
		m.switchTo(screen.Timeline)
	}
	m.far(at, screen.TimeWindow(&m.Scene))
}

// note writes a note: at the cursor of the Timeline, else at this moment.
func (m timelineScreen) note(text string) tea.Cmd {
	switch {
	case text == "":
		m.Say("no note: write a word")
		return nil
	case m.feeds.replaying() || m.options.Note == nil:
		m.Say("this is a recording: it takes no notes")
		return nil
	}
	about, when := m.feeds.shown().Now(), "now"
	if m.Shown == screen.Timeline && !m.Time.At.IsZero() {
		about, when = m.Time.At, "at "+paint.TimeOfDay(m.Time.At, m.Now)
	}
	write := m.options.Note
	return m.acting.Await(func() error { return write(text, about) }, func(err error) {
		if err != nil {
			m.SayFor(longMessage, "noted "+when+", on this screen only: "+paint.Clean(err.Error()))
			return
		}
		m.Say("noted " + when + ": " + paint.Clean(text))
	})
}
