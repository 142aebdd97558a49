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

// connection is a connection of a session, as the server lists it. Both fields are compared, because a restart
// resets the numbers, and another client may get the same one.
type connection struct{ id, addr string }

// connections are the connections of a session that the server may still have. They are safe
// for concurrent use.
type connections struct {
	mu      sync.Mutex
	known   []connection
	unnamed bool // the server did not report the number of a connection
}

// note asks the server how it lists a new connection. It is no error if the server does not report that or the user may
// not ask.
func (c *connections) note(ctx context.Context, conn *redis.Conn, refusals *Refusals) error {
	text, err := Once(refusals, "client|info", func() (string, error) { return conn.Do(ctx, "client", "info").Text() })
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

// clientKill names the right to end connections in Refusals.
const clientKill = "client|kill"

// parseConnection reads the answer to CLIENT INFO.
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

// list returns the known connections that the server may still have. all is false if there may be others.
func (c *connections) list() (known []connection, all bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.known), !c.unnamed
}

// keep forgets all connections that the server has ended, except self.
func (c *connections) keep(self connection, ended []connection) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = slices.DeleteFunc(c.known, func(k connection) bool { return k != self && slices.Contains(ended, k) })
}

// errUnproven reports that a command that was sent earlier may still arrive.
var errUnproven = errors.New("the server may still have a connection of ours with a command on it")

// hidden reports whether endOldConnections can never succeed: if a connection is unknown, or we have no right to end
// connections.
func (s *session) hidden() bool {
	_, all := s.connections.list()
	return !all || s.driver.client.Refusals.Refused(clientKill) != nil
}

// endOldConnections makes sure that no command which was sent before on another connection of the session can still be
// executed: it makes the server end those connections. Other users of the session notice a broken connection and send
// their commands again. The connection that carries these commands stays, because everything sent on it is answered.
func (s *session) endOldConnections(ctx context.Context) error {
	if s.hidden() {
		return errUnproven
	}
	known, _ := s.connections.list()
	if len(known) == 0 {
		return nil
	}
	self, err := ask(ctx, s, callTimeout(s.ttl), func(ctx context.Context) (connection, error) {
		var who, kill *redis.Cmd
		_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			who = p.Do(ctx, "client", "info")
			for _, c := range known {
				kill = p.Do(ctx, "client", "kill", "id", c.id, "addr", c.addr, "skipme", "yes")
			}
			return nil
		})
		if err != nil && !answered(err) {
			return connection{}, err
		}
		s.driver.client.Refusals.Note(clientKill, kill.Err())
		text, _ := who.Text() // an answer of another form contains no connection
		self, ok := parseConnection(text)
		if kill.Err() != nil || !ok {
			return self, errUnproven
		}
		return self, nil
	})
	if err == nil {
		s.connections.keep(self, known)
	}
	return err
}

// uncertain returns the error of a claim that ended but may still be granted. It wraps err unless that is nil.
func uncertain(ttl time.Duration, err error) error {
	return coord.Uncertain(fmt.Sprintf("it would run out within %v", ttl), err)
}
