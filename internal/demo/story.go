package demo

import (
	"context"
	"net/url"
	"slices"
	"strconv"
	"time"

	"coordtop/internal/ground/backoff"
)

// Story is the name of the scenario with failures, see Options.Story.
const Story = "story"

// The times of the failures since the start. Each one needs a person for about half a minute.
const (
	hostDies  = 20 * time.Second // its lease expires 30 s later
	leakAfter = 55 * time.Second // start of the scenario's leaker
	restart   = 85 * time.Second // restart of a server without its data
)

// tellStory kills a host with everything that it leads, and later restarts a server while no candidate runs that could
// lead again. It returns after that, or when ctx ends.
func (d *Demo) tellStory(ctx context.Context) {
	if backoff.Sleep(ctx, hostDies) != nil {
		return
	}
	d.kill(time.Minute, "demo:leader:billing")
	if backoff.Sleep(ctx, restart-hostDies) == nil {
		d.kill(30*time.Second, "demo:leader:reports", "demo:leader:scheduler")
		d.restartRedis(ctx)
	}
}

// kill kills all processes that contend for keys, like a loss of power. They start again after rest.
func (d *Demo) kill(rest time.Duration, keys ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, m := range d.members {
		if slices.Contains(keys, m.contest.Key) {
			m.restFor(rest)
		}
	}
}

// restartRedis stops the Redis server and starts one without data at the same address.
func (d *Demo) restartRedis(ctx context.Context) {
	redis, old := backends(d.options)[0], d.servers[0]
	if old == nil {
		return
	}
	at, err := url.Parse(old.URL())
	if err == nil {
		stop, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		err = old.Stop(stop)
	}
	if err == nil {
		port, _ := strconv.Atoi(at.Port())
		d.servers[0], err = redis.start(ctx, port)
	}
	if err != nil {
		d.servers[0] = nil
		d.options.Log.Warn("The demo's Redis was not restarted", "error", err)
	}
}
