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
	Asked, Answered time.Time
	Connections     int
	Locks           []Lock
	Semaphores      []Semaphore
	IdleLocks       []Idle
	IdleSemaphores  []Idle
	// Signals: the server lists signal_channels, which versions 1.11 to 1.16 do.
	Signals bool
}

// Lock is a key of limit 1 that is owned or waited for.
type Lock struct {
	Key     string
	Owner   uint64        // id of a connection; 0: nobody
	Left    time.Duration // of the lease; 0: it has run out, or there is no owner
	Waiters int
	Fence   uint64 // where the server says it; else 0
}

// Semaphore is a key of a higher limit that is in use.
type Semaphore struct {
	Key           string
	Limit, Owners int
	Waiters       int
}

// Idle is a key that nobody uses.
type Idle struct {
	Key string
	For time.Duration
}

// listing is the object on the wire.
type listing struct {
	Connections int `json:"connections"`
	Locks       []struct {
		Key     string  `json:"key"`
		Owner   uint64  `json:"owner_conn_id"`
		Expires float64 `json:"lease_expires_in_s"`
		Waiters int     `json:"waiters"`
		Fence   uint64  `json:"fence"`
	} `json:"locks"`
	Semaphores []struct {
		Key     string `json:"key"`
		Limit   int    `json:"limit"`
		Owners  int    `json:"holders"`
		Waiters int    `json:"waiters"`
	} `json:"semaphores"`
	IdleLocks      []idle          `json:"idle_locks"`
	IdleSemaphores []idle          `json:"idle_semaphores"`
	Signals        json.RawMessage `json:"signal_channels"`
}

type idle struct {
	Key string  `json:"key"`
	For float64 `json:"idle_s"`
}

// Stats lists everything.
func (c *Conn) Stats(ctx context.Context) (Stats, error) {
	line, sent, err := c.request(ctx, c.patience, mostStats, "stats", "_", "")
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

// parseStats refuses what no server lists: numbers below 0, a listing without locks.
func parseStats(object []byte) (Stats, error) {
	var l listing
	if err := json.Unmarshal(object, &l); err != nil {
		return Stats{}, unexpected("the object of stats")
	}
	if !bytes.Contains(object, []byte(`"locks"`)) || l.Connections < 0 {
		return Stats{}, unexpected("the object of stats")
	}
	s := Stats{Connections: l.Connections, Signals: l.Signals != nil, IdleLocks: idles(l.IdleLocks), IdleSemaphores: idles(l.IdleSemaphores)}
	for _, e := range l.Locks {
		if e.Waiters < 0 {
			return Stats{}, unexpected("the object of stats")
		}
		s.Locks = append(s.Locks, Lock{e.Key, e.Owner, duration(e.Expires), e.Waiters, e.Fence})
	}
	for _, e := range l.Semaphores {
		if e.Limit < 1 || e.Owners < 0 || e.Waiters < 0 {
			return Stats{}, unexpected("the object of stats")
		}
		s.Semaphores = append(s.Semaphores, Semaphore{e.Key, e.Limit, e.Owners, e.Waiters})
	}
	return s, nil
}

func idles(list []idle) []Idle {
	var all []Idle
	for _, e := range list {
		all = append(all, Idle{e.Key, duration(e.For)})
	}
	return all
}

// duration is a number of seconds, from 0 to what a time.Duration can hold.
func duration(s float64) time.Duration {
	return time.Duration(max(0, min(s*float64(time.Second), math.MaxInt64/2)))
}
