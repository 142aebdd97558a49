package dflocksource

import (
	"context"

	"coordtop/coord/dflockwire"
	"coordtop/internal/ground/format"
	"coordtop/sources/kit"
)

// Endpoints implements kit.Examiner.
func (s *Source) Endpoints() (list []kit.Endpoint, err error) {
	dialers, err := s.o.Client.Dialers()
	for _, d := range dialers {
		list = append(list, kit.Endpoints(d.TLS, d.Addr)...)
	}
	return list, err
}

// Examine implements kit.Examiner. It examines every server.
func (s *Source) Examine(ctx context.Context) (list []kit.Check, err error) {
	dialers, err := s.o.Client.Dialers()
	for _, d := range dialers {
		pings, stats, err := examine(ctx, d)
		if err = Explain(err, s.o.Client, d.Addr, true); err != nil {
			list = append(list, kit.Check{Name: "login", Grade: kit.GradeOf(err), Text: err.Error(), Lost: "the keys of " + d.Addr})
			continue
		}
		login, ping := "with our auth token", "ping"
		if d.Secret == "" {
			login = "without an auth token"
		}
		if !pings {
			ping = "ping is unknown, as before version 1.14, and not needed"
		}
		list = append(list, kit.Check{Name: "login", Text: login + " at " + d.Addr}, kit.Check{Name: "right", Text: "stats, answered in " + format.Precise(stats.Answered.Sub(stats.Asked))},
			kit.Check{Name: "right", Text: ping})
	}
	return list, err
}

func examine(ctx context.Context, d dflockwire.Dialer) (pings bool, stats dflockwire.Stats, err error) {
	conn, err := d.Connect(ctx)
	if err != nil {
		return false, stats, err
	}
	defer conn.Close()
	if pings, err = conn.Ping(ctx); err == nil {
		stats, err = conn.Stats(ctx, func(*dflockwire.Entry) {})
	}
	return pings, stats, err
}
