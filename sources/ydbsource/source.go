package ydbsource

import (
	"context"
	"fmt"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"

	"coordtop/coord/ydbcoord"
	"coordtop/internal/ground/identify"
	"coordtop/sources/kit"
)

// Source watches the coordination nodes of one database. It implements sources.Source, sources.Focuser and
// sources.Refresher. The queue of a selected semaphore is read as often as Options.PollMin allows, and those of visible
// ones every two seconds. A refresh reads rows on screen, missing semaphores, and nodes that could not be watched.
type Source struct {
	o      Options
	plan   *plan
	states map[string]*nodeState // by node; used by the goroutine of the node while there is a link

	kit.Connector
	kit.Hints
}

var _ kit.Source = (*Source)(nil)

// New returns a source that is not connected. It starts nothing. Its error describes what is wrong with the options and
// contains no secret.
func New(o Options) (*Source, error) {
	o = o.withDefaults()
	p, err := o.compile()
	if err != nil {
		return nil, fmt.Errorf("selecting semaphores: %w", err)
	}
	if _, err := ydbcoord.NewClient(o.Client); err != nil {
		return nil, err
	}
	s := &Source{o: o, plan: p, states: map[string]*nodeState{}}
	s.Connector = kit.Connector{
		Product: identify.GRPC, Address: o.Client.Address, Dial: s.dial,
		Explain: func(err error, opening bool) error { return Explain(err, o.Client, opening) },
	}
	if o.Client.Conn != nil {
		s.Address = "" // it may be the address of another server
	}
	return s, nil
}

// dial connects to the database, proves that it accepts our login, and starts the goroutines of the nodes.
func (s *Source) dial(ctx context.Context) (kit.Conn, error) {
	client, err := ydbcoord.NewClient(s.o.Client)
	if err != nil {
		return nil, err
	}
	if err := client.Ping(ctx); err != nil {
		closeClient(client)
		if answeredWith(err, Ydb.StatusIds_NOT_FOUND) {
			return nil, noDatabase(s.o.Client, err)
		}
		return nil, err
	}
	l := &link{
		ScopedLink: kit.NewScopedLink(ctx), source: s, client: client,
		down: map[string]error{}, wentUp: make(chan struct{}),
	}
	if s.plan.walk {
		l.Start(l.walk)
	} else {
		l.Start(func() error { return l.watch(s.plan.nodes) })
	}
	return l, nil
}
