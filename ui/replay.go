package ui

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/ground/format"
	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/ui/cursor"
	"coordtop/ui/dialog"
	"coordtop/ui/keys"
	"coordtop/ui/paint"
	"coordtop/ui/rows"
	"coordtop/ui/screen"
)

// feeds is the live feed and a recording, one of which is shown. The program's loop switches,
// and the pump calls it beside that.
type feeds struct {
	live   Feed            // nil: there is only a recording
	player *history.Player // nil: nothing is recorded
	past   atomic.Bool     // the recording is shown
	soon   atomic.Bool     // a verdict changes by itself before long: no second may be left out
	wake   chan struct{}   // capacity 1: merged from both
}

func newFeeds(o Options) *feeds {
	f := &feeds{live: o.Feed, player: o.Player, wake: make(chan struct{}, 1)}
	f.past.Store(o.Feed == nil)
	return f
}

func (f *feeds) shown() Feed {
	if f.past.Load() {
		return f.player
	}
	return f.live
}

// Wake receives after there is something new in what is shown.
func (f *feeds) Wake() <-chan struct{} {
	switch {
	case f.live == nil:
		return f.player.Wake()
	case f.player == nil:
		return f.live.Wake()
	}
	return f.wake
}

// merge passes the wake-ups of what is shown on, until ctx ends.
func (f *feeds) merge(ctx context.Context) {
	if f.live == nil || f.player == nil {
		return
	}
	for {
		past := false
		select {
		case <-ctx.Done():
			return
		case <-f.live.Wake():
		case <-f.player.Wake():
			past = true
		}
		if past == f.past.Load() {
			select {
			case f.wake <- struct{}{}:
			default:
			}
		}
	}
}

// clock is the time outside the recording.
func (f *feeds) clock() time.Time {
	if f.live == nil {
		return f.player.Clock()
	}
	return f.live.Now()
}

// tick is the time from which the pump counts to the next second. The time of a recording may be
// paused, or run many times as fast: there it is a whole second, so that the next one is one of ours
// away.
func (f *feeds) tick() time.Time {
	if f.past.Load() {
		return f.shown().Now().Truncate(time.Second)
	}
	return f.shown().Now()
}

// ErrPast reports an action that was asked for while the past was shown.
var ErrPast = errors.New("this is the past: nothing can be done to it")

// presentOperator is an operator that refuses to act while the past is shown.
type presentOperator struct {
	Operator
	feeds *feeds
}

// Start refuses in the past.
func (o presentOperator) Start(r action.Request) (uint64, error) {
	if o.feeds.past.Load() {
		return 0, ErrPast
	}
	return o.Operator.Start(r)
}

// Arm refuses in the past.
func (o presentOperator) Arm(source, typed string) error {
	if o.feeds.past.Load() {
		return ErrPast
	}
	return o.Operator.Arm(source, typed)
}

// replay brings the board to the past and back.
type replay struct {
	part
	sums     *laneTotals
	timeline *timelinePart
	list     *rowList

	present liveView    // while the past is shown
	anew    bool        // the rows are others than before
	cuts    uint64      // of the Player, whose rows and events are shown
	chosen  sources.Ref // where the person put the cursor last, also while that row is absent
	wanted  sources.Ref // where the cursor is to be at the instant that is being gone to; zero: where it is
}

// liveView keeps the present while the board shows the past.
type liveView struct {
	events  rows.Log
	started time.Time
}

// goBack shows the state as it was at an instant that is typed.
func (r *replay) goBack(text string) {
	if r.scene.Shown == screen.Timeline || r.feeds.player == nil {
		r.timeline.goToTime(text)
		return
	}
	if t, ok := r.instant(text); ok && r.feeds.live != nil && t.Equal(r.scene.Clock) {
		r.toNow()
	} else if ok {
		r.travel(t)
	}
}

// instant parses a typed time. If the replay cannot show it, instant shows the reason.
func (r *replay) instant(text string) (t time.Time, ok bool) {
	now := r.scene.Clock
	if r.feeds.live == nil { // its today is the day that is shown
		y, month, day := r.scene.Now.Date()
		now = sources.Earlier(now, time.Date(y, month, day+1, 0, 0, 0, -1, r.scene.Now.Location()))
	}
	switch t, ok = format.ParseInstant(text, now, r.scene.Now); {
	case !ok:
		r.host.Say("no time: " + paint.Clean(text) + "; write " + format.InstantForms)
	case r.feeds.live != nil && t.After(r.scene.Clock):
		r.host.Say(paint.Clean(text) + " is still to come")
		return t, false
	}
	return t, ok
}

// travel shows the state of all screens as it was at an instant.
func (r *replay) travel(t time.Time) {
	f := r.feeds
	if f.player == nil {
		r.host.Say("nothing is recorded here, so all screens but the Timeline show now only")
		return
	}
	if !f.past.Load() {
		r.present = liveView{r.scene.Events, r.scene.Started}
		f.past.Store(true)
		r.scene.Paused, r.cuts = time.Time{}, 0
		f.player.Play(false)
	}
	r.scene.Message = "" // such as where a replay begins, or the welcome of the demo, which offers an action
	r.scene.Time.End, r.scene.Time.At = time.Time{}, time.Time{}
	f.player.Seek(t)
	r.host.second()
}

// toNow shows the present again.
func (r *replay) toNow() {
	switch f := r.feeds; {
	case !f.past.Load():
		r.host.Say("this is now")
	case f.live == nil:
		r.travel(r.scene.Clock.AddDate(100, 0, 0)) // later than any clock was
		r.host.Say("this is the end of the recording: there is no present to go to")
	default:
		f.player.Play(false)
		f.past.Store(false)
		r.forgetStates()
		r.scene.Events, r.scene.Started, r.scene.Replay = r.present.events, r.present.started, nil
		r.present = liveView{}
		r.host.Say("this is now again")
		r.scene.Time.End, r.scene.Time.At = time.Time{}, time.Time{}
		r.host.second()
	}
}

// replaying reports whether the past is shown.
func (f *feeds) replaying() bool { return f.past.Load() }

// follows brings the board to where the replay is, and reports whether there is something to
// show.
func (r *replay) follows() bool {
	if !r.feeds.replaying() {
		return true
	}
	at := r.feeds.player.Position()
	if at.Run == 0 && !at.Moving && at.Err != nil && r.feeds.live != nil {
		r.toNow()
		r.host.Say("cannot go back: " + paint.Clean(at.Err.Error()))
		return true
	}
	r.scene.Replay = &at
	if at.Run == 0 && r.scene.State != nil { // it has read nothing yet
		return false
	}
	if at.Cuts != r.cuts {
		r.cuts, r.scene.Started = at.Cuts, at.Began.In(r.scene.Now.Location())
		r.forgetStates()
	}
	return true
}

// forgetStates forgets what was kept of states from which the next one does not follow.
func (r *replay) forgetStates() {
	r.scene.Events, r.scene.EventList = rows.Log{}, cursor.List[uint64]{}
	r.scene.Time.Past, r.scene.Time.Since, r.scene.Time.MarksOf, r.scene.Time.Marks = nil, time.Time{}, history.Span{}, nil
	r.scene.Attention, r.scene.Pulse = screen.Attention{}, screen.PulseState{}
	*r.sums = laneTotals{}
	r.scene.Rows.Reset()
	r.anew = true
	r.scene.Forget()
}

// replayed is a handler of what only a recording can do.
func replayed(do func(p *history.Player)) handler {
	return simply(func(m *model) {
		if !m.feeds.replaying() {
			m.Say("this is now: " + m.Keys.KeyOf(keys.At) + " goes to an earlier time")
			return
		}
		m.Message = ""
		do(m.feeds.player)
		m.second()
	})
}

// replayHandlers are those of moving in time.
func replayHandlers() map[keys.Intent]handler {
	return map[keys.Intent]handler{
		keys.Past:          simply(func(m *model) { m.replay.travel(screen.CursorAt(&m.Scene)) }),
		keys.Present:       simply(func(m *model) { m.replay.toNow() }),
		keys.Play:          replayed(func(p *history.Player) { p.Play(!p.Position().Playing) }),
		keys.NextEvent:     replayed(func(p *history.Player) { p.Step(+1) }),
		keys.PreviousEvent: replayed(func(p *history.Player) { p.Step(-1) }),
		keys.Faster:        replayed(func(p *history.Player) { p.Faster(+1) }),
		keys.Slower:        replayed(func(p *history.Player) { p.Faster(-1) }),
		keys.Start:         replayed(func(p *history.Player) { p.Seek(time.Unix(0, 0)) }),
		keys.Believed:      replayed(func(p *history.Player) { p.Believe(!p.Position().Believed) }),
	}
}

// refused reports whether the intent acts on the past, where nothing can be done, and tells the person so.
func (r *replay) refused(i keys.Intent) bool {
	if !r.feeds.replaying() || !i.Acts() {
		return false
	}
	text := ErrPast.Error()
	if r.feeds.live != nil {
		text += "; " + r.scene.Keys.KeyOf(keys.Present) + " goes back to now"
	}
	r.host.Say(paint.Clean(text))
	return true
}

// latest is the feed in which dialogs look rows up: the present, where there is one.
func (f *feeds) latest() dialog.Latest {
	if f.live == nil {
		return f.player
	}
	if l, ok := f.live.(Looker); ok {
		return l.Own()
	}
	return f.live
}

// reach puts the cursor on the row that is wanted, once the instant is reached.
func (r *replay) reach() {
	ref := r.wanted
	if ref == (sources.Ref{}) || !r.feeds.replaying() || r.feeds.player.Position().Moving {
		return
	}
	r.wanted = sources.Ref{}
	if h, ok := r.host.find(ref); ok {
		r.scene.Locks.Select(h)
	} else {
		r.host.Say(paint.Clean(ref.Name) + " is not known at this time")
	}
}

// regain puts the cursor on the row that the person chose last, in a list of others: their handles
// mean nothing there.
func (r *replay) regain() {
	old := r.scene.Locks
	r.scene.Locks = cursor.List[rows.Handle]{}
	r.scene.Locks.SetHeight(old.Height())
	r.scene.Locks.SetKeys(r.scene.Rows.Handles)
	if old.Moved() {
		r.chosen = r.list.cursorRow
	}
	if h, ok := r.host.find(r.chosen); ok {
		r.scene.Locks.Select(h)
	} else if old.Moved() && r.chosen != (sources.Ref{}) {
		r.host.Say(paint.Clean(r.chosen.Name) + " is not known at this time")
		r.list.cursorRow = sources.Ref{}
	}
}
