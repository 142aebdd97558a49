package ydbsource

import (
	"context"
	"sync"
	"time"

	"coordtop/coord/ydbcoord"
	"coordtop/sources/kit"
)

// link is one connection until its end: the goroutines of all nodes, and the Changes that they send to Next.
type link struct {
	*kit.ScopedLink
	source *Source
	client *ydbcoord.Client

	mu        sync.Mutex
	down      map[string]error // why a node is not watched, by path; nil if it is
	verifying bool
	wentUp    chan struct{} // closed and replaced when a node goes up
}

const (
	verifyEvery = time.Second
	verifyFor   = 5 * time.Second // how long all nodes may be unwatched while their server accepts connections
	answerLimit = 2 * time.Second
	farewell    = time.Second // bounds closing the connection
)

// watch starts a goroutine for each of the nodes; Close waits for them. First it publishes all nodes as not read yet,
// because otherwise the listings could be complete before all nodes are known.
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

// Close closes the connection and waits for the goroutines.
func (l *link) Close() {
	l.ScopedLink.Close()
	closeClient(l.client)
}

func closeClient(c *ydbcoord.Client) {
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	_ = c.Close(ctx) // the connections are gone either way
}

// up notes that a node is watched.
func (l *link) up(path string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down[path] = nil
	close(l.wentUp)
	l.wentUp = make(chan struct{})
}

// lost notes that a node is not watched, and why. If no node is watched any more, it checks whether the server can be
// reached.
func (l *link) lost(path string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down[path] = err
	if !l.verifying && l.darkLocked() != nil {
		l.verifying = true
		l.Start(l.verify)
	}
}

// darkLocked returns the reason why no node is watched, or nil if one is.
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

// reachable checks that a host of the database answers. If none does, it tries the address itself once more, because an
// error of that is more useful than the report that no host answered.
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

// ping finds a host that answers. Sessions and reads use it from then on.
func (l *link) ping() error {
	ctx, cancel := context.WithTimeout(l.Context(), answerLimit)
	defer cancel()
	return l.client.Ping(ctx)
}

// verify ends the link if the server cannot be reached, or if no node can be watched for a long time although the
// server answers.
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
