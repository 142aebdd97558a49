package ydbcoord

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/ydb-platform/ydb-go-sdk/v3/balancers"
)

// route says which node of the cluster the next stream is to lead to. The SDK draws lots,
// and leaves out nodes whose connection has failed; one that only says nothing it draws
// again, and a session has time for two tries. So once a stream or a try was silent, each
// try goes to another node than the one before. It belongs to whoever attaches.
type route struct {
	hosts []host // in an order of our own; none: the SDK draws
	at    int
	on    bool // something was silent, or one is known to answer
}

// newRoute begins with the first of hosts if that has answered, else where the SDK draws.
func newRoute(hosts []host, answered bool) route {
	r := route{hosts: slices.Clone(hosts), on: answered}
	others := r.hosts
	if answered {
		others = others[1:]
	}
	rand.Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	return r
}

// through is a context under which a stream leads to the node whose turn it is, or, where
// the SDK knows that one to be gone, to any.
func (r *route) through(ctx context.Context) context.Context {
	if !r.on || len(r.hosts) == 0 {
		return ctx
	}
	return balancers.WithNodeID(ctx, r.hosts[r.at%len(r.hosts)].id)
}

// failed takes note that a stream, or a try to make one, has ended.
func (r *route) failed(silent bool) {
	if r.on {
		r.at++
	}
	r.on = r.on || silent
}
