package terminal

import (
	"context"
	"reflect"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"coordtop/internal/ground/spawn"
)

// Bubble Tea writes a new frame, if there is one, when its ticker ticks: 60 times a second, also
// where nothing happens for hours. restAfter is how long after the last frame, which is written at the first tick,
// it ticks slower, every restPause; the next frame brings back its pace.
const (
	restAfter = 40 * time.Millisecond
	restPause = 500 * time.Millisecond
)

// Frames slows that ticker down. There is no option for it, so it is taken from a field of the
// program; where that is not found the ticker keeps its pace. It is safe for concurrent use.
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

// FramesOf returns those of a program that was not started yet. writing reports whether one of them is being
// written: the next waits for a tick meanwhile. ctx is told of a panic, see spawn.With.
func FramesOf(ctx context.Context, p *tea.Program, writing func() bool) *Frames {
	return &Frames{ctx: ctx, program: p, writing: writing}
}

// Drawn notes that a frame was made which may be another than the last. The program calls it, in the goroutine of its Run.
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

// slowDown lets the ticker rest. It does nothing if a frame was made since it was called, and is called again later
// while one is being written.
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

// Close ends it, when the program has ended.
func (f *Frames) Close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.rest != nil {
		f.rest.Stop()
		f.ticker.Stop()
	}
}

// tickerOf is the ticker of a program that runs; nil: it has none yet, or another version keeps it
// elsewhere.
func tickerOf(p *tea.Program) *time.Ticker {
	field := reflect.ValueOf(p).Elem().FieldByName("ticker")
	if !field.IsValid() || field.Type() != reflect.TypeFor[*time.Ticker]() {
		return nil
	}
	return *(**time.Ticker)(field.Addr().UnsafePointer())
}
