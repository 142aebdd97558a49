package operate

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"coordtop/coord"
	"coordtop/internal/action"
	"coordtop/sources"
)

// Backend is what an Operator must know of one source to act on it.
type Backend struct {
	Type     string // "redis", "postgres": for people
	Identity string // how others see us there
	Login    string // the user that we are at the server, for the audit; "": its default
	// Open makes the driver for one space (Ref.Space) of the source. It is called when it
	// is first needed, and again after a failure; ctx bounds it. It may find secrets, but
	// need not connect.
	Open func(ctx context.Context, space string) (coord.Driver, error)

	ReadOnly bool // nothing is ever sent that changes something
	Protect  bool // its name must be typed to arm it, and each action needs a reason
	Demo     bool // a private server of the demo: names need not be typed

	// Caps is what such servers can do, as far as that is known before one is met. FIFO
	// means that waiters stand in a queue of the server's.
	Caps coord.Caps
	// Nameless: owners are known to others by their data alone. Without data of the
	// person's, our identity is that.
	Nameless bool
	// RunsOut says that what we abandon stays ours at the service for Lease; where it is
	// false it ends with our connection.
	RunsOut bool
	Renew   time.Duration // between two renewals, which is how soon a loss is noticed; 0: the driver's choice
	Lease   time.Duration // how long the service keeps what is not renewed

	// Call says what a request sends, as exactly as a line can. Nil: the verb and the name.
	Call func(r action.Request) string
	// Refuses says why a primitive cannot be claimed although its kind can ("made by an
	// extension"). "": it can. Nil: all can.
	Refuses func(p *sources.Primitive) string
	// Provisions says that primitives have an existence of their own, which is given and
	// taken through coord.Semaphore.
	Provisions bool
	// NoSpace says that the space of a primitive does not exist; CreateNode makes one,
	// within ctx. Both or neither.
	NoSpace    func(p *sources.Primitive) bool
	CreateNode func(ctx context.Context, space string) error
	// Crash ends the process of that owner of the primitive, without a word. Nil: nobody's.
	Crash func(ref sources.Ref, owner sources.OwnerRef) error
}

// data is what a request tells others about us.
func (b *Backend) data(r action.Request) []byte {
	switch r.Verb {
	case action.Acquire, action.Campaign, action.Try:
		if b.Nameless && len(r.Data) == 0 {
			return []byte(b.Identity)
		}
	}
	return r.Data
}

// call is what a request sends, in a line.
func (b *Backend) call(r action.Request) string {
	r.Data = b.data(r)
	if r.Verb == action.Crash {
		return "SIGKILL to the process of " + ownerText(r.Target.Label, r.Target.Owner)
	}
	if b.Call != nil {
		return b.Call(r)
	}
	return r.Verb.String() + " " + r.Target.Ref.Name
}

// drivers opens the drivers when they are needed and keeps them. It is safe for concurrent
// use.
type drivers struct {
	backends map[string]Backend

	mu   sync.Mutex
	open map[[2]string]coord.Driver // by source and space
}

// of returns the driver of a space. It blocks while that is made, which ctx bounds. A
// driver of a read-only source can only look.
func (d *drivers) of(ctx context.Context, ref sources.Ref) (coord.Driver, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := [2]string{ref.Source, ref.Space}
	if driver := d.open[at]; driver != nil {
		return driver, nil
	}
	b, ok := d.backends[ref.Source]
	if !ok || b.Open == nil {
		return nil, fmt.Errorf("opening %s: %w", ref.Source, coord.ErrUnsupported)
	}
	driver, err := b.Open(ctx, ref.Space)
	if err != nil {
		return nil, fmt.Errorf("opening %s: %w", ref.Source, err)
	}
	if b.ReadOnly {
		driver = ReadOnly(driver)
	}
	d.open[at] = driver
	return driver, nil
}

// close closes them all at once, within ctx.
func (d *drivers) close(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	var closing sync.WaitGroup
	errs := make([]error, 0, len(d.open))
	var mu sync.Mutex
	for _, driver := range d.open {
		closing.Go(func() {
			if err := driver.Close(ctx); err != nil {
				mu.Lock()
				defer mu.Unlock()
				errs = append(errs, err)
			}
		})
	}
	closing.Wait()
	clear(d.open)
	return errors.Join(errs...)
}
