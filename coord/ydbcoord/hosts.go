package ydbcoord

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	"github.com/ydb-platform/ydb-go-sdk/v3"
	"github.com/ydb-platform/ydb-go-sdk/v3/balancers"

	"coordtop/coord"
	"coordtop/internal/spawn"
)

// host is a node of the cluster, as discovery names it.
type host struct {
	id      uint32
	address string
}

// HostsError says which hosts an error is about, where discovery has named them: they may be
// others than ClientOptions.Address.
type HostsError struct {
	Hosts []string // host:port of each, in the order in which they were asked
	Err   error
}

// Error names the hosts first.
func (e *HostsError) Error() string { return strings.Join(e.Hosts, ",") + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *HostsError) Unwrap() error { return e.Err }

// patience is how long one host may say nothing before the next one is asked too.
const patience = 300 * time.Millisecond

// hostsOf asks for the nodes of the cluster, in an order of our own. None where that cannot be
// known: then the SDK goes on drawing.
func (c *Client) hostsOf(ctx context.Context, db *ydb.Driver) []host {
	if c.options.NoDiscovery {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, describeFor)
	defer cancel()
	list, err := db.Discovery().Discover(ctx)
	if err != nil {
		return nil
	}
	hosts := make([]host, len(list))
	for i, j := range rand.Perm(len(list)) {
		hosts[i] = host{list[j].NodeID(), list[j].Address()}
	}
	return hosts
}

// known are the hosts as of the making of the connection, and whether the first of them has
// answered the last Ping.
func (c *Client) known() (hosts []host, answered bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hosts, c.answered
}

// through is a context under which a call leads to the host that has answered the last Ping.
func (c *Client) through(ctx context.Context) context.Context {
	hosts, answered := c.known()
	if !answered {
		return ctx
	}
	return balancers.WithNodeID(ctx, hosts[0].id)
}

// answeredBy puts the host first that has answered a Ping.
func (c *Client) answeredBy(h host) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rest := slices.DeleteFunc(slices.Clone(c.hosts), func(other host) bool { return other == h })
	c.hosts, c.answered = append([]host{h}, rest...), true
}

// askHosts asks one host after the other, the next one as soon as those before have failed or
// were silent for patience, until one answers. An error of the service is an answer.
func (c *Client) askHosts(ctx context.Context, ask func(context.Context) error) error {
	hosts, _ := c.known()
	if len(hosts) == 0 {
		return ask(ctx)
	}
	type reply struct {
		host
		err error
	}
	var asking sync.WaitGroup
	defer asking.Wait()
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	replies := make(chan reply, len(hosts))
	failed, all := 0, &HostsError{}
	for {
		if n := len(all.Hosts); n == 0 || n < len(hosts) && ctx.Err() == nil {
			h := hosts[n]
			all.Hosts = append(all.Hosts, h.address)
			spawn.Go(ctx, &asking, func() {
				r := reply{h, errors.New("the call was not made")}
				defer func() { replies <- r }()
				r.err = ask(balancers.WithNodeID(inner, h.id))
			})
		}
		timer := time.NewTimer(patience)
		select {
		case r := <-replies:
			if r.err == nil {
				c.answeredBy(r.host)
				return nil
			}
			if errors.Is(r.err, coord.ErrRefused) || statusOf(r.err) != Ydb.StatusIds_STATUS_CODE_UNSPECIFIED {
				return &HostsError{[]string{r.address}, r.err}
			}
			if failed++; all.Err == nil || errors.Is(r.err, ErrSilent) {
				all.Err = r.err
			}
			if failed == len(hosts) || ctx.Err() != nil && failed == len(all.Hosts) {
				return all
			}
		case <-timer.C:
		}
		timer.Stop()
	}
}
