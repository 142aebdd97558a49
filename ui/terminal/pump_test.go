package terminal

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
)

// feed is the feed of a tested Pump.
type feed struct {
	rev  atomic.Uint64 // of its state
	now  func() time.Time
	wake chan struct{} // capacity 1
}

// fixedFeed returns a feed whose clock always shows the same time.
func fixedFeed() *feed {
	return &feed{now: func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }, wake: make(chan struct{}, 1)}
}

// tell announces an event.
func (f *feed) tell() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// next publishes another state.
func (f *feed) next() {
	f.rev.Add(1)
	f.tell()
}

func pumpOf(f *feed, acts <-chan struct{}, slow func() bool, send func(tea.Msg)) *Pump {
	return &Pump{Wake: func() <-chan struct{} { return f.wake }, Acts: acts, Now: f.now, Revision: f.rev.Load, Send: send, Slow: slow}
}

// during runs a pump while a test goes on.
func during(t *testing.T, p *Pump, test func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }() // received below
	test()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// pumped runs a pump in a bubble; sent receives the time of each message.
func pumped(t *testing.T, send func(), test func(feed *feed, sent *[]time.Duration)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		feed := fixedFeed()
		start := time.Now()
		var sent []time.Duration
		p := pumpOf(feed, nil, nil, func(msg tea.Msg) {
			if _, ok := msg.(WakeMsg); !ok {
				return
			}
			sent = append(sent, time.Since(start))
			send()
		})
		during(t, p, func() {
			synctest.Wait()
			test(feed, &sent)
		})
	})
}

func TestPumpTellsANewStateAtOnce(t *testing.T) {
	t.Parallel()
	pumped(t, func() {}, func(feed *feed, sent *[]time.Duration) {
		time.Sleep(time.Second)
		feed.next()
		synctest.Wait()
		if len(*sent) != 1 || (*sent)[0] != time.Second {
			t.Errorf("sent at %v", *sent)
		}
	})
}

func TestPumpMergesEventsThatBringNoState(t *testing.T) {
	t.Parallel()
	pumped(t, func() {}, func(feed *feed, sent *[]time.Duration) {
		feed.next()
		for range 1000 {
			time.Sleep(time.Millisecond)
			feed.tell()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if len(*sent) < 5 || len(*sent) > 11 {
			t.Errorf("1000 events in a second woke the program %d times", len(*sent))
		}
	})
}

func TestPumpDoesNotLetAStateWaitForEvents(t *testing.T) {
	t.Parallel()
	pumped(t, func() {}, func(feed *feed, sent *[]time.Duration) {
		feed.next()
		time.Sleep(50 * time.Millisecond)
		feed.tell()
		time.Sleep(20 * time.Millisecond)
		feed.next()
		synctest.Wait()
		if len(*sent) != 2 || (*sent)[1] != 70*time.Millisecond {
			t.Errorf("sent at %v", *sent)
		}
	})
}

func TestPumpWaitsAloneWhileTheProgramIsBusy(t *testing.T) {
	t.Parallel()
	busy := func() { time.Sleep(10 * time.Second) }
	pumped(t, busy, func(feed *feed, sent *[]time.Duration) {
		for range 100 {
			feed.next() // never blocks
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if len(*sent) != 2 {
			t.Errorf("100 states during a stall were told %d times", len(*sent))
		}
	})
}

// ticking returns a feed whose clock runs, 700 ms ahead of the bubble's.
func ticking() *feed {
	f, start := fixedFeed(), time.Now()
	noon := f.now()
	f.now = func() time.Time { return noon.Add(700*time.Millisecond + time.Since(start)) }
	return f
}

func TestPumpTicksWhenTheSecondOfTheFeedTurnsOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		feed, start := ticking(), time.Now()
		var ticks, moves []time.Duration
		p := pumpOf(feed, nil, nil, func(msg tea.Msg) {
			switch msg.(type) {
			case SecondMsg:
				ticks = append(ticks, time.Since(start))
			case ColumnMsg:
				moves = append(moves, time.Since(start)-columnPause)
			}
		})
		during(t, p, func() { time.Sleep(3 * time.Second) })
		want := []time.Duration{300 * time.Millisecond, 1300 * time.Millisecond, 2300 * time.Millisecond}
		if !slices.Equal(ticks, want) {
			t.Errorf("ticks at %v, not %v", ticks, want)
		}
		if !slices.Equal(moves, append([]time.Duration{0}, want...)) {
			t.Errorf("strips moved a pause after %v, not %v", moves, want)
		}
	})
}

func TestPumpTellsASlowTerminalOnlyOfSeconds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		feed := ticking()
		var slow atomic.Bool
		slow.Store(true)
		wakes, seconds := 0, 0
		p := pumpOf(feed, nil, slow.Load, func(msg tea.Msg) {
			switch msg.(type) {
			case WakeMsg, ColumnMsg:
				wakes++
			case SecondMsg:
				seconds++
			}
		})
		during(t, p, func() {
			for range 100 {
				feed.next()
				time.Sleep(100 * time.Millisecond)
			}
			if wakes != 0 || seconds != 10 {
				t.Errorf("%d wake-ups and %d seconds in ten of them", wakes, seconds)
			}
			slow.Store(false)
			feed.next()
			synctest.Wait()
			if wakes != 1 {
				t.Errorf("it is not slow any more: %d wake-ups", wakes)
			}
		})
	})
}

func TestPumpTellsWhatTheOperatorHasDone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		acts, start := make(chan struct{}, 1), time.Now()
		var sent []time.Duration
		p := pumpOf(fixedFeed(), acts, nil, func(msg tea.Msg) {
			if _, ok := msg.(WakeMsg); ok {
				sent = append(sent, time.Since(start))
			}
		})
		during(t, p, func() {
			time.Sleep(70 * time.Millisecond)
			acts <- struct{}{}
			synctest.Wait()
		})
		if !slices.Equal(sent, []time.Duration{70 * time.Millisecond}) {
			t.Errorf("sent at %v", sent)
		}
	})
}

func TestPumpTellsOfEverySecondSecondWhileNothingHappensAndNobodyTypes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		feed, start := ticking(), time.Now()
		typed := make(chan struct{}, 1)
		var mu sync.Mutex
		told, moved := 0, 0 // seconds, and moves of the strips
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		p := pumpOf(feed, nil, nil, func(msg tea.Msg) {
			mu.Lock()
			defer mu.Unlock()
			switch msg := msg.(type) {
			case SecondMsg:
				told++
				if msg.Whole {
					t.Error("the strips do not move in a frame of their own")
				}
			case ColumnMsg:
				moved++
			}
		})
		var soon atomic.Bool
		p.Typed, p.Soon = typed, soon.Load
		go func() { done <- p.Run(ctx) }() // received below
		seconds := func(d time.Duration) int {
			synctest.Wait()
			mu.Lock()
			told, moved = 0, 0
			mu.Unlock()
			time.Sleep(d)
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if (told-moved)/2 != 0 { // one may be under way at either end
				t.Errorf("%d seconds, and the strips moved %d times", told, moved)
			}
			return told
		}
		if n := seconds(calmAfter - time.Second); n != int(calmAfter/time.Second)-1 {
			t.Errorf("at first %d seconds", n)
		}
		seconds(3 * time.Second)
		if n := seconds(20 * time.Second); n != 10 {
			t.Errorf("in a calm of 20 s %d seconds", n)
		}
		soon.Store(true)
		seconds(3 * time.Second)
		if n := seconds(20 * time.Second); n != 20 {
			t.Errorf("in 20 s in which a verdict changes %d seconds", n)
		}
		soon.Store(false)
		seconds(2 * time.Second)
		typed <- struct{}{}
		if n := seconds(20 * time.Second); n < 19 {
			t.Errorf("in 20 s after a key %d seconds", n)
		}
		seconds(20 * time.Second)
		time.Sleep(time.Until(start.Add(time.Since(start).Truncate(CalmStep) + CalmStep + 50*time.Millisecond)))
		feed.next()
		if n := seconds(20 * time.Second); n != 20 {
			t.Errorf("in 20 s after news %d seconds", n)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
