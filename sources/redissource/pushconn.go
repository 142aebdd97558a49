package redissource

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/push"

	"coordtop/coord/rediscoord"
	"coordtop/internal/ground/glob"
	"coordtop/internal/ground/respwire"
	"coordtop/internal/ground/spawn"
	"coordtop/sources/kit"
)

// pushConn is a connection on which the server pushes names of keys.
type pushConn struct {
	mode       string
	id         int64 // CLIENT ID; 0 if unknown
	byKey      bool  // the server also pushes keys that the read connection reads
	connection *connection
	sub        *redis.PubSub
	prefixes   []string // tracked prefixes
	patterns   []string // subscribed patterns of keyspace events
	left       atomic.Bool
}

// leave closes a push connection that the link no longer uses.
func (l *link) leave(c *pushConn) {
	c.left.Store(true)
	c.close()
	l.heartbeat.reset()
}

// covers reports whether writes to the key are pushed.
func (c *pushConn) covers(name string) bool {
	return c.tracks(name) || c != nil && slices.ContainsFunc(c.patterns, func(p string) bool { return glob.Pattern(p).Match(name) })
}

// tracks reports whether every end of the key is pushed. Keyspace events do not, because they do not report a flush.
func (c *pushConn) tracks(name string) bool { return c != nil && covered(c.prefixes, name) }

// The modes of About.Mode.
const (
	modeTracking  = "tracking"
	modeTracking2 = "tracking RESP2"
	modeEvents    = "keyspace events"
	modePolling   = "polling"
)

// invalidations is the channel of RESP2 tracking.
const invalidations = "__redis__:invalidate"

// track3 opens a connection with tracking over RESP3, on which the server pushes without a subscription.
func (l *link) track3(ctx context.Context, p pushPlan) (*pushConn, error) {
	conn := &pushConn{mode: modeTracking, prefixes: p.prefixes}
	return l.startPushes(ctx, conn, 3, func(ctx context.Context, c *redis.Conn) (err error) {
		// If a server knows no RESP3, the library continues with RESP2, where tracking is accepted but nothing is ever
		// pushed.
		if err := c.Hello(ctx, 3, "", "", "").Err(); err != nil {
			return err
		}
		if p.keys {
			conn.id, err = rediscoord.Once(l.refusals(), "client|id", func() (int64, error) { return c.ClientID(ctx).Result() })
			if fatal(err) {
				return err
			}
		}
		return trackPrefixes(ctx, c, redis.ClientTrackingOptions{Prefixes: p.prefixes})
	})
}

// track2 opens a connection with tracking over RESP2, redirected to itself, because another connection could break and
// lose pushes without notice.
func (l *link) track2(ctx context.Context, p pushPlan) (*pushConn, error) {
	conn := &pushConn{mode: modeTracking2, prefixes: p.prefixes}
	return l.startPushes(ctx, conn, 2, func(ctx context.Context, c *redis.Conn) (err error) {
		if conn.id, err = c.ClientID(ctx).Result(); err != nil {
			return err
		}
		return trackPrefixes(ctx, c, redis.ClientTrackingOptions{Redirect: conn.id, Prefixes: p.prefixes})
	}, invalidations)
}

// trackPrefixes makes the server push writes to names with one of the prefixes. Without prefixes it does nothing,
// because the server would push every key.
func trackPrefixes(ctx context.Context, c *redis.Conn, o redis.ClientTrackingOptions) error {
	if len(o.Prefixes) == 0 {
		return nil
	}
	o.Bcast = true
	return c.ClientTrackingOn(ctx, &o).Err()
}

// events opens a connection that is subscribed to keyspace events.
func (l *link) events(ctx context.Context, patterns []string) (*pushConn, error) {
	channels := make([]string, len(patterns))
	for i, p := range patterns {
		channels[i] = glob.Escape(l.eventPrefix()) + p
	}
	return l.startPushes(ctx, &pushConn{mode: modeEvents, patterns: patterns}, l.o.Client.Protocol, nil, channels...)
}

// eventPrefix returns the text before a key's name in the channel of its events.
func (l *link) eventPrefix() string { return fmt.Sprintf("__keyspace@%d__:", l.o.Client.DB) }

// startPushes opens the connection of c, which logs in and calls ready, subscribes, and waits until the server has
// confirmed the subscription and answered a first ping. Without channels the server pushes over RESP3. If it returns an
// error, the connection is closed.
func (l *link) startPushes(ctx context.Context, c *pushConn, protocol int, ready func(context.Context, *redis.Conn) error, channels ...string) (_ *pushConn, err error) {
	if c.connection, err = l.dialer.open(ctx, protocol, ready); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, l.o.Silence)
	defer cancel()
	stop := spawn.OnDone(ctx, c.connection.close)
	defer stop() // must run before the cancel
	c.connection.net.Stream()
	c.sub = c.connection.client.Subscribe(ctx)
	if err := l.greet(ctx, c, channels); err != nil {
		c.close()
		return nil, errors.Join(err, ctx.Err())
	}
	return c, nil
}

func (l *link) greet(ctx context.Context, c *pushConn, channels []string) (err error) {
	if len(channels) == 0 {
		if err := c.connection.client.RegisterPushNotificationHandler("invalidate", handler(l.pushed), false); err != nil {
			return fmt.Errorf("listening for pushes: %w", err)
		}
	}
	// The first command logs in, so its round trip does not count. It is sent alone, because the library returns the
	// error of a login only to its first caller.
	if err := c.sub.Ping(ctx); err != nil {
		return err
	}
	switch {
	case len(channels) == 0:
	case c.mode == modeEvents:
		err = c.sub.PSubscribe(ctx, channels...)
	default:
		err = c.sub.Subscribe(ctx, channels...)
	}
	if err != nil {
		return err
	}
	if err := l.await(ctx, c, 1+len(channels)); err != nil {
		return err
	}
	if err := l.ping(ctx, c); err != nil {
		return err
	}
	return l.await(ctx, c, 1)
}

// await reads messages until it has read the given number of confirmations.
func (l *link) await(ctx context.Context, c *pushConn, confirmations int) error {
	for confirmations > 0 {
		m, err := rediscoord.Receive(ctx, c.sub, c.connection.addr, 0)
		if err != nil {
			return err
		}
		switch m.(type) {
		case *redis.Subscription, *redis.Pong:
			confirmations--
		}
		l.received(m)
	}
	return nil
}

// gather leaves the messages of c unread until the next ping if that is wanted and the server is near.
func (l *link) gather(c *pushConn, wanted bool) {
	c.connection.net.Gather(l.heartbeat.gather(wanted))
}

// close ends the connection: listen returns.
func (c *pushConn) close() {
	c.connection.close()
	_ = c.sub.Close() // its error only reports the closed connection
}

func (l *link) ping(ctx context.Context, c *pushConn) error {
	l.heartbeat.sent(time.Now())
	return c.sub.Ping(ctx)
}

// listen reads until the connection ends, and returns the reason, or nil if we closed it.
func (l *link) listen(ctx context.Context, c *pushConn) error {
	for {
		m, err := rediscoord.Receive(ctx, c.sub, c.connection.addr, 0)
		if c.left.Load() {
			return nil
		}
		if err == nil {
			l.received(m)
			continue
		}
		if c.mode != modeTracking2 || broken(err) {
			return err
		}
		// The connection is alive, so the library could not decode one message. Over RESP2 that is the list without
		// keys that a flush sends.
		l.inbox.everything(l.notice(time.Now()), true)
	}
}

// broken reports whether err ended the connection. If not, the library could not decode one message.
func broken(err error) bool {
	return kit.HungUp(err) || errors.As(err, new(net.Error)) || errors.As(err, new(redis.Error)) || errors.As(err, new(*respwire.Error)) ||
		errors.Is(err, errNoRedial) || errors.Is(err, redis.ErrClosed)
}

// received handles a message decoded by the library.
func (l *link) received(m any) {
	now := time.Now()
	switch m := m.(type) {
	case *redis.Pong:
		l.heartbeat.answered(now)
		if l.heartbeat.tellAlive(now, l.pingLimit()) {
			l.Answered(now)
		}
	case *redis.Message:
		if m.Channel == invalidations {
			l.named(m.PayloadSlice, l.notice(now))
			return
		}
		name, ok := strings.CutPrefix(m.Channel, l.eventPrefix())
		if _, selected := l.selected.find(name); ok && selected {
			l.inbox.add(name, l.notice(now), m.Payload)
		}
	}
}

// pushed handles a RESP3 push.
func (l *link) pushed(message []any) {
	n := l.notice(time.Now())
	if len(message) < 2 {
		return
	}
	list, ok := message[1].([]any)
	if !ok {
		l.inbox.everything(n, true)
		return
	}
	names := make([]string, 0, len(list))
	for _, n := range list {
		if name, ok := n.(string); ok {
			names = append(names, name)
		}
	}
	l.named(names, n)
}

// named handles the names that a push lists. internal/ground/respwire empties a list that is too long. In that case any
// key may have changed, and there may be new keys.
func (l *link) named(names []string, n notice) {
	if len(names) == 0 {
		l.inbox.everything(n, false)
		return
	}
	for _, name := range names {
		if _, ok := l.selected.find(name); ok {
			l.inbox.add(name, n, "")
		}
	}
}

// handler implements push.NotificationHandler with a function.
type handler func(message []any)

// HandlePushNotification passes the message to h.
func (h handler) HandlePushNotification(_ context.Context, _ push.NotificationHandlerContext, message []any) error {
	h(message)
	return nil
}

// pingLimit returns the maximum pause between two pings, and between two reports that the server answers.
func (l *link) pingLimit() time.Duration { return min(time.Second, l.o.Silence/3) }

// beat pings until the server has been silent for too long or ctx ends.
func (l *link) beat(ctx context.Context, c *pushConn) error {
	const checks = 4 // how often to check for silence within the pause longest, while an answer is late
	t := time.NewTimer(0)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-t.C:
		case <-l.stirred:
		}
		c.connection.net.Release()
		if c.left.Load() {
			return nil
		}
		now, p, longest := time.Now(), l.heartbeat.now(), l.pingLimit()
		if p.silence(now) >= l.o.Silence {
			return errSilent
		}
		if p.pingDue(now, longest) {
			if err := l.ping(ctx, c); err != nil && !c.left.Load() {
				return err
			}
		}
		if len(p.outstanding) > 0 { // older than the ping that was just sent
			longest /= checks
		}
		t.Reset(p.pause(l.quiet(p, now), now, longest))
	}
}
