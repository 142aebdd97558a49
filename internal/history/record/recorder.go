package record

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"syscall"
	"time"

	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/history"
	"coordtop/sources"
	"coordtop/sources/tape"
)

// Output stores a recording. One goroutine uses it; each call writes all or nothing, and is not interrupted.
// After ENOSPC the same Output is used again; after any other error it is closed, and another one begun.
type Output interface {
	// Write stores b. An error that wraps history.ErrMoved means that b was written, but that the file is no longer at
	// its path; another one can be begun at once.
	Write(b *history.Batch) error

	// Tidy drops what is too old or too much, in one step of some milliseconds; done reports
	// whether nothing is left to drop.
	Tidy(now time.Time) (done bool, err error)

	Note() string      // a sentence about something unusual; "": nothing is unusual
	Before() time.Time // terms that ended before this were written by an earlier run
	Close() error
}

// Options are the input and the output of a Recorder.
type Options struct {
	Hub         *sources.Hub
	Inputs      *sources.InputBuffer // the Recorder of Hub
	Begin       func(ctx context.Context) (Output, error)
	WithoutData func(source string) bool // see tape.EncoderOptions
	Logger      *slog.Logger             // nil: nothing is logged
	Note        string                   // a sentence about something unusual from the start on; "": nothing is unusual
	Followed    bool                     // boards show the present from the recording, so it is written sooner
}

const (
	every   = 300 * time.Millisecond // well below half a second, the most that may be lost if the recorder is killed
	soonest = 150 * time.Millisecond // after the first Input after a pause, so that the resulting State is there

	followedEvery   = 100 * time.Millisecond // with Options.Followed
	followedSoonest = 40 * time.Millisecond

	retry    = 10 * time.Second
	takeOver = 2 * time.Second // while another process records
	patience = 2 * time.Second // at the end
	tidying  = time.Minute
	tidyFor  = 20 * time.Millisecond // between two writes, so that a file that is far too large shrinks within two minutes
)

// Recorder records one Hub.
type Recorder struct {
	o      Options
	status atomic.Pointer[status]
	active atomic.Bool

	// The rest belongs to the goroutine of Run.
	batcher *batcher              // nil: the recording is not open
	unread  *sources.Subscription // never read, see hold; nil: nothing was recorded yet, or another process has recorded since
	held    uint64                // number of the last event before it
	waited  bool                  // the recording could not be begun at once
	moved   string                // sentence about a file that was moved; "": none was moved
	next    time.Duration         // time of the next try, and
	tidy    time.Duration         // of the next Tidy, on the monotonic clock, which nobody can set back
	clock   steadyClock           // for the age of old records
	failed  time.Time             // since when writing fails; zero: writing works

	health health // of Health
}

// New returns a Recorder, which does nothing before Run.
func New(o Options) *Recorder {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	r := &Recorder{o: o}
	r.say("", false)
	return r
}

// status is the result of Recording.
type status struct {
	text    string
	stopped bool
}

// Recording returns a sentence about why this process does not record, or about something unusual; "" if all is well.
// stopped reports that this process cannot write and that no other process records instead. It is safe for concurrent
// use.
func (r *Recorder) Recording() (text string, stopped bool) {
	s := r.status.Load()
	return s.text, s.stopped
}

// Active reports whether this process has begun to record. It is safe for concurrent use.
func (r *Recorder) Active() bool { return r.active.Load() }

func (r *Recorder) say(text string, stopped bool) { r.status.Store(&status{text, stopped}) }

// Run records until ctx ends. The last inputs are written within two seconds, or not at all. It returns no errors of
// the store; Recording reports them.
func (r *Recorder) Run(ctx context.Context) error {
	_, err := spawn.Within(ctx, patience, func() (struct{}, error) {
		r.loop(ctx)
		return struct{}{}, nil
	})
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		r.o.Logger.Error("recording", "err", "the disk did not take the end of the recording")
		return nil
	}
	return err
}

func (r *Recorder) loop(ctx context.Context) {
	for ctx.Err() == nil {
		began := time.Now()
		r.step(ctx, r.o.Hub.Now())
		r.await(ctx, began)
	}
	if r.batcher != nil {
		r.batcher.idle = 0 // the last step must write
	}
	r.step(ctx, r.o.Hub.Now())
	if r.batcher != nil {
		r.log(r.batcher.store.Close())
	}
	if r.unread != nil {
		r.unread.Close()
	}
}

// await waits until the next step is due, or until ctx ends. The last step began at began.
func (r *Recorder) await(ctx context.Context, began time.Time) {
	pause := history.WriteEvery
	if again := r.next - r.o.Hub.Now().Mono; again > 0 {
		pause = min(pause, again)
	}
	select {
	case <-ctx.Done():
	case <-time.After(pause):
	case <-r.o.Inputs.Wake():
		least, first := every, soonest
		if r.o.Followed {
			least, first = followedEvery, followedSoonest
		}
		_ = backoff.Sleep(ctx, max(least-time.Since(began), first)) // the loop checks ctx
	}
}

func (r *Recorder) log(err error) {
	if err != nil {
		r.o.Logger.Error("recording", "err", err)
	}
}

// step writes the inputs since the last step.
func (r *Recorder) step(ctx context.Context, now sources.Instant) {
	if now.Mono < r.next {
		inputs, lost := r.o.Inputs.Take() // they cannot be written
		r.health.drop(uint64(len(inputs))+lost, !r.failed.IsZero())
		return
	}
	if r.batcher == nil && !r.begin(ctx, now) {
		return
	}
	r.health.taken = 0
	if err := r.batcher.flush(now.Wall, r.take); err != nil {
		r.health.drop(r.health.taken, !errors.Is(err, history.ErrMoved))
		r.broken(err, now)
		return
	}
	r.hold()
	r.active.Store(true)
	r.health.wrote(now.Wall, r.held)
	age := r.clock.at(now)
	if !r.failed.IsZero() {
		r.o.Logger.Info("recording again", "since", r.failed)
		r.failed = time.Time{}
		r.say(r.note(), false)
	}
	if now.Mono >= r.tidy {
		done, err := dropOld(r.batcher.store, age)
		if done || err != nil {
			r.tidy = now.Mono + tidying
		}
		if errors.Is(err, history.ErrDamaged) {
			r.broken(err, now)
		} else {
			r.log(err)
		}
	}
}

// dropOld lets store drop what is too old or too much, for about tidyFor.
func dropOld(store Output, now time.Time) (done bool, err error) {
	for began := time.Now(); ; {
		if done, err = store.Tidy(now); done || err != nil || time.Since(began) >= tidyFor {
			return done, err
		}
	}
}

// hold keeps the Hub from dropping events that are not written yet, by a subscription that does not read them.
func (r *Recorder) hold() {
	written := r.batcher.derived.seq
	if r.unread != nil && r.held == written {
		return
	}
	was := r.unread
	if r.unread, r.held = r.o.Hub.Subscribe(written), written; was != nil {
		was.Close()
	}
}

// broken ends the group after an error and, unless the disk is only full, closes the Output, so that another one is
// begun later.
func (r *Recorder) broken(err error, now sources.Instant) {
	if r.batcher.group.open = false; !errors.Is(err, syscall.ENOSPC) {
		r.hold()
		r.log(r.batcher.store.Close())
		r.batcher = nil
	}
	if errors.Is(err, history.ErrMoved) {
		r.log(err)
		r.moved = fmt.Sprintf("%v (%s)", err, now.Wall.Format(time.TimeOnly))
		return
	}
	r.fail(err, now)
}

// note returns the sentence that the screen shows while everything is recorded; "" if nothing is unusual.
func (r *Recorder) note() string { return cmp.Or(r.batcher.store.Note(), r.moved, r.o.Note) }

// begin opens the store.
func (r *Recorder) begin(ctx context.Context, now sources.Instant) bool {
	store, err := r.o.Begin(context.WithoutCancel(ctx))
	if err != nil {
		r.waited = true
		r.fail(err, now)
		return false
	}
	r.batcher = newBatcher(r.o.Hub, store, tape.EncoderOptions{WithoutData: r.o.WithoutData}, now.Wall, store.Before())
	r.batcher.idle = history.WriteEvery
	r.clock.start(store.Before(), now)
	switch {
	case r.unread != nil:
		r.batcher.derived.seq = r.held
	case r.waited: // the time before now was not recorded by us
		r.batcher.derived.seq = r.o.Hub.State().LastSeq
	}
	r.hold()
	r.failed = time.Time{}
	r.say(r.note(), false)
	if note := r.note(); note != "" {
		r.o.Logger.Warn("recording", "note", note)
	}
	return true
}

// fail publishes the reason why nothing is recorded, and sets the time of the next try.
func (r *Recorder) fail(err error, now sources.Instant) {
	if errors.Is(err, history.ErrBusy) {
		r.next = now.Mono + takeOver
		if r.unread != nil {
			r.unread.Close()
			r.unread = nil
		}
		r.say("not recorded here: "+err.Error(), false)
		return
	}
	r.next = now.Mono + retry
	if r.failed.IsZero() {
		r.failed = now.Wall
		r.log(err)
	}
	text := fmt.Sprintf("recording stopped at %s: %v", r.failed.Format("15:04"), err)
	if errors.Is(err, history.ErrForeign) || errors.Is(err, history.ErrNewer) {
		text += ": set history.file to another file"
	}
	r.say(text, true)
}
