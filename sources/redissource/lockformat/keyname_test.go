package lockformat

import (
	"reflect"
	"testing"

	"coordtop/coord/rediscoord"
	"coordtop/sources"
)

func TestWordForALockIsFoundInAName(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]struct {
		end  int
		kind sources.Kind
	}{
		"app:lock:x": {9, sources.KindMutex}, "locks:x": {6, sources.KindMutex}, "myLock": {6, sources.KindMutex}, "orderLocks/7": {11, sources.KindMutex},
		"app:lease": {9, sources.KindMutex}, "app:elected:x": {12, sources.KindElection}, "app:leaderElection:x": {19, sources.KindElection},
		"svc:leaders": {11, sources.KindElection}, "SEMAPHORE:x": {10, sources.KindSemaphore}, "lock:leader": {11, sources.KindElection},
		"MASTER_LOCK": {11, sources.KindMutex}, "HTTPLock:x": {0, 0}, "block:x": {0, 0}, "clock": {0, 0}, "unlocked": {0, 0}, "please": {0, 0}, "": {0, 0},
	} {
		if end, kind := Word(key); end != want.end || kind != want.kind {
			t.Errorf("%q: %d, %v", key, end, kind)
		}
	}
}

func TestCompanionBelongsToItsLock(t *testing.T) {
	t.Parallel()
	for key, lock := range map[string]string{
		"redisson_lock_queue:{orders}": "orders", "redisson_lock_timeout:{orders}": "orders", "redisson_lock_token:{orders}": "orders",
		"redisson_lock_queue:a{b}c": "a{b}c", "redisson_unlock_latch:{orders}:7": "", "{api}:timeout": "api",
		"{orders}:" + uuidA + ":51:rwlock_timeout:1": "orders", "SEMAPHORE:api:EXISTS": "SEMAPHORE:api:GRABBED",
		"SEMAPHORE:api:VERSION": "SEMAPHORE:api:GRABBED", "SEMAPHORE:api:AVAILABLE": "SEMAPHORE:api:GRABBED", "SEMAPHORE:api:GRABBED": "SEMAPHORE:api:GRABBED",
		"uniquejobs:" + hex4: "uniquejobs:" + hex4 + ":LOCKED", "ns:uniquejobs:" + hex4 + ":RUN:QUEUED": "ns:uniquejobs:" + hex4 + ":RUN:LOCKED",
		"uniquejobs:" + hex4 + ":INFO": "uniquejobs:" + hex4 + ":LOCKED", "uniquejobs:digests": "", "dear-leader": "dear-leader",
	} {
		if got, ok := ByName(key); !ok || got != lock {
			t.Errorf("%s: %q, %v", key, got, ok)
		}
	}
	for _, key := range []string{"orders", "app:lock:x", "x:timeout", "mutex:x", "my-dear-leader2", "{a}b:timeout"} {
		if got, ok := ByName(key); ok {
			t.Errorf("%s belongs to %q", key, got)
		}
	}
}

// TestReleaseWakesThoseWhoWait has the commands that the libraries send themselves.
func TestReleaseWakesThoseWhoWait(t *testing.T) {
	t.Parallel()
	lock, readers := hash(uuidB+":51", "1"), hash("mode", "read", uuidB+":51", "1")
	jobs, spring, writer := hash(jobID, "1"), text(uuidB), hash("mode", "write", uuidB+":51:write", "1")
	for _, tt := range []struct {
		key  string
		c    *Content
		want rediscoord.Removal
	}{
		{"orders", &lock, rediscoord.Removal{Part: rediscoord.Field, Beside: "redisson_lock_queue:{orders}", Channel: "redisson_lock__channel:{orders}", After: [][]string{{"PUBLISH", "redisson_lock__channel:{orders}", "0"}}}},
		{"a{b}", &lock, rediscoord.Removal{Part: rediscoord.Field, Beside: "redisson_lock_queue:a{b}", Channel: "redisson_lock__channel:a{b}", After: [][]string{{"PUBLISH", "redisson_lock__channel:a{b}", "0"}}}},
		{"orders", &readers, rediscoord.Removal{Part: rediscoord.Field, After: [][]string{{"PUBLISH", "redisson_rwlock:{orders}", "0"}}}},
		{"orders", &writer, rediscoord.Removal{Part: rediscoord.Field, After: [][]string{{"PUBLISH", "redisson_rwlock:{orders}", "1"}}}},
		{"registry:orders", &spring, rediscoord.Removal{Part: rediscoord.WholeKey, After: [][]string{{"PUBLISH", "registry-channel", "registry:orders"}, {"PUBLISH", "registry-channel:registry:orders", "registry:orders"}}}},
		{"ns:uniquejobs:" + hex4 + ":LOCKED", &jobs, rediscoord.Removal{Part: rediscoord.Field, After: [][]string{
			{"LPUSH", "ns:uniquejobs:" + hex4 + ":QUEUED", "1"}, {"PEXPIRE", "ns:uniquejobs:" + hex4 + ":QUEUED", "5000"},
			{"ZREM", "ns:uniquejobs:digests", "ns:uniquejobs:" + hex4},
			{"DEL", "ns:uniquejobs:" + hex4, "ns:uniquejobs:" + hex4 + ":INFO", "ns:uniquejobs:" + hex4 + ":PRIMED"},
		}}},
	} {
		f := Find(tt.key, tt.c, sources.KindUnknown)
		if got := f.Release.Removal(tt.key, tt.c); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.key, got, tt.want)
		}
	}
	for i := range table {
		if r := &table[i].Release; r.Removes == "" || (r.Removes == rediscoord.Permit || r.Removes == rediscoord.Returned) && r.beside == nil {
			t.Errorf("entry %d, %s: how it is released is not said", i, table[i].Program)
		}
	}
}

// TestBlindReleasesAreNamed has the libraries whose own release compares nothing.
func TestBlindReleasesAreNamed(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"ShedLock", "rq", "resque-scheduler", "celery-once", "celery-singleton"} {
		if Unchecked(program) == "" {
			t.Errorf("%s compares", program)
		}
	}
	for _, program := range []string{"Redisson", "redsync", "redislock", "node-redlock", "redis-py", "GitLab", "Hangfire", "BullMQ"} {
		if Unchecked(program) != "" {
			t.Errorf("%s does not compare", program)
		}
	}
}

func FuzzReadNeverFails(f *testing.F) {
	f.Add("orders", "qpOQo6sePYlUYc5vCIyfegmailer-7", uint8(0))
	f.Add("semaphore:x", uuidB+"_1", uint8(2))
	f.Add("{x}:timeout", uuidB+":51:write", uint8(1))
	f.Fuzz(func(t *testing.T, key, value string, how uint8) {
		c := text(value)
		switch how % 4 {
		case 1:
			c = hash(value, "1", "mode", "read")
		case 2:
			c = sorted(value, value+"_1")
		case 3:
			c = list(value)
		}
		lock, ok := ByName(key)
		if again, still := ByName(lock); ok && lock != "" && still && again != lock {
			t.Errorf("%q belongs to %q, which belongs to %q", key, lock, again)
		}
		l := Read(key, &c, nil, Options{})
		if (len(l.Owners) > 0) == (l.Note != "") {
			t.Errorf("%d owners, note %q", len(l.Owners), l.Note)
		}
		for _, o := range l.Owners {
			if o.ID == "" || o.Label == "" {
				t.Errorf("an owner without a name: %+v", o)
			}
		}
	})
}

// TestAWordWithinAPhraseIsNoElection has names with a word for a leader that are about something else.
func TestAWordWithinAPhraseIsNoElection(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]sources.Kind{
		"master-data:countries": sources.KindUnknown, "masterData:countries": sources.KindUnknown, "leader_board:7": sources.KindUnknown, "app:leaderBoard": sources.KindUnknown,
		"app:leader:billing": sources.KindElection, "dear-leader": sources.KindElection, "app:master": sources.KindElection, "job-master:x": sources.KindElection,
		"leader-election:x": sources.KindElection, "jobLeader": sources.KindElection, "leader_id": sources.KindElection, "leader-lock": sources.KindMutex,
		"master-data:lock:7": sources.KindMutex, "resque_scheduler_master_lock": sources.KindMutex,
	} {
		if _, kind := Word(name); kind != want {
			t.Errorf("%s: %v, want %v", name, kind, want)
		}
	}
}
