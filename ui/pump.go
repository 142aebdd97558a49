package ui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
)

// wakeMsg says that the feed or the operator has something new.
type wakeMsg struct{}

// secondMsg comes once a second of the feed's clock, when it turns over: several rows
// change in one frame. It and the message after it are all that ticks while nothing happens.
type secondMsg struct{}

// columnMsg comes a moment after the message of a second: now the strips may move, see
// model.stripsAt.
type columnMsg struct{}

// eventPause is how long events without a new state may wait: the feed already paces
// its states, but it wakes for every event.
const eventPause = 100 * time.Millisecond

// framePause is the shortest time between two wake-ups: more is not drawn anyway.
const framePause = 16 * time.Millisecond

// columnPause is the time from the message of a second to that of the strips: enough for
// Bubble Tea, which draws 60 frames a second, to make two of them.
const columnPause = 50 * time.Millisecond

// pump turns the wake-ups of the feed and of the operator (acts; nil: there is none) and
// the passing of seconds into messages until ctx ends. While the program is busy it waits
// in send, and everything that happens meanwhile is one more wake-up. It returns nil.
func pump(ctx context.Context, feed Feed, acts <-chan struct{}, send func(tea.Msg), slow func() bool) error {
	second := time.NewTimer(untilSecond(feed.Now()))
	defer second.Stop()
	column := time.NewTimer(columnPause)
	defer column.Stop()
	var shown uint64 // revision of the state that was told last
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-second.C:
			send(secondMsg{})
			second.Reset(untilSecond(feed.Now()))
			column.Reset(columnPause)
			continue
		case <-column.C:
			if slow == nil || !slow() { // else the second has brought them
				send(columnMsg{})
			}
			continue
		case <-acts:
		case <-feed.Wake():
			if slow != nil && slow() {
				continue // the next second brings it
			}
			if !awaitState(ctx, feed, acts, shown) {
				return nil
			}
		}
		shown = feed.State().Rev
		send(wakeMsg{})
		if !pause(ctx, framePause) {
			return nil
		}
	}
}

// wakeOf is the channel of an operator's wake-ups; nil where there is no operator.
func wakeOf(op Operator) <-chan struct{} {
	if op == nil {
		return nil
	}
	return op.Wake()
}

// untilSecond is how long it takes until the second of t is over.
func untilSecond(t time.Time) time.Duration { return time.Second - time.Duration(t.Nanosecond()) }

// awaitState waits until the feed's state is another than shown or the operator has
// something, but no longer than events may wait; false: ctx ended.
func awaitState(ctx context.Context, feed Feed, acts <-chan struct{}, shown uint64) bool {
	t := time.NewTimer(eventPause)
	defer t.Stop()
	for feed.State().Rev == shown {
		select {
		case <-ctx.Done():
			return false
		case <-feed.Wake():
		case <-acts:
			return true
		case <-t.C:
			return true
		}
	}
	return true
}

// pause waits for d; false: ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
