package dflocksource

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"coordtop/internal/ground/identify"
	"coordtop/internal/ground/spawn"
	"coordtop/sources"
	"coordtop/sources/kit"
)

// Source watches servers. It implements sources.Source, sources.Focuser and sources.Refresher. The server of a selected
// row is read as often as Options.PollMin allows.
type Source struct {
	o      Options
	tables []*table // one for each server, in their order; used by the servers' goroutines while there is a link

	kit.Connector
	kit.Hints
}

var _ kit.Source = (*Source)(nil)

// New returns a source that is not connected. It starts nothing. Its error describes what is wrong with the options and
// contains no secret.
func New(o Options) (*Source, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	s := &Source{o: o}
	for _, addr := range o.Client.Servers {
		s.tables = append(s.tables, newTable(&s.o, addr))
	}
	s.Connector = kit.Connector{
		Product: identify.Dflockd, Dial: s.dial,
		Explain: func(err error, opening bool) error { return Explain(err, o.Client, o.Client.Servers[0], opening) },
	}
	if len(o.Client.Servers) == 1 {
		s.Address = o.Client.Servers[0]
	}
	return s, nil
}

// link has the connections to all servers, until it ends.
type link struct {
	*kit.ScopedLink
	source  *Source
	servers []*server
	up      atomic.Int32 // number of connected servers
}

// dial connects to every server and starts the goroutine of each. It returns an error if none can be reached.
func (s *Source) dial(ctx context.Context) (kit.Conn, error) {
	l := &link{ScopedLink: kit.NewScopedLink(ctx), source: s}
	dialers, err := s.o.Client.Dialers() // read again, because the certificates may be new
	if err != nil {
		return nil, err
	}
	var dialing sync.WaitGroup
	for i, t := range s.tables {
		each := &server{link: l, table: t, dialer: dialers[i], pace: kit.Pace{Min: s.o.PollMin, Max: s.o.PollMax}}
		l.servers = append(l.servers, each)
		spawn.Go(ctx, &dialing, func() { each.connect(ctx) })
	}
	dialing.Wait()
	if l.up.Load() == 0 {
		return nil, errors.Join(l.servers[0].err, ctx.Err())
	}
	l.Start(l.begin)
	return l, nil
}

// begin publishes every server as not read yet, before any is read. Otherwise all listings could seem complete before
// every server is known.
func (l *link) begin() error {
	for _, s := range l.servers {
		if err := l.Send(sources.Change{Scope: s.table.space, Relists: true, Set: s.table.unread(), Down: s.err}); err != nil {
			return err
		}
	}
	for _, s := range l.servers {
		l.Start(s.run)
	}
	return nil
}

// Close ends the connections and waits for the goroutines.
func (l *link) Close() {
	l.ScopedLink.Close()
	for _, s := range l.servers {
		if s.conn != nil {
			s.conn.Close()
		}
	}
}
