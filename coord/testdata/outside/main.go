// The command outside uses coord as a program of another module does:
//
//	outside redis|postgres|ydb|dflockd URL
//
// It works under a mutex and under permits, leads once, and prints a line for each.
package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"coordtop/coord"
	"coordtop/coord/dflockcoord"
	"coordtop/coord/dflockwire"
	"coordtop/coord/pgcoord"
	"coordtop/coord/rediscoord"
	"coordtop/coord/ydbcoord"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := run(ctx, os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, backend, url string) error {
	d, err := open(backend, url)
	if err != nil {
		return err
	}
	defer d.Close(ctx)
	o := coord.SessionOptions{
		Description: "outside", TTL: 5 * time.Second, Retry: coord.Backoff{Min: 50 * time.Millisecond}, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}
	err = coord.WithLock(ctx, d, o, "nightly", coord.MutexOptions{Wait: 10 * time.Second}, func(ctx context.Context, l *coord.Lease) error {
		fmt.Println("mutex", l.Check() == nil, l.Valid() > 0)
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	if err := lead(ctx, d, o); err != nil {
		return err
	}
	if backend == "redis" || backend == "postgres" {
		return nil // they have no semaphores
	}
	if backend == "ydb" { // where a semaphore must be created
		err = coord.WithSession(ctx, d, o, func(ctx context.Context, s *coord.Session) error {
			return s.Semaphore("pool", coord.SemaphoreOptions{}).Create(ctx, 3, nil)
		})
		if err != nil {
			return err
		}
	}
	err = coord.WithPermits(ctx, d, o, "pool", coord.SemaphoreOptions{Limit: 3}, 2, func(ctx context.Context, l *coord.Lease) error {
		fmt.Println("permits", l.Check() == nil)
		return ctx.Err()
	})
	if err != nil || backend != "dflockd" {
		return err
	}
	err = coord.WithPermits(ctx, d, o, "pool", coord.SemaphoreOptions{Limit: 4}, 1, func(context.Context, *coord.Lease) error { return nil })
	fmt.Println("another limit", errors.Is(err, dflockwire.ErrLimitMismatch))
	return stats(ctx, url)
}

// stats prints what a dflockd server lists.
func stats(ctx context.Context, url string) error {
	c, err := dflockcoord.ParseURL(url)
	if err != nil {
		return err
	}
	dialers, err := c.Dialers()
	if err != nil {
		return err
	}
	conn, err := dialers[0].Connect(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	all, err := conn.Stats(ctx, func(e *dflockwire.Entry) {
		if e.Semaphore {
			fmt.Printf("key %s, idle: %v\n", e.Key, e.Idle)
		}
	})
	fmt.Println("connections", all.Connections > 0)
	return err
}

// open makes a driver with the options that a program may want to set by itself.
func open(backend, url string) (coord.Driver, error) {
	switch backend {
	case "redis":
		c, err := rediscoord.ParseURL(url)
		if err != nil {
			return nil, err
		}
		if c.TLSFiles != nil {
			c.TLS = &tls.Config{}
		}
		return rediscoord.New(c, rediscoord.Options{RetryDelay: 100 * time.Millisecond})
	case "postgres":
		return pgcoord.New(url, pgcoord.Options{Override: pgcoord.Override{}, Channels: []pgcoord.Listener{
			{Channel: "outside", Handle: func(_ context.Context, n pgcoord.Notification) { fmt.Println("notified", n.Payload) }},
		}})
	case "ydb":
		return ydbcoord.New(url, ydbcoord.Options{CreateElections: true})
	}
	c, err := dflockcoord.ParseURL(url)
	if err != nil {
		return nil, err
	}
	return dflockcoord.New(c, dflockcoord.Options{Shard: dflockwire.Shard})
}

// lead campaigns until it has led once.
func lead(ctx context.Context, d coord.Driver, o coord.SessionOptions) error {
	var c *coord.Candidate
	elected := make(chan struct{})
	c = coord.NewCandidate(d, o, "boss", coord.LeadOptions{
		OnElected: func(_ context.Context, t *coord.Term) error {
			_, leading := c.Leading()
			fmt.Println("leader", leading)
			close(elected)
			return nil
		},
		OnLost: func(cause error) { fmt.Println("resigned:", cause) },
	})
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	select {
	case <-elected:
		c.Stop()
	case <-ctx.Done():
	}
	return <-done
}
