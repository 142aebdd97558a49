package redissource

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// negotiatePush takes the best way of hearing about changes that the server grants: one for
// all keys before one for some, and keyspace events, which tell causes, before tracking
// keys one by one. It returns nil where only polling is left, and the reasons for not having
// better. Modes in broken are not tried. An error means that the connection is over.
func (l *link) negotiatePush(ctx context.Context, p pushPlan, broken map[string]string) (c *pushConn, reasons []string, err error) {
	mayTrack, mayHear := broken[modeTracking] == "", broken[modeEvents] == ""
	switch {
	case !p.all:
		reasons = append(reasons, p.why)
	case mayTrack:
		c, reason, err := l.track(ctx, p)
		if c != nil || err != nil {
			return c, nil, err
		}
		reasons = append(reasons, reason)
	}
	if len(p.patterns) > 0 && mayHear {
		c, reason, err := l.tryEvents(ctx, p.patterns)
		if c != nil || err != nil {
			return c, nil, err
		}
		reasons = append(reasons, reason)
	}
	if !mayTrack || p.all || len(p.prefixes) == 0 && !p.keys {
		return nil, reasons, nil
	}
	c, reason, err := l.track(ctx, p)
	if err != nil || c == nil && len(p.prefixes) > 0 {
		return nil, append(reasons, reason), err
	}
	onReads, reason, err := l.trackKeys(ctx, c)
	if c != nil && (err != nil || len(p.prefixes) == 0 && (onReads || reason != "")) { // it would push nothing
		l.leave(c)
		c = nil
	}
	switch {
	case err != nil:
		return nil, nil, err
	case reason != "":
		return c, append(reasons, reason), nil
	case c == nil:
		c = &pushConn{mode: modeTracking}
	}
	c.byKey, c.onReads = true, onReads
	return c, reasons, nil
}

// track tries both kinds of tracking. The reason is the server's to the first.
func (l *link) track(ctx context.Context, p pushPlan) (c *pushConn, reason string, err error) {
	if l.refusals().Refused("client|caching") != nil && len(p.prefixes) == 0 {
		return nil, "", nil
	}
	kinds := []func(context.Context, pushPlan) (*pushConn, error){l.track3, l.track2}
	if l.o.Client.Protocol == 2 {
		kinds = kinds[1:]
	}
	for i, try := range kinds {
		var c *pushConn
		err := l.refusals().Once(fmt.Sprintf("tracking %d", i), func() (err error) {
			c, err = try(ctx, p)
			return err
		})
		if err == nil {
			return c, "", nil
		}
		var refused redis.Error
		if !errors.As(err, &refused) {
			return nil, "", err
		}
		if reason == "" {
			reason = "tracking is refused: " + refused.Error()
		}
	}
	return nil, reason, nil
}

// tryEvents subscribes to keyspace events if the server has them configured. The
// configuration is only read: looking changes nothing.
func (l *link) tryEvents(ctx context.Context, patterns []string) (c *pushConn, reason string, err error) {
	var refused redis.Error
	flags, err := l.eventFlags(ctx)
	switch {
	case errors.As(err, &refused):
		return nil, "whether keyspace events are on cannot be read (right +config|get)", nil
	case err != nil:
		return nil, "", err
	}
	if !enoughEvents(flags) {
		return nil, fmt.Sprintf("keyspace events are off or too few: notify-keyspace-events is %q, Kg$xe would do", flags), nil
	}
	err = l.refusals().Once("psubscribe", func() (err error) {
		c, err = l.events(ctx, patterns)
		return err
	})
	switch {
	case err == nil:
		return c, "", nil
	case errors.As(err, &refused):
		return nil, "keyspace events are refused: " + refused.Error(), nil
	}
	return nil, "", err
}

// eventFlags is what the server says of keyspace events.
func (l *link) eventFlags(ctx context.Context) (string, error) {
	const name = "notify-keyspace-events"
	var config map[string]string
	err := l.refusals().Once("config|get", func() (err error) {
		config, err = l.conn.ConfigGet(ctx, name).Result()
		return err
	})
	return config[name], err
}

// enoughEvents reports whether notify-keyspace-events tells of every write and end of a
// string.
func enoughEvents(flags string) bool {
	return strings.Contains(flags, "K") && (strings.Contains(flags, "A") ||
		strings.Contains(flags, "g") && strings.Contains(flags, "$") && strings.Contains(flags, "x"))
}
