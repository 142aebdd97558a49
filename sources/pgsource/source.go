package pgsource

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/coord/pgcoord"
	"coordtop/internal/identify"
	"coordtop/sources"
)

// Source watches one server. It implements sources.Source, sources.Refresher and
// sources.Focuser: a selected lock is looked at as often as Options.PollMin allows and the
// server is asked for the order of its queue; of visible ones each look tells what their
// sessions do.
type Source struct {
	o        Options
	config   *pgconn.Config
	notes    []string // about parameters of the URL
	selected *selection
	board    *board // of the watcher while a link lives
	link     *link  // nil: not connected

	sources.Hints
}

var (
	_ sources.Source    = (*Source)(nil)
	_ sources.Focuser   = (*Source)(nil)
	_ sources.Refresher = (*Source)(nil)
)

// New returns a source that is not connected. It starts nothing. An error says what is
// wrong with the options; one about a key wraps pgcoord.ErrKey. It holds no secret.
func New(o Options) (*Source, error) {
	o = o.withDefaults()
	scheme, err := pgcoord.ParseScheme(string(o.Scheme))
	if err != nil {
		return nil, err
	}
	selected, err := compile(o.Selections, scheme)
	if err != nil {
		return nil, fmt.Errorf("selecting locks: %w", err)
	}
	names, err := parseNames(o.Names)
	if err != nil {
		return nil, fmt.Errorf("naming locks: %w", err)
	}
	if err := checkChannels(o.Channels); err != nil {
		return nil, err
	}
	config, notes, err := parseURL(o)
	if err != nil {
		return nil, err
	}
	return &Source{o: o, config: config, notes: notes, selected: selected, board: newBoard(o, selected.all, names)}, nil
}

// Connect logs in, finds out what stands between us and the server, and starts the
// goroutines that Close joins. An error is a sentence that says what to do; it wraps
// sources.ErrRefused where only somebody else can change the outcome.
func (s *Source) Connect(ctx context.Context) error {
	if s.link != nil {
		return errors.New("connecting twice without a Close")
	}
	var l *link
	other, err := identify.Beside(ctx, s.address(), identify.Postgres, s.strange, func(ctx context.Context) (err error) {
		l, err = dial(ctx, &s.o, s.config, s.selected)
		return err
	})
	if other != identify.Unknown {
		return mistaken(err, other, s.config)
	}
	if err != nil {
		return explain(err, s.config, true)
	}
	s.link = l
	w := &watcher{link: l, notes: s.notes, board: s.board, hints: &s.Hints, pace: pace{min: s.o.PollMin, max: s.o.PollMax}}
	l.Start(w.run)
	if w.mayListen() {
		l.Start(l.listen)
	}
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
		err = explain(err, s.config, false)
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
