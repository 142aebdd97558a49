package redissource

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"coordtop/internal/localserver"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

func TestHostileNamesAndValuesStayData(t *testing.T) {
	t.Parallel()
	name := "app:leader:\x1b]0;owned\x07\x00\xff\xfe\r\n*1"
	huge := strings.Repeat("x\x1b[2J", 1<<20)
	r := setup(t, localserver.RedisOptions{}, Options{Selections: leaders()},
		[]any{"SET", name, "\x1b[31mevil\x1b[0m"}, []any{"SET", "app:leader:huge", huge}, []any{"SET", "app:leader:utf8", "host\xff:1"},
		[]any{"SET", "app:leader:data", uuidA + " " + huge}, []any{"SET", "app:leader:" + strings.Repeat("n", 1<<20), uuidA},
	).synced()
	for _, key := range []string{name, "app:leader:huge", "app:leader:utf8", "app:leader:data"} {
		row := r.Row("", key, "held", func(row *sources.Row, _ *sources.State) bool { return len(row.Owners) == 1 })
		o := row.Owners[0]
		if strings.ContainsAny(o.ID+o.Label, "\x1b\x00\r\n") || !utf8.ValidString(o.ID+o.Label) || len(o.ID) > 256 || len(o.Label) > 256 {
			t.Errorf("%.20q: ID %.40q, label %.40q", key, o.ID, o.Label)
		}
		if len(o.Data.Head) > sources.BlobHead {
			t.Errorf("%.20q: %d bytes are kept", key, len(o.Data.Head))
		}
	}
	row := r.Row("", "app:leader:data", "held", led)
	if o := row.Owners[0]; o.Data.Len != len(huge) || !strings.HasPrefix(huge, o.Data.Head) || o.Guard != "" {
		t.Errorf("%d bytes of data, guard %q", o.Data.Len, o.Guard)
	}
	if out := r.output(); out > 4<<20 { // one name alone is a megabyte, and comes more than once
		t.Errorf("%d bytes were transferred", out)
	}
	r.do("DEL", name)
	r.Expect(sources.EventReleased, name)
}

// output is how many bytes the server has sent in all.
func (r *rig) output() int {
	r.t.Helper()
	for line := range strings.Lines(r.do("INFO", "stats").(string)) {
		if text, ok := strings.CutPrefix(strings.TrimSpace(line), "total_net_output_bytes:"); ok {
			n, err := strconv.Atoi(text)
			noError(r.t, err)
			return n
		}
	}
	r.t.Fatal("the server does not say what it sent")
	return 0
}

func TestOtherTypesOnTheServerAreNamed(t *testing.T) {
	t.Parallel()
	const redisson = "8743c9c0-0795-4907-87fd-6c719a6b4586:51"
	r := setup(t, localserver.RedisOptions{}, Options{Selections: []Selection{{Pattern: "app:lock:*"}}},
		[]any{"LPUSH", "app:lock:list", "x"}, []any{"ZADD", "app:lock:zset", "1", "x"}, []any{"HSET", "app:lock:hash", "a", "b"},
		[]any{"HSET", "app:lock:big", "a", strings.Repeat("x", 1000)}, []any{"HSET", "app:lock:redisson", redisson, "1"},
		[]any{"PEXPIRE", "app:lock:redisson", "30000"},
	).synced()
	for name, note := range map[string]string{
		"app:lock:list": "a list, not a string", "app:lock:zset": "a sorted set, not a string",
		"app:lock:hash": "a hash, not a string: its owner is unknown", "app:lock:big": "a hash, not a string",
	} {
		row := r.Row("", name, "there", func(row *sources.Row, _ *sources.State) bool { return !row.At.IsZero() })
		if row.Note != note || row.OwnersHow != sources.Unknown || row.Kind != sources.KindMutex {
			t.Errorf("%s: %+v", name, row.Primitive)
		}
	}
	row := r.Row("", "app:lock:redisson", "held", func(row *sources.Row, s *sources.State) bool { return row.Status(s) == sources.StatusHeld })
	if o := row.Owners[0]; o.NoExpiry || o.Expires.How != sources.Told || strings.Contains(o.ID, redisson[:8]) {
		t.Errorf("%+v", o)
	}
	r.do("HDEL", "app:lock:redisson", redisson)
	r.Expect(sources.EventReleased, "app:lock:redisson")
	r.do("DEL", "app:lock:list")
	r.do("SET", "app:lock:list", uuidA, "PX", "60000")
	r.Row("", "app:lock:list", "held", func(row *sources.Row, _ *sources.State) bool { return len(row.Owners) == 1 && row.Note == "" })
}

func TestKeyWithoutTheRightToReadIsNamed(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.RedisOptions{Users: []string{"eve on >secret %R~app:leader:* +@all"}}, held, []any{"SET", "app:lock:x", uuidA})
	watch(t, r, Options{Client: client(r.server.Addr(), "eve", "secret"), Selections: []Selection{{Pattern: "app:*"}}})
	row := r.Row("", "app:lock:x", "there", func(*sources.Row, *sources.State) bool { return true })
	if row.OwnersHow != sources.Unknown || !strings.HasPrefix(row.Note, "no right to read it") {
		t.Errorf("%+v", row.Primitive)
	}
	r.Row("", "app:leader:x", "led", led)
}

func TestSourceKeepsItsContract(t *testing.T) {
	t.Parallel()
	modes := map[string]struct {
		server localserver.RedisOptions
		o      Options
	}{
		"Tracking":       {o: Options{Selections: leaders()}},
		"KeyspaceEvents": {server: localserver.RedisOptions{Config: []string{"notify-keyspace-events KA"}}, o: Options{Selections: []Selection{{Pattern: "*:leader:*"}}}},
		"Polling":        {o: Options{Selections: []Selection{{Pattern: "*:leader:*"}}}},
		"Guess":          {},
	}
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sourcetest.Run(t, func(t *testing.T) sourcetest.Fixture {
				r := serve(t, mode.server, held, []any{"SET", "app:leader:y", uuidA, "PX", "600000"})
				o := mode.o
				o.Name, o.Client.Addrs = "src", []string{r.server.Addr()}
				return sourcetest.Fixture{
					Source: New(o),
					Change: func() { r.do("SET", "app:leader:x", uuidB, "PX", "600000") },
					Freeze: func() func() {
						noError(t, r.server.Freeze())
						return func() {
							if err := r.server.Thaw(); err != nil {
								t.Error(err)
							}
						}
					},
					Drop: func() {
						r.do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
						r.do("CLIENT", "KILL", "TYPE", "pubsub")
					},
				}
			})
		})
	}
}

func TestGuessFindsLocksAndSaysSo(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.RedisOptions{}, []any{"SET", "app:leader:x", uuidA, "PX", "600000"}, []any{"SET", "app:lock:y", "host-1:7"},
		[]any{"SET", "leaderboard", "x"}, []any{"LPUSH", "jobs:lock:list", "x"}, []any{"SET", "big:lock", strings.Repeat("x", 5000)})
	r.crowd(2500)
	watch(t, r, Options{}).synced()
	about := r.mode(modeTracking)
	text := strings.Join(about.Warnings, "|") // a slow sweep says how long it takes, in between
	if !strings.HasPrefix(text, "guessed 2 of 2,505 keys: name them with ?keys=") || !strings.HasSuffix(text, "; new prefixes are looked for once a minute") || about.Partial != sources.Whole {
		t.Errorf("warnings %q", about.Warnings)
	}
	if row := r.Row("", "app:lock:y", "held", func(row *sources.Row, s *sources.State) bool { return row.Status(s) == sources.StatusHeld }); row.Kind != sources.KindMutex {
		t.Errorf("%+v", row.Primitive)
	}
	r.Drain()
	r.do("SET", "app:leader:new", uuidB, "PX", "600000")
	if e := r.Expect(sources.EventAcquired, "app:leader:new"); e.RefKind != sources.KindElection || !noticed(e) {
		t.Errorf("%+v", e)
	}
}

func TestGuessOnAnEmptyServerFindsTheFirstLock(t *testing.T) {
	t.Parallel()
	r := setup(t, localserver.RedisOptions{}, Options{PollMin: 20 * time.Millisecond, Resync: 500 * time.Millisecond}).synced()
	r.mode(modePolling)
	r.do("SET", "app:leader:x", uuidA, "PX", "600000")
	if e := r.Event(sources.EventAcquired, ""); e.How != sources.Seen || e.After.IsZero() {
		t.Errorf("%+v", e)
	}
	r.mode(modeTracking) // from the next resync on
	r.Drain()
	r.do("SET", "app:leader:y", uuidA, "PX", "600000")
	if e := r.Expect(sources.EventAcquired, "app:leader:y"); !noticed(e) {
		t.Errorf("%+v", e)
	}
}

func TestGuessSaysAtOnceThatItIsOne(t *testing.T) {
	t.Parallel()
	w := still(t)
	w.link.selected.guess, w.listing.sweep = true, &sweep{first: true}
	for total, want := range map[int64]string{0: "guessing which keys are locks: name them with ?keys=", 12_000: "guessing which of 12,000 keys are locks: name them with ?keys="} {
		w.status.total = total
		if got := strings.Join(w.warnings(&sources.About{Partial: sources.Reading}), "|"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	w.link.selected.guess = false
	if got := w.warnings(&sources.About{Partial: sources.Reading}); len(got) > 0 {
		t.Errorf("%q although the keys are named", got)
	}
}

func TestGuessIsCutAndSaysSo(t *testing.T) {
	t.Parallel()
	w := still(t)
	for i := range 14 {
		w.keys[strconv.Itoa(i)] = newKey(strconv.Itoa(i), rule{guessed: true})
	}
	w.status.total, w.link.selected.guess = 812_000, true
	now := time.Now()
	w.search.begin(&sweep{started: now.Add(-time.Minute)})
	w.search.finish(&sweep{first: true, cut: true, cursor: 7, scanned: 203_000}, now)
	if partial, left := w.partial(now); partial != sources.Reading || left != "guessed 14 of 812,000 keys, sweep at 25 %, about 3m00s left: name them with ?keys=" {
		t.Error(partial, left)
	}
	if got := strings.Join(w.warnings(&sources.About{}), "|"); !strings.HasPrefix(got, "guessed 14 of 812,000 keys, sweep at 25 %, about 3m") || !strings.HasSuffix(got, " left: name them with ?keys=; new prefixes are looked for once a minute") {
		t.Error(got)
	}
	w.status.total = 0
	if _, left := w.partial(now); left != "guessed 14 keys, about 203,000 keys were looked at so far: name them with ?keys=" {
		t.Error(left)
	}
	w.search.finish(&sweep{}, now)
	if partial, left := w.partial(now); partial != sources.Whole || left != "" {
		t.Error(partial, left)
	}
}

// TestGuessGoesOnWhereItStopped has locks among more keys than one sweep looks at.
func TestGuessGoesOnWhereItStopped(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.RedisOptions{})
	for i := range 60 { // in the order of a scan no page has all locks
		r.do("EVAL", "local last=tonumber(ARGV[2]) for i=last-99,last do redis.call('SET','other:'..i,'x') end redis.call('SET','app:lock:'..last,ARGV[1])", 0, uuidA, (i+1)*100)
	}
	watch(t, r, Options{unspread: 2 * scanCount}).synced()
	r.State("all locks", func(s *sources.State) bool { return s.Sources[0].Rows == 60 })
	r.About("", "a whole scan", func(a sources.About) bool {
		return a.Partial == sources.Whole && len(a.Warnings) == 1 && strings.HasPrefix(a.Warnings[0], "guessed 60 of 6,060 keys: name them with ?keys=")
	})
}

// TestGuessByValueTakesNoSessionsForLocks has many keys with random values, as sessions have, beside
// locks whose names have no word for one.
func TestGuessByValueTakesNoSessionsForLocks(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.RedisOptions{}, []any{"SET", "orders", uuidB, "PX", "600000"}, []any{"SET", "lasting", uuidB},
		[]any{"HSET", "profile", "name", "x"}, []any{"SET", "page", "<html>", "PX", "600000"}, []any{"SET", "{x}:timeout", "7"}, []any{"SET", "x", uuidB})
	r.do("EVAL", "for i=1,300 do redis.call('SET','session:'..i,ARGV[1],'PX',600000) end", 0, uuidA)
	watch(t, r, Options{}).synced()
	r.Row("", "orders", "a guess", func(row *sources.Row, _ *sources.State) bool { return row.Guessed() && row.Kind == sources.KindMutex })
	r.State("few rows", func(s *sources.State) bool { return s.Sources[0].Rows == 1+mostSessions })
	r.About("", "how many were left out", func(a sources.About) bool {
		return strings.Contains(strings.Join(a.Warnings, " "), "; 280 keys with random values are left out, because many names begin as theirs do")
	})
}

func TestKeyThatIsALockByItsValueIsNoneWithAnother(t *testing.T) {
	t.Parallel()
	r := setup(t, localserver.RedisOptions{}, Options{}, []any{"SET", "orders", "pW0mX9s3dU2lQx7t0KbYgw==", "PX", "600000"}).synced()
	r.Row("", "orders", "held", func(row *sources.Row, _ *sources.State) bool { return len(row.Owners) == 1 && !row.Guessed() })
	r.do("PERSIST", "orders")
	r.Row("", "orders", "held for ever", func(row *sources.Row, _ *sources.State) bool { return len(row.Owners) == 1 && row.Owners[0].NoExpiry })
	r.do("SET", "orders", "<html>", "PX", "600000")
	r.Row("", "orders", "free", func(row *sources.Row, _ *sources.State) bool {
		return row.OwnersHow == sources.Told && len(row.Owners) == 0
	})
}

func TestLocksThatEndedAreNoCrowd(t *testing.T) {
	t.Parallel()
	var g guessing
	keys := map[string]*key{}
	for i := range 3 * mostAlike {
		name := fmt.Sprintf("order:%d", i)
		r := lockReading(0, uuidA, time.Minute)
		k := newKey(name, rule{guessed: true, byValue: true})
		if i >= 5 {
			r = missingReading(0)
		}
		see(k, r)
		keys[name] = k
	}
	g.recount(keys)
	if r := lockReading(0, uuidA, time.Minute); g.alike["order:"] != 5 || g.tooManyAlike("order:x", rule{}, r) || g.alike["order:"] != 6 {
		t.Errorf("%d of them are owned", g.alike["order:"])
	}
}

// TestWaitersOfAFairLockAreSeen has the keys that Redisson keeps beside a lock whose name says
// nothing: they belong to its row, and are read with it.
func TestWaitersOfAFairLockAreSeen(t *testing.T) {
	t.Parallel()
	const waiter = uuidA + ":7"
	for _, protocol := range []int{2, 3} {
		r := serve(t, localserver.RedisOptions{}, []any{"HSET", "orders", uuidB + ":51", "2"}, []any{"PEXPIRE", "orders", "600000"},
			[]any{"RPUSH", "redisson_lock_queue:{orders}", waiter}, []any{"ZADD", "redisson_lock_timeout:{orders}", "1790000000000", waiter},
			[]any{"SET", "redisson_lock_token:{orders}", "17"})
		o := Options{Client: client(r.server.Addr(), "", "")}
		o.Client.Protocol = protocol
		watch(t, r, o).synced()
		row := r.Row("", "orders", "a queue", func(row *sources.Row, _ *sources.State) bool { return row.Queue.Len == 1 })
		if w := row.Queue.Waiters; len(w) != 1 || !strings.HasSuffix(w[0].Label, "/7") || len(w[0].Attrs) != 1 || w[0].Attrs[0].Value != "2026-09-21T14:13:20Z" {
			t.Errorf("RESP%d: %+v", protocol, w)
		}
		format, _ := row.Format()
		if o := row.Owners[0]; !row.Queue.At.Equal(row.At) || format != "Redisson fair lock" || o.Fence != 17 || o.Attrs[0].Value != "2" {
			t.Errorf("RESP%d: %q, %+v", protocol, format, o)
		}
		if rows := r.Hub.State().Rows; len(rows) != 1 {
			t.Errorf("RESP%d: %d rows", protocol, len(rows))
		}
		r.do("RPUSH", "redisson_lock_queue:{orders}", uuidA+":8")
		r.do("PEXPIRE", "orders", "700000")
		r.Row("", "orders", "another one", func(row *sources.Row, _ *sources.State) bool { return row.Queue.Len == 2 })
	}
}

func TestANumberIsHeldBySomebodyUnknown(t *testing.T) {
	t.Parallel()
	for value, nobody := range map[string]bool{
		"17": true, "1419000000.25": true, "2026-11-22T12:00:00Z": true, "2026-11-22 12:00:00": true, "true": true, "host-1:7": false, uuidA: false,
	} {
		r := lockReading(0, value, noTTL)
		for _, guessed := range []bool{true, false} {
			p := newKey("app:lock", rule{guessed: guessed}).primitive(&Options{}, "0", r)
			if p.Note != "" || p.OwnersHow != sources.Told || len(p.Owners) != 1 || !p.Owners[0].Endless() || (p.Owners[0].Label == "?") != nobody {
				t.Errorf("%s, guessed %v: %+v", value, guessed, p)
			}
			if want := guessed && value != uuidA; p.Guessed() != want {
				t.Errorf("%s: a lock only by its name: %v", value, p.Guessed())
			}
		}
	}
}

func TestALockThatIsOnlyANumberHasEvents(t *testing.T) {
	t.Parallel()
	r := setup(t, localserver.RedisOptions{}, Options{}, []any{"SET", "lock:other", "host-1:1"}).synced()
	r.Drain()
	for _, value := range []string{"1", "true", "i:1;"} {
		r.do("SET", "lock:orders", value, "NX", "PX", 600000)
		if e := r.Expect(sources.EventAcquired, "lock:orders"); e.Owner.Label != "?" {
			t.Errorf("%+v", e.Owner)
		}
		row := r.Row("", "lock:orders", "held", func(row *sources.Row, s *sources.State) bool { return row.Status(s) == sources.StatusHeld })
		if o := row.Owners[0]; o.Since.How == sources.Unknown || o.Lease == 0 || o.Guard == "" {
			t.Errorf("%+v", o)
		}
		r.do("PEXPIRE", "lock:orders", 700000)
		r.Expect(sources.EventRenewed, "lock:orders")
		r.do("DEL", "lock:orders")
		r.Expect(sources.EventReleased, "lock:orders")
		r.do("SET", "lock:orders", value, "PX", 2000) // if the machine stalls for longer, the owner is never seen
		r.Expect(sources.EventAcquired, "lock:orders")
		r.ranOut("lock:orders")
	}
}

func TestGuessLeavesOutWhatStandsBesideALock(t *testing.T) {
	t.Parallel()
	s := compile(nil)
	for name, want := range map[string]bool{
		"redisson_lock_token:{app:lock}": false, "redisson_unlock_latch:{app:lock}:1": false, "redisson_lock_queue:{x}": false,
		"SEMAPHORE:api:EXISTS": false, "SEMAPHORE:api:VERSION": false, "ns:SEMAPHORE:api:AVAILABLE": false,
		"SEMAPHORE:api:GRABBED": true, "app:lock:EXISTS": true, "app:lock": true,
	} {
		if _, ok := s.find(name); ok != want {
			t.Errorf("%s: %v", name, ok)
		}
	}
	if _, ok := compile([]Selection{{Pattern: "*"}}).find("SEMAPHORE:api:EXISTS"); !ok {
		t.Error("what a person names is not left out")
	}
}

func TestWithoutTheRightToScanExistingKeysComeWithTheirNextWrite(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.RedisOptions{Users: []string{"eve on >secret ~* +@all -scan"}}, held)
	watch(t, r, Options{Client: client(r.server.Addr(), "eve", "secret"), Selections: append(leaders(), Selection{Pattern: "app:leader:named"})}).synced()
	about := r.mode(modeTracking)
	if len(about.Warnings) != 1 || !strings.Contains(about.Warnings[0], "+scan") {
		t.Errorf("warnings %q", about.Warnings)
	}
	r.Drain()
	r.do("PEXPIRE", "app:leader:x", "700000")
	if e := r.Expect(sources.EventPresent, "app:leader:x"); e.How != sources.AtLeast {
		t.Errorf("it was there before: %+v", e)
	}
}

// TestALockWithoutTTLHasNoEnd has locks whose TTL is missing, and is taken away.
func TestALockWithoutTTLHasNoEnd(t *testing.T) {
	t.Parallel()
	r := setup(t, localserver.RedisOptions{}, Options{}, []any{"HSET", "myLock:orders", uuidA + ":42", "1"},
		[]any{"HSET", "vault", uuidB + ":7", "1"}, []any{"PEXPIRE", "vault", "600000"},
		[]any{"HSET", "uniquejobs:0f1e2d3c4b5a69788796a5b4c3d2e1f0:LOCKED", "2b6b0f6a1c9d4e5f60718293", "1790000000"}).synced()
	endless := func(row *sources.Row, _ *sources.State) bool { return len(row.Owners) == 1 && row.Owners[0].Endless() }
	if row := r.Row("", "myLock:orders", "no end", endless); row.NoTTLByDesign() {
		t.Errorf("by design: %+v", row.Labels)
	}
	r.do("PERSIST", "vault")
	r.Row("", "vault", "no end any more", endless)
	if row := r.Row("", "uniquejobs:0f1e2d3c4b5a69788796a5b4c3d2e1f0:LOCKED", "no end", endless); !row.NoTTLByDesign() {
		t.Errorf("not by design: %+v", row.Labels)
	}
}
