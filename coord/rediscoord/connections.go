package rediscoord

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord"
)

// connection is one of a session's own, as the server lists it. Both parts are compared: after
// a restart the server counts anew, and the number may be a stranger's.
type connection struct{ id, addr string }

// connections are those that a session has made and that the server may still have. It is safe
// for concurrent use.
type connections struct {
	mu      sync.Mutex
	known   []connection
	unnamed bool // there was one that the server did not report about
}

// note asks a new connection how the server lists it. A server that does not report, or a user who
// may not ask, is no error.
func (c *connections) note(ctx context.Context, conn *redis.Conn, refusals *Refusals) error {
	var text string
	err := refusals.Once(clientInfo, func() (err error) {
		text, err = conn.Do(ctx, "client", "info").Text()
		return err
	})
	if err != nil && !answered(err) {
		return fmt.Errorf("asking for the connection's number: %w", err)
	}
	is, ok := parseConnection(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if ok {
		c.known = append(c.known, is)
	}
	c.unnamed = c.unnamed || !ok
	return nil
}

// The optional rights, as Refusals knows them.
const (
	clientInfo = "client|info"
	clientKill = "client|kill"
	clientList = "client|list"
)

// parseConnection reads a line of CLIENT INFO or CLIENT LIST.
func parseConnection(line string) (c connection, ok bool) {
	for _, field := range strings.Fields(line) {
		switch name, value, _ := strings.Cut(field, "="); name {
		case "id":
			c.id = value
		case "addr":
			c.addr = value
		}
	}
	return c, c.id != "" && c.addr != ""
}

// list returns the connections that the server may have; all is false where there may be more.
func (c *connections) list() (known []connection, all bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.known), !c.unnamed
}

// hidden reports whether nothing can be learned about the connections, however long one asks.
func (c *connections) hidden(refusals *Refusals) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.unnamed || refusals.Refused(clientKill) != nil && refusals.Refused(clientList) != nil
}

// forget drops what the server does not have any more.
func (c *connections) forget(gone []connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = slices.DeleteFunc(c.known, func(k connection) bool { return slices.Contains(gone, k) })
}

// errUnproven: it cannot be found out whether what was sent earlier may still arrive.
var errUnproven = errors.New("the server may still have a connection of ours with a command on it")

// endOldConnections makes sure that nothing which was sent before on another connection of the session can
// still be obeyed: it ends those connections at the server, or, where that is not allowed, looks
// whether the server has any of them still. Other users of the session notice a broken connection
// and ask again.
func (s *session) endOldConnections(ctx context.Context) error {
	known, all := s.connections.list()
	if !all {
		return errUnproven
	}
	if len(known) == 0 {
		return nil
	}
	became, err := s.endOthers(ctx, known)
	if err != nil {
		return err
	}
	s.connections.forget(became.gone)
	if became.left > 0 {
		return errUnproven
	}
	return nil
}

// outcome is what became of connections: those that are gone, and how many are left.
type outcome struct {
	gone []connection
	left int
}

// endOthers asks every server of the session once.
func (s *session) endOthers(ctx context.Context, known []connection) (outcome, error) {
	at := func(ctx context.Context, node asker) (outcome, error) {
		return ask(ctx, s, callTimeout(s.ttl), func(ctx context.Context) (outcome, error) {
			return endOn(ctx, node, known, s.driver.client.Refusals)
		})
	}
	cluster, ok := s.client.(*redis.ClusterClient)
	if !ok {
		return at(ctx, s.client)
	}
	all := outcome{gone: known}
	var mu sync.Mutex
	err := cluster.ForEachMaster(ctx, func(ctx context.Context, node *redis.Client) error {
		one, err := at(ctx, node)
		mu.Lock()
		defer mu.Unlock()
		all.gone = slices.DeleteFunc(slices.Clone(all.gone), func(c connection) bool { return !slices.Contains(one.gone, c) })
		all.left += one.left
		return err
	})
	return all, err
}

// asker is what a question is asked on.
type asker interface {
	Pipelined(ctx context.Context, f func(redis.Pipeliner) error) ([]redis.Cmder, error)
}

// endOn ends connections, or looks which are left where that is not allowed. All of it is asked
// on one connection, which is spared: it has an answer to everything that was asked on it.
func endOn(ctx context.Context, at asker, known []connection, refusals *Refusals) (o outcome, err error) {
	if refusals.Refused(clientKill) == nil {
		self, kills, err := each(ctx, at, known, func(c connection) []any {
			return []any{"client", "kill", "id", c.id, "addr", c.addr, "skipme", "yes"}
		})
		if err != nil {
			return o, err
		}
		refusals.Note(clientKill, kills[0].Err())
		if kills[0].Err() == nil {
			o.gone = slices.DeleteFunc(slices.Clone(known), func(c connection) bool { return c == self })
			return o, nil
		}
	}
	if refusals.Refused(clientList) != nil {
		return o, errUnproven
	}
	self, looks, err := each(ctx, at, known, func(c connection) []any { return []any{"client", "list", "id", c.id} })
	if err != nil {
		return o, err
	}
	for i, c := range known {
		text, err := looks[i].Text()
		if err != nil {
			refusals.Note(clientList, err)
			return outcome{}, errUnproven
		}
		switch there, ok := parseConnection(text); {
		case c == self:
		case ok && there == c:
			o.left++
		default:
			o.gone = append(o.gone, c)
		}
	}
	return o, nil
}

// each asks on one connection who it is, and then something about every known one. An answer
// that is an error is in its command.
func each(ctx context.Context, at asker, known []connection, ask func(connection) []any) (self connection, answers []*redis.Cmd, err error) {
	var who *redis.Cmd
	_, err = at.Pipelined(ctx, func(p redis.Pipeliner) error {
		who = p.Do(ctx, "client", "info")
		for _, c := range known {
			answers = append(answers, p.Do(ctx, ask(c)...))
		}
		return nil
	})
	if err != nil && !answered(err) {
		return self, nil, err
	}
	text, err := who.Text()
	self, ok := parseConnection(text)
	if err != nil || !ok {
		return self, nil, errUnproven
	}
	return self, answers, nil
}

// uncertain returns the error of a claim that ended, with err if that is not nil, and may be granted all the same.
func uncertain(ttl time.Duration, err error) error {
	return coord.Uncertain(fmt.Sprintf("it would run out within %v", ttl), err)
}
