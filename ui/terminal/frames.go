package terminal

import (
	"context"
	"reflect"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/ground/spawn"
)

// The ticker of Bubble Tea ticks 60 times a second, even if nothing happens for hours. At each tick
// Bubble Tea writes the new frame, if there is one. restAfter after the last frame the ticker is slowed
// down to restPause; the next frame restores its pace.
const (
	restAfter = 40 * time.Millisecond
	restPause = 500 * time.Millisecond
)

// Frames slows that ticker down. Bubble Tea has no option for it, so Frames reads the ticker from a
// field of the program; if the field is not found, the ticker keeps its pace. It is safe for
// concurrent use.
type Frames struct {
	ctx     context.Context
	program *tea.Program
	writing func() bool

	mu      sync.Mutex
	ticker  *time.Ticker // nil: not known yet
	rest    *time.Timer  // nil: there was no frame yet, or Close was called
	resting bool
	late    bool // slowDown was called already, and waits for mu: a frame was made before it
}

// FramesOf returns the Frames of a program that was not started yet. writing reports whether a frame is
// being written: the next one waits for a tick then. The panic handler comes from ctx, see spawn.With.
func FramesOf(ctx context.Context, p *tea.Program, writing func() bool) *Frames {
	return &Frames{ctx: ctx, program: p, writing: writing}
}

// Drawn must be called after each frame that may differ from the last one, in the goroutine of the
// program's Run.
func (f *Frames) Drawn() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ticker == nil {
		if f.ticker = tickerOf(f.program); f.ticker == nil {
			return
		}
		f.rest = spawn.After(f.ctx, restAfter, f.slowDown) // Close stops it
	}
	if !f.rest.Reset(restAfter) && !f.resting {
		f.late = true
	}
	if f.resting {
		f.resting = false
		f.ticker.Reset(framePause)
	}
}

// slowDown slows the ticker down, unless a frame was made since the timer fired. While a frame is being
// written it starts the timer again.
func (f *Frames) slowDown() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.late {
		f.late = false
		return
	}
	if f.writing() {
		f.rest.Reset(restAfter)
		return
	}
	f.resting = true
	f.ticker.Reset(restPause)
}

// Close stops the timers. It must be called after the program has ended.
func (f *Frames) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rest != nil {
		f.rest.Stop()
		f.ticker.Stop()
	}
}

// tickerOf returns the ticker of a running program; nil: it has none yet, or this version of Bubble Tea
// keeps it elsewhere.
func tickerOf(p *tea.Program) *time.Ticker {
	field := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	return *(**time.Ticker)(field.Addr().UnsafePointer())
}
