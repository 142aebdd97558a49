package history

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"coordtop/internal/ground/spawn"
	"coordtop/sources"
)

// Speeds are the numbers of recorded seconds that a Player can play in one.
func Speeds() []int { return []int{1, 2, 5, 10, 30, 60, 300, 1800, 3600} }

// playEvery is the pause between two steps of a Player that plays.
const playEvery = 200 * time.Millisecond

// Player shows a recording as a Hub was when it was made: it is a feed of the screen. A goroutine of its own
// reads the Log; no method waits for it. All methods are safe for concurrent use.
type Player struct {
	log    Log
	reader EventReader
	stop   context.CancelFunc
	joined sync.WaitGroup
	later  hindsight     // only the goroutine uses it
	asked  chan struct{} // capacity 1: there is something to do
	wake   chan struct{} // capacity 1

	mu   sync.Mutex
	todo wish
	quit context.CancelFunc // ends the move that is under way; nil: there is none
	view view
	told *sources.State // the State as it was published, of which that of view is made
}

// wish is a move that was asked for and is not begun. Where both are asked for, seek comes first.
type wish struct {
	seek  time.Time // zero: nowhere
	steps int       // events forward; negative: back
}

// view is the content that a Player shows.
type view struct {
	Position
	hub    *sources.Hub
	state  *sources.State
	before []sources.Event       // of the run before its keyframe, not read yet
	events *sources.Subscription // those behind it
}

// Position is the instant that a Player shows, and its speed.
type Position struct {
	At      time.Time // on the clock of the recorder
	Playing bool
	Speed   int       // recorded seconds in one
	Moving  bool      // it is on its way: At is not what was asked for last
	Run     int64     // which one recorded; 0: nothing was read yet
	Began   time.Time // when that did
	End     bool      // nothing is recorded behind At
	Thin    bool      // renewals are not recorded here, nor what they report of leases
	Hole    Hole      // At lies in this stretch without a record, or shortly behind it; zero: in none
	Err     error     // why the last move did not succeed

	Believed bool         // the state is what the screen showed then; else it shows too what became known later
	Dark     []DarkChange // what was not observed at At, as became known later; also where Believed

	// Cuts counts how often the state was not made from the one shown before. Whoever keeps rows
	// or events begins anew then.
	Cuts uint64
}

// NewPlayer returns a paused Player that has read nothing yet, and starts its goroutine,
// which Close ends and joins. It asks reader for the events of before a keyframe; nil: there
// are none.
func NewPlayer(ctx context.Context, log Log, reader EventReader) *Player {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	p := &Player{log: log, reader: reader, stop: stop, asked: make(chan struct{}, 1), wake: make(chan struct{}, 1)}
	p.told = &sources.State{}
	p.view.Speed, p.view.state = 1, p.told
	spawn.Go(ctx, &p.joined, func() { p.serve(ctx) })
	return p
}

// Close ends the goroutine. What is shown can still be read.
func (p *Player) Close() {
	p.stop()
	p.joined.Wait()
}

// Position returns the instant that is shown.
func (p *Player) Position() Position {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.view.Position
}

// Seek goes to an instant, or to the nearest recorded one.
func (p *Player) Seek(t time.Time) {
	p.ask(func(w *wish) { *w = wish{seek: t} })
}

// Step stops playing and goes on by n events; back where n is negative.
func (p *Player) Step(n int) {
	p.Play(false)
	p.ask(func(w *wish) { w.steps += n })
}

// ask changes the wish. A move that is under way and no longer wanted ends.
func (p *Player) ask(change func(*wish)) {
	p.set(func(v *view) {
		change(&p.todo)
		v.Moving = true
		if p.quit != nil && !p.todo.seek.IsZero() {
			p.quit()
		}
	})
}

// Play goes on at the speed, or stops.
func (p *Player) Play(on bool) {
	p.set(func(v *view) { v.Playing = on })
}

// Believe shows at each instant what the screen showed then, or again what became known later.
func (p *Player) Believe(on bool) {
	p.set(func(v *view) {
		v.Believed = on
		p.drawLocked()
	})
}

// drawLocked makes the state that is shown from the one that was published.
func (p *Player) drawLocked() {
	v := &p.view
	if v.state = p.told; !v.Believed && !v.InHole() {
		v.state = darkened(v.state, v.Dark)
	}
}

// Faster takes the next speed of Speeds, n times; slower where n is negative.
func (p *Player) Faster(n int) {
	p.set(func(v *view) {
		all := Speeds()
		v.Speed = all[min(max(slices.Index(all, v.Speed)+n, 0), len(all)-1)]
	})
}

// SetSpeed takes a speed, which must be one of Speeds.
func (p *Player) SetSpeed(n int) {
	p.set(func(v *view) { v.Speed = n })
}

func (p *Player) set(change func(*view)) {
	p.mu.Lock()
	change(&p.view)
	p.mu.Unlock()
	spawn.Wake(p.asked)
	spawn.Wake(p.wake)
}

// State returns what was published last at Now.
func (p *Player) State() *sources.State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.view.state
}

// Now returns the recorded time: in a hole that of its beginning, at which the State was known.
func (p *Player) Now() time.Time {
	at := p.Position()
	if at.InHole() {
		return at.Hole.From
	}
	return at.At
}

// InHole reports whether nobody recorded at that instant: the state shown is the one known when the hole began.
func (p *Position) InHole() bool { return !p.At.Before(p.Hole.From) && p.At.Before(p.Hole.To) }

// Clock returns the time outside the recording.
func (p *Player) Clock() time.Time { return time.Now() }

// Wake receives after there is something new to show.
func (p *Player) Wake() <-chan struct{} { return p.wake }

// Events returns at most max events (max <= 0: all) that were not returned since the last cut,
// oldest first.
func (p *Player) Events(max int) (events []sources.Event, missed uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := &p.view
	if v.events == nil {
		return nil, 0
	}
	if max <= 0 {
		max = math.MaxInt
	}
	n := min(max, len(v.before))
	events, v.before = v.before[:n:n], v.before[n:]
	if n < max {
		var behind []sources.Event
		behind, missed = v.events.Events(max - n)
		events = append(events, behind...)
	}
	if len(events) == max { // nothing else may happen that wakes the reader
		spawn.Wake(p.wake)
	}
	return events, missed
}

// Row returns the row of ref in s, a State of this Player; nil: there is none in it.
func (p *Player) Row(s *sources.State, ref sources.Ref) *sources.Row {
	p.mu.Lock()
	hub := p.view.hub
	p.mu.Unlock()
	if hub == nil {
		return nil
	}
	return hub.Row(s, ref)
}

// serve carries out the wishes until ctx ends.
func (p *Player) serve(ctx context.Context) {
	r := &seeker{log: p.log, reader: p.reader}
	timer := time.NewTimer(0)
	defer timer.Stop()
	playing, last := false, time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.asked:
		case <-timer.C:
		}
		now := time.Now()
		elapsed := now.Sub(last)
		if last = now; !playing {
			elapsed = 0
		}
		var moved bool
		if playing, moved = p.move(ctx, r, elapsed); moved {
			last = time.Now() // the way there is not played
		}
		if timer.Stop(); playing {
			timer.Reset(playEvery)
		}
	}
}

// move carries out the next wish, or plays on for so long where there is none.
func (p *Player) move(ctx context.Context, r *seeker, elapsed time.Duration) (playing, moved bool) {
	p.mu.Lock()
	todo, was := p.todo, p.view.Position
	p.todo = wish{}
	ctx, p.quit = context.WithCancel(ctx)
	defer p.quit()
	p.mu.Unlock()
	var err error
	moved = todo != (wish{})
	if moved {
		r.hole = Hole{}
	}
	if !todo.seek.IsZero() {
		err = r.seek(ctx, todo.seek)
	}
	for ; err == nil && todo.steps > 0; todo.steps-- {
		err = r.next(ctx)
	}
	for ; err == nil && todo.steps < 0; todo.steps++ {
		err = r.previous(ctx)
	}
	if err == nil && !moved && was.Playing && was.Run != 0 {
		err = r.play(ctx, elapsed*time.Duration(was.Speed))
	}
	if errors.Is(err, ErrDropped) { // what is there now is read
		r.hub = nil
		err = r.seek(ctx, cmp.Or(todo.seek, r.at.Wall))
	}
	if r.hub != nil {
		err = cmp.Or(err, p.later.read(ctx, p.reader, r.at.Wall))
	}
	p.show(r, err, moved || was.Playing)
	return p.Position().Playing, moved
}

// show brings the view up to date with what was read.
func (p *Player) show(r *seeker, err error, changed bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.quit = nil
	v := &p.view
	v.Moving = p.todo != (wish{})
	if !changed || v.Moving && errors.Is(err, context.Canceled) {
		return
	}
	was, told := v.Position, p.told
	if v.End, v.Err = errors.Is(err, errEnd), err; v.End {
		v.Err = nil
	}
	if err != nil && !(v.End && r.live) {
		v.Playing = false
	}
	if r.hub != nil {
		if r.hub != v.hub {
			v.Cuts++
			v.hub, v.events, v.before = r.hub, r.hub.Subscribe(0), r.before
		}
		v.At, v.Run, v.Began, v.Thin, p.told = r.at.Wall, r.run, r.runBegan, r.thin, r.hub.State()
		if v.Hole = r.hole; v.Hole.To.Add(holeShown).Before(v.At) {
			v.Hole = Hole{}
		}
		v.Dark = p.later.at(v.At)
		p.drawLocked()
	}
	if !was.Playing || !v.Playing || p.told != told || len(v.Dark) != len(was.Dark) || v.Hole != was.Hole || v.At.Unix() != was.At.Unix() {
		spawn.Wake(p.wake)
	}
}

// holeShown is the recorded time for which a hole is still named behind it.
const holeShown = 30 * time.Second
