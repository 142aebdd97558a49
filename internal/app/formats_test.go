package app

import (
	"encoding/json"
	neturl "net/url"
	"strings"
	"sync"
	"testing"

	"coordtop/internal/localserver"
)

// libraryLocks are locks as their libraries write them, one of each of more than 20 formats, whose owners
// are gone. Of those that a program may name as it likes half have no word for a lock in the name.
var libraryLocks = []struct {
	name, kind, format string
	owner              string // the label; "": a nonce
	write              [][]any
}{
	{"orders", "mutex", "Redisson fair lock", "#092f0bb8/51", [][]any{
		{"HSET", "orders", client + ":51", "2"}, {"PEXPIRE", "orders", "600000"},
		{"RPUSH", "redisson_lock_queue:{orders}", client2 + ":7"}, {"ZADD", "redisson_lock_timeout:{orders}", "1790000000000", client2 + ":7"},
	}},
	{"app:lock:ledger", "mutex", "Redisson", "#092f0bb8/51", [][]any{{"HSET", "app:lock:ledger", client + ":51", "1"}, {"PEXPIRE", "app:lock:ledger", "600000"}}},
	{"stock", "mutex", "Redisson read-write lock", "", [][]any{{"HSET", "stock", "mode", "read", client + ":51", "1", client2 + ":7", "1"}, {"PEXPIRE", "stock", "600000"}}},
	{"vault", "mutex", "Redisson fenced lock", "#092f0bb8/51", [][]any{{"HSET", "vault", client + ":51", "1"}, {"PEXPIRE", "vault", "600000"}, {"SET", "redisson_lock_token:{vault}", "17"}}},
	{"api", "semaphore", "~Redisson semaphore", "", [][]any{{"SET", "api", "3"}, {"ZADD", "{api}:timeout", "1790000000000", "abcdefghijklmnop"}}},
	{"invoices", "mutex", "~redsync", "", [][]any{{"SET", "invoices", "pW0mX9s3dU2lQx7t0KbYgw==", "PX", "600000"}}},
	{"mail-lock", "mutex", "~redislock", "mailer-7", [][]any{{"SET", "mail-lock", "qpOQo6sePYlUYc5vCIyfegmailer-7", "PX", "600000"}}},
	{"report", "mutex", "~node-redlock", "", [][]any{{"SET", "report", hex, "PX", "600000"}}},
	{"importLock", "mutex", "redis-py", "", [][]any{{"SET", "importLock", timed, "PX", "600000"}}},
	{"registry:import", "mutex", "~Spring or redlock-rb", "", [][]any{{"SET", "registry:import", client, "PX", "600000"}}},
	{":1:export", "mutex", "django-redis", "", [][]any{{"SET", ":1:export", timed, "PX", "600000"}}},
	{"locks:symfony", "mutex", "Symfony", "", [][]any{{"ZADD", "locks:symfony", "1790000000000", base64Of32, "1790000000000", "__write__"}, {"PEXPIRE", "locks:symfony", "600000"}}},
	{"semaphore:api", "semaphore", "redis-semaphore", "", [][]any{{"ZADD", "semaphore:api", "1790000000000", client}, {"PEXPIRE", "semaphore:api", "600000"}}},
	{"bull:mail:42:lock", "mutex", "BullMQ", "mail-worker-1", [][]any{{"SET", "bull:mail:42:lock", client + ":7", "PX", "600000"}, {"HSET", "bull:mail:42", "pb", "mail-worker-1"}}},
	{"job-lock:default:nightly", "mutex", "ShedLock", "web-1", [][]any{{"SET", "job-lock:default:nightly", "ADDED:2026-09-14T12:00:00.000Z@web-1:" + client, "PX", "600000"}}},
	{"uniquejobs:" + hex + ":LOCKED", "mutex", "sidekiq-unique-jobs", "", [][]any{
		{"HSET", "uniquejobs:" + hex + ":LOCKED", "2b6b0f6a1c9d4e5f60718293", "1790000000"}, {"SET", "uniquejobs:" + hex, "2b6b0f6a1c9d4e5f60718293"}, {"ZADD", "uniquejobs:digests", "1", "uniquejobs:" + hex},
	}},
	{"SEMAPHORE:api:GRABBED", "semaphore", "redis-semaphore (Ruby)", "permit 1", [][]any{
		{"HSET", "SEMAPHORE:api:GRABBED", "1", "1790000000"}, {"RPUSH", "SEMAPHORE:api:AVAILABLE", "0", "2"}, {"SET", "SEMAPHORE:api:EXISTS", "1"}, {"SET", "SEMAPHORE:api:VERSION", "1"},
	}},
	{"dear-leader", "election", "Sidekiq", "web-1:4711", [][]any{{"SET", "dear-leader", "web-1:4711:9f3c1a2b7d4e", "PX", "600000"}}},
	{"redbeat::lock", "election", "redbeat", "", [][]any{{"SET", "redbeat::lock", timed, "PX", "600000"}}},
	{"resque:resque_scheduler_master_lock", "election", "resque-scheduler", "web-1:4711", [][]any{{"SET", "resque:resque_scheduler_master_lock", "web-1:4711", "PX", "600000"}}},
	{"rq:scheduler-lock:default", "election", "rq", "", [][]any{{"SET", "rq:scheduler-lock:default", hex, "PX", "600000"}}},
	{"gitlab:exclusive_lease:p7", "mutex", "GitLab", "", [][]any{{"SET", "gitlab:exclusive_lease:p7", client, "PX", "600000"}}},
	{"SINGLETONLOCK_" + hex, "mutex", "celery-singleton", "", [][]any{{"SET", "SINGLETONLOCK_" + hex, client}}},
	{"qo_tasks.mail_id-7", "mutex", "celery-once", "", [][]any{{"SET", "qo_tasks.mail_id-7", timed, "PX", "600000"}}},
	{"laravel_database_laravel_cache_:laravel_unique_job:Import", "mutex", "Laravel", "", [][]any{{"SET", "laravel_database_laravel_cache_:laravel_unique_job:Import", "Xb3kQ9zT1mN7pL2s", "PX", "600000"}}},
	{"{hangfire}:schedulepoller", "mutex", "Hangfire", "", [][]any{{"SET", "{hangfire}:schedulepoller", client, "PX", "600000"}}},
	{"app:trigger_lock:mail:daily", "mutex", "Quartz", "node-1", [][]any{{"SET", "app:trigger_lock:mail:daily", "node-1", "PX", "600000"}}},
	{"resque:lock:Import-all", "mutex", "resque-lock", "?", [][]any{{"SET", "resque:lock:Import-all", "true"}}},
	{"RedisMutex:orders", "mutex", "redis-mutex", "?", [][]any{{"SET", "RedisMutex:orders", "1790000000.25"}}},
	{"lock:nightly", "mutex", "", "?", [][]any{{"SET", "lock:nightly", "1", "PX", "600000"}}},
	{"activejob_uniqueness:import:no_arguments", "mutex", "activejob-uniqueness", "", [][]any{{"SET", "activejob_uniqueness:import:no_arguments", client, "PX", "600000"}}},
}

const (
	client     = "8743c9c0-0795-4907-87fd-6c719a6b4586"
	client2    = "07221940-03fa-41e1-98c6-ea5f0efb9a90"
	hex        = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
	timed      = "c5ad8f2e7e2b11f0b0c70242ac110002"
	base64Of32 = "x0Qm3d9eR1b7u2c5V8a1f4k6p9s2w5z8C1F4I7L0N3Q="
)

// foundLock is a primitive of get's JSON.
type foundLock struct {
	Name, Kind string
	Format     *struct{ Text, Known string }
	Owners     []struct{ Label, Guard string }
}

func (f *foundLock) format() string {
	switch {
	case f.Format == nil:
		return ""
	case f.Format.Known == "inferred":
		return "~" + f.Format.Text
	}
	return f.Format.Text
}

// locksOn is what get shows of a server without any selection.
func locksOn(t *testing.T, url string) map[string]foundLock {
	t.Helper()
	w := newWorld(t)
	w.main(t.Context(), "get", "-o", "json", url)
	var got struct{ Primitives []foundLock }
	if err := json.Unmarshal([]byte(w.stdout.String()), &got); err != nil {
		t.Fatalf("%v: %s%s", err, w.stdout, w.stderr)
	}
	for _, nonce := range []string{client, client2, hex[:16], timed[:16], base64Of32, "pW0mX9s3", "abcdefghijklmnop", "2b6b0f6a", "Xb3kQ9zT"} {
		if out := strings.ReplaceAll(strings.ReplaceAll(w.stdout.String(), "uniquejobs:"+hex, ""), "SINGLETONLOCK_"+hex, ""); strings.Contains(out, nonce) {
			t.Errorf("%s is shown", nonce)
		}
	}
	locks := make(map[string]foundLock)
	for _, f := range got.Primitives {
		locks[f.Name] = f
	}
	return locks
}

func TestLocksOfManyLibrariesAreFoundAndReleased(t *testing.T) {
	t.Parallel()
	s := localserver.RedisForTest(t, localserver.RedisOptions{})
	c, url := writer(t, s.Addr()), "redis://"+s.Addr()
	for _, lock := range libraryLocks {
		for _, command := range lock.write {
			if err := c.Do(t.Context(), command...).Err(); err != nil {
				t.Fatal(err)
			}
		}
	}
	set(t, c, "cache:page", "<html>", 0)
	found := locksOn(t, url)
	for _, lock := range libraryLocks {
		f, ok := found[lock.name]
		if !ok || f.Kind != lock.kind || f.format() != lock.format || len(f.Owners) == 0 || lock.owner != "" && f.Owners[0].Label != lock.owner {
			t.Errorf("%s: %+v, %q, want %s, %q, %q", lock.name, f, f.format(), lock.kind, lock.format, lock.owner)
		}
		delete(found, lock.name)
	}
	if len(found) > 0 {
		t.Errorf("these are no locks: %+v", found)
	}
	var all sync.WaitGroup // each waits for seconds who comes next: at once, and in one place among the tests that run
	for name, f := range locksOn(t, url) {
		all.Go(func() {
			for _, owner := range f.Owners {
				w := newWorld(t)
				code, line := releases(t, w, url+"/0?"+f.Kind+"="+neturl.QueryEscape(name), owner.Guard, "--reason", "its host is gone", "--write", "--yes")
				if code != exitOK || line.Result != "done" {
					t.Errorf("%s: exit code %d, printed %+v: %s", name, code, line, w.stderr)
				}
			}
		})
	}
	all.Wait()
	for name, f := range locksOn(t, url) {
		if len(f.Owners) > 0 {
			t.Errorf("%s is owned still: %+v", name, f)
		}
	}
}
