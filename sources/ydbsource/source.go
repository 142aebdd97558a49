package ydbsource

import (
	"context"
	"errors"
	"fmt"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"

	"coordtop/coord/ydbcoord"
	"coordtop/internal/identify"
	"coordtop/sources"
)

// Source watches the coordination nodes of one database. It implements sources.Source,
// sources.Focuser, which makes the queue of a selected semaphore be looked at as often as
// Options.PollMin allows and those of visible ones every two seconds, and sources.Refresher,
// which looks again at what is on screen, for what is missing, and at nodes that could not be
// watched.
type Source struct {
	o      Options
	plan   *plan
	boards map[string]*board // by node; used by the goroutine of the node while a link lives
	link   *link             // nil: not connected

	sources.Hints
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
	s.link.Start(s.link.begin)
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
