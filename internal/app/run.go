package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"

	"coordtop/internal/config"
	"coordtop/sources"
)

// observe runs the sources of c under a Hub while body runs, and ends and joins all of
// it when body returns. The context of body ends with ctx, and when something that runs
// beside it fails or panics; body may start more of that.
func (p *program) observe(ctx context.Context, c config.Config, body func(ctx context.Context, hub *sources.Hub, beside *watched) error) error {
	logger := p.logger()
	specs, err := p.specs(c, logger)
	if err != nil {
		return err
	}
	specs = append(specs, p.absent...)
	hub := sources.NewHub(sources.HubOptions{})
	defer hub.Close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	w := &watched{cancel: cancel, log: func(text string) { logger.Error(text) }}
	w.run(func() error { return sources.Run(ctx, hub, specs) })
	err = w.call(func() error { return body(ctx, hub, w) })
	cancel(nil)
	beside := w.wait()
	if beside != nil && errors.Is(err, context.Cause(ctx)) {
		return beside // that is why body ended: say it once
	}
	return errors.Join(err, beside)
}

// logger opens the log of this run, at the first call.
func (p *program) logger() *slog.Logger {
	if p.logTo == nil {
		logger, file, err := openLog(p.env.Lookup)
		if err != nil {
			fmt.Fprintf(p.env.Stderr, "coordtop: %v: going on without a log\n", err)
		}
		p.logTo, p.log = logger, file
	}
	return p.logTo
}

// watched starts the goroutines of a command. One that fails or panics ends the others,
// and first of all the screen, so that the terminal is restored before anything is said.
type watched struct {
	cancel  context.CancelCauseFunc
	log     func(text string)
	running sync.WaitGroup

	mu  sync.Mutex
	err error
}

// run starts f. wait joins it.
func (w *watched) run(f func() error) {
	w.running.Go(func() { w.watch(f) })
}

// do runs f here, for those who join their goroutines themselves.
func (w *watched) do(f func()) {
	w.watch(func() error {
		f()
		return nil
	})
}

func (w *watched) watch(f func() error) {
	if err := w.call(f); err != nil && !errors.Is(err, context.Canceled) {
		w.cancel(err)
		w.mu.Lock()
		w.err = errors.Join(w.err, err)
		w.mu.Unlock()
	}
}

// call runs f here and makes an error of its panic. The stack goes to the log: on the
// screen it would push away what matters.
func (w *watched) call(f func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			w.log(fmt.Sprintf("panic: %v\n%s", r, debug.Stack()))
			err = fmt.Errorf("a defect in coordtop: %v: the log in the state directory has the details", r)
		}
	}()
	return f()
}

// wait joins the goroutines and returns what went wrong in them.
func (w *watched) wait() error {
	w.running.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}
