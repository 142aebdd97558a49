package demo

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"coordtop/internal/localserver"
)

// Options are the wishes for a demo.
type Options struct {
	Program   string       // the binary that knows CandidateCommand
	RedisPort int          // 0: any free port
	Seed      uint64       // of all random pauses; the same seed gives the same pauses
	Log       *slog.Logger // never nil
}

// Endpoint is one server of the demo.
type Endpoint struct {
	Name string // "redis"
	URL  string // for any client: no parameters of ours
	View string // for coordtop: shows exactly the scenario
	Err  error  // why it is not there, with what to do; URL and View are then ""
}

// Demo is a running demo.
type Demo struct {
	redis     *localserver.Redis // nil where it could not be started
	endpoints []Endpoint
	stop      context.CancelFunc
	running   sync.WaitGroup
}

// Start brings up the servers and the candidates. It starts goroutines, which Stop
// ends and waits for. A server that is not installed is no error: its Endpoint says
// what to install. ctx bounds the starting only.
func Start(ctx context.Context, o Options) (*Demo, error) {
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	d := &Demo{stop: stop}
	redis, err := localserver.StartRedis(ctx, localserver.RedisOptions{Port: o.RedisPort})
	switch {
	case errors.Is(err, localserver.ErrMissing):
		d.endpoints = append(d.endpoints, Endpoint{Name: "redis", Err: err})
		return d, nil
	case err != nil:
		stop()
		return nil, fmt.Errorf("starting redis: %w", err)
	}
	d.redis = redis
	d.endpoints = append(d.endpoints, Endpoint{Name: "redis", URL: redis.URL(), View: redis.URL() + "?" + redisQuery})
	d.startCandidates(life, o)
	return d, nil
}

// startCandidates starts the processes and, for each contest that asks for it, the
// one who kills.
func (d *Demo) startCandidates(ctx context.Context, o Options) {
	seed := o.Seed
	for _, contest := range contests() {
		var members []*candidate
		for range contest.processes {
			seed++
			c := &candidate{contest: contest, url: d.redis.URL(), program: o.Program, seed: seed, log: o.Log}
			members = append(members, c)
			pause := between(seed, 2*time.Second, 6*time.Second)
			d.running.Go(func() { c.run(ctx, pause) })
		}
		if contest.killEvery[1] > 0 {
			pause := between(seed, contest.killEvery[0], contest.killEvery[1])
			d.running.Go(func() { killOwners(ctx, members, pause) })
		}
	}
}

// killOwners kills whichever member owns, after each pause.
func killOwners(ctx context.Context, members []*candidate, pause func() time.Duration) {
	for sleep(ctx, pause()) {
		for _, m := range members {
			if m.killIfOwner() {
				break
			}
		}
	}
}

// between returns a source of random pauses. It is not safe for concurrent use.
func between(seed uint64, least, most time.Duration) func() time.Duration {
	r := rand.New(rand.NewPCG(seed, uint64(least)))
	return func() time.Duration { return least + time.Duration(r.Int64N(int64(most-least))) }
}

// Endpoints lists the servers, also those that are missing.
func (d *Demo) Endpoints() []Endpoint { return d.endpoints }

// Stop ends the candidates, which resign, then the servers, and waits for all of
// them. ctx bounds the waiting for the servers; what is left then is killed. A
// second call does nothing.
func (d *Demo) Stop(ctx context.Context) error {
	d.stop()
	d.running.Wait()
	if d.redis == nil {
		return nil
	}
	if err := d.redis.Stop(ctx); err != nil {
		return fmt.Errorf("stopping redis: %w", err)
	}
	return nil
}
