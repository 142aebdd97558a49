package ydbsource

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"

	"coordtop/coord/ydbcoord"
	"coordtop/internal/identify"
	"coordtop/sources"
)

// Source watches the coordination nodes of one database. It implements sources.Source,
// sources.Focuser and sources.Refresher.
type Source struct {
	o      Options
	plan   *plan
	boards map[string]*board // by node; used by the goroutine of the node while a link lives
	hints  hints
	link   *link // nil: not connected
}

var (
	_ sources.Source    = (*Source)(nil)
	_ sources.Focuser   = (*Source)(nil)
	_ sources.Refresher = (*Source)(nil)
)

// New returns a source that is not connected. It starts nothing. An error says what is
// wrong with the options; it holds no secret.
func New(o Options) (*Source, error) {
	o = o.withDefaults()
	p, err := o.compile()
	if err != nil {
		return nil, fmt.Errorf("selecting semaphores: %w", err)
	}
	if _, err := ydbcoord.NewClient(o.Client); err != nil {
		return nil, err
	}
	return &Source{o: o, plan: p, boards: map[string]*board{}}, nil
}

// strange reports whether an error of a connection that is being made may be of another kind of
// server.
func (s *Source) strange(err error) bool { return sources.Strange(Explain(err, s.o.Client, true)) }

// address is where the server is asked of what kind it is: "" where the connection is not ours.
func (s *Source) address() string {
	if s.o.Client.Conn != nil {
		return ""
	}
	return s.o.Client.Address
}

// Connect reaches the database, proves that it knows us, and starts the goroutines that
// Close joins. An error is a sentence that says what to do; it wraps sources.ErrRefused
// where only somebody else can change the outcome.
func (s *Source) Connect(ctx context.Context) error {
	if s.link != nil {
		return errors.New("connecting twice without a Close")
	}
	client, err := ydbcoord.NewClient(s.o.Client)
	if err != nil {
		return err
	}
	other, err := identify.Beside(ctx, s.address(), identify.GRPC, s.strange, client.Ping)
	if other != identify.Unknown {
		closeClient(client)
		contact := sources.Contact{Words: words, Where: s.o.Client.Address, Secrets: []string{s.o.Client.Password, s.o.Client.AccessToken}}
		return contact.Mistaken(err, string(other), other.Scheme())
	}
	if err != nil {
		closeClient(client)
		if answeredWith(err, Ydb.StatusIds_NOT_FOUND) {
			return noDatabase(s.o.Client, err)
		}
		return Explain(err, s.o.Client, true)
	}
	s.link = newLink(ctx, s, client)
	s.link.start()
	return nil
}

// Next returns what is new, or after at most a second an empty change. Its error says why
// the connection is over.
func (s *Source) Next(ctx context.Context) (sources.Change, error) {
	if s.link == nil {
		return sources.Change{}, errors.New("not connected")
	}
	c, err := s.link.next(ctx)
	if err != nil && ctx.Err() == nil {
		err = Explain(err, s.o.Client, false)
	}
	return c, err
}

// Close ends the sessions and the connection, and joins their goroutines. It may be called
// again.
func (s *Source) Close() error {
	if s.link != nil {
		s.link.close()
		s.link = nil
	}
	return nil
}

// Focus makes the queue of a selected semaphore be looked at as often as Options.PollMin
// allows, and those of visible ones every two seconds.
func (s *Source) Focus(visible []sources.Ref, selected sources.Ref) {
	f := &focus{byNode: map[string]*onScreen{}}
	for _, r := range visible {
		if r.Source == s.o.Name {
			f.node(r.Space).visible = append(f.node(r.Space).visible, r.Name)
		}
	}
	if selected.Source == s.o.Name && selected.Name != "" {
		f.node(selected.Space).selected = selected.Name
	}
	s.hints.focus.Store(f)
	s.hints.poke()
}

// Refresh looks again now: at what is on screen, for what is missing, and at nodes that
// could not be watched.
func (s *Source) Refresh() {
	s.hints.refreshes.Add(1)
	s.hints.poke()
}

// hints are what the screen wishes, kept for the goroutines of the nodes. Writers never
// block.
type hints struct {
	focus     atomic.Pointer[focus] // nil: nothing is on screen
	refreshes atomic.Uint64         // how often a refresh was asked for
	woken     atomic.Pointer[[]chan struct{}]
}

// poke wakes the nodes; each channel has room for one.
func (h *hints) poke() {
	list := h.woken.Load()
	if list == nil {
		return
	}
	for _, c := range *list {
		select {
		case c <- struct{}{}:
		default:
		}
	}
}

// onScreen returns what of a node is on screen.
func (h *hints) onScreen(node string) onScreen {
	if f := h.focus.Load(); f != nil && f.byNode[node] != nil {
		return *f.byNode[node]
	}
	return onScreen{}
}

// focus is never changed after it was stored.
type focus struct{ byNode map[string]*onScreen }

type onScreen struct {
	visible  []string
	selected string // "": none
}

func (f *focus) node(path string) *onScreen {
	if f.byNode[path] == nil {
		f.byNode[path] = &onScreen{}
	}
	return f.byNode[path]
}
