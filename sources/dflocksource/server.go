package dflocksource

import (
	"context"
	"slices"
	"time"

	"coordtop/internal/backoff"
	"coordtop/internal/dflockwire"
	"coordtop/sources"
)

// server is one server while a link lives.
type server struct {
	link      *link
	table     *table
	dialer    dflockwire.Dialer
	pace      pace
	conn      *dflockwire.Conn // nil: not connected
	err       error            // a Problem: why it is not
	pings     bool             // it knows the command
	about     *sources.About   // as last published; nil: not yet on this link
	refreshed uint64
}

// connect logs in and finds out which commands the server knows.
func (s *server) connect(ctx context.Context) {
	conn, err := s.dialer.Connect(ctx)
	if err == nil {
		if s.pings, err = conn.Ping(ctx); err == nil {
			s.conn = conn
			s.link.up.Add(1)
			return
		}
		conn.Close()
	}
	s.err = s.explain(err, true)
}

func (s *server) explain(err error, opening bool) error {
	return Explain(err, s.link.source.o.Client, s.table.space, opening)
}

// run reads the server until the link ends, connecting again after each failure. It ends the
// link where no server is left and this one cannot be connected again.
func (s *server) run() error {
	ctx := s.link.Context()
	pauses := backoff.Policy{}.Start()
	for {
		down := sources.Change{Scope: s.table.space, Down: s.err}
		if s.conn != nil {
			listed, err := s.read(ctx)
			down.Gap, down.At, down.Down = true, s.table.answered, s.explain(err, false)
			s.link.up.Add(-1)
			if len(s.link.servers) == 1 {
				return down.Down
			}
			if listed {
				pauses.Reset()
			}
		} else if s.link.up.Load() == 0 {
			return s.err
		}
		if err := s.link.Send(down); err != nil {
			return err
		}
		if err := s.rest(ctx, pauses.Next()); err != nil {
			return err
		}
		s.connect(ctx)
	}
}

// read asks for stats until the connection ends; listed reports whether it was answered.
func (s *server) read(ctx context.Context) (listed bool, err error) {
	defer func() {
		s.conn.Close()
		s.conn, s.about = nil, nil
	}()
	for {
		stats, err := s.conn.Stats(ctx)
		if err != nil {
			return listed, err
		}
		c, moved := s.table.compare(&stats, !listed)
		pause := s.pace.pause(&stats, moved, s.selected())
		c.Synced, c.About = !listed, s.news(&stats, pause)
		listed = true
		s.link.Answered(s.table.space)
		if c.Synced || c.About != nil || len(c.Set)+len(c.Unseen) > 0 {
			if err := s.link.Send(c); err != nil {
				return listed, err
			}
		}
		if err := s.rest(ctx, pause); err != nil {
			return listed, err
		}
	}
}

// selected reports whether a row of the server is selected on screen.
func (s *server) selected() bool {
	return s.link.source.OnScreen().Selected.Space == s.table.space
}

// rest waits for a pause. It ends early when somebody asks for a refresh or selects a row of the
// server, and when the connection ends. Its error is the error of ctx.
func (s *server) rest(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	var hungUp <-chan struct{}
	if s.conn != nil {
		hungUp = s.conn.Done()
	}
	selected := s.selected()
	for {
		changed := s.link.source.Changed()
		if s.link.source.Refreshed(&s.refreshed) || s.conn != nil && !selected && s.selected() {
			return nil
		}
		select {
		case <-timer.C:
			return nil
		case <-hungUp:
			return nil
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// news is what the server says of itself, if that differs from what was published; else nil.
func (s *server) news(stats *dflockwire.Stats, pause time.Duration) *sources.About {
	now := &sources.About{
		Mode: "polling", Sampling: pause, Version: versionOf(s.pings, stats.Signals != nil), RoundTrip: stats.Answered.Sub(stats.Asked),
		Incarnation: s.table.incarnation(), Became: "the server was restarted, and its locks are gone", BecameHow: sources.Inferred,
		Warnings: s.table.warnings(),
	}
	if s.about != nil && s.about.Same(now) {
		return nil
	}
	s.about = now
	return now
}

// versionOf infers the version from the commands and lists that a server knows: signals exist
// from 1.11 to 1.16, ping from 1.14 on.
func versionOf(pings, signals bool) string {
	switch {
	case pings && signals:
		return "1.14 to 1.16"
	case pings:
		return "2.0 or newer"
	case signals:
		return "1.11 to 1.13"
	}
	return "1.10 or older"
}

// pace decides how often the server is read.
type pace struct {
	min, max time.Duration
	changed  time.Time // when an owner or a count last changed
	costs    []time.Duration
}

const (
	usualPause = time.Second
	restless   = 10 * time.Second // after a change
	onePartIn  = 20               // of the time is what looks may take
	someLooks  = 3                // in a row must be slow before they count as costly
)

// pause is the pause after a look; eager: a row of the server is selected on screen.
func (p *pace) pause(s *dflockwire.Stats, moved, eager bool) time.Duration {
	p.costs = append(p.costs[max(0, len(p.costs)+1-someLooks):], s.Answered.Sub(s.Asked))
	if moved {
		p.changed = s.Answered
	}
	pause := usualPause
	if eager || s.Answered.Sub(p.changed) < restless {
		pause = p.min
	}
	return min(max(pause, p.min, onePartIn*slices.Min(p.costs)), p.max)
}
