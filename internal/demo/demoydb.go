package demo

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"coordtop/coord"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/spawn"
)

// The coordination node of the demo, and its semaphores.
const (
	ydbNode        = "/local/demo"
	ydbScheduler   = "scheduler"
	ydbSettings    = "settings"
	ydbConnections = "connections"
	ydbExport      = "nightly-export"
	ydbServices    = "services"

	connectionLimit = 10
)

// startYDB starts the emulator with two front ends, which stand for two YDB nodes: clients discover both.
func startYDB(ctx context.Context, port int) (server, error) {
	if port == 2135 || port == 2136 {
		return nil, fmt.Errorf("starting the YDB emulator: %d is a standard port: choose another", port)
	}
	// Other clients may rely on the order of owners, although the service promises none.
	o := ydbtest.Options{AdvertiseAll: true, OwnersInOrder: true, Guard: guard(ctx)}
	if port != 0 {
		o.Listen = []string{"127.0.0.1:" + strconv.Itoa(port)}
	}
	s, err := ydbtest.Start(o)
	if err != nil {
		return nil, fmt.Errorf("starting the YDB emulator: %w", err)
	}
	if err := furnish(s); err != nil {
		_ = s.Close() // no client has used it
		return nil, err
	}
	return emulator{s.URL(0), s}, nil
}

// furnish makes the node and the semaphores that the candidates expect.
func furnish(served *ydbtest.Server) error {
	if err := served.CreateNode(ydbNode); err != nil {
		return fmt.Errorf("making the demo's coordination node: %w", err)
	}
	for _, s := range []struct {
		name  string
		limit uint64
		data  []byte
	}{
		{ydbScheduler, 1, nil}, {ydbSettings, 1, settings{Version: 1, Workers: 8}.encode()}, {ydbConnections, connectionLimit, nil},
	} {
		if err := served.CreateSemaphore(ydbNode, s.name, s.limit, s.data); err != nil {
			return fmt.Errorf("making the demo's semaphore %s: %w", s.name, err)
		}
	}
	return nil
}

// settings are the shared configuration.
type settings struct {
	Version int `json:"version"`
	Workers int `json:"workers"`
}

func (s settings) encode() []byte {
	return fmt.Appendf(nil, `{"version":%d,"workers":%d}`, s.Version, s.Workers)
}

func decodeSettings(data []byte) (settings, error) {
	var s settings
	if err := json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("reading the settings: %w", err)
	}
	return s, nil
}

// perPool is the number of connections that a process of RolePool wants.
const perPool = 4

// schedule leads for as long as it can, receives new settings when they are published, and proclaims the version that
// it uses.
func (c *contender) schedule(ctx context.Context) error {
	return c.sessions(ctx, func(ctx context.Context, s *coord.Session) error {
		term, err := s.Election(c.task.Key, coord.ElectionOptions{}).Campaign(ctx, []byte(c.task.Name))
		if err != nil {
			return err
		}
		c.owns(term.Lease())
		defer c.tell(saysWaits)
		leading, stop := within(ctx, term.Context())
		defer stop()
		for d, err := range s.Semaphore(ydbSettings, coord.SemaphoreOptions{}).Watch(leading) {
			if err != nil {
				return err
			}
			now, err := decodeSettings(d.Data)
			if err != nil {
				complain(err) // somebody has changed the settings by hand: keep the old ones
				continue
			}
			if err := term.Proclaim(leading, fmt.Appendf(nil, "%s settings=%d", c.task.Name, now.Version)); err != nil {
				return err
			}
		}
		<-leading.Done()
		return nil
	})
}

// publish writes new settings now and then.
func (c *contender) publish(ctx context.Context) error {
	pause := between(c.task.Seed, 12*time.Second, 25*time.Second)
	return c.sessions(ctx, func(ctx context.Context, s *coord.Session) error {
		shared := s.Semaphore(c.task.Key, coord.SemaphoreOptions{})
		for backoff.Sleep(ctx, pause()) == nil {
			d, err := shared.Describe(ctx)
			if err != nil {
				return err
			}
			now, err := decodeSettings(d.Data)
			if err != nil {
				complain(err)
			}
			next := settings{Version: now.Version + 1, Workers: 4 + (now.Version*7)%13}
			if err := shared.Update(ctx, next.encode()); err != nil {
				return err
			}
		}
		return nil
	})
}

// pool plays a program with several workers, such as connections to a database that can serve only a few. Each worker
// needs a permit while it works.
func (c *contender) pool(ctx context.Context) error {
	var connections sync.WaitGroup
	errs := make(chan error, perPool)
	for n := range uint64(perPool) {
		spawn.Go(ctx, &connections, func() {
			errs <- spawn.Call(ctx, func() error { return c.connection(ctx, n) })
		})
	}
	connections.Wait()
	return <-errs
}

func (c *contender) connection(ctx context.Context, n uint64) error {
	use := between(c.task.Seed+n<<16, 12*time.Second, 40*time.Second)
	rest := between(c.task.Seed+n<<16, 24*time.Second, 56*time.Second) // so that not all permits are taken all the time
	return c.sessions(ctx, func(ctx context.Context, s *coord.Session) error {
		for backoff.Sleep(ctx, rest()/2) == nil {
			lease, err := s.Semaphore(c.task.Key, coord.SemaphoreOptions{
				Limit: c.task.Limit, Data: c.data(fmt.Sprintf("connection=%d", n+1)),
			}).Acquire(ctx, 1)
			if err != nil {
				return err
			}
			using, stop := within(ctx, lease.Context())
			_ = backoff.Sleep(using, use()) // or until the lease or the program ends
			stop()
			if err := lease.Release(ctx); err != nil {
				return err
			}
		}
		return nil
	})
}

// serve plays an instance of a service. Clients find the instances by reading the owners of an ephemeral semaphore,
// whose data are their addresses.
func (c *contender) serve(ctx context.Context) error {
	address := fmt.Sprintf("10.20.0.%d:8080", 10+c.task.Seed%200)
	return c.sessions(ctx, func(ctx context.Context, s *coord.Session) error {
		lease, err := s.Semaphore(c.task.Key, coord.SemaphoreOptions{
			Ephemeral: true, Data: fmt.Appendf(nil, `{"label":%q,"address":%q}`, c.task.Name, address),
		}).Acquire(ctx, 1)
		if err != nil {
			return err
		}
		c.owns(lease)
		defer c.tell(saysWaits)
		select {
		case <-lease.Context().Done():
		case <-ctx.Done():
		}
		return nil
	})
}

// sessions runs body in one session after another, until ctx ends or the service refuses us. The context of body ends
// with its session.
func (c *contender) sessions(ctx context.Context, body func(context.Context, *coord.Session) error) error {
	for s, err := range coord.Sessions(ctx, c.driver, c.session()) {
		if err != nil {
			return err
		}
		turn, stop := within(ctx, s.Context())
		if err := body(turn, s); err != nil && turn.Err() == nil {
			complain(err)
		}
		stop()
	}
	return nil
}
