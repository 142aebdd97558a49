package redissource

import (
	"context"
	"errors"

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
	link     *link           // nil: not connected

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
	return &Source{o: o, selected: compile(o.Selections), keys: make(map[string]*key)}
}

// Connect logs in, checks that we may read, and starts the goroutines that Close joins. An
// error is a sentence that says what to do; it wraps sources.ErrRefused where
// only somebody else can change the outcome.
func (s *Source) Connect(ctx context.Context) error {
	if s.link != nil {
		return errors.New("connecting twice without a Close")
	}
	var l *link
	other, err := identify.Beside(ctx, s.address(), identify.Redis, s.strange, func(ctx context.Context) (err error) {
		l, err = dial(ctx, &s.o, s.selected)
		return err
	})
	if other != identify.Unknown {
		contact := sources.Contact{Words: words, Where: s.address(), Secrets: []string{s.o.Client.Password}}
		return contact.Mistaken(err, string(other), other.Scheme())
	}
	if err != nil {
		return Explain(err, s.o.Client, s.o.Silence, true)
	}
	s.link = l
	w := &watcher{link: l, keys: s.keys, hints: &s.Hints, before: &s.before}
	l.Start(w.run)
	return nil
}

// Next returns what is new, or after at most a second an empty change. Its error says why
// the connection is over.
func (s *Source) Next(ctx context.Context) (sources.Change, error) {
	if s.link == nil {
		return sources.Change{}, errors.New("not connected")
	}
	c, err := s.link.Next(ctx)
	if err != nil && ctx.Err() == nil {
		err = Explain(err, s.o.Client, s.o.Silence, false)
	}
	return c, err
}

// Close ends both connections and joins their goroutines. It may be called again.
func (s *Source) Close() error {
	if s.link != nil {
		s.link.close()
		s.link = nil
	}
	return nil
}

// Refresh reads everything again now, also what a right was missing for. Commands that the
// user had no right to are asked for at the next connect.
func (s *Source) Refresh() {
	s.o.Client.Refusals.Forget()
	s.Hints.Refresh()
}
