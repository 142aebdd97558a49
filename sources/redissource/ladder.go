package redissource

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
)

// climb takes the best way of hearing about changes that the server grants: one for all
// keys before one for some. It returns nil where only polling is left, and the reasons
// for not having better. An error means that the connection is over.
func (l *link) climb(ctx context.Context, a audience) (c *channel, reasons []string, err error) {
	if a.all {
		c, reason, err := l.track(ctx, a.prefixes)
		if c != nil || err != nil {
			return c, nil, err
		}
		reasons = append(reasons, reason)
	} else {
		reasons = append(reasons, a.why)
	}
	if len(a.patterns) > 0 {
		c, reason, err := l.tryEvents(ctx, a.patterns)
		if c != nil || err != nil {
			return c, nil, err
		}
		reasons = append(reasons, reason)
	}
	if !a.all && len(a.prefixes) > 0 {
		c, reason, err := l.track(ctx, a.prefixes)
		if c != nil || err != nil {
			return c, reasons, err
		}
		reasons = append(reasons, reason)
	}
	return nil, reasons, nil
}

// track tries both kinds of tracking. The reason is the server's to the first.
func (l *link) track(ctx context.Context, list []string) (c *channel, reason string, err error) {
	kinds := []func(context.Context, []string) (*channel, error){l.track3, l.track2}
	if l.o.Client.Protocol == 2 {
		kinds = kinds[1:]
	}
	for i, try := range kinds {
		var c *channel
		err := l.refusals().Once(fmt.Sprintf("tracking %d", i), func() (err error) {
			c, err = try(ctx, list)
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
func (l *link) tryEvents(ctx context.Context, patterns []string) (c *channel, reason string, err error) {
	var config map[string]string
	err = l.refusals().Once("config|get", func() (err error) {
		config, err = l.conn.ConfigGet(ctx, "notify-keyspace-events").Result()
		return err
	})
	var refused redis.Error
	switch {
	case errors.As(err, &refused):
		return nil, "whether keyspace events are on cannot be read (right +config|get)", nil
	case err != nil:
		return nil, "", err
	}
	flags := config["notify-keyspace-events"]
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

// enoughEvents reports whether notify-keyspace-events tells of every write and end of a
// string.
func enoughEvents(flags string) bool {
	return strings.Contains(flags, "K") && (strings.Contains(flags, "A") ||
		strings.Contains(flags, "g") && strings.Contains(flags, "$") && strings.Contains(flags, "x"))
}
