package redissource

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"coordtop/coord"
	"coordtop/coord/rediscoord"
	"coordtop/internal/localserver"
	"coordtop/sources"
	"coordtop/sources/redissource/lockformat"
)

// force releases an owner as a person has it released who saw it on the screen.
func (r *rig) force(c rediscoord.ClientOptions, kind coord.Kind, name string, o sources.Owner) error {
	r.t.Helper()
	d, err := rediscoord.New(c, rediscoord.Options{Removal: func(ctx context.Context, c redis.Cmdable, key, typ string, kind coord.Kind) (rediscoord.Removal, error) {
		return Removal(ctx, c, key, typ, kind)
	}})
	if err != nil {
		r.t.Fatal(err)
	}
	return d.ForceRelease(r.ctx, coord.Foreign{Kind: kind, Name: name, Owner: o.ID, Guard: o.Guard, Permits: o.Permits})
}

// lockAt reads a lock with what stands beside it, as a source does.
func (r *rig) lockAt(name string) lockformat.Lock {
	r.t.Helper()
	c := r.content(name)
	var beside []lockformat.Content
	if f := lockformat.Find(name, c, sources.KindSemaphore); f != nil {
		for _, b := range f.Companions(name) {
			content := lockformat.Content{}
			if b.Ask == lockformat.AskSortedSet {
				content = *r.content(b.Key)
			}
			beside = append(beside, content)
		}
	}
	return lockformat.Read(name, c, beside, lockformat.Options{})
}

// TestAForcedReleaseRemovesOneOwnerAndWakesThoseWhoWait releases one owner of each lock.
func TestAForcedReleaseRemovesOneOwnerAndWakesThoseWhoWait(t *testing.T) {
	t.Parallel()
	const thread, writes = uuidA + ":1", uuidA + ":1:write"
	r := serve(t, localserver.RedisOptions{})
	for name, tt := range map[string]struct {
		lock  string
		write [][]any
		want  map[string]any // what the key holds then; nil: it is gone
		wakes []string       // channel and message of each
	}{
		"a value without a TTL": {lock: "app:lock:x", write: [][]any{{"SET", "app:lock:x", "host-1:4711"}}},
		"Spring": {lock: "reg:lock", write: [][]any{{"SET", "reg:lock", uuidA, "PX", 60000}},
			wakes: []string{"reg-channel reg:lock", "reg-channel:reg:lock reg:lock"}},
		"Redisson, taken twice": {lock: "orders", write: [][]any{{"HSET", "orders", thread, 2}}, wakes: []string{"redisson_lock__channel:{orders} 0"}},
		"Redisson fair lock": {lock: "fair", write: [][]any{{"HSET", "fair", thread, 1}, {"RPUSH", "redisson_lock_queue:{fair}", uuidB + ":7", uuidB + ":8"}},
			wakes: []string{"redisson_lock__channel:{fair} 0", "redisson_lock__channel:{fair}:" + uuidB + ":7 0", "redisson_lock__channel:{fair}:" + uuidB + ":8 0"}},
		"Redisson reader beside another": {lock: "shared", write: [][]any{{"HSET", "shared", "mode", "read", thread, 1, uuidB + ":1", 1}},
			want: map[string]any{"mode": "read", uuidB + ":1": "1"}},
		"Redisson's last reader": {lock: "read", write: [][]any{{"HSET", "read", "mode", "read", thread, 1}}, wakes: []string{"redisson_rwlock:{read} 0"}},
		"Redisson writer":        {lock: "write", write: [][]any{{"HSET", "write", "mode", "write", writes, 1}}, wakes: []string{"redisson_rwlock:{write} 1"}},
		"Redisson permit": {lock: "sem:semaphore", write: [][]any{{"SET", "sem:semaphore", 3}, {"ZADD", "{sem:semaphore}:timeout", 922337203685477, "0123456789abcdef"}},
			want: map[string]any{"": "4"}, wakes: []string{"redisson_sc:{sem:semaphore} 4"}},
		"redis-semaphore": {lock: "semaphore:jobs", write: [][]any{{"ZADD", "semaphore:jobs", 1, uuidA + "_0", 2, uuidA + "_1", 3, uuidB}},
			want: map[string]any{uuidB: 3.0}},
		"redis-semaphore for Ruby": {lock: "SEMAPHORE:api:GRABBED", write: [][]any{{"HSET", "SEMAPHORE:api:GRABBED", "0", "1700000000", "1", "1700000001"}, {"RPUSH", "SEMAPHORE:api:AVAILABLE", "2"}},
			want: map[string]any{"1": "1700000001"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, command := range tt.write {
				r.do(command...)
			}
			sub := r.writer.PSubscribe(r.ctx, "*")
			defer sub.Close()
			if _, err := sub.Receive(r.ctx); err != nil {
				t.Fatal(err)
			}
			lock := r.lockAt(tt.lock)
			o := lock.Owners[0]
			for _, owner := range lock.Owners {
				if strings.HasPrefix(owner.ID, rediscoord.ShortID([]byte(uuidA))) {
					o = owner
				}
			}
			other := o
			other.Guard = rediscoord.Guard(tt.lock, []byte("another"))
			c, kind := client(r.server.Addr(), "", ""), coord.KindNone // as of a key whose name has no word for a lock
			if lock.Kind == sources.KindSemaphore {
				kind = coord.KindSemaphore
			}
			if err := r.force(c, kind, tt.lock, other); !errors.Is(err, coord.ErrChanged) {
				t.Errorf("with another guard: %v, want ErrChanged", err)
			}
			noError(t, r.force(c, kind, tt.lock, o))
			if err := r.force(c, kind, tt.lock, o); !errors.Is(err, coord.ErrChanged) {
				t.Errorf("twice: %v, want ErrChanged", err)
			}
			r.do("PUBLISH", "end", "")
			var woken []string
			for m := range sub.Channel() {
				if m.Channel == "end" {
					break
				}
				woken = append(woken, m.Channel+" "+m.Payload)
			}
			if !slices.Equal(woken, tt.wakes) {
				t.Errorf("woken %q, want %q", woken, tt.wakes)
			}
			r.wantStored(tt.lock, tt.want)
		})
	}
	if free := r.do("LRANGE", "SEMAPHORE:api:AVAILABLE", 0, -1); fmt.Sprint(free) != "[0 2]" {
		t.Errorf("free permits %v", free)
	}
}

// wantStored compares fields, members or, under "", the value.
func (r *rig) wantStored(name string, want map[string]any) {
	r.t.Helper()
	c := r.content(name)
	got := map[string]any{}
	for field, value := range c.Fields {
		got[field] = value
	}
	for _, m := range c.Members {
		got[m.Text] = m.Score
	}
	if len(c.Text) > 0 {
		got[""] = string(c.Text)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) && len(got)+len(want) > 0 {
		r.t.Errorf("it holds %v, want %v", got, want)
	}
}

func (r *rig) content(name string) *lockformat.Content {
	r.t.Helper()
	c, _, err := contentOf(r.ctx, r.writer, name, lockformat.Type(r.do("TYPE", name).(string)))
	noError(r.t, err)
	return c
}

// TestAForcedReleaseReleasesOnlyWhatWasOnTheScreen shows an owner, changes it, and releases what
// was shown.
func TestAForcedReleaseReleasesOnlyWhatWasOnTheScreen(t *testing.T) {
	t.Parallel()
	const name = "app:leader:x"
	for what, tt := range map[string]struct {
		shown, then []any
	}{
		"another owner":                 {[]any{"SET", name, uuidA}, []any{"SET", name, uuidB}},
		"the same nonce and other data": {[]any{"SET", name, uuidA + " one"}, []any{"SET", name, uuidA + " two"}},
		"nobody":                        {[]any{"SET", name, uuidA}, []any{"DEL", name}},
		"a list":                        {[]any{"SET", name, uuidA}, []any{"EVAL", "redis.call('DEL',KEYS[1]) redis.call('RPUSH',KEYS[1],1)", 1, name}},
		"a hash":                        {[]any{"SET", name, uuidA}, []any{"EVAL", "redis.call('DEL',KEYS[1]) redis.call('HSET',KEYS[1],ARGV[1],1)", 1, name, uuidA}},
		"a larger value":                {[]any{"SET", name, uuidA}, []any{"SETRANGE", name, 5000, "x"}},
		"taken once more":               {[]any{"HSET", name, uuidA + ":1", 1}, []any{"HINCRBY", name, uuidA + ":1", 1}},
		"a longer lease":                {[]any{"SET", name, uuidA, "PX", 60000}, []any{"PEXPIRE", name, 90000}},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			r := setup(t, localserver.RedisOptions{}, Options{Selections: leaders()}, tt.shown).synced()
			row := r.Row("", name, "owned", func(row *sources.Row, _ *sources.State) bool { return len(row.Owners) == 1 })
			o := row.Owners[0]
			r.do(tt.then...)
			before := r.do("EXISTS", name)
			err := r.force(client(r.server.Addr(), "", ""), coord.KindElection, name, o)
			if what == "a longer lease" {
				if err != nil || r.do("EXISTS", name).(int64) != 0 {
					t.Errorf("a renewal is no other owner: %v", err)
				}
				return
			}
			if !errors.Is(err, coord.ErrChanged) || r.do("EXISTS", name) != before {
				t.Errorf("%v, want ErrChanged and nothing done", err)
			}
		})
	}
}

// TestAForcedReleaseThatARightStopsIsNotCalledUndone takes one right away at a time.
func TestAForcedReleaseThatARightStopsIsNotCalledUndone(t *testing.T) {
	t.Parallel()
	const permit, job = "6ba7b8109dad11d180b400c04fd430c8", "uniquejobs:0f1e2d3c4b5a69788796a5b4c3d2e1f0"
	const sem = "api:semaphore"
	permits := [][]any{{"SET", sem, 2}, {"ZADD", "{" + sem + "}:timeout", 922337203685477, permit}}
	writes := rediscoord.FieldGuard("rw", uuidA+":1:write", "1")
	for name, tt := range map[string]struct {
		rights string // but these
		lock   string
		write  [][]any
		want   error
		left   map[string]any // of key
		key    string
	}{
		"a permit, no channel": {"resetchannels", sem, permits,
			coord.ErrRefused, map[string]any{"": "2"}, sem},
		"a permit, no ZREM": {"-zrem", sem, permits,
			coord.ErrRefused, map[string]any{"": "2"}, sem},
		"a permit, no INCRBY": {"-incrby", sem, permits,
			coord.ErrUncertain, map[string]any{"": "2"}, sem},
		"a permit that goes back, no HDEL": {"-hdel", "SEMAPHORE:x:GRABBED", [][]any{{"HSET", "SEMAPHORE:x:GRABBED", "0", "1700000000.1", "1", "1700000000.2"}},
			coord.ErrRefused, nil, "SEMAPHORE:x:AVAILABLE"},
		"a writer that reads, no HSET": {"-hset", "rw", [][]any{{"HSET", "rw", "mode", "write", uuidA + ":1:write", 1, uuidA + ":1", 1}},
			coord.ErrUncertain, map[string]any{"mode": "write", uuidA + ":1": "1"}, "rw"},
		"a unique job, no LPUSH": {"-lpush", job + ":LOCKED", [][]any{{"HSET", job + ":LOCKED", "jid1", "1.5"}, {"SET", job, "x"}},
			coord.ErrRefused, map[string]any{"": "x"}, job},
		"a unique job, no ZREM": {"-zrem", job + ":LOCKED", [][]any{{"HSET", job + ":LOCKED", "jid1", "1.5"}, {"SET", job, "x"}},
			coord.ErrUncertain, map[string]any{"": "x"}, job},
		"a hash, no TYPE": {"-type", "orders", [][]any{{"HSET", "orders", uuidA + ":1", 1}},
			coord.ErrRefused, map[string]any{uuidA + ":1": "1"}, "orders"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, localserver.RedisOptions{Users: []string{"eve on >secret ~* &* +@all " + tt.rights}})
			for _, command := range tt.write {
				r.do(command...)
			}
			lock, kind := r.lockAt(tt.lock), coord.KindMutex
			if lock.Kind == sources.KindSemaphore {
				kind = coord.KindSemaphore
			}
			o := lock.Owners[slices.IndexFunc(lock.Owners, func(o sources.Owner) bool { return o.Guard == writes || tt.lock != "rw" })]
			for range 2 {
				err := r.force(client(r.server.Addr(), "eve", "secret"), kind, tt.lock, o)
				if !errors.Is(err, tt.want) || tt.want == coord.ErrUncertain && errors.Is(err, coord.ErrRefused) {
					t.Errorf("%v, want %v", err, tt.want)
				}
				r.wantStored(tt.key, tt.left)
				if tt.want == coord.ErrUncertain {
					break // the owner is gone
				}
			}
		})
	}
}
