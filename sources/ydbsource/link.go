package ydbsource

import (
	"context"
	"sync"
	"time"

	"coordtop/coord/ydbcoord"
	"coordtop/sources/kit"
)

// link is one life of the connection: the goroutines of all nodes, and what they send to Next.
type link struct {
	*kit.ScopedLink
	source *Source
	client *ydbcoord.Client

	mu        sync.Mutex
	down      map[string]error // by node: why it is not watched; nil: it is
	verifying bool
	wentUp    chan struct{} // closed and made anew when a node goes up
}

const (
	verifyEvery = time.Second
	verifyFor   = 5 * time.Second // what all nodes together may be away while their server takes connections
	answerLimit = 2 * time.Second
	farewell    = time.Second // what a goodbye may take
)

// watch starts a goroutine for each of the nodes, which Close joins. First it publishes all of them as not read
// yet: otherwise the listings could be complete before all nodes are known.
func (l *link) watch(paths []string) error {
	nodes := make([]*node, 0, len(paths))
	for _, path := range paths {
		b := l.source.states[path]
		if b == nil {
			b = newNodeState(l.source, path)
			l.source.states[path] = b
		}
		b.reload(l.Context())
		n := &node{link: l, state: b}
		if err := n.sendUnread(); err != nil {
			return err
		}
		nodes = append(nodes, n)
	}
	for _, n := range nodes {
		if len(n.state.names) == 0 {
			l.Start(n.describe)
		} else {
			l.Start(n.run)
		}
	}
	return nil
}

// Close says goodbye to the server, and joins the goroutines.
func (l *link) Close() {
	l.ScopedLink.Close()
	closeClient(l.client)
}

func closeClient(c *ydbcoord.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	_ = c.Close(ctx) // its connections are gone either way
}

// up notes that a node is watched.
func (l *link) up(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down[path] = nil
	close(l.wentUp)
	l.wentUp = make(chan struct{})
}

// lost notes that a node is not watched, and why. Where no node is watched any more, it checks whether the
// server can be reached at all.
func (l *link) lost(path string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down[path] = err
	if !l.verifying && l.darkLocked() != nil {
		l.verifying = true
		l.Start(l.verify)
	}
}

// darkLocked returns the reason why no node is watched; nil: one is.
func (l *link) darkLocked() error {
	var first error
	for _, err := range l.down {
		if err == nil {
			return nil
		}
		first = err
	}
	return first
}

// reachable proves that a host of the database answers. Where none does, the address itself is
// tried once more: what is wrong with it says more than that nothing answered.
func (l *link) reachable() error {
	err := l.ping()
	if err == nil || answered(err) {
		return err
	}
	if unreached := l.client.Check(l.Context()); unreached != nil {
		return unreached
	}
	return err
}

// ping finds a host that answers: sessions and reads lead to it from then on.
func (l *link) ping() error {
	ctx, cancel := context.WithTimeout(l.Context(), answerLimit)
	defer cancel()
	return l.client.Ping(ctx)
}

// verify ends the link if the server cannot be reached, or if no node can be watched for
// long although it can.
func (l *link) verify() error {
	began := time.Now()
	for {
		if err := l.reachable(); err != nil {
			return err
		}
		l.mu.Lock()
		why, wentUp := l.darkLocked(), l.wentUp
		l.verifying = why != nil
		l.mu.Unlock()
		switch {
		case why == nil:
			return nil
		case time.Since(began) > verifyFor:
			return why
		}
		select {
		case <-time.After(verifyEvery):
		case <-wentUp:
		case <-l.Context().Done():
		}
	}
}
