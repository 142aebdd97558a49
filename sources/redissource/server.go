package redissource

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
)

// server is what the server says of itself, as far as we may ask.
type server struct {
	version   string
	role      string // "master", "replica"; "" if unknown
	cluster   bool   // it is a node of a cluster
	runID     string // of the process; "" if unknown
	addr      string // where it answers
	roundTrip time.Duration
}

// incarnation is how the process is called.
func (s server) incarnation() string {
	if s.runID == "" {
		return ""
	}
	return "run " + s.runID[:min(8, len(s.runID))]
}

// askServer asks for what it is not granted without complaint.
func askServer(ctx context.Context, c *redis.Conn, refusals *rediscoord.Refusals) (server, error) {
	var s server
	if err := c.Ping(ctx).Err(); err != nil { // logs in, which is not a round trip
		return s, err
	}
	// Reading must not keep keys alive that the server would evict as unused. Servers before
	// 7.2 know no such wish.
	err := refusals.Once("client|no-touch", func() error { return c.Do(ctx, "CLIENT", "NO-TOUCH", "ON").Err() })
	if fatal(err) {
		return s, err
	}
	var info string
	err = refusals.Once("info", func() (err error) {
		start := time.Now()
		info, err = c.Info(ctx, "server").Result()
		s.roundTrip = time.Since(start)
		return err
	})
	if fatal(err) {
		return s, err
	}
	for line := range strings.Lines(info) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch key {
		case "redis_version":
			s.version = value
		case "run_id":
			s.runID = value
		case "redis_mode":
			s.cluster = value == "cluster"
		}
	}
	s.role, err = askRole(ctx, c, refusals)
	return s, err
}

// askRole returns "" where it may not ask.
func askRole(ctx context.Context, c *redis.Conn, refusals *rediscoord.Refusals) (string, error) {
	var reply []any
	err := refusals.Once("role", func() (err error) {
		reply, err = c.Do(ctx, "ROLE").Slice()
		return err
	})
	if fatal(err) {
		return "", err
	}
	if len(reply) == 0 {
		return "", nil
	}
	switch reply[0] {
	case "master":
		return "master", nil
	case "slave":
		return "replica", nil
	}
	return "", nil
}

// fatal reports whether err is more than a refusal of one command.
func fatal(err error) bool {
	return err != nil && !errors.As(err, new(redis.Error))
}
