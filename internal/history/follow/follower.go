package follow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/history"
	"coordtop/sources"
)

const (
	pollEvery  = 200 * time.Millisecond // without Options.Written
	checkEvery = time.Second            // between two looks for other runs
	judgeEvery = time.Second            // while a read or a pause lasts
	readWithin = 10 * time.Second       // for one read
	soonProven = 3 * time.Second        // most time that Ready waits for a write of the recorder
)

// Options are the recording that a Follower reads.
type Options struct {
	Log history.Log

	// Written receives after a recorder has written. Nil, or a nil channel: nobody tells, so the Follower polls.
	Written func() <-chan struct{}
}

// Status describes the recorder, as far as a Follower knows.
type Status struct {
	Run    history.Run   // that is shown; zero: none was read yet
	Offset time.Duration // of the recorder's clock ahead of ours; 0: less than a second, or not known
	Polled bool          // nobody tells of a write
	Silent string        // why everything is old; "": the recorder writes
	Err    error         // of the last read; nil: it succeeded
}

// Seen returns the age of the latest that the recorder has written.
func (s *Status) Seen(now time.Time) time.Duration { return max(now.Add(s.Offset).Sub(s.Run.To), 0) }

// Follower follows the present of a recording.
type Follower struct {
	o      Options
	ready  chan struct{} // closed when Ready need not wait
	stop   context.CancelFunc
	joined sync.WaitGroup

	mu     sync.Mutex
	status Status

	known known // of the goroutine of serve

	// The rest belongs to the goroutine of a read, of which there is one at a time.
	model   *sources.Follower
	cursor  history.Cursor // nil: none is open
	run     history.Run    // of cursor
	clock   recorderClock
	stepped bool // its clock was set during the run
	checked time.Time
	began   time.Time
}

// New starts to follow the newest run of a recording. Close ends the goroutine.
func New(ctx context.Context, o Options) *Follower {
	ctx, stop := context.WithCancel(ctx)
	f := &Follower{o: o, ready: make(chan struct{}), stop: stop, model: sources.NewFollower(sources.HubOptions{}), began: time.Now()}
	f.status.Polled = o.Written == nil
	f.model.Doubt(time.Time{}, errors.New("the recording was not read yet"))
	spawn.Go(ctx, &f.joined, func() { f.serve(ctx) })
	return f
}

// Close ends the goroutine. What is shown can still be read.
func (f *Follower) Close() {
	f.stop()
	f.joined.Wait()
}

// Hub returns the followed Hub, see [sources.Follower.Hub].
func (f *Follower) Hub() *sources.Hub { return f.model.Hub() }

// Status returns what is known of the recorder.
func (f *Follower) Status() Status {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.status
}

// Now returns the present time on the clock of the recorder.
func (f *Follower) Now() time.Time { return time.Now().Add(f.Status().Offset) }

// Ready waits until the present is shown, or until it is clear that the recorder is silent: for some 3 s, and longer only
// while a read lasts, which takes 10 s at most. An error tells why nothing can be shown.
func (f *Follower) Ready(ctx context.Context) error {
	select {
	case <-f.ready:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if s := f.Status(); s.Run.ID == 0 {
		return s.Err
	}
	return nil
}

func (f *Follower) serve(ctx context.Context) {
	pauses := backoff.Policy{Min: pollEvery, Max: readWithin}.Start()
	waits := true
	for ctx.Err() == nil {
		read := make(chan error, 1)
		spawn.Go(ctx, &f.joined, func() { read <- f.step(ctx) }) // received next
		err := f.result(read)
		if ctx.Err() != nil {
			return
		}
		f.known = known{f.run, f.clock, err}
		f.judge()
		if waits && (err != nil || f.Status().Silent == "" || time.Since(f.began) > soonProven) {
			waits = false
			close(f.ready)
		}
		if err != nil {
			for again := time.Now().Add(pauses.Next()); ctx.Err() == nil && time.Now().Before(again); f.judge() {
				_ = backoff.Sleep(ctx, min(time.Until(again), judgeEvery)) // the loop checks ctx
			}
			continue
		}
		pauses.Reset()
		f.await(ctx)
	}
}

// result waits for the end of a read. Meanwhile the recorder may become silent.
func (f *Follower) result(read <-chan error) error {
	timer := time.NewTicker(judgeEvery)
	defer timer.Stop()
	for {
		select {
		case err := <-read:
			return err
		case <-timer.C:
			f.judge()
		}
	}
}

// await waits until something may have been written.
func (f *Follower) await(ctx context.Context) {
	pause := pollEvery
	var written <-chan struct{}
	if f.o.Written != nil {
		if written = f.o.Written(); written != nil {
			pause = checkEvery
		}
	}
	f.mu.Lock()
	f.status.Polled = written == nil
	f.mu.Unlock()
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-written:
	case <-timer.C:
	}
}

// step reads what was written since the last step. A panic that its content causes is an error.
func (f *Follower) step(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readWithin)
	defer cancel()
	contained := spawn.With(ctx, func(*spawn.Panic) {})
	err := spawn.Call(contained, func() error { return f.read(contained) })
	if err == nil {
		return nil
	}
	// After any error the run is read again from its last keyframe, except that a store which does not answer has done
	// no harm to what was read.
	if errors.Is(err, history.ErrDropped) || errors.Is(err, history.ErrDamaged) || errors.Is(err, sources.ErrRecording) || errors.Is(err, spawn.ErrPanic) {
		f.cursor = nil
	}
	return err
}

func (f *Follower) read(ctx context.Context) error {
	if f.cursor != nil {
		if err := f.drain(ctx); err != nil {
			return err
		}
	}
	if f.cursor != nil && time.Since(f.checked) < checkEvery {
		return nil
	}
	runs, err := f.o.Log.Runs(ctx)
	if err != nil {
		return err
	}
	if len(runs) == 0 {
		return history.ErrNothing
	}
	f.checked = time.Now()
	last := runs[len(runs)-1]
	if f.cursor == nil || last.ID != f.run.ID {
		switch err := f.enter(ctx, last); {
		case errors.Is(err, history.ErrNothing) && f.cursor != nil: // it has written nothing yet
			return nil
		case err != nil:
			return err
		}
	}
	if f.run = last; !f.stepped {
		f.clock.saw(last.To, time.Now())
	}
	return nil
}

// enter continues with a run at its last keyframe.
func (f *Follower) enter(ctx context.Context, run history.Run) error {
	c, err := f.o.Log.Cursor(ctx, run.ID, time.Unix(0, math.MaxInt64))
	if err != nil {
		return err
	}
	f.cursor, f.run, f.clock, f.stepped = c, run, recorderClock{}, false
	if err := f.drain(ctx); err != nil {
		f.cursor = nil
		return err
	}
	f.clock.begin(sources.Later(run.To, f.clock.last)) // all of this was written before
	return nil
}

// drain reads all that is written of the run, and shows the end of it.
func (f *Follower) drain(ctx context.Context) error {
	var key *sources.Keyframe
	var inputs []sources.Input
	var p history.Piece
	var err error
	for !p.End {
		if p, err = f.cursor.Next(ctx); err != nil || p.Empty() {
			break
		}
		if p.Keyframe != nil {
			key, inputs = p.Keyframe, nil
		}
		inputs = append(inputs, p.Inputs...)
	}
	if key != nil {
		f.model.Begin(key)
	}
	n := len(inputs)
	if key == nil && n == 0 {
		return err
	}
	if slices.ContainsFunc(inputs, func(in sources.Input) bool { return in.Kind == sources.InputClockStep }) {
		f.clock, f.stepped = recorderClock{}, true // the end of the run may be on the clock before the step
	}
	if n > 0 {
		f.clock.saw(inputs[n-1].At.Wall, time.Now())
	}
	return errors.Join(f.model.Follow(inputs), err)
}

// known is the result of the last read.
type known struct {
	run   history.Run
	clock recorderClock
	err   error
}

// clock writes an instant, with the date if that may be another day.
func clock(at time.Time) string {
	if time.Since(at) < 12*time.Hour {
		return at.Format(time.TimeOnly)
	}
	return at.Format(time.DateTime)
}

// judge publishes the status, and everything as old while the recorder is silent. It does not wait for the store.
func (f *Follower) judge() {
	k := &f.known
	s := Status{Run: k.run, Offset: k.clock.offset(), Err: k.err}
	if !k.clock.last.IsZero() {
		s.Run.To = k.clock.last
	}
	switch behind := k.clock.behind(time.Now()); {
	case k.run.ID == 0:
		s.Silent = "nothing was recorded yet"
	case !k.run.Live && k.err == nil:
		s.Silent = fmt.Sprintf("%s recorded until %s, and nobody since then", k.run.Host, clock(k.run.To))
	case behind < history.Silence:
	case k.err != nil:
		s.Silent = fmt.Sprintf("the recording cannot be read: %v", k.err)
	default:
		s.Silent = fmt.Sprintf("the recorder on %s has not written since %s", k.run.Host, clock(s.Run.To))
	}
	var why error
	if s.Silent != "" {
		why = errors.New(s.Silent)
	}
	f.mu.Lock()
	s.Polled = f.status.Polled
	f.status = s
	f.mu.Unlock()
	f.model.Doubt(s.Run.To, why)
}
