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
	"coordtop/internal/ground/mask"
	"coordtop/internal/ground/spawn"
	"coordtop/sources"
)

// Backend describes to an Operator how to act on one source.
type Backend struct {
	Type     string // "redis", "postgres": for people
	Address  string // of the server, without a login
	Identity string // our label for others there
	Login    string // our user at the server, for the audit; "": the default user
	// Open makes the driver for one space (Ref.Space) of the source. It is called when the driver is first
	// needed, and again after a failure; ctx bounds it. It may find secrets, but need not connect.
	Open func(ctx context.Context, space string) (coord.Driver, error)

	// Explain turns an error of the driver into a *sources.Problem with a sentence. Nil: errors are not explained.
	Explain func(error) error

	ReadOnly bool // requests that change something are never sent
	Protect  bool // its name must be typed to arm it, and each action needs a reason
	Demo     bool // a private server of the demo: names need not be typed

	// Caps are the abilities of this kind of server, as far as they are known without connecting. FIFO means that the
	// server has a queue.
	Caps coord.Caps
	// Nameless reports whether others know owners by their data alone. Our identity then stands before
	// the person's text.
	Nameless bool
	// RunsOut reports whether a lease that we abandon stays ours at the service for Lease. Otherwise it ends with our
	// connection.
	RunsOut bool
	// KeepsFrozen reports whether the service keeps what a client owns that answers nothing any more, for as long as
	// its connection is open.
	KeepsFrozen bool
	Renew       time.Duration // between two renewals, which bounds the time until a loss is noticed; 0: the driver's choice
	Lease       time.Duration // the time for which the service keeps a lease that is not renewed
	Doubts      int           // for how many Leases a claim that ended with coord.ErrUncertain may still be ours; 0: 1
	// CheckLease returns why a lease cannot have that length. Nil: it can have any.
	CheckLease func(time.Duration) error
	// Enqueues reports whether a client can take a place in the queue now and wait there later.
	Enqueues bool
	// Undescribed reports whether the service keeps no description of a session.
	Undescribed bool

	// LimitInClaims reports whether a claim of a semaphore names its limit, which must be known then.
	LimitInClaims bool

	// Call describes on one line what a request sends, as exactly as possible. Nil: the verb and the name.
	Call func(r action.Request) string
	// Refuses returns the reason why a primitive cannot be claimed although its kind can ("made by an extension"); ""
	// if it can. Nil: every primitive can be claimed.
	Refuses func(p *sources.Primitive) string
	// Provisions reports whether primitives exist without being owned, and are created and deleted through
	// coord.Semaphore.
	Provisions bool
	// Nodes creates, changes and removes spaces. Nil: the backend has none that can be made.
	Nodes *Nodes
	// Force ends what others own. Nil: the backend cannot.
	Force *Force
	// Crash kills the process of that owner of the primitive. Nil: no process can be killed.
	Crash func(ref sources.Ref, owner sources.OwnerRef) error
}

// data returns the data that others see. If they know owners only by their data up to the first blank, it puts our
// identity before the person's text. It does not change a JSON object, whose label names the owner.
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

// dataMax returns how many bytes of data a person may write.
func (b *Backend) dataMax() int {
	if b.Nameless {
		return max(b.Caps.MaxData-len(b.Identity)-len(" "), 0)
	}
	return b.Caps.MaxData
}

// refusal returns the sentence about an error with which the service refuses us; nil for any other error.
func (b *Backend) refusal(err error) *sources.Problem {
	if b.Explain == nil || !errors.Is(err, coord.ErrRefused) {
		return nil
	}
	if p, ok := errors.AsType[*sources.Problem](b.Explain(err)); ok && p.Refused {
		return p
	}
	return nil // the service refuses the request, not us; the driver's text explains that best
}

// shares reports whether several can own the primitive of a row at once on this backend.
func (b *Backend) shares(kind sources.Kind) bool { return b.Caps.Shared && kind == sources.KindMutex }

// limit returns the limit of a request. If the request has none and each claim must name the limit, it returns that of
// the row.
func (b *Backend) limit(r action.Request, row *sources.Row) uint64 {
	if b.LimitInClaims && r.Limit == 0 && r.Target.Kind == sources.KindSemaphore && row != nil && row.Limited() {
		return row.Limit
	}
	return r.Limit
}

// call describes in one line what a request sends, without secrets in its data.
func (b *Backend) call(r action.Request) string {
	r.Data = []byte(mask.Text(string(b.data(r))))
	if r.Verb == action.Crash {
		return "SIGKILL to the process of " + action.OwnerText(r.Target.Label, r.Target.Owner)
	}
	if b.Call != nil {
		return b.Call(r)
	}
	return r.Verb.String() + " " + r.Target.Ref.Name
}

// drivers opens the drivers when they are needed and keeps them. It is safe for concurrent use; a caller waits only for
// its own driver.
type drivers struct {
	backends map[string]Backend

	mu    sync.Mutex
	spots map[[2]string]*spot // by source and space
}

// spot has the driver of one space.
type spot struct {
	turn   chan struct{} // capacity 1: full while a goroutine opens or reads the driver
	driver coord.Driver  // nil: it is not open yet
}

// spot returns the spot of a driver, which may be empty.
func (d *drivers) spot(ref sources.Ref) *spot {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := [2]string{ref.Source, ref.Space}
	if d.spots[at] == nil {
		d.spots[at] = &spot{turn: make(chan struct{}, 1)}
	}
	return d.spots[at]
}

// of returns the driver of a space. It blocks until the driver is open or ctx ends, which may take long because a
// person may have to give the password. The driver of a read-only source can only read.
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

// close closes all drivers concurrently, within ctx. The caller must not call of after it.
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
