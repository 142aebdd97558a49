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

// Speeds returns the speeds of a Player, in recorded seconds per second.
func Speeds() []int { return []int{1, 2, 5, 10, 30, 60, 300, 1800, 3600} }

// playEvery is the pause between two steps of a Player that plays.
const playEvery = 200 * time.Millisecond

// Player replays a recording as a feed of the screen. Its goroutine reads the Log; no method waits for it. All methods
// are safe for concurrent use.
type Player struct {
	log    Log
	reader EventReader
	stop   context.CancelFunc
	joined sync.WaitGroup
	later  hindsight     // used only by the goroutine
	asked  chan struct{} // capacity 1: there is something to do
	wake   chan struct{} // capacity 1

	mu   sync.Mutex
	todo wish
	quit context.CancelFunc // cancels the move that is under way; nil: no move
	view view
	told *sources.State // the State as it was published; view.state is made from it
}

// wish is a move that was requested and has not begun. A seek comes before steps.
type wish struct {
	seek  time.Time // zero: no seek
	steps int       // events forward; negative: back
}

// view is the content that a Player shows.
type view struct {
	Position
	hub    *sources.Hub
	state  *sources.State
	before []sources.Event       // events before the keyframe that Events has not returned yet
	events *sources.Subscription // events after the keyframe
}

// Position is the instant that a Player shows, and its speed.
type Position struct {
	At      time.Time // on the clock of the recorder
	Playing bool
	Speed   int       // recorded seconds per second
	Moving  bool      // the last requested move is under way, so At is not its target yet
	Run     int64     // run of At; 0: nothing was read yet
	Began   time.Time // when Run began
	End     bool      // nothing is recorded after At
	Thin    bool      // renewals, and what they report of leases, are not recorded here
	Hole    Hole      // the stretch without a record that contains At, or ended shortly before At; zero: none
	Err     error     // why the last move did not succeed

	Believed bool         // the state is what the screen showed at At; otherwise it includes what became known later
	Dark     []DarkChange // what was not observed at At, even if that became known later and Believed is set

	// Cuts counts how often the state was not made from the previous one. After a cut, a caller must drop the rows and
	// events that it keeps.
	Cuts uint64
}

// NewPlayer returns a paused Player that has read nothing yet, and starts its goroutine, which Close ends and joins. It
// reads the events before a keyframe from reader; if reader is nil, it shows none of them.
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

// Seek moves to an instant, or to the nearest recorded one. It does not block.
func (p *Player) Seek(t time.Time) {
	p.ask(func(w *wish) { *w = wish{seek: t} })
}

// Step stops playing and moves by n events, backwards if n is negative.
func (p *Player) Step(n int) {
	p.Play(false)
	p.ask(func(w *wish) { w.steps += n })
}

// ask changes the wish, and cancels a move that is under way and no longer wanted.
func (p *Player) ask(change func(*wish)) {
	p.set(func(v *view) {
		change(&p.todo)
		v.Moving = true
		if p.quit != nil && !p.todo.seek.IsZero() {
			p.quit()
		}
	})
}

// Play starts or stops playing.
func (p *Player) Play(on bool) {
	p.set(func(v *view) { v.Playing = on })
}

// Believe sets whether the state of each instant is the one that the screen showed then, without facts learned later.
func (p *Player) Believe(on bool) {
	p.set(func(v *view) {
		v.Believed = on
		p.drawLocked()
	})
}

// drawLocked sets the state that is shown, from the one that was published.
func (p *Player) drawLocked() {
	v := &p.view
	if v.state = p.told; !v.Believed && !v.InHole() {
		v.state = darkened(v.state, v.Dark)
	}
}

// Faster moves n places up in Speeds, down if n is negative.
func (p *Player) Faster(n int) {
	p.set(func(v *view) {
		all := Speeds()
		v.Speed = all[min(max(slices.Index(all, v.Speed)+n, 0), len(all)-1)]
	})
}

// SetSpeed sets the speed, which must be one of Speeds.
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

// State returns the last State that was published by Now.
func (p *Player) State() *sources.State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.view.state
}

// Now returns the recorded time. In a hole that is its beginning, to which the State belongs.
func (p *Player) Now() time.Time {
	at := p.Position()
	if at.InHole() {
		return at.Hole.From
	}
	return at.At
}

// InHole reports whether At is in a stretch without a record. The state is then that of the hole's beginning.
func (p *Position) InHole() bool { return !p.At.Before(p.Hole.From) && p.At.Before(p.Hole.To) }

// Clock returns the time outside the recording.
func (p *Player) Clock() time.Time { return time.Now() }

// Wake returns a channel that receives when there is something new to show.
func (p *Player) Wake() <-chan struct{} { return p.wake }

// Events returns at most max events (max <= 0: all) that it has not returned since the last cut, oldest first.
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
	if len(events) == max { // there may be more, and no other event may wake the reader
		spawn.Wake(p.wake)
	}
	return events, missed
}

// Row returns the row of ref in s, a State of this Player; nil if s has no such row.
func (p *Player) Row(s *sources.State, ref sources.Ref) *sources.Row {
	p.mu.Lock()
	hub := p.view.hub
	p.mu.Unlock()
	if hub == nil {
		return nil
	}
	return hub.Row(s, ref)
}

// serve executes wishes until ctx ends.
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
			last = time.Now() // the time of the move is not played
		}
		if timer.Stop(); playing {
			timer.Reset(playEvery)
		}
	}
}

// move executes the next wish. Without a wish it plays on by elapsed, if Playing.
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
	if errors.Is(err, ErrDropped) { // the recording of that time is read again, as far as it is still there
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

// holeShown is the recorded time for which a hole is still reported after its end.
const holeShown = 30 * time.Second
