package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"coordtop/internal/app/backends"
	"coordtop/internal/app/logfile"
	"coordtop/internal/config"
	"coordtop/internal/ground/format"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/history/record"
	"coordtop/internal/metrics"
	"coordtop/internal/metrics/endpoint"
	"coordtop/internal/objective"
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

// listening is the flag --listen of a command, and the port that it opens.
type listening struct {
	address string
	port    net.Listener // nil: nothing is served
	said    string       // about the port
}

func (l *listening) flag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&l.address, "listen", "", "serve /metrics, /healthz and /readyz at `HOST:PORT`; without HOST only to this machine")
}

// open opens the port, if one is wanted; close closes it.
func (l *listening) open(ctx context.Context) (err error) {
	if l.address != "" {
		l.port, err = endpoint.Listen(ctx, l.address)
	}
	if errors.Is(err, endpoint.ErrAddress) {
		return usageError{err}
	}
	return err
}

func (l *listening) close() {
	if l.port != nil {
		_ = l.port.Close() // it may be closed
	}
}

// serve serves the metrics of hub until ctx ends; beside joins it. on is what is recorded of it; r is nil if the command
// does not record.
func (l *listening) serve(ctx context.Context, p *program, hub *sources.Hub, on *recording, r *record.Recorder, beside *watched) {
	if l.port == nil {
		return
	}
	c := &on.config
	keeper := objective.NewKeeper(c.Objectives, on.reader, hub.State)
	o := metrics.Options{Hub: hub, Version: version(), Names: configFilter(c, c.Metrics.Names), Series: c.Metrics.Series, Objectives: keeper.Results}
	if r != nil {
		o.Recorder = r.Health
		if on.forwarder != nil {
			o.Store = on.forwarder.Store
		}
	}
	collector := metrics.New(o)
	beside.run(ctx, func() error { return collector.Run(ctx) })
	beside.run(ctx, func() error { return keeper.Run(ctx) })
	beside.run(ctx, func() error { return endpoint.Run(ctx, l.port, endpoint.Options{Of: collector, Logger: p.logger()}) })
	open := ""
	if a, ok := l.port.Addr().(*net.TCPAddr); ok && !a.IP.IsLoopback() {
		open = " to whoever can connect: there is no login"
	}
	if text := fmt.Sprintf("serving http://%s/metrics%s", l.port.Addr(), open); text != l.said {
		l.said = text
		fmt.Fprintf(p.env.Stderr, "coordtop: %s\n", text)
	}
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
		logger, file, err := logfile.Open(p.env.Lookup)
		if err != nil {
			fmt.Fprintf(p.env.Stderr, "coordtop: %v: going on without a log\n", err)
		}
		backends.LogTo(logger)
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

// configured is a source whose password is found when it is needed.
//
// The secret is read at the first Connect and again after a refusal, since it may have changed, but not at every
// reconnect: a password command may ask for a touch on a security key. Only a changed secret makes a new inner source,
// because the old one remembers what it has shown.
type configured struct {
	secret func(context.Context) (string, error)
	rarely time.Duration // the secret is not read again within this time, unless Refresh asks
	open   func(password string) (sources.Source, error)

	inner    atomic.Pointer[sources.Source] // other goroutines call Focus and Refresh
	focusing sync.Mutex
	focus    func(sources.Focuser) // the newest Focus; nil: there was none; guarded by focusing
	password string                // of inner
	refused  bool
	found    string      // the secret that was last read
	err      error       // why none was found
	read     time.Time   // when it was last read; zero: never
	hurry    atomic.Bool // Refresh was called since
}

// commandRest is the least time between two runs of a password command.
const commandRest = 30 * time.Second

// findSecret reads the secret, or returns the last result if that is recent.
func (c *configured) findSecret(ctx context.Context) (string, error) {
	if c.hurry.Swap(false) || c.read.IsZero() || time.Since(c.read) >= c.rarely {
		c.found, c.err = c.secret(ctx)
		c.read = time.Now()
	}
	return c.found, c.err
}

// Connect finds the secret if need be and connects the source.
func (c *configured) Connect(ctx context.Context) error {
	if c.inner.Load() == nil || c.refused {
		password, err := c.findSecret(ctx)
		if err != nil {
			return refusal{err}
		}
		if c.inner.Load() == nil || password != c.password {
			source, err := c.open(password)
			if err != nil {
				return refusal{err}
			}
			c.inner.Store(&source)
			c.password = password
			c.passFocus(nil) // the Focus from before there was a source
		}
	}
	err := (*c.inner.Load()).Connect(ctx)
	c.refused = errors.Is(err, sources.ErrRefused)
	return err
}

// Next returns the next Change of the source.
func (c *configured) Next(ctx context.Context) (sources.Change, error) {
	return (*c.inner.Load()).Next(ctx)
}

// Close closes the source if there is one.
func (c *configured) Close() error {
	if inner := c.inner.Load(); inner != nil {
		return (*inner).Close()
	}
	return nil
}

// Focus passes the focus on to the source, as soon as there is one.
func (c *configured) Focus(visible []sources.Ref, selected sources.Ref) {
	c.passFocus(func(f sources.Focuser) { f.Focus(visible, selected) })
}

// passFocus gives the source the newest Focus: newer, or if that is nil the last one.
func (c *configured) passFocus(newer func(sources.Focuser)) {
	c.focusing.Lock()
	defer c.focusing.Unlock()
	if newer != nil {
		c.focus = newer
	}
	if inner := c.inner.Load(); inner != nil && c.focus != nil {
		if f, ok := (*inner).(sources.Focuser); ok {
			c.focus(f)
		}
	}
}

// Refresh asks the source to read again.
func (c *configured) Refresh() {
	c.hurry.Store(true)
	if inner := c.inner.Load(); inner != nil {
		if r, ok := (*inner).(sources.Refresher); ok {
			r.Refresh()
		}
	}
}

// unavailable is a source that could not be started: the board shows it with the reason.
type unavailable struct{ reason error }

func (u unavailable) Connect(context.Context) error { return refusal{u.reason} }

func (u unavailable) Next(context.Context) (sources.Change, error) {
	return sources.Change{}, fmt.Errorf("reading: %w", u.reason)
}

func (u unavailable) Close() error { return nil }

// refusal is an error that does not pass: it wraps sources.ErrRefused for the runner, without adding to the text.
type refusal struct{ error }

func (r refusal) Unwrap() []error { return []error{r.error, sources.ErrRefused} }
