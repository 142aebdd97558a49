package record

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync/atomic"
	"time"

	"coordtop/internal/ground/backoff"
	"coordtop/internal/history"
	"coordtop/sources"
)

// ForwardOptions are the recording that a Forwarder copies, and the store that it copies it to.
type ForwardOptions struct {
	From history.Log     // the spool: it is being written, and bounded
	Wake <-chan struct{} // receives a value after each write to From
	Done <-chan struct{} // closed when nothing more will be written to From; Run then returns when all is copied, or after an error

	// Begin begins a run of the store. The error wraps history.ErrBusy while another recorder writes there, and
	// history.ErrSuperseded if this process must not write there any more; so do those of the Output.
	Begin func(context.Context, history.Run) (Output, error)

	// Since returns the time up to which nothing of a run of From is copied, by the number of the run. The other runs are
	// copied whole. The clock may have been set between two runs, so that the order of their times need not be that of the
	// runs.
	Since func(ctx context.Context, from []history.Run) (map[int64]time.Time, error)

	Logger *slog.Logger // nil: nothing is logged
}

// Forwarder copies a recording to a store while it is being written. The recorder never waits for the store: what the
// store does not take stays in the recording, and is copied as soon as it does. What the recording has dropped by then
// is a hole between two runs of the store.
type Forwarder struct {
	o       ForwardOptions
	status  atomic.Pointer[string]
	active  atomic.Bool
	wrote   atomic.Pointer[time.Time] // nil: nothing was written yet
	copied  atomic.Pointer[time.Time] // end of what was written
	refused int                       // Inputs of a write that was superseded
	clock   steadyClock               // for the age of old records of the store
	began   time.Time                 // when the Forwarder was made
}

// NewForwarder returns a Forwarder, which does nothing before Run.
func NewForwarder(o ForwardOptions) *Forwarder {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	f := &Forwarder{o: o, began: time.Now()}
	f.say("")
	return f
}

// Status returns a sentence about why nothing is copied; "" if all is well. active reports that the store has taken
// something from this process, and still does. It is safe for concurrent use.
func (f *Forwarder) Status() (text string, active bool) { return *f.status.Load(), f.active.Load() }

// Wrote returns the time of the last write to the store; zero: there was none. It is safe for concurrent use.
func (f *Forwarder) Wrote() (at time.Time) {
	if last := f.wrote.Load(); last != nil {
		at = *last
	}
	return at
}

// Store reports whether the store takes what is recorded, and up to when it has it; zero: it has nothing of this process
// yet. It is safe for concurrent use.
func (f *Forwarder) Store() (takes bool, until time.Time) {
	if last := f.copied.Load(); last != nil {
		until = *last
	}
	return f.active.Load(), until
}

// Refused returns how many Inputs the store has refused because of another recorder. It must be called after Run.
func (f *Forwarder) Refused() int { return f.refused }

func (f *Forwarder) say(text string) {
	if old := f.status.Swap(&text); old != nil && *old != text && text != "" {
		f.o.Logger.Warn("recording", "store", text)
	}
}

// storePause are the pauses after an error of the store.
var storePause = backoff.Policy{Min: 200 * time.Millisecond, Max: 2 * time.Second}

// storeAway has the error of a store.
const storeAway = "the store takes nothing, what is recorded waits on this machine: %v"

// spoolLook is the longest pause between two looks at the spool, which is written at least every history.WriteEvery.
const spoolLook = 2 * time.Second

// Run copies until ctx ends, or another recorder has taken over: its error wraps history.ErrSuperseded.
func (f *Forwarder) Run(ctx context.Context) error {
	pause := storePause.Start()
	for ctx.Err() == nil {
		copied, err := f.next(ctx)
		f.active.Store(false)
		switch {
		case errors.Is(err, history.ErrSuperseded):
			return err
		case ctx.Err() != nil || f.ended() && (err != nil || !copied):
			return nil
		case errors.Is(err, history.ErrBusy):
			f.say("another recorder writes to the store: " + err.Error())
			_ = backoff.Sleep(ctx, takeOver) // the loop checks ctx
		case errors.Is(err, history.ErrDropped):
			f.say("a part of what waited for the store was dropped before the store took it")
			_ = pause.Wait(ctx)
		case errors.Is(err, history.ErrSetBack):
			f.say("the store was restored from an older copy: what it lacks is copied again, as far as it waits on this machine")
			_ = backoff.Sleep(ctx, takeOver)
		case err != nil && !errors.Is(err, history.ErrNothing):
			f.say(fmt.Sprintf(storeAway, err))
			_ = pause.Wait(ctx)
		case copied:
			pause.Reset()
		default:
			f.await(ctx)
		}
	}
	return nil
}

// ended reports whether nothing more will be recorded.
func (f *Forwarder) ended() bool {
	select {
	case <-f.o.Done:
		return true
	default:
		return false
	}
}

// await waits until more may be recorded.
func (f *Forwarder) await(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-f.o.Wake:
	case <-f.o.Done:
	case <-time.After(spoolLook):
	}
}

// next copies the first run that has something that the store lacks, to its end.
func (f *Forwarder) next(ctx context.Context) (copied bool, err error) {
	runs, err := f.o.From.Runs(ctx)
	if errors.Is(err, fs.ErrNotExist) { // it has not begun
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading the spool: %w", err)
	}
	since, err := f.o.Since(ctx, runs)
	if err != nil {
		return false, err
	}
	for _, run := range runs {
		last := since[run.ID]
		if !run.To.After(last) && (!run.Live || last.Equal(EndOfTime)) {
			continue
		}
		copied, err = f.copyRun(ctx, run, last, EndOfTime, func(r history.Run) (Output, error) { return f.begin(ctx, r) })
		if copied || err != nil {
			return copied, err
		}
	}
	return false, nil
}

// copyRun copies what a run saw after since and before to, and reports whether it began to write.
func (f *Forwarder) copyRun(ctx context.Context, run history.Run, since, to time.Time, begin func(history.Run) (Output, error)) (began bool, err error) {
	from := sources.Later(run.From, since)
	cursor, err := f.o.From.Cursor(ctx, run.ID, from)
	if errors.Is(err, history.ErrNothing) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading the spool: %w", err)
	}
	p := &copying{cursor: cursor, texts: newDisguise(false), to: to, source: run, follow: &following{Forwarder: f, from: from}, begin: begin}
	err = p.all(ctx)
	return p.store != nil, err
}

// EndOfTime is after each instant that a clock shows. A run is not copied if this is its Since.
var EndOfTime = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// begin begins a run of the store whose Write repeats itself until the store takes it.
func (f *Forwarder) begin(ctx context.Context, run history.Run) (Output, error) {
	store, err := f.o.Begin(ctx, run)
	if err != nil {
		return nil, err
	}
	return f.patient(ctx, store), nil
}

func (f *Forwarder) now() sources.Instant {
	at := time.Now()
	return sources.Instant{Wall: at.Round(0), Mono: at.Sub(f.began)}
}

func (f *Forwarder) patient(ctx context.Context, store Output) *patient {
	if f.clock == (steadyClock{}) { // else the end of the previous run may be by our own clock
		f.clock.start(store.Before(), f.now())
	}
	return &patient{Output: store, f: f, persist: func(call func() error) error { return f.persist(ctx, call) }}
}

// patient is an Output that repeats a Write until it succeeds, until nothing can be written any more, or until the
// Forwarder ends.
type patient struct {
	Output
	f       *Forwarder
	persist func(func() error) error
	tidy    time.Time // of the next Tidy
}

// Write implements Output.
func (p *patient) Write(b *history.Batch) error {
	err := p.persist(func() error { return p.Output.Write(b) })
	if errors.Is(err, history.ErrSuperseded) {
		p.f.refused += b.Count
	}
	if err == nil {
		now, until := time.Now(), b.Span.To
		p.f.copied.Store(&until)
		p.f.wrote.Store(&now)
		p.f.say("")
		p.f.active.Store(true)
		p.tidied()
	}
	return err
}

// persist calls a function until it succeeds, its error is final, or the Forwarder ends.
func (f *Forwarder) persist(ctx context.Context, call func() error) error {
	for pause := storePause.Start(); ; {
		err := call()
		if err == nil || final(err) {
			return err
		}
		f.active.Store(false)
		f.say(fmt.Sprintf(storeAway, err))
		if f.ended() || pause.Wait(ctx) != nil {
			return err
		}
	}
}

// final reports whether an error stays the same if a call is repeated.
func final(err error) bool {
	return errors.Is(err, history.ErrSuperseded) || errors.Is(err, history.ErrSetBack) || errors.Is(err, history.ErrNewer) || errors.Is(err, history.ErrDamaged) || errors.Is(err, fs.ErrClosed)
}

// tidied drops old records now and then.
func (p *patient) tidied() {
	now := time.Now()
	if now.Before(p.tidy) {
		return
	}
	done, err := dropOld(p.Output, p.f.clock.at(p.f.now()))
	if p.tidy = now.Add(time.Second); done || err != nil {
		p.tidy = now.Add(tidying)
	}
	if err != nil {
		p.f.o.Logger.Error("dropping old records of the store", "err", err)
	}
}

// following is the state of a copy that goes on with its run.
type following struct {
	*Forwarder
	from  time.Time // what is not after it is in the store already
	idle  bool      // all that was recorded before ended is copied
	ended time.Time // end of the run, read before its last Inputs
	live  bool      // the run goes on
}

// look reads the end of the run before its next Inputs are read.
func (f *following) look(ctx context.Context, id int64) error {
	runs, err := f.o.From.Runs(ctx)
	f.live = false
	for _, run := range runs {
		if run.ID == id {
			f.ended, f.live = run.To, run.Live
		}
	}
	return err
}

// goesOn is called when there are no more Inputs. It writes that nothing else happened, waits for more, and reports
// whether there may be more.
func (p *copying) goesOn(ctx context.Context) (more bool, err error) {
	f := p.follow
	if f == nil {
		return false, p.write()
	}
	if !f.idle {
		f.idle = true
		return true, f.look(ctx, p.source.ID)
	}
	if p.store != nil {
		if err := p.batcher.flush(sources.Later(p.reached(), sources.Earlier(f.ended, p.to)), p.take); err != nil {
			return false, err
		}
	}
	if !f.live {
		return false, nil
	}
	f.await(ctx)
	return ctx.Err() == nil, errors.Join(ctx.Err(), f.look(ctx, p.source.ID))
}
