package dflocksource

import (
	"context"
	"errors"
	"time"

	"coordtop/coord/dflockwire"
	"coordtop/internal/ground/backoff"
	"coordtop/sources"
	"coordtop/sources/kit"
)

// server is one server while a link lives.
type server struct {
	link      *link
	table     *table
	dialer    dflockwire.Dialer
	pace      kit.Pace
	conn      *dflockwire.Conn // nil while not connected
	err       error            // a Problem with the reason why it is not connected
	pings     bool             // the server knows the command ping
	about     *sources.About   // as last published; nil before the first on this link
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

// run reads the server until the link ends, connecting again after each failure. It ends the link if no server is left
// and this one cannot be connected again.
func (s *server) run() error {
	ctx := s.link.Context()
	pauses := backoff.Policy{}.Start()
	for {
		down := sources.Change{Scope: s.table.space, Down: s.err}
		if s.conn != nil {
			listed, err := s.read(ctx)
			if silence, ok := errors.AsType[dflockwire.Silence](err); ok {
				s.table.longest = min(s.table.longest, time.Duration(silence)/2)
			}
			down.Relists, down.At, down.Down = true, s.table.answered, s.explain(err, false)
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

// read reads stats until the connection ends. listed reports whether the server has answered.
func (s *server) read(ctx context.Context) (listed bool, err error) {
	defer func() {
		s.conn.Close()
		s.conn, s.about = nil, nil
	}()
	var pause time.Duration
	for {
		s.table.begin()
		stats, err := s.conn.Stats(ctx, s.table.list)
		if err != nil {
			return listed, err
		}
		c, moved := s.table.compare(&stats, !listed)
		if listed && sources.Missed(c.At.Sub(c.After), pause) {
			c.Unseen = s.table.unseen(c.After, c.At)
		}
		now := time.Now()
		if s.pace.AddCost(now.Sub(stats.Asked)); moved {
			s.pace.Changed = now
		}
		pause = min(s.pace.Pause(now, s.selected()), s.table.longest)
		c.Synced, c.About = !listed, s.news(&stats, pause)
		listed = true
		s.link.Answered(s.table.space, stats.Answered)
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

func (s *server) selected() bool {
	return s.link.source.OnScreen().Selected.Space == s.table.space
}

// rest waits for a pause. It ends early at a refresh, when a row of the server is selected, and when the connection
// ends. It returns an error only when ctx ends.
func (s *server) rest(ctx context.Context, pause time.Duration) error {
	if s.conn == nil {
		return s.link.source.Rest(ctx, pause, &s.refreshed, nil, nil)
	}
	selected := s.selected()
	return s.link.source.Rest(ctx, pause, &s.refreshed, s.conn.Done(), func() bool { return !selected && s.selected() })
}

// news returns the description of the server if it differs from the last published one, else nil.
func (s *server) news(stats *dflockwire.Stats, pause time.Duration) *sources.About {
	now := &sources.About{
		Mode: "polling", Sampling: pause, Version: versionOf(s.pings, stats.Signals), RoundTrip: stats.Answered.Sub(stats.Asked),
		Incarnation: s.table.incarnation(), Became: "the server was restarted, and its locks are gone", BecameHow: sources.Inferred,
		Warnings: s.table.warnings(), Config: s.table.facts(),
	}
	if s.about != nil && s.about.Same(now) {
		return nil
	}
	s.about = now
	return now
}

// versionOf returns the version that the commands and lists of a server show: signals exist from 1.11 to 1.16, ping
// from 1.14 on.
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
