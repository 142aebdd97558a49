package ui

import (
	"context"
	"maps"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/ground/format"
	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/ui/dialog"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
	"coordtop/ui/screen"
	"coordtop/ui/timeline"
)

// timelinePart is the Timeline as keys and commands change it.
type timelinePart struct {
	part
	sums    laneTotals
	past    *pastReader
	replay  *replay
	acting  *dialog.Acting
	options *Options
}

// onTime is a handler that changes what the Timeline shows.
func onTime(do func(*timelinePart)) handler { return simply(func(m *model) { do(m.timeline) }) }

// timelineHandlers are those of the Timeline screen.
func timelineHandlers() map[keys.Intent]handler {
	typed := func(do func(*timelinePart, string), offered ...string) handler {
		return taking(func(m *model, argument string) { do(m.timeline, argument) }, oneOf(func(*model) []string { return slices.Clone(offered) }))
	}
	lengths := []string{"1m", "5m", "15m", "1h", "6h", "24h", "168h", "720h"}
	all := map[keys.Intent]handler{
		keys.BackOne:     onTime(func(t *timelinePart) { t.moveCursor(-1) }),
		keys.OnOne:       onTime(func(t *timelinePart) { t.moveCursor(+1) }),
		keys.EarlierPage: onTime(func(t *timelinePart) { t.turnPage(-1) }),
		keys.LaterPage:   onTime(func(t *timelinePart) { t.turnPage(+1) }),
		keys.LastChange:  onTime(func(t *timelinePart) { t.jump(-1, false) }),
		keys.NextChange:  onTime(func(t *timelinePart) { t.jump(+1, false) }),
		keys.LastOfAny:   onTime(func(t *timelinePart) { t.jump(-1, true) }),
		keys.NextOfAny:   onTime(func(t *timelinePart) { t.jump(+1, true) }),
		keys.ZoomIn:      onTime(func(t *timelinePart) { t.zoom(-1) }),
		keys.ZoomOut:     onTime(func(t *timelinePart) { t.zoom(+1) }),
		keys.ToNow:       simply(func(m *model) { m.Time.End, m.Time.At = time.Time{}, time.Time{} }),
		keys.Follow:      onTime((*timelinePart).switchFollow),
		keys.OnlyChanged: simply(func(m *model) { m.Time.Changed = !m.Time.Changed }),
		keys.Legend:      simply(func(m *model) { m.Time.Swapped = !m.Time.Swapped }),
		keys.Window:      simply(func(m *model) { m.Menu = keys.InWindow }),
		keys.SortLanes:   simply(func(m *model) { m.Menu = keys.InLaneSort }),
		keys.At:          typed(func(t *timelinePart, text string) { t.replay.goBack(text) }, "-5m", "-15m", "-1h", "-6h"),
		keys.WindowOf:    typed((*timelinePart).showWindow, lengths...),
		keys.NoteText:    {arguments: oneOf(func(*model) []string { return nil }), do: func(m *model, text string) tea.Cmd { return m.timeline.note(text) }},
		keys.Note:        asking(func(m *model) tea.Cmd { return m.line.begin(keys.InCommand, "note ") }),
	}
	for i, o := range map[keys.Intent]screen.LaneOrder{
		"lanes-as-list": screen.LanesAsList, "lanes-by-changes": screen.LanesByChanges, "lanes-by-gaps": screen.LanesByGaps,
	} {
		all[i] = simply(func(m *model) { m.Time.Order = o })
	}
	for _, length := range lengths {
		all[keys.Intent("window-"+length)] = onTime(func(t *timelinePart) { t.showWindow(length) })
	}
	return all
}

// listLanes brings the lanes up to date: the rows of the list, in the order that was asked for. The
// cursor of the list and that of the lanes are one.
func (t *timelinePart) listLanes() {
	maps.DeleteFunc(t.scene.Time.Past, func(_ sources.Ref, p *history.Past) bool { return p.Step > 0 })
	t.sumLanes()
	handles := t.lanes(len(t.scene.Rows.Handles))
	if t.scene.Time.Changed || t.scene.Time.Order != screen.LanesAsList {
		handles = t.sums.order(t.scene.Time.Changed, t.scene.Time.Order)
	}
	t.scene.Time.Lanes.SetKeys(handles)
	t.scene.Time.Lanes.SetHeight(screen.LaneRows(t.scene))
	picked, ok := t.scene.Locks.Selected()
	if at, _ := t.scene.Time.Lanes.Selected(); at.Recorded() && picked == t.scene.Time.Beside {
		return
	} else if ok && at != picked && !t.scene.Time.Lanes.Select(picked) {
		if at, ok = t.scene.Time.Lanes.Selected(); ok && !at.Recorded() {
			t.scene.Locks.Select(at)
		}
	}
}

// moveLane moves the cursor from lane to lane.
func (t *timelinePart) moveLane(i keys.Intent) {
	moveIn(&t.scene.Time.Lanes, i)
	if h, ok := t.scene.Time.Lanes.Selected(); h.Recorded() {
		t.scene.Time.Beside, _ = t.scene.Locks.Selected()
	} else if ok {
		t.scene.Locks.Select(h)
	}
}

// moveCursor moves the cursor by columns.
func (t *timelinePart) moveCursor(n int) {
	win := screen.TimeWindow(t.scene)
	t.goTo(screen.CursorAt(t.scene).Add(time.Duration(n)*win.Step), win)
}

// goTo puts the cursor at an instant, and brings that into sight: the present follows, where the
// cursor came from before it.
func (t *timelinePart) goTo(at time.Time, win timeline.Window) {
	if !at.Before(screen.DrawnTo(t.scene)) {
		t.scene.Time.At = time.Time{}
		if !t.scene.Time.End.IsZero() && !t.scene.Now.Before(t.scene.Time.End) {
			t.stopFollowing(t.scene.Now, win)
			t.scene.Time.At = t.scene.Now
		}
		return
	}
	t.scene.Time.At = at
	switch c := win.Column(at); {
	case c < 0:
		t.stopFollowing(at.Add(win.Step*time.Duration(win.Columns-1)), win)
	case c >= win.Columns:
		t.stopFollowing(at, win)
	}
}

// far is goTo for an instant that may be far away: it is brought to the middle.
func (t *timelinePart) far(at time.Time, win timeline.Window) {
	if c := win.Column(at); c < 0 || c >= win.Columns {
		t.stopFollowing(at.Add(win.Span()/2), win)
	}
	t.goTo(at, screen.TimeWindow(t.scene))
}

// stopFollowing has the window end with the column that an instant lies in, but not later than one
// that follows the present. It no longer moves with the time.
func (t *timelinePart) stopFollowing(last time.Time, win timeline.Window) {
	if t.scene.Time.End.IsZero() {
		t.host.Say("the window stays here: " + t.scene.Keys.KeyIn(keys.InTimeline, keys.ToNow) + " goes to now, " + t.scene.Keys.KeyIn(keys.InTimeline, keys.Follow) + " follows again")
	}
	t.scene.Time.Step = win.Step
	latest := timeline.Following(t.scene.Now, win.Step, win.Columns).End()
	t.scene.Time.End = timeline.Ending(sources.Earlier(last, latest.Add(-1)), win.Step, win.Columns).End()
}

// turnPage moves the window by its length, and the cursor with it.
func (t *timelinePart) turnPage(n int) {
	win := screen.TimeWindow(t.scene)
	at := screen.CursorAt(t.scene).Add(time.Duration(n) * win.Span())
	t.stopFollowing(win.End().Add(time.Duration(n)*win.Span()-1), win)
	t.goTo(sources.Later(at, screen.TimeWindow(t.scene).Start), screen.TimeWindow(t.scene))
}

// jump goes to the change before the cursor, or with +1 to the next one, of the selected lane or of
// any. What may lie nearer in the recording is looked for there.
func (t *timelinePart) jump(step int, any bool) {
	handles := t.lanes(summedLanes)
	if !any {
		h, ok := t.scene.Time.Lanes.Selected()
		if t.scene.Shown != screen.Timeline {
			h, ok = t.scene.Locks.Selected()
		}
		if handles = nil; ok {
			handles = []rows.Handle{h}
		}
	}
	from := screen.CursorAt(t.scene)
	if step < 0 && t.scene.Shown != screen.Timeline {
		from = from.Add(-published) // where the jump to that change led
	}
	found, name, known := t.nearest(from, step, handles)
	if known || !t.past.lookFor(from, step, any, handles) {
		t.arrive(found, name, step, any)
	}
}

// nearest is the nearest change of lanes that is known, and whether the recording knows of none
// that is nearer.
func (t *timelinePart) nearest(from time.Time, step int, handles []rows.Handle) (found time.Time, name string, known bool) {
	var since time.Time // from when on all changes are known
	for _, h := range handles {
		row, _ := t.scene.Rows.At(h)
		if row == nil {
			continue
		}
		q := screen.QueryOf(t.scene, row)
		since = sources.Later(since, q.KnownFrom())
		if at := q.Change(from, step); nearer(at, found, step) {
			found, name = at, screen.NameOf(t.scene, row.Ref)
		}
	}
	if step < 0 {
		return found, name, since.IsZero() || !found.IsZero() && !found.Before(since)
	}
	return found, name, !from.Before(since) && (!found.IsZero() || !t.feeds.replaying())
}

// nearer reports whether a change at t is nearer than one at found, which may be none.
func nearer(t, found time.Time, step int) bool {
	return !t.IsZero() && (found.IsZero() || step < 0 == t.After(found))
}

// land ends a jump with what was found in the recording, if anything.
func (t *timelinePart) land(j jump, change []history.Event) {
	var handles []rows.Handle
	for _, ref := range j.refs {
		if h, ok := t.host.find(ref); ok {
			handles = append(handles, h)
		}
	}
	found, name, _ := t.nearest(j.from, j.step, handles)
	if len(change) > 0 && nearer(change[0].At, found, j.step) {
		found, name = change[0].At, screen.NameOf(t.scene, change[0].Ref)
	}
	t.arrive(found, name, j.step, j.any)
}

// arrive moves the cursor to the change that was found; without one a message says so.
func (t *timelinePart) arrive(found time.Time, name string, step int, any bool) {
	switch {
	case !found.IsZero() && t.feeds.replaying() && (t.scene.Shown != screen.Timeline || found.After(t.scene.Now)):
		t.scene.Message = ""
		t.replay.travel(found.Add(published))
	case !found.IsZero():
		t.scene.Message = ""
		if t.far(found, screen.TimeWindow(t.scene)); any {
			t.host.Say(name + " changed")
		}
	case step < 0:
		t.host.Say("no change before is known")
	default:
		t.host.Say("no change after this one")
	}
}

// zoom takes the next longer or shorter columns. The cursor keeps its column. If it is at the
// present, the window keeps following.
func (t *timelinePart) zoom(n int) {
	win := screen.TimeWindow(t.scene)
	step := timeline.Zoomed(win.Step, n)
	if step == win.Step {
		t.host.Say("1 column = " + format.Age(step) + " is the " + map[bool]string{true: "longest", false: "shortest"}[n > 0])
	}
	t.resize(step, win)
}

// resize takes columns of another length.
func (t *timelinePart) resize(step time.Duration, win timeline.Window) {
	t.scene.Time.Step = step
	at := t.scene.Time.At
	if at.IsZero() && t.scene.Time.End.IsZero() {
		return
	}
	if at.IsZero() {
		at = win.End().Add(-1)
	}
	column := min(max(win.Column(at), 0), win.Columns-1)
	last := at.Add(step * time.Duration(win.Columns-1-column))
	if t.scene.Time.End.IsZero() && !last.Before(t.scene.Now) {
		return // the present is in sight, so the window keeps following
	}
	t.stopFollowing(last, timeline.Window{Step: step, Columns: win.Columns})
}

// switchFollow has the window move with the time, or stay.
func (t *timelinePart) switchFollow() {
	if t.scene.Time.End.IsZero() {
		win := screen.TimeWindow(t.scene)
		t.stopFollowing(t.scene.Now, win)
		return
	}
	t.scene.Time.End = time.Time{}
	if win := screen.TimeWindow(t.scene); !t.scene.Time.At.IsZero() && win.Column(t.scene.Time.At) < 0 {
		t.scene.Time.At = time.Time{}
	}
	t.host.Say("follows the present")
}

// showWindow has the window show at least a length of time.
func (t *timelinePart) showWindow(text string) {
	length, ok := format.ParseLength(text)
	if !ok || length == 0 {
		t.host.Say("no length: " + paint.Clean(text) + "; write " + format.LengthForms)
		return
	}
	if t.scene.Shown != screen.Timeline {
		t.host.switchTo(screen.Timeline)
	}
	win := screen.TimeWindow(t.scene)
	t.resize(timeline.Fit(t.scene.Now, length, win.Columns).Step, win)
}

// goToTime shows the Timeline at a time.
func (t *timelinePart) goToTime(text string) {
	at, ok := t.replay.instant(text)
	switch {
	case !ok:
		return
	case at.After(t.scene.Now) && t.feeds.replaying():
		t.replay.travel(at)
		return
	case at.After(t.scene.Now):
		t.host.Say(paint.Clean(text) + " is still to come")
		return
	}
	if t.scene.Shown != screen.Timeline {
		t.host.switchTo(screen.Timeline)
	}
	t.far(at, screen.TimeWindow(t.scene))
}

// note writes a note: at the cursor of the Timeline, else at this moment.
func (t *timelinePart) note(text string) tea.Cmd {
	switch {
	case text == "":
		t.host.Say("no note: write a word")
		return nil
	case t.feeds.replaying() || t.options.Note == nil:
		t.host.Say("this is a recording: it takes no notes")
		return nil
	}
	about, when := t.feeds.shown().Now(), "now"
	if t.scene.Shown == screen.Timeline && !t.scene.Time.At.IsZero() {
		about, when = t.scene.Time.At, "at "+paint.TimeOfDay(t.scene.Time.At, t.scene.Now)
	}
	write := t.options.Note
	return t.acting.Await(func(context.Context) error { return write(text, about) }, func(err error) {
		if err != nil {
			t.host.SayFor(longMessage, "noted "+when+", on this screen only: "+paint.Clean(err.Error()))
			return
		}
		t.host.Say("noted " + when + ": " + paint.Clean(text))
	})
}
