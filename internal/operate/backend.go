package operate

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"coordtop/coord"
	"coordtop/internal/action"
	"coordtop/internal/ground/spawn"
	"coordtop/sources"
)

// Backend is what an Operator must know of one source to act on it.
type Backend struct {
	Type     string // "redis", "postgres": for people
	Address  string // of the server, without a login
	Identity string // how others see us there
	Login    string // the user that we are at the server, for the audit; "": its default
	// Open makes the driver for one space (Ref.Space) of the source. It is called when it
	// is first needed, and again after a failure; ctx bounds it. It may find secrets, but
	// need not connect.
	Open func(ctx context.Context, space string) (coord.Driver, error)

	// Explain makes a sentence, a *sources.Problem, of an error of the driver. Nil: none can.
	Explain func(error) error

	ReadOnly bool // nothing is ever sent that changes something
	Protect  bool // its name must be typed to arm it, and each action needs a reason
	Demo     bool // a private server of the demo: names need not be typed

	// Caps is what such servers can do, as far as that is known before one is met. FIFO
	// means that waiters stand in a queue of the server's.
	Caps coord.Caps
	// Nameless: owners are known to others by their data alone. Our identity stands before
	// what the person says.
	Nameless bool
	// RunsOut reports whether what we abandon stays ours at the service for Lease; where it is
	// false it ends with our connection.
	RunsOut bool
	Renew   time.Duration // between two renewals, which is how soon a loss is noticed; 0: the driver's choice
	Lease   time.Duration // how long the service keeps what is not renewed
	Doubt   time.Duration // how long a claim that ended in doubt (coord.ErrUncertain) may be ours; 0: as long as Lease

	// LimitInClaims: a claim of a semaphore names its limit, which must be known.
	LimitInClaims bool

	// Call says what a request sends, as exactly as a line can. Nil: the verb and the name.
	Call func(r action.Request) string
	// Refuses says why a primitive cannot be claimed although its kind can ("made by an
	// extension"). "": it can. Nil: all can.
	Refuses func(p *sources.Primitive) string
	// Provisions reports whether primitives have an existence of their own, which is given and
	// taken through coord.Semaphore.
	Provisions bool
	// CreateNode makes a space that does not exist, within ctx. Nil: spaces are not made here.
	CreateNode func(ctx context.Context, space string) error
	// Force is how what others own is ended. Nil: it is not.
	Force *Force
	// Crash ends the process of that owner of the primitive, without a word. Nil: nobody's.
	Crash func(ref sources.Ref, owner sources.OwnerRef) error
}

// data is what a request tells others about us. Where they know owners by their data alone,
// which is read up to the first blank, who we are stands before what the person says. An
// object of JSON stays as it is: it names its owner itself, as its label.
func (b *Backend) data(r action.Request) []byte {
	says := r.Verb == action.Proclaim || action.Of(r.Verb).Group == action.Claims
	text := string(r.Data)
	switch {
	case !b.Nameless || !says || strings.HasPrefix(text, "{"), text == b.Identity, strings.HasPrefix(text, b.Identity+" "):
		return r.Data
	case text == "":
		return []byte(b.Identity)
	}
	return []byte(b.Identity + " " + text)
}

// dataMax is how many bytes a person may say.
func (b *Backend) dataMax() int {
	if b.Nameless {
		return max(b.Caps.MaxData-len(b.Identity)-len(" "), 0)
	}
	return b.Caps.MaxData
}

// refusal is the sentence about an error by which the service refuses us; nil: it does not.
func (b *Backend) refusal(err error) *sources.Problem {
	if b.Explain == nil || !errors.Is(err, coord.ErrRefused) {
		return nil
	}
	if p, ok := errors.AsType[*sources.Problem](b.Explain(err)); ok && p.Refused {
		return p
	}
	return nil // it refuses what is asked for: the driver explains that best
}

// shares reports whether several can own the primitive of a row at once on this backend.
func (b *Backend) shares(kind sources.Kind) bool { return b.Caps.Shared && kind == sources.KindMutex }

// limit is that of a request, or of the row where each claim must name it.
func (b *Backend) limit(r action.Request, row *sources.Row) uint64 {
	if b.LimitInClaims && r.Limit == 0 && r.Target.Kind == sources.KindSemaphore && row != nil && row.Limited() {
		return row.Limit
	}
	return r.Limit
}

// call is what a request sends, in a line.
func (b *Backend) call(r action.Request) string {
	r.Data = b.data(r)
	if r.Verb == action.Crash {
		return "SIGKILL to the process of " + action.OwnerText(r.Target.Label, r.Target.Owner)
	}
	if b.Call != nil {
		return b.Call(r)
	}
	return r.Verb.String() + " " + r.Target.Ref.Name
}

// drivers opens the drivers when they are needed and keeps them. It is safe for concurrent
// use: who waits for one driver waits for no other.
type drivers struct {
	backends map[string]Backend

	mu    sync.Mutex
	spots map[[2]string]*spot // by source and space
}

// spot is where the driver of one space is, or is to be.
type spot struct {
	turn   chan struct{} // capacity 1: full while somebody makes it or looks at it
	driver coord.Driver  // nil: nobody has made it yet
}

// spot returns the place of a driver, which may be empty.
func (d *drivers) spot(ref sources.Ref) *spot {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := [2]string{ref.Source, ref.Space}
	if d.spots[at] == nil {
		d.spots[at] = &spot{turn: make(chan struct{}, 1)}
	}
	return d.spots[at]
}

// of returns the driver of a space. It blocks while that is made, which ctx bounds: finding
// the password can take as long as a person needs. A driver of a read-only source can only
// look.
func (d *drivers) of(ctx context.Context, ref sources.Ref) (coord.Driver, error) {
	b, ok := d.backends[ref.Source]
	if !ok || b.Open == nil {
		return nil, fmt.Errorf("opening %s: %w", ref.Source, coord.ErrUnsupported)
	}
	s := d.spot(ref)
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return nil, fmt.Errorf("opening %s: another action opens it: %w", ref.Source, ctx.Err())
	}
	if s.driver != nil {
		return s.driver, nil
	}
	driver, err := b.Open(ctx, ref.Space)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", ref.Source, err)
	}
	if b.ReadOnly {
		driver = ReadOnly(driver)
	}
	s.driver = driver
	return driver, nil
}

// close closes them all at once, within ctx. Nobody asks for one any more.
func (d *drivers) close(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var closing sync.WaitGroup
	spots := slices.Collect(maps.Values(d.spots))
	errs := make([]error, len(spots))
	for i, s := range spots {
		if s.driver != nil {
			spawn.Go(ctx, &closing, func() { errs[i] = s.driver.Close(ctx) })
		}
	}
	closing.Wait()
	clear(d.spots)
	return errors.Join(errs...)
}
