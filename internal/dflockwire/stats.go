package dflockwire

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"time"
)

// Stats is everything that a server lists, see the package's comment.
type Stats struct {
	Asked          time.Time   `json:"-"`
	Answered       time.Time   `json:"-"`
	Connections    int         `json:"connections"`
	Locks          []Lock      `json:"locks"`
	Semaphores     []Semaphore `json:"semaphores"`
	IdleLocks      []Idle      `json:"idle_locks"`
	IdleSemaphores []Idle      `json:"idle_semaphores"`
	// Signals is what version 1.11 to 1.16 list; nil: the server is another one.
	Signals json.RawMessage `json:"signal_channels"`
}

// Lock is a key of limit 1 that is owned or waited for.
type Lock struct {
	Key         string  `json:"key"`
	Owner       uint64  `json:"owner_conn_id"`      // id of a connection; 0: nobody
	LeftSeconds float64 `json:"lease_expires_in_s"` // see Left
	Waiters     int     `json:"waiters"`
	Fence       uint64  `json:"fence"` // where the server says it; else 0
}

// Semaphore is a key of a higher limit that is in use.
type Semaphore struct {
	Key     string `json:"key"`
	Limit   int    `json:"limit"`
	Owners  int    `json:"holders"`
	Waiters int    `json:"waiters"`
}

// Idle is a key that nobody uses.
type Idle struct {
	Key     string  `json:"key"`
	Seconds float64 `json:"idle_s"`
}

// Left is the rest of the lease; 0: it has run out, or there is no owner.
func (l Lock) Left() time.Duration {
	return time.Duration(max(0, min(l.LeftSeconds*float64(time.Second), math.MaxInt64/2)))
}

// Stats lists everything.
func (c *Conn) Stats(ctx context.Context) (Stats, error) {
	line, sent, err := c.request(ctx, c.patience, "stats", "_", "")
	if err != nil {
		return Stats{}, err
	}
	answered := time.Now()
	status, object, _ := bytes.Cut(line, []byte(" "))
	if err := refusal(string(status)); err != nil {
		return Stats{}, err
	}
	s, err := parseStats(object)
	if err != nil || string(status) != "ok" {
		return Stats{}, c.broken("stats")
	}
	s.Asked, s.Answered = sent, answered
	return s, nil
}

// parseStats refuses listings that no server sends: negative numbers, or no connections.
func parseStats(object []byte) (s Stats, err error) {
	s.Connections = -1
	ok := json.Unmarshal(object, &s) == nil && s.Connections >= 0
	for _, l := range s.Locks {
		ok = ok && l.Waiters >= 0
	}
	for _, p := range s.Semaphores {
		ok = ok && p.Limit >= 1 && p.Owners >= 0 && p.Waiters >= 0
	}
	if !ok {
		return Stats{}, unexpected("the object of stats")
	}
	return s, nil
}
