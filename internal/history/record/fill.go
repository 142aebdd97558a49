package record

import (
	"context"
	"errors"
	"fmt"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// Filling is an Output that goes on with a run after another recorder has begun the next one.
type Filling interface {
	Output
	Run() history.Run // its To is the end of what was written
	Until() time.Time // Write takes nothing after that

	// Join is called after the last Write; before that the time counts as unobserved. It may be repeated.
	Join() error
}

const (
	fillWithin = time.Minute     // until the next run has begun and its clock was compared
	fillEvery  = 5 * time.Second // of the recording, in one write
	alive      = 2 * time.Second // the most between two Inputs of a Hub that runs; a source tells each second that it is alive
)

// Fill copies from a spool what its recorder saw between the end of its last run of the store and the beginning of the
// next one. It returns how many Inputs came later, which nobody records. What the spool has of a run that began after turn
// is not meant. begin returns history.ErrBusy while the next run has not begun. Other errors are final, except while the store is away; Fill then tries again until ctx ends.
func Fill(ctx context.Context, o ForwardOptions, turn time.Time, begin func(context.Context) (Filling, error)) (refused int, err error) {
	f := NewForwarder(o)
	var store Filling
	give := time.Now().Add(fillWithin)
	if err = f.persist(ctx, func() (err error) {
		store, err = begin(ctx)
		if errors.Is(err, history.ErrBusy) && time.Now().After(give) {
			return fmt.Errorf("%w: %w", history.ErrSuperseded, err)
		}
		return err
	}); err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	runs, err := o.From.Runs(ctx)
	if err != nil {
		return 0, fmt.Errorf("reading the spool: %w", err)
	}
	for _, run := range runs {
		is := store.Run()
		if run.Host != is.Host || run.PID != is.PID || run.From.After(turn) || !run.Live && !run.To.After(is.To) {
			continue
		}
		_, err = f.copyRun(ctx, run, is.To, store.Until(), func(history.Run) (Output, error) { return unclosed{f.patient(ctx, store)}, nil })
		if err != nil {
			return f.refused, err
		}
	}
	return f.refused, f.persist(ctx, store.Join)
}

// unclosed is an Output that others go on to use.
type unclosed struct{ *patient }

// Close implements Output.
func (unclosed) Close() error { return nil }

// over ends a copy before an Input at next, which is too late for it. If that goes on with a run, over counts the Inputs
// from there on, of which rest are read.
func (p *copying) over(ctx context.Context, next time.Time, rest int) error {
	f := p.follow
	if f == nil {
		return p.write()
	}
	for {
		f.refused += rest
		piece, err := p.cursor.Next(ctx)
		if err != nil {
			return err
		}
		if piece.Empty() {
			break
		}
		rest = len(piece.Inputs)
	}
	if p.store == nil {
		return nil
	}
	// The last events are written, so the terms must be, too. This Input is not.
	if err := p.replay.Apply(sources.Input{Seq: p.applied.Seq + 1, Kind: sources.InputPublished, At: p.applied.At}); err != nil {
		return err
	}
	if next.Sub(p.reached()) > alive { // it may have been frozen
		return p.write()
	}
	return p.batcher.flush(p.to, p.take)
}
