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
	"coordtop/internal/ground/spawn"
)

// host is a node of the cluster, as listed by discovery.
type host struct {
	id      uint32
	address string
}

// HostsError reports which hosts failed. Discovery has named them, so that they may differ from ClientOptions.Address.
type HostsError struct {
	Hosts []string // host:port of each, in the order in which they were asked
	Err   error
}

// Error returns a text that begins with the hosts.
func (e *HostsError) Error() string { return strings.Join(e.Hosts, ",") + ": " + e.Err.Error() }

// Unwrap returns Err.
func (e *HostsError) Unwrap() error { return e.Err }

// patience is the time-out for one host, after which askHosts calls the next one as well.
const patience = 300 * time.Millisecond

// hostsOf asks discovery for the nodes of the cluster and shuffles them. It returns none if discovery is off or fails;
// then the SDK chooses the nodes.
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

// known returns the hosts that discovery named when the connection was made. answered reports whether the first
// of them has answered the last Ping.
func (c *Client) known() (hosts []host, answered bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hosts, c.answered
}

// through returns a context with which a call goes to the host that answered the last Ping, if there is one.
func (c *Client) through(ctx context.Context) context.Context {
	hosts, answered := c.known()
	if !answered {
		return ctx
	}
	return balancers.WithNodeID(ctx, hosts[0].id)
}

// answeredBy moves the host that has answered a Ping to the front.
func (c *Client) answeredBy(h host) {
	c.mu.Lock()
	defer c.mu.Unlock()
	rest := slices.DeleteFunc(slices.Clone(c.hosts), func(other host) bool { return other == h })
	c.hosts, c.answered = append([]host{h}, rest...), true
}

// askHosts asks one host after the other until one answers. It asks the next one as soon as those before have failed or
// were silent for patience. An error of the service counts as an answer.
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
		case <-time.After(patience):
		}
	}
}

// route chooses the node of the cluster for the next stream. The SDK chooses at random and leaves out nodes whose
// connection has failed, but it chooses a silent node again, and a session has time for two tries only. So after a
// silent stream or try, each try goes to another node than the last. Only the goroutine that attaches uses a route.
type route struct {
	hosts []host // shuffled; if empty, the SDK chooses
	at    int
	on    bool // the route chooses, because a node was silent or is known to answer
}

// newRoute returns a route that begins with the first host if that has answered, else with the SDK's choice.
func newRoute(hosts []host, answered bool) route {
	r := route{hosts: slices.Clone(hosts), on: answered}
	others := r.hosts
	if answered {
		others = others[1:]
	}
	rand.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	return r
}

// through returns a context with which a stream goes to the node whose turn it is, or to any node if the SDK knows that
// this node is gone.
func (r *route) through(ctx context.Context) context.Context {
	if !r.on || len(r.hosts) == 0 {
		return ctx
	}
	return balancers.WithNodeID(ctx, r.hosts[r.at%len(r.hosts)].id)
}

// failed notes that a stream, or a try to open one, has ended.
func (r *route) failed(silent bool) {
	if r.on {
		r.at++
	}
	r.on = r.on || silent
}
