package redissource

import (
	"context"

	"coordtop/coord/rediscoord"
	"coordtop/internal/identify"
	"coordtop/sources"
)

// Source watches one server. It implements sources.Source, sources.Focuser, which makes keys
// that are polled and on screen be read as often as Options.PollMin allows, and
// sources.Refresher.
type Source struct {
	o        Options
	selected *selection
	keys     map[string]*key // of the watcher while a link lives
	before   server          // of the last link: for the watcher of the next

	sources.Connector
	sources.Hints
}

var (
	_ sources.Source    = (*Source)(nil)
	_ sources.Focuser   = (*Source)(nil)
	_ sources.Refresher = (*Source)(nil)
)

// New returns a source that is not connected. It starts nothing.
func New(o Options) *Source {
	o = o.withDefaults()
	o.Client.Refusals = new(rediscoord.Refusals)
	s := &Source{o: o, selected: compile(o.Selections), keys: make(map[string]*key)}
	s.Connector = sources.Connector{
		Product: identify.Redis, Dial: s.dial,
		Explain: func(err error, opening bool) error { return Explain(err, o.Client, o.Silence, opening) },
	}
	if o.Client.Topology == rediscoord.Single && len(o.Client.Addrs) == 1 {
		s.Address = o.Client.Addrs[0]
	}
	return s
}

// dial logs in, checks that we may read, and starts the watcher.
func (s *Source) dial(ctx context.Context) (sources.Conn, error) {
	l, err := dial(ctx, &s.o, s.selected)
	if err != nil {
		return nil, err
	}
	w := &watcher{link: l, keys: s.keys, hints: &s.Hints, before: &s.before}
	l.Start(w.run)
	return l, nil
}

// Refresh reads everything again now, also what a right was missing for. Commands that the
// user had no right to are asked for at the next connect.
func (s *Source) Refresh() {
	s.o.Client.Refusals.Forget()
	s.Hints.Refresh()
}
