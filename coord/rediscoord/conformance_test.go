package rediscoord_test

import (
	"cmp"
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord"
	"coordtop/coord/coordtest"
	"coordtop/coord/rediscoord"
	"coordtop/internal/localserver"
)

// brisk makes claims look often, so that tests are quick.
var brisk = rediscoord.Options{RetryDelay: 40 * time.Millisecond}

func TestConformance(t *testing.T) {
	t.Parallel()
	url := localserver.RedisURLForTest(t)
	coordtest.Run(t, func(t testing.TB) coordtest.Harness { return harness(url, brisk) })
}

func harness(url string, o rediscoord.Options) coordtest.Harness {
	h := coordtest.Harness{
		NewDriver: func(t testing.TB) coord.Driver { return driver(t, url, o) },
		TTL:       time.Second,
		Expire: func(t testing.TB, kind coord.Kind, name string) {
			if n, err := client(t, url).Del(context.Background(), name).Result(); err != nil || n != 1 {
				t.Fatalf("deleting the key: %d keys, %v", n, err)
			}
		},
		Owners: func(t testing.TB, kind coord.Kind, name string) []string {
			value, err := client(t, url).Get(context.Background(), name).Bytes()
			if errors.Is(err, redis.Nil) {
				return nil
			}
			if err != nil {
				t.Fatal(err)
			}
			return []string{rediscoord.OwnerOf(value).ID}
		},
		FreezesQueues: true,
		Freezer: func(t testing.TB) (coord.Driver, func()) {
			server := localserver.RedisForTest(t, localserver.RedisOptions{})
			return driver(t, server.URL(), o), func() {
				noError(t, server.Freeze())
			}
		},
	}
	h.Troubles = func(t testing.TB) (func(testing.TB) coord.Driver, []coordtest.Trouble) { return troubles(t, o) }
	if os.Getenv(localserver.RedisEnv) == "" {
		h.Endings = func(t testing.TB) func() []string { return endings(t, url) }
	}
	return h
}

// endings records the keys in the order in which the server reports their deletion.
func endings(t testing.TB, url string) func() []string {
	t.Helper()
	ctx := context.Background()
	c := client(t, url)
	noError(t, c.ConfigSet(ctx, "notify-keyspace-events", "Eg").Err())
	sub := c.Subscribe(ctx, "__keyevent@0__:del")
	if _, err := sub.Receive(ctx); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var keys []string
	done := make(chan struct{})
	go func() {
		defer close(done)
		for m := range sub.Channel() {
			mu.Lock()
			keys = append(keys, m.Payload)
			mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		sub.Close()
		<-done
	})
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string(nil), keys...)
	}
}

// options reads a URL.
func options(t testing.TB, url string) rediscoord.ClientOptions {
	t.Helper()
	o, err := rediscoord.ParseURL(url)
	noError(t, err)
	o.DialTimeout, o.ReadTimeout = cmp.Or(o.DialTimeout, patience), cmp.Or(o.ReadTimeout, patience)
	return o
}

// client makes a client that is closed when the test ends.
func client(t testing.TB, url string) redis.UniversalClient {
	t.Helper()
	c, err := rediscoord.NewClient(t.Context(), options(t, url))
	noError(t, err)
	t.Cleanup(func() { c.Close() })
	return c
}

func driver(t testing.TB, url string, o rediscoord.Options) *rediscoord.Driver {
	t.Helper()
	d, err := rediscoord.New(options(t, url), o)
	noError(t, err)
	return d
}
