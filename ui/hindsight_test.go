package ui

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/historytest"
	"coordtop/ui/screen"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

func TestAnOutageIsDrawnFromItsBeginningOrAsItWasBelieved(t *testing.T) {
	t.Parallel()
	pastBoard(t, nil, func(t *testing.T, d *driver, _ *history.Player) {
		d.goes("at 00:20:01")
		hole := "leases: not observed 00:19:59 - 00:22:0"
		for range 2 {
			d.shows(t, "as known now")
			d.shows(t, hole)
			d.shows(t, "shown as known at 00:19:59")
			d.shows(t, "1 source down")
			d.press("b")
			d.shows(t, "as believed then")
			d.showsNot(t, hole)
			d.shows(t, "no problems")
			d.press("b")
		}
	})
}

// eventsOnly is a recording that is asked for events alone.
type eventsOnly struct {
	*historytest.Log
	recording
}

func (e *eventsOnly) Runs(ctx context.Context) ([]history.Run, error) { return e.Log.Runs(ctx) }

func (e *eventsOnly) Dark(ctx context.Context, span history.Span) ([]history.DarkChange, error) {
	return e.Log.Dark(ctx, span)
}

func (e *eventsOnly) Events(ctx context.Context, at time.Time, before, after int, of history.EventFilter) ([]history.Event, error) {
	return e.Log.Events(ctx, at, before, after, of)
}

func TestTheKeysOfAReplayGoToChangesAndToItsEnds(t *testing.T) {
	t.Parallel()
	log := hour(t)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(2 * time.Hour) // until all of it is over
		p := history.NewPlayer(t.Context(), log, log)
		defer p.Close()
		p.Seek(at(5 * time.Minute))
		synctest.Wait()
		d := &driver{model: board(Options{Player: p, History: &eventsOnly{Log: log}, Width: 80, Height: 24})}
		d.shows(t, "? help  q quit  [ ] change  :at TIME jump  ( start  0 end  space play")
		d.rowList.cursorRow = historytest.Billing()
		h, _ := d.find(d.rowList.cursorRow)
		d.Locks.Select(h)
		goes := func(key string, want time.Duration) {
			t.Helper()
			d.answer(d.send(uitest.Key(key)))
			synctest.Wait()
			d.answer(d.send(terminal.WakeMsg{}))
			second(d.model)
			if at := p.Position().At.Sub(at(0)); at != want {
				t.Errorf("%s goes to %v, not to %v", key, at, want)
			}
		}
		goes("]", 10*time.Minute+published)
		goes("]", 10*time.Minute+300*time.Millisecond+published)
		goes("]", 10*time.Minute+2*time.Second+published)
		goes("[", 10*time.Minute+300*time.Millisecond+published)
		goes("[", 10*time.Minute+published)
		goes("[", 10*time.Minute+published)
		d.shows(t, "no change before is known")
		goes("(", 0)
		goes(")", historytest.Length+historytest.Step)
		d.press("3")
		d.goes("at 00:10")
		if at := p.Position().At.Sub(at(0)); at != historytest.Length+historytest.Step || d.Time.At.IsZero() {
			t.Errorf("an earlier time on the Timeline moves all screens to %v", at)
		}
		goes("(", 0)
		d.goes("at 00:30")
		if at := p.Position().At.Sub(at(0)); at != 30*time.Minute || d.Shown != screen.Timeline {
			t.Errorf("a later time on the Timeline goes to %v", at)
		}
	})
}
