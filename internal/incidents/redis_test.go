package incidents

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// redisClient is a connection of a program that has nothing of ours.
func redisClient(t testing.TB, addr string) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: addr, DisableIdentity: true, MaxRetries: -1, ReadTimeout: time.Minute, WriteTimeout: time.Minute, PoolSize: 2})
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// watchRedis is a witness of keys: their values, or of a hash the field, and whether they end.
func watchRedis(t testing.TB, addr string, keys ...string) *witness {
	t.Helper()
	c := redisClient(t, addr)
	return newWitness(t, func() (map[string]seen, error) {
		rows := map[string]seen{}
		for _, key := range keys {
			pipe := c.TxPipeline() // in one step
			value, fields, ttl := pipe.Get(context.Background(), key), pipe.HKeys(context.Background(), key), pipe.PTTL(context.Background(), key)
			if _, err := pipe.Exec(context.Background()); err != nil && value.Err() == nil && fields.Err() == nil && ttl.Err() != nil {
				return nil, err
			}
			s := seen{owner: value.Val()}
			for _, field := range fields.Val() {
				s.owner = field
			}
			if ttl.Err() != nil {
				return nil, ttl.Err()
			}
			s.endless = s.owner != "" && ttl.Val() == -1
			rows[key] = s
		}
		return rows, nil
	})
}

const renewScript = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) else return 0 end`
const releaseScript = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) else return 0 end`

// candidate is a program that campaigns for a key, and renews its lease while it leads.
type candidate struct {
	t       testing.TB
	client  *redis.Client
	key     string
	name    string
	lease   time.Duration
	retry   time.Duration
	stop    context.CancelFunc
	running sync.WaitGroup
}

// campaign starts a candidate, which runs until quit or the end of the test.
func campaign(t testing.TB, addr, key, name string, lease, retry time.Duration) *candidate {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	c := &candidate{t: t, client: redisClient(t, addr), key: key, name: name, lease: lease, retry: retry, stop: stop}
	c.running.Go(func() { c.run(ctx) }) // ends with ctx
	t.Cleanup(c.die)
	return c
}

func (c *candidate) run(ctx context.Context) {
	leads := false
	for ctx.Err() == nil {
		pause := c.retry
		if leads {
			n, err := c.client.Eval(ctx, renewScript, []string{c.key}, c.name, c.lease.Milliseconds()).Int64()
			leads = err == nil && n == 1
		} else {
			ok, err := c.client.SetNX(ctx, c.key, c.name, c.lease).Result()
			leads = err == nil && ok
		}
		if leads {
			pause = c.lease / 3
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
		}
	}
}

// die ends the candidate without a word to the server.
func (c *candidate) die() {
	c.stop()
	c.running.Wait()
}

// quit ends the candidate politely.
func (c *candidate) quit() {
	c.t.Helper()
	c.die()
	if err := c.client.Eval(context.Background(), releaseScript, []string{c.key}, c.name).Err(); err != nil && !errors.Is(err, redis.Nil) {
		c.t.Fatal(err)
	}
}
