package incidents

import (
	"context"
	"crypto/sha1"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/internal/localserver"
)

// redisson is a client of that library: it takes a lock as a hash with a field of its own, renews it a third of its time
// before the end, and waits for a message on the channel of the lock.
type redisson struct {
	client *redis.Client
	field  string
	shown  string // the program shows a checksum of what proves ownership, and no more
	lease  time.Duration

	renewed moment // the last time
}

func newRedisson(t *testing.T, addr string, n int) *redisson {
	id := fmt.Sprintf("092f0bb8-5c3a-4d8e-9b1f-%012d", n)
	return &redisson{client: redisClient(t, addr), field: id + ":51", shown: fmt.Sprintf("#%.4x/51", sha1.Sum([]byte(id))), lease: 9 * time.Second}
}

const (
	redissonTake    = `if redis.call("EXISTS", KEYS[1]) == 0 then redis.call("HINCRBY", KEYS[1], ARGV[1], 1) redis.call("PEXPIRE", KEYS[1], ARGV[2]) return 1 end return 0`
	redissonRenew   = `if redis.call("HEXISTS", KEYS[1], ARGV[1]) == 1 then return redis.call("PEXPIRE", KEYS[1], ARGV[2]) end return 0`
	redissonRelease = `if redis.call("HDEL", KEYS[1], ARGV[1]) == 1 then redis.call("PUBLISH", KEYS[2], 0) return 1 end return 0`
)

func channelOf(key string) string { return "redisson_lock__channel:{" + key + "}" }

// lock waits until the lock is its own; false: ctx ended before.
func (r *redisson) lock(ctx context.Context, t *testing.T, key string) bool {
	var message *redis.PubSub
	for {
		n, err := r.client.Eval(ctx, redissonTake, []string{key}, r.field, r.lease.Milliseconds()).Int64()
		if message != nil && (n == 1 || err != nil) {
			_ = message.Close()
		}
		if err != nil {
			if ctx.Err() == nil {
				t.Errorf("%s: %v", key, err)
			}
			return false
		}
		if n == 1 {
			return true
		}
		if message == nil {
			message = r.client.Subscribe(ctx, channelOf(key))
		}
		again, cancel := context.WithTimeout(ctx, time.Second)
		_, _ = message.ReceiveMessage(again) // or it is time to look again
		cancel()
	}
}

// hold renews the lock until ctx ends, and does not give it up.
func (r *redisson) hold(ctx context.Context, t *testing.T, key string) {
	ticker := time.NewTicker(r.lease / 3)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			from := time.Now()
			if err := r.client.Eval(ctx, redissonRenew, []string{key}, r.field, r.lease.Milliseconds()).Err(); err != nil && ctx.Err() == nil {
				t.Errorf("renewing %s: %v", key, err)
			}
			r.renewed = moment{from, time.Now()}
		}
	}
}

func (r *redisson) unlock(t *testing.T, key string) {
	if err := r.client.Eval(context.Background(), redissonRelease, []string{key, channelOf(key)}, r.field).Err(); err != nil {
		t.Errorf("releasing %s: %v", key, err)
	}
}

// TestALockOfRedissonLosesItsEnd: somebody persists the key, its owner dies before it renews it again, others wait for ever,
// until a person deletes it.
func TestALockOfRedissonLosesItsEnd(t *testing.T) {
	t.Parallel()
	skipUnlessAsked(t)
	const row, feed = "app:lock:export", "app:lock:feed"
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	i := newIncident(t, fmt.Sprintf("sources:\n- {name: cache, url: %q, watch: [{mutex: 'app:lock:*'}]}\n", server.URL()))
	w := watchRedis(t, server.Addr(), row, feed)
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	defer running.Wait()
	defer stop()
	client := func(n int) *redisson { return newRedisson(t, server.Addr(), n) }
	for n := range 2 { // a lock that is well: two take turns
		running.Go(func() {
			for c := client(7 + n); ctx.Err() == nil; i.wait(300 * time.Millisecond) {
				if c.lock(ctx, t, feed) {
					i.wait(1200 * time.Millisecond)
					c.unlock(t, feed)
				}
			}
		})
	}
	owner, next, late := client(1), client(2), client(3)
	alive, die := context.WithCancel(ctx)
	defer die()
	if !owner.lock(ctx, t, row) {
		t.Fatal("it is not free")
	}
	var holding sync.WaitGroup
	holding.Go(func() { owner.hold(alive, t, row) })
	r := i.record()
	i.recorded(row, owner.shown)
	i.wait(7 * time.Second)

	die()
	holding.Wait()
	renewed := owner.renewed
	hand := redisClient(t, server.Addr())
	if err := hand.Persist(ctx, row).Err(); err != nil {
		t.Fatal(err)
	}
	var waiting sync.WaitGroup
	wait := func(c *redisson) {
		waiting.Go(func() {
			if c.lock(ctx, t, row) {
				i.wait(2 * time.Second)
				c.unlock(t, row)
			}
		})
	}
	i.wait(2 * time.Second)
	wait(next)
	i.wait(6 * time.Second)
	wait(late)
	i.wait(32 * time.Second)
	during := time.Now()
	if err := hand.Del(ctx, row).Err(); err != nil {
		t.Fatal(err)
	}
	waiting.Wait()
	i.wait(3 * time.Second)
	w.end()
	stop()
	running.Wait()
	r.stop()
	so, well := w.of(row), w.of(feed)
	shown := escaped(owner.shown)
	end := `no end any more`
	i.ask([]question{
		{"When did the lock lose its end?", "replay", []check{at(`^ *(\S+) +\S+ s +the lease of \S+ on app:lock:export has `+end, so.endless[0].from, 0)}},
		{"Who owned it then?", "report", []check{says(`the lease of %s on cache/app:lock:export has %s`, shown, end)}},
		{"For how long had it no end?", "report", []check{lasted(`\| ([^|]*) \| the lease of [^|]* on cache/app:lock:export has `+end, so.endless[0].length(), 0)}},
		{"When did its owner renew it last?", "replay --at=" + during.Format(time.RFC3339Nano) + " enter", []check{renewedAgo(renewed, during)}},
		{"Does somebody wait for it?", "replay --at=" + during.Format(time.RFC3339Nano) + " enter", []check{says(`WAITING (2, order inferred|\d, .*read \d+s ago|nobody, read \d+s ago)`)}},
		{"Why did it end? (A person deleted the key, which Redis does not tell.)", "history " + row, []check{says(`%s +- +unknown `, owner.shown), never(`(expired|released)\S* .*\n.*%s`, owner.shown)}},
		{"Who took over, and when?", "history " + row, []check{at(`^term .* ~ \S+ (\S+) +~ .* (?:`+next.shown+`|`+late.shown+`) .*\n.*not observed`, so.terms[2].from, 0), at(`^term .* ~ \S+ (\S+) +~ \S+ \S+ .* (?:`+next.shown+`|`+late.shown+`) `, so.terms[1].from, 0)}},
		{"Is the other lock well?", "report", []check{says(`- cache/app:lock:feed: .* take turns, every .*, (%d|%d|%d) times; nobody was seen to wait`, len(well.terms)-2, len(well.terms)-1, len(well.terms))}},
	})
}

// renewedAgo demands that the screen at a time says how long before its owner renewed the lock last.
func renewedAgo(renewed moment, at time.Time) check {
	return lasted(`renewed (\S+ ?s) ago`, span{at.Sub(renewed.to), at.Sub(renewed.from)}, time.Second)
}
