package terminal

import (
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
)

func TestTheTickerRestsWhileThereIsNoFrame(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var writing atomic.Bool
		f := FramesOf(t.Context(), new(tea.Program), writing.Load)
		defer f.Close()
		f.ticker = time.NewTicker(framePause)
		f.rest = time.AfterFunc(restAfter, f.slowDown)
		ticks := func(d time.Duration) (n int) {
			for end := time.After(d); ; n++ {
				select {
				case <-f.ticker.C:
				case <-end:
					return n
				}
			}
		}
		f.Drawn()
		for range 3 {
			if n := ticks(restAfter - time.Millisecond); n < 1 {
				t.Errorf("%d ticks after a frame", n)
			}
			f.Drawn()
		}
		ticks(2 * restAfter)
		if n := ticks(10 * time.Second); n != int(10*time.Second/restPause) {
			t.Errorf("%d ticks in 10 s without a frame", n)
		}
		f.Drawn()
		if n := ticks(framePause + time.Millisecond); n != 1 {
			t.Errorf("%d ticks after a frame that came at rest", n)
		}
		f.rest.Stop() // as if it had called slowDown, which waits while a frame is made
		f.Drawn()
		f.Drawn()
		f.slowDown()
		if n := ticks(restAfter - time.Millisecond); n < 1 {
			t.Errorf("%d ticks after a frame that was made just in time", n)
		}
		writing.Store(true) // the next frame waits until this one is out
		time.Sleep(5 * restAfter)
		writing.Store(false)
		if n := ticks(framePause); n != 1 {
			t.Errorf("%d ticks when a frame was out that took long", n)
		}
	})
}

// looking is a model that quits after its first frame.
type looking struct{ drawn func() }

func (l looking) Init() tea.Cmd                       { return tea.Quit }
func (l looking) Update(tea.Msg) (tea.Model, tea.Cmd) { return l, nil }
func (l looking) View() tea.View {
	l.drawn()
	return tea.NewView("")
}

// TestTheTickerOfBubbleTeaIsFound fails if a new version of Bubble Tea keeps its ticker elsewhere.
func TestTheTickerOfBubbleTeaIsFound(t *testing.T) {
	t.Parallel()
	var p *tea.Program
	found := false
	p = tea.NewProgram(looking{func() { found = found || tickerOf(p) != nil }}, tea.WithInput(nil), tea.WithOutput(io.Discard), tea.WithoutSignalHandler())
	if _, err := p.Run(); err != nil || !found {
		t.Errorf("%v, found %v", err, found)
	}
}
