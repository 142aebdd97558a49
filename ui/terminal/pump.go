package terminal

import (
	"context"
	"runtime/debug"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/ground/backoff"
)

// WakeMsg announces something new to show.
type WakeMsg struct{}

// SecondMsg is sent when a second of the shown clock begins: several rows change in one frame. Only
// it and ColumnMsg are sent while nothing happens. If nothing happened and no key was pressed for
// calmAfter, it is sent every CalmStep only.
type SecondMsg struct {
	Whole bool // no ColumnMsg follows because the terminal is slow: the strips move in the same frame
}

// ColumnMsg is sent shortly after a SecondMsg: the strips move now. In the same frame as the
// countdowns they would cost many bytes.
type ColumnMsg struct{}

const (
	// eventPause bounds the delay of events without a new state: states are paced already, but
	// every event wakes the Pump.
	eventPause = 100 * time.Millisecond
	// framePause is the shortest time between two wake-ups: Bubble Tea draws no more frames.
	framePause = 16 * time.Millisecond
	// columnPause is the time from a SecondMsg to its ColumnMsg: Bubble Tea, which draws 60 frames a
	// second, makes two frames of them.
	columnPause = 50 * time.Millisecond
)

// After calmAfter without a key and without news, a SecondMsg is sent every CalmStep only: a frame
// costs some 3 ms of CPU, however little has changed.
const (
	calmAfter = 30 * time.Second
	CalmStep  = 2 * time.Second
)

// tidyStep is the least pause after which a calm program gives memory back to the system again; the
// pause is at least a thousand times as long as giving it back took.
const tidyStep = time.Minute

// Pump turns wake-ups and the passing of seconds into messages.
type Pump struct {
	Wake     func() <-chan struct{} // of the feed
	Acts     <-chan struct{}        // of the operator; may be nil
	Now      func() time.Time
	Revision func() uint64 // of the newest state that can be shown
	Send     func(tea.Msg) // returns when the program has received the message
	Slow     func() bool   // reports whether the terminal is slow; nil: it is not

	Typed <-chan struct{} // receives after something was typed; may be nil
	Soon  func() bool     // reports whether a verdict changes by itself within two CalmSteps and a second; nil: none does

	second *time.Timer // to the next SecondMsg
	calmed *time.Timer // to the beginning of a calm
	calm   bool        // nothing was typed, and nothing happened, for calmAfter
}

// Run sends messages until ctx ends, then returns nil. While the program is busy, Run waits in Send;
// all events during that wait cause one more wake-up.
func (p *Pump) Run(ctx context.Context) error {
	p.second, p.calmed = time.NewTimer(untilTurn(p.Now(), time.Second)), time.NewTimer(calmAfter)
	defer p.second.Stop()
	defer p.calmed.Stop()
	column := time.NewTimer(columnPause)
	defer column.Stop()
	var shown uint64 // revision of the state that was sent last
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-p.calmed.C:
			p.calm = true
			began := p.Now()
			debug.FreeOSMemory() // nobody waits, and the next collection may be minutes away
			p.calmed.Reset(max(tidyStep, 1000*p.Now().Sub(began)))
			continue
		case <-p.Typed:
			p.news()
			continue
		case <-p.second.C:
			step, whole := time.Second, p.slow()
			if p.calm && (p.Soon == nil || !p.Soon()) {
				step = CalmStep // its strips, too, move in a frame of their own: in one frame every line is written anew
			}
			p.Send(SecondMsg{whole})
			p.second.Reset(untilTurn(p.Now(), step))
			if !whole {
				column.Reset(columnPause)
			}
			continue
		case <-column.C:
			if !p.slow() { // else the next second brings them
				p.Send(ColumnMsg{})
			}
			continue
		case <-p.Acts:
			p.news()
		case <-p.Wake():
			p.news()
			if p.slow() {
				continue // the next second brings it
			}
			if !p.awaitState(ctx, shown) {
				return nil
			}
		}
		shown = p.Revision()
		p.Send(WakeMsg{})
		if backoff.Sleep(ctx, framePause) != nil {
			return nil
		}
	}
}

func (p *Pump) slow() bool { return p.Slow != nil && p.Slow() }

// news ends a calm, in which the next second may be more than one away.
func (p *Pump) news() {
	p.calmed.Reset(calmAfter)
	if p.calm {
		p.calm = false
		p.second.Reset(untilTurn(p.Now(), time.Second))
	}
}

// untilTurn returns the time from t to the next multiple of step.
func untilTurn(t time.Time, step time.Duration) time.Duration {
	return t.Truncate(step).Add(step).Sub(t)
}

// awaitState waits for a state other than shown or for a wake-up of the operator, but no longer than
// eventPause; false: ctx ended.
func (p *Pump) awaitState(ctx context.Context, shown uint64) bool {
	t := time.NewTimer(eventPause)
	defer t.Stop()
	for p.Revision() == shown {
		select {
		case <-ctx.Done():
			return false
		case <-p.Wake():
		case <-p.Acts:
			return true
		case <-t.C:
			return true
		}
	}
	return true
}
