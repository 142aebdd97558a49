package ydbcoord

import (
	"context"
	"math/rand/v2"

	"github.com/ydb-platform/ydb-go-sdk/v3"
	"github.com/ydb-platform/ydb-go-sdk/v3/balancers"
)

// route says which node of the cluster the next stream is to lead to. The SDK draws lots,
// and leaves out nodes whose connection has failed; one that only says nothing it draws
// again, and a session has time for two tries. So once a stream or a try was silent, each
// try goes to another node than the one before. It belongs to whoever attaches.
type route struct {
	nodes []uint32 // in an order of our own; none: the SDK draws
	at    int
	on    bool // something was silent
}

func newRoute(nodes []uint32) route {
	r := route{nodes: make([]uint32, len(nodes))}
	for i, j := range rand.Perm(len(nodes)) {
		r.nodes[i] = nodes[j]
	}
	return r
}

// through is a context under which a stream leads to the node whose turn it is, or, where
// the SDK knows that one to be gone, to any.
func (r *route) through(ctx context.Context) context.Context {
	if !r.on || len(r.nodes) == 0 {
		return ctx
	}
	return balancers.WithNodeID(ctx, r.nodes[r.at%len(r.nodes)])
}

// failed takes note that a stream, or a try to make one, has ended.
func (r *route) failed(silent bool) {
	if r.on {
		r.at++
	}
	r.on = r.on || silent
}

// nodesOf asks for the nodes of the cluster. None where that cannot be known: then the SDK
// goes on drawing.
func (c *Client) nodesOf(ctx context.Context, db *ydb.Driver) []uint32 {
	if c.options.NoDiscovery {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, describeFor)
	defer cancel()
	list, err := db.Discovery().Discover(ctx)
	if err != nil {
		return nil
	}
	var nodes []uint32
	for _, e := range list {
		nodes = append(nodes, e.NodeID())
	}
	return nodes
}

// known are the nodes of the cluster as of the making of the connection.
func (c *Client) known() []uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.nodes
}
