package rediscoord

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/respwire"
	"coordtop/internal/ground/spawn"
)

// failover is a client of a master that Sentinels know. It drops its connections to a
// server that is no longer the master as soon as a Sentinel reports that.
type failover struct {
	*redis.Client
	sentinels *sentinels

	stop    context.CancelFunc
	watches sync.WaitGroup

	mu    sync.Mutex
	conns map[*masterConn]struct{}
}

// masterConn is a connection to the server that was the master when it was dialled.
type masterConn struct {
	net.Conn
	addr string
	of   *failover
}

// Close implements net.Conn.
func (c *masterConn) Close() error {
	c.of.mu.Lock()
	delete(c.of.conns, c)
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// newFailover returns the client and starts the goroutine that subscribes to the Sentinels; Close ends it and waits for
// it.
func newFailover(ctx context.Context, s *sentinels, o *redis.Options) *failover {
	f := &failover{sentinels: s, conns: make(map[*masterConn]struct{})}
	o.Dialer = f.dialMaster
	f.Client = redis.NewClient(o)
	ctx, f.stop = context.WithCancel(context.WithoutCancel(ctx))
	spawn.Go(ctx, &f.watches, func() { f.watch(ctx) })
	return f
}

// Close implements redis.UniversalClient.
func (f *failover) Close() error {
	f.stop()
	err := f.Client.Close()
	f.watches.Wait()
	return err
}

func (f *failover) dialMaster(ctx context.Context, _, _ string) (net.Conn, error) {
	conn, addr, err := f.sentinels.dialMaster(ctx)
	if err != nil {
		return nil, err
	}
	c := &masterConn{Conn: conn, addr: addr, of: f}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.conns[c] = struct{}{}
	if socket, ok := conn.(syscall.Conn); ok { // the library checks the socket before it uses the connection again
		return struct {
			*masterConn
			syscall.Conn
		}{c, socket}, nil
	}
	return c, nil
}

// listenPauses are the pauses between two subscriptions to Sentinels.
var listenPauses = backoff.Policy{Min: time.Second, Max: 30 * time.Second}

// watch keeps a subscription until the client is closed.
func (f *failover) watch(ctx context.Context) {
	pauses := listenPauses.Start()
	for ctx.Err() == nil {
		began := time.Now()
		_ = spawn.Call(ctx, func() error { return f.listen(ctx) }) // errors of the Sentinels show at the next dial
		if time.Since(began) > listenPauses.Max {
			pauses.Reset()
		}
		_ = pauses.Wait(ctx) // the loop checks ctx
	}
}

// quiet is the time without a message after which a Sentinel is pinged, and given up after the same time again.
const quiet = 10 * time.Second

// listen subscribes to a Sentinel and asks for the master after each notice of a switch, until the connection ends.
func (f *failover) listen(ctx context.Context) error {
	_, from, err := f.sentinels.ask(ctx)
	if err != nil {
		return err
	}
	client := f.sentinels.client(from)
	defer client.Close()
	sub := client.Subscribe(ctx, "+switch-master")
	defer sub.Close()
	defer spawn.OnDone(ctx, func() {
		_ = sub.Close() // ends the read below
		_ = client.Close()
	})()
	pinged := false
	for {
		m, err := Receive(ctx, sub, from, quiet)
		var late net.Error
		switch {
		case err != nil && errors.As(err, &late) && late.Timeout() && !pinged:
			if err := sub.Ping(ctx); err != nil {
				return err
			}
			pinged = true
			continue
		case err != nil:
			return err
		}
		pinged = false
		if _, ok := m.(*redis.Pong); ok {
			continue
		}
		// The text of the message is not used, because it may be older than our subscription.
		if err := f.follow(ctx); err != nil {
			return err
		}
		if err := backoff.Sleep(ctx, time.Second); err != nil { // at most one a second, however many messages arrive
			return err
		}
	}
}

// follow asks for the master and closes the connections to any other server.
func (f *failover) follow(ctx context.Context) error {
	addr, _, err := f.sentinels.ask(ctx)
	if err != nil {
		return err
	}
	f.mu.Lock()
	var old []*masterConn
	for c := range f.conns {
		if c.addr != addr {
			old = append(old, c)
		}
	}
	f.mu.Unlock()
	for _, c := range old {
		_ = c.Close() // its user receives an error, and dials the new master next
	}
	return nil
}

// Receive reads the next message of a subscription to addr, and waits at most for limit (0: without limit). The library
// panics on a message of a form that Redis does not send; Receive returns that as a *respwire.Error.
func Receive(ctx context.Context, sub *redis.PubSub, addr string, limit time.Duration) (m any, err error) {
	defer func() {
		if recover() != nil {
			m, err = nil, &respwire.Error{Addr: addr, What: "a message that no Redis sends"}
		}
	}()
	return sub.ReceiveTimeout(ctx, limit)
}
