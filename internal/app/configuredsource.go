package app

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"coordtop/sources"
)

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
