package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"coordtop/internal/config"
	"coordtop/internal/ground/format"
	"coordtop/internal/ground/spawn"
	"coordtop/sources"
)

// observe runs the sources of c under a Hub while body runs; when body returns it ends and joins them all. The
// context of body ends with ctx, and when a goroutine of beside fails, of which body may start more.
func (p *program) observe(ctx context.Context, c config.Config, body func(ctx context.Context, hub *sources.Hub, beside *watched) error) error {
	return p.observeWith(ctx, c, sources.HubOptions{}, body)
}

// observeWith is observe with options of the Hub; the thresholds are those of c.
func (p *program) observeWith(ctx context.Context, c config.Config, o sources.HubOptions, body func(ctx context.Context, hub *sources.Hub, beside *watched) error) error {
	specs, err := p.specs(c, p.logger())
	if err != nil {
		return err
	}
	o.Thresholds = c.Thresholds
	return p.observeSpecs(ctx, append(specs, p.absent...), o, body)
}

// observeSpecs is observeWith for sources that exist already.
func (p *program) observeSpecs(ctx context.Context, specs []sources.Spec, o sources.HubOptions, body func(ctx context.Context, hub *sources.Hub, beside *watched) error) error {
	hub := sources.NewHub(ctx, o)
	defer hub.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &watched{cancel: cancel}
	w.run(ctx, func() error {
		err := sources.Run(ctx, hub, specs)
		if errors.Is(err, sources.ErrStillRunning) { // the command has done its work, so this is no error of it
			p.logger().Warn("The sources did not end with the command", "error", err)
			return nil
		}
		return err
	})
	err := spawn.Call(ctx, func() error { return body(ctx, hub, w) })
	cancel(nil)
	beside := w.wait()
	if beside != nil && errors.Is(err, context.Cause(ctx)) {
		return beside // body ended because of it, so it is reported once
	}
	return errors.Join(err, beside)
}

// guarded returns a context that ends with ctx and with the first panic under it, so that the terminal is restored
// and leases are given back before the panic is reported; whole makes it the error of the command. The stack goes
// to the log, since it would fill the screen.
func (p *program) guarded(ctx context.Context) (_ context.Context, whole func(error) error) {
	ctx, cancel := context.WithCancelCause(ctx)
	broken := func(b *spawn.Panic) {
		p.logger().Error("panic", "value", fmt.Sprint(b.Value), "at", b.Line, "stack", string(b.Stack))
		what := format.Clean(fmt.Sprintf("%v, at %s", b.Value, b.Line), 300)
		cancel(fmt.Errorf("%w: %s: the log in the state directory has the details", spawn.ErrPanic, what))
	}
	return spawn.With(ctx, broken), func(err error) error {
		if cause := context.Cause(ctx); errors.Is(cause, spawn.ErrPanic) {
			return cause
		}
		return err
	}
}

// logger opens the log of this run, at the first call. It is safe for concurrent use.
func (p *program) logger() *slog.Logger {
	p.logging.Lock()
	defer p.logging.Unlock()
	if p.logTo == nil {
		logger, file, err := openLog(p.env.Lookup)
		if err != nil {
			fmt.Fprintf(p.env.Stderr, "coordtop: %v: going on without a log\n", err)
		}
		p.logTo, p.log = logger, file
	}
	return p.logTo
}

// watched starts the goroutines of a command. If one fails, it ends the others and the board, so that the terminal
// is restored before the error is printed.
type watched struct {
	cancel  context.CancelCauseFunc
	running sync.WaitGroup

	mu  sync.Mutex
	err error
}

// run starts f, which wait joins. A panic of f goes to the handler of ctx, and is no error here.
func (w *watched) run(ctx context.Context, f func() error) {
	spawn.Go(ctx, &w.running, func() {
		if err := f(); err != nil && !errors.Is(err, context.Canceled) {
			w.cancel(err)
			w.mu.Lock()
			defer w.mu.Unlock()
			w.err = errors.Join(w.err, err)
		}
	})
}

// wait joins the goroutines and returns their errors.
func (w *watched) wait() error {
	w.running.Wait() // nobody writes err any more
	return w.err
}
