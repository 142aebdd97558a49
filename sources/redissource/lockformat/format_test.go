package lockformat

import (
	"regexp"
	"testing"

	"coordtop/coord/rediscoord"
	"coordtop/sources"
)

const (
	uuidA   = "07221940-03fa-41e1-98c6-ea5f0efb9a90"
	uuidB   = "8743c9c0-0795-4907-87fd-6c719a6b4586"
	hexTime = "c5ad8f2e7e2b11f0b0c70242ac110002" // of redis-py: uuid.uuid1().hex
	hex4    = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"
	jobID   = "2b6b0f6a1c9d4e5f60718293"

	padded     = "pW0mX9s3dU2lQx7t0KbYgw=="
	unpadded   = "qpOQo6sePYlUYc5vCIyfeg"
	long       = "x0Qm3d9eR1b7u2c5V8a1f4k6p9s2w5z8C1F4I7L0N3Q="
	random     = "Xb3kQ9zT1mN7pL2s"
	serialized = `s:16:"Xb3kQ9zT1mN7pL2s";`
)

func short(nonce string) string { return rediscoord.ShortID([]byte(nonce)) }

// known is one key as a library writes it, and what is to be told of it.
type known struct {
	key     string
	c       Content
	beside  []Content
	program string
	kind    sources.Kind
	owner   string // the label of the first owner; "": there is none
	guess   bool
}

func text(value string) Content {
	return Content{Type: String, Text: []byte(value), Size: len(value), Leased: true}
}

func hash(fields ...string) Content {
	c := Content{Type: Hash, Fields: map[string]string{}, Size: len(fields) / 2}
	for i := 0; i < len(fields); i += 2 {
		c.Fields[fields[i]] = fields[i+1]
	}
	return c
}

func sorted(members ...string) Content {
	c := Content{Type: SortedSet, Size: len(members)}
	for i, m := range members {
		c.Members = append(c.Members, Member{Text: m, Score: float64(1790000000000 + i)})
	}
	return c
}

func list(members ...string) Content {
	c := sorted(members...)
	c.Type = List
	return c
}

// formats are keys as the sources named in the table write them.
func formats() []known {
	const e, m, s = sources.KindElection, sources.KindMutex, sources.KindSemaphore
	number := Content{Type: String, Text: []byte("17"), Size: 2}
	redisson := hash(uuidB+":51", "2")
	return []known{
		{key: "orders", c: redisson, program: "Redisson", kind: m, owner: short(uuidB) + "/51"},
		{key: "app:leader", c: redisson, program: "Redisson", kind: e, owner: short(uuidB) + "/51"},
		{key: "orders", c: redisson, beside: []Content{{Type: List, Size: 3}, {}, {}, {}}, program: "Redisson", kind: m, owner: short(uuidB) + "/51"},
		{key: "orders", c: redisson, beside: []Content{{}, list(uuidA + ":7"), sorted(uuidA + ":7"), {}}, program: "Redisson fair lock", kind: m, owner: short(uuidB) + "/51"},
		{key: "orders", c: redisson, beside: []Content{{}, {}, {}, number}, program: "Redisson fenced lock", kind: m, owner: short(uuidB) + "/51"},
		{key: "orders", c: hash("mode", "read", uuidA+":1", "1", uuidB+":51", "1"), program: "Redisson read-write lock", kind: m, owner: short(uuidB) + "/51"},
		{key: "orders", c: hash("mode", "write", uuidB+":51:write", "1"), program: "Redisson read-write lock", kind: m, owner: short(uuidB) + "/51"},
		{key: "api:semaphore", c: number, program: "Redisson semaphore", kind: s},
		{key: "api:semaphore", c: number, beside: []Content{sorted("\x01\x02permit"), {}}, program: "Redisson semaphore", kind: s, owner: short("\x01\x02permit")},
		{key: "uniquejobs:" + hex4 + ":LOCKED", c: hash(jobID, "1790000000.5"), beside: []Content{list(), list()}, program: "sidekiq-unique-jobs", kind: m, owner: "job " + short(jobID)},
		{key: "SEMAPHORE:api:GRABBED", c: hash("1", "1790000000.5"), beside: []Content{list("0", "2")}, program: "redis-semaphore (Ruby)", kind: s, owner: "permit 1"},
		{key: "semaphore:api", c: sorted(uuidB+"_0", uuidB+"_1"), program: "redis-semaphore", kind: s, owner: short(uuidB)},
		{key: "invoices", c: sorted(long, "__write__"), program: "Symfony", kind: m, owner: short(long)},
		{key: "job-lock:default:nightly", c: text("ADDED:2026-09-14T12:00:00.000Z@web-1:" + uuidB), program: "ShedLock", kind: m, owner: "web-1"},
		{key: "locks:default:nightly", c: text("ADDED:2026-09-14T12:00:00.000Z@web-1:" + uuidB), program: "ShedLock", kind: m, owner: "web-1"},
		{key: "job-lock:default:nightly", c: text("UPDATED"), program: "ShedLock", kind: m, owner: "UPDATED"},
		{key: "bull:mail:42:lock", c: text(uuidB + ":7"), beside: []Content{text("mail-worker-1")}, program: "BullMQ", kind: m, owner: "mail-worker-1"},
		{key: "bull:mail:42:lock", c: text(uuidB), program: "Bull", kind: m, owner: short(uuidB)},
		{key: "dear-leader", c: text("web-1:4711:9f3c1a2b7d4e"), program: "Sidekiq", kind: e, owner: "web-1:4711"},
		{key: "redbeat::lock", c: text(hexTime), program: "redbeat", kind: e, owner: short(hexTime)},
		{key: "rq:scheduler-lock:default", c: text(hex4), program: "rq", kind: e, owner: short(hex4)},
		{key: "resque:resque_scheduler_master_lock", c: text("web-1:4711"), program: "resque-scheduler", kind: e, owner: "web-1:4711"},
		{key: "resque:lock:Import-[7]", c: text("true"), program: "resque-lock", kind: m, owner: "?"},
		{key: "RedisMutex:orders", c: text("1790000000.25"), program: "redis-mutex", kind: m, owner: "?"},
		{key: "activejob_uniqueness:import_job:no_arguments", c: text(uuidB), program: "activejob-uniqueness", kind: m, owner: short(uuidB)},
		{key: "gitlab:exclusive_lease:project_7", c: text(uuidB), program: "GitLab", kind: m, owner: short(uuidB)},
		{key: "SINGLETONLOCK_" + hex4, c: text(uuidB), program: "celery-singleton", kind: m, owner: short(uuidB)},
		{key: "qo_tasks.import_id-7", c: text(hexTime), program: "celery-once", kind: m, owner: short(hexTime)},
		{key: "laravel_database_laravel_cache_:laravel_unique_job:App\\Jobs\\Import:", c: text(random), program: "Laravel", kind: m, owner: short(random)},
		{key: "laravel_database_framework/schedule-a1b2c3", c: text("1"), program: "Laravel", kind: m, owner: "?"},
		{key: "laravel-database-laravel-cache-reports", c: text(serialized), program: "Laravel", kind: m, owner: short(serialized)},
		{key: "app:trigger_lock:mail:daily", c: text("node-1"), program: "Quartz", kind: m, owner: "node-1"},
		{key: "quartz_lock", c: text(uuidB), program: "Quartz", kind: m, owner: short(uuidB)},
		{key: "{hangfire}:schedulepoller", c: text(uuidB), program: "Hangfire", kind: m, owner: short(uuidB)},
		{key: "hangfire:recurring", c: text(uuidB), program: "Hangfire", kind: m, owner: short(uuidB)},
		{key: "mutex:orders", c: text(uuidB), program: "redis-semaphore", kind: m, owner: short(uuidB)},
		{key: "app:leader:mailer", c: text(uuidB), program: "LeaderService", kind: e, owner: short(uuidB)},
		{key: ":1:orders", c: text(hexTime), program: "django-redis", kind: m, owner: short(hexTime)},
		{key: "orders", c: text(hexTime), program: "redis-py", kind: m, owner: short(hexTime)},
		{key: "orders", c: text(hex4), program: "node-redlock", kind: m, owner: short(hex4), guess: true},
		{key: "orders-lock", c: text(hex4), program: "node-redlock", kind: m, owner: short(hex4)},
		{key: "orders", c: text(padded), program: "redsync", kind: m, owner: short(padded)},
		{key: "orders", c: text(long), program: "Symfony", kind: m, owner: short(long)},
		{key: "orders", c: text(unpadded), program: "redislock", kind: m, owner: short(unpadded), guess: true},
		{key: "orders", c: text(unpadded + "mailer-7"), program: "redislock", kind: m, owner: "mailer-7", guess: true},
		{key: "x_cache_:orders", c: text(random), program: "Laravel", kind: m, owner: short(random), guess: true},
		{key: "x-cache-orders", c: text(serialized), program: "Laravel", kind: m, owner: short(serialized), guess: true},
		{key: "orders", c: text("Xb3kQ9zT1mN7pL2sXb3kQ9"), program: "redlock-py", kind: m, owner: short("Xb3kQ9zT1mN7pL2sXb3kQ9"), guess: true},
		{key: "lock:orders", c: text(random), program: "Laravel", kind: m, owner: short(random)},
		{key: "myLock", c: text(uuidB), program: "redlock-rb", kind: m, owner: short(uuidB)},
		{key: "registry:orders", c: text(uuidB), program: "Spring or redlock-rb", kind: m, owner: short(uuidB), guess: true},
		{key: "lock:orders", c: text("host-1:42"), kind: m, owner: "host-1:42", guess: true},
		{key: "lock:orders", c: text("1790000000"), kind: m, guess: true, owner: "?"},
		{key: "locks:queue", c: sorted("a", "b"), kind: m, guess: true},
		{key: "app:semaphore:x", c: sorted("host-1:42", "host-2:43"), kind: s, owner: "host-1:42", guess: true},
		{key: "lock:orders", c: hash("a", "1"), kind: m, guess: true},
	}
}

func TestSemaphoreWhosePermitsWereSeenIsFreeWithoutThem(t *testing.T) {
	t.Parallel()
	count, none := text("4"), []Content{{Type: SortedSet}, {}}
	if l := Read("api:semaphore", &count, none, Options{}); l.Note == "" {
		t.Errorf("nobody ever saw a permit: %+v", l)
	}
	if l := Read("api:semaphore", &count, none, Options{Counted: true}); l.Note != "" || len(l.Owners) > 0 || l.Limit != 4 {
		t.Errorf("%+v", l)
	}
}

func TestEachFormatIsRecognised(t *testing.T) {
	t.Parallel()
	met := map[*Format]bool{}
	for _, k := range formats() {
		l := Read(k.key, &k.c, k.beside, Options{})
		met[l.Format] = true
		owner := ""
		if len(l.Owners) > 0 {
			owner = l.Owners[0].Label
		}
		if l.Program != k.program || l.Kind != k.kind || l.Guess != k.guess || owner != k.owner || (l.Note == "") != (k.owner != "") {
			t.Errorf("%s: %q, %v, owner %q, guess %v, note %q, want %+v", k.key, l.Program, l.Kind, owner, l.Guess, l.Note, k)
		}
	}
	for i := range table {
		if !met[&table[i]] {
			t.Errorf("no key of entry %d, %s, is read", i, table[i].Program)
		}
	}
}

func TestNoOwnershipEndsWithASession(t *testing.T) {
	t.Parallel()
	for _, k := range formats() {
		for _, o := range Read(k.key, &k.c, k.beside, Options{}).Owners {
			if o.Session != "" {
				t.Errorf("%s: the session %q", k.key, o.Session)
			}
		}
	}
}

// TestAWriterThatReadsTooIsOneOwner has both fields that Redisson keeps of a thread that took the
// read lock while it has the write lock.
func TestAWriterThatReadsTooIsOneOwner(t *testing.T) {
	t.Parallel()
	c := hash("mode", "write", uuidB+":51:write", "1", uuidB+":51", "2")
	l := Read("orders", &c, nil, Options{})
	if len(l.Owners) != 1 || l.Owners[0].ID != short(uuidB)+"/51:write" || l.Owners[0].Mode != sources.Exclusive {
		t.Errorf("%+v", l.Owners)
	}
}

func TestLibrariesWithoutTTLByDesignAreKnown(t *testing.T) {
	t.Parallel()
	want := map[string]bool{"sidekiq-unique-jobs": true, "celery-singleton": true, "redis-semaphore (Ruby)": true, "resque-lock": true, "redis-mutex": true}
	for i := range table {
		if f := &table[i]; f.NoTTL != want[f.Program] && f.name.part != "laravel_unique_job:" {
			t.Errorf("%s: %v", f.Program, f.NoTTL)
		}
	}
}

// TestAValueThatNamesNobodyIsHeldBySomebody has what programs write that only ask whether the key is
// there.
func TestAValueThatNamesNobodyIsHeldBySomebody(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"1", "0", "-1", "17", "0.25", "1790000000", "2026-09-14T12:00:00Z", "true", "True", "", "OK", "locked", "null", "None", "nil", "undefined", "i:1;", "b:1;", `"1"`} {
		for _, key := range []string{"lock:orders", "qo_orders", "app:leader:x", "orders"} {
			c := text(value)
			l := Read(key, &c, nil, Options{})
			if len(l.Owners) != 1 || l.Owners[0].Label != "?" || l.Owners[0].Guard != rediscoord.Guard(key, c.Text) || l.Note != "" {
				t.Errorf("%s, %q: %+v, note %q", key, value, l.Owners, l.Note)
			}
		}
	}
	for _, value := range []string{"host-1:42", "truth", "nullify", "none-1", "onyx", "web1", "lockd", "i:x;", uuidA} {
		if NamesNobody([]byte(value)) {
			t.Errorf("%q names nobody", value)
		}
	}
	c := text("4711")
	if l := Read("lock:orders", &c, nil, Options{Legible: []*regexp.Regexp{regexp.MustCompile(`^\d+$`)}}); l.Owners[0].Label != "4711" {
		t.Errorf("what a person calls legible: %+v", l.Owners)
	}
	c2 := text("4712")
	if a, b := Read("app:leader:x", &c, nil, Options{}), Read("app:leader:x", &c2, nil, Options{}); a.Owners[0].ID == b.Owners[0].ID {
		t.Errorf("two values are one owner: %+v", a.Owners)
	}
}

// TestAValueUnderAPlainNameIsALockOnlyWhereNothingElseWritesIt has values under a name that says
// nothing, which end by themselves or do not.
func TestAValueUnderAPlainNameIsALockOnlyWhereNothingElseWritesIt(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		key, value    string
		leased, stays bool // it is a lock with a TTL, without
	}{
		{"orders", "0f1e2d3c4b5a69788796a5b4c3d2e1f0", true, false},
		{"orders", uuidA, true, false},
		{"orders", "c5ad8f2e7e2b11f0b0c70242ac110002", true, true}, // redis-py's
		{"orders", "Xb3kQ9zT1mN7pL2s", false, false},               // Laravel's only behind a word or its cache's name
		{"lock:orders", "Xb3kQ9zT1mN7pL2s", true, false},
		{"orders", "host-1:1", false, false},
	} {
		for _, leased := range []bool{true, false} {
			c := text(tt.value)
			c.Leased = leased
			if got := ByValue(tt.key, &c, sources.KindUnknown); got != (leased && tt.leased || !leased && tt.stays) {
				t.Errorf("%s with %s, with a TTL %v: a lock: %v", tt.key, tt.value, leased, got)
			}
		}
	}
}
