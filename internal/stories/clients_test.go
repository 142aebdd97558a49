package stories

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
	"coordtop/internal/emulator/ydbtest"
)

// redisClient is a connection of a program that has nothing of ours.
func redisClient(t testing.TB, addr string) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: addr, DisableIdentity: true, MaxRetries: -1, PoolSize: 1})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func (s *story) set(c *redis.Client, key, value string, ttl time.Duration) {
	s.Helper()
	if err := c.Set(context.Background(), key, value, ttl).Err(); err != nil {
		s.Fatal(err)
	}
}

func (s *story) del(c *redis.Client, key string) {
	s.Helper()
	if err := c.Del(context.Background(), key).Err(); err != nil {
		s.Fatal(err)
	}
}

// host is a machine with one program, which leads elections and renews their leases every so often.
type host struct {
	stop    context.CancelFunc
	running sync.WaitGroup
}

// leads starts a program that leads keys under a name.
func (s *story) leads(addr, name string, lease, every time.Duration, keys ...string) *host {
	s.Helper()
	c := redisClient(s, addr)
	ctx, stop := context.WithCancel(context.Background())
	h := &host{stop: stop}
	for _, key := range keys {
		s.set(c, key, name, lease)
	}
	h.running.Go(func() { // ends with ctx
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			for _, key := range keys {
				_ = c.PExpire(ctx, key, lease).Err() // a server that is down is a part of the story
			}
		}
	})
	s.Cleanup(h.die)
	return h
}

// die ends the program without a word to the server.
func (h *host) die() {
	h.stop()
	h.running.Wait()
}

// keys are names with a number each.
func keys(format string, n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf(format, i))
	}
	return list
}

// session is a connection to Postgres under a name.
func (s *story) session(url, name string) *pgx.Conn {
	s.Helper()
	c, err := pgx.Connect(context.Background(), url+"&application_name="+name)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

func (s *story) exec(c *pgx.Conn, sql string) {
	s.Helper()
	if _, err := c.Exec(context.Background(), sql); err != nil {
		s.Fatal(err)
	}
}

// waits starts a session that does something which does not end before the story does.
func (s *story) waits(url, name, sql string) {
	s.Helper()
	c := s.session(url, name)
	s.keeps(c, sql)
}

// keeps has a session do something that does not end before the story does.
func (s *story) keeps(c *pgx.Conn, sql string) {
	s.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _, _ = c.Exec(ctx, sql) }) // ends with ctx
	s.Cleanup(func() {
		stop()
		running.Wait()
	})
}

const node = "/local/app"

// ydb is an emulator with a coordination node and semaphores of these limits.
func (s *story) ydb(semaphores map[string]uint64) *ydbtest.Server {
	s.Helper()
	server, err := ydbtest.Start(ydbtest.Options{})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = server.Close() })
	if err := server.CreateNode(node); err != nil {
		s.Fatal(err)
	}
	for name, limit := range semaphores {
		if err := server.CreateSemaphore(node, name, limit, nil); err != nil {
			s.Fatal(err)
		}
	}
	return server
}

// member is a session on the coordination node.
func (s *story) member(server *ydbtest.Server, name string) *coord.Session {
	s.Helper()
	d, err := ydbcoord.New(server.URL(0)+"?node="+node, ydbcoord.Options{})
	if err != nil {
		s.Fatal(err)
	}
	session, err := coord.Open(context.Background(), d, coord.SessionOptions{Description: name})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		_ = session.Close(context.Background())
		_ = d.Close(context.Background())
	})
	return session
}

// takes has a session own permits of a semaphore.
func (s *story) takes(m *coord.Session, name, data string, n uint64) *coord.Lease {
	s.Helper()
	l, err := m.Semaphore(name, coord.SemaphoreOptions{Data: []byte(data)}).Acquire(s.Context(), n)
	if err != nil {
		s.Fatal(err)
	}
	return l
}

// queues has a session wait for permits of a semaphore.
func (s *story) queues(m *coord.Session, name, data string, n uint64) {
	s.Helper()
	if _, err := m.Semaphore(name, coord.SemaphoreOptions{Data: []byte(data)}).Enqueue(s.Context(), n); err != nil {
		s.Fatal(err)
	}
}
