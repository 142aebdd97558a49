package redissource

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

// fill writes n keys that are no locks: strings, hashes, sorted sets, numbers, lists, sessions.
func (r *rig) fill(n int) {
	r.t.Helper()
	r.do("EVAL", `for i=1,tonumber(ARGV[1]) do local k=i%6
		if k==0 then redis.call('SET','page:'..i,'<html>'..i,'PX',600000)
		elseif k==1 then redis.call('HSET','obj:'..i,'a','1','name',i)
		elseif k==2 then redis.call('ZADD','rank:'..i,1,'somebody')
		elseif k==3 then redis.call('SET','hits:'..i,i)
		elseif k==4 then redis.call('RPUSH','jobs:'..i,i)
		else redis.call('SET','csrf:'..i,redis.sha1hex(i):sub(1,32),'PX',600000) end end`, 0, n)
}

// plain writes a lock of each of these libraries under names that say nothing.
func (r *rig) plain(each int) (names []string) {
	r.t.Helper()
	for i := range each {
		add := func(name string, args ...any) {
			names = append(names, name)
			r.do(append([]any{args[0], name}, args[1:]...)...)
		}
		hex := fmt.Sprintf("%016x%016x", uint64(i+1)*0x9e3779b97f4a7c15, uint64(i+1)*0xbf58476d1ce4e5b9)
		uuid := hex[:8] + "-" + hex[8:12] + "-4" + hex[13:16] + "-8" + hex[17:20] + "-" + hex[20:]
		word := strings.NewReplacer("/", "x", "+", "y", "=", "").Replace(base64.StdEncoding.EncodeToString([]byte(hex)))
		timed := fmt.Sprintf("%08x7e2b11f0b0c70242ac110002", 0xc5ad8f2e-i)
		add(fmt.Sprintf("orders:%d", i), "HSET", uuid+":7", 1)
		add(fmt.Sprintf("mail:%d", i), "SET", base64.StdEncoding.EncodeToString([]byte(hex[:16])), "PX", 600000)
		add(fmt.Sprintf("crawl:%d", i), "SET", base64.RawURLEncoding.EncodeToString([]byte("N"+hex[:15])), "PX", 600000)
		add(fmt.Sprintf("import:%d", i), "SET", hex, "PX", 600000)
		add(fmt.Sprintf("stock:%d", i), "SET", timed, "PX", 600000)
		add(fmt.Sprintf("ledger:%d", i), "SET", timed) // without a TTL
		add(fmt.Sprintf("bill-%d", i), "SET", uuid, "PX", 600000)
		add(fmt.Sprintf("sync:%d", i), "SET", "a"+word[:20]+"Z", "PX", 600000)
		add(fmt.Sprintf("x_cache_:%d", i), "SET", "a"+word[:14]+"Z", "PX", 600000)
		add(fmt.Sprintf("export:%d", i), "ZADD", 1790000000000, base64.StdEncoding.EncodeToString([]byte(hex)), 1790000000000, "__write__")
	}
	return names
}

// TestLocksUnderPlainNamesAreFoundByTheirValues has them among others, with a first sweep that is
// cut at once, and users who may not ask for everything.
func TestLocksUnderPlainNamesAreFoundByTheirValues(t *testing.T) {
	t.Parallel()
	for name, rights := range map[string]string{"all": "+@all", "no hrandfield": "+@all -hrandfield"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, localserver.RedisOptions{Users: []string{"eve on >pw ~* &* " + rights}})
			r.fill(6000)
			want := r.plain(40)
			watch(t, r, Options{unspread: 1, Share: 0.5, Client: client(r.server.Addr(), "eve", "pw")})
			r.About("", "a whole sweep", func(a sources.About) bool { return a.Partial == sources.Whole })
			s := r.State("all", func(s *sources.State) bool { return s.Sources[0].Rows >= len(want)+mostSessions })
			found, others := map[string]bool{}, 0
			for _, row := range s.Rows {
				if row == nil {
					continue
				}
				if found[row.Name] = true; strings.HasPrefix(row.Name, "csrf:") {
					others++
				} else if !slices.Contains(want, row.Name) || len(row.Owners) != 1 {
					t.Errorf("%+v", row.Primitive)
				}
			}
			for _, name := range want {
				if !found[name] {
					t.Errorf("%s is missing among %d", name, len(found))
				}
			}
			if others < mostSessions || others > mostSessions+5 { // of 1,000 random values some are a library's
				t.Errorf("%d secrets are listed", others)
			}
			if log := r.refused(); log["hrandfield"] > 1 {
				t.Errorf("refused: %v", log)
			}
		})
	}
}

// cpu is how much the server has used.
func (r *rig) cpu() (seconds float64) {
	r.t.Helper()
	for line := range strings.Lines(r.do("INFO", "cpu").(string)) {
		if key, value, _ := strings.Cut(strings.TrimSpace(line), ":"); key == "used_cpu_user" || key == "used_cpu_sys" {
			n, err := strconv.ParseFloat(value, 64)
			noError(r.t, err)
			seconds += n
		}
	}
	return seconds
}

// TestASweepKeepsToItsShareOfTheServer sweeps with patterns and without, and measures the server.
func TestASweepKeepsToItsShareOfTheServer(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]Options{
		"all keys": {}, "a pattern": {Selections: []Selection{{Pattern: "*:leader"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, localserver.RedisOptions{})
			r.fill(100_000)
			o.Share, o.Resync, o.unspread = 0.1, time.Hour, 1
			before, start := r.cpu(), time.Now()
			watch(t, r, o)
			r.About("", "a sweep under way", func(a sources.About) bool {
				return a.Partial == sources.Reading && strings.Contains(a.LeftOut, " of 100,000 keys") && strings.Contains(a.LeftOut, " at ") && strings.HasSuffix(a.LeftOut, ": name them with ?keys=")
			})
			r.About("", "a whole sweep", func(a sources.About) bool { return a.Partial == sources.Whole })
			used, took := r.cpu()-before, time.Since(start).Seconds()
			if share := used / took; share > o.Share {
				t.Errorf("the sweep took %.3f s of CPU in %.2f s: %.0f %%", used, took, 100*share)
			}
		})
	}
}

// TestARefreshDoesNotWaitForASweep has a change that is pushed to nobody while a slow sweep is
// under way.
func TestARefreshDoesNotWaitForASweep(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.RedisOptions{}, []any{"SET", "lock:a", "host-1:1"})
	r.fill(20_000)
	watch(t, r, Options{unspread: 1, Share: 0.0005, Selections: []Selection{{Pattern: "lock:a"}, {Pattern: "lock:*:x"}}}).synced()
	r.About("", "a sweep that takes minutes", func(a sources.About) bool { return a.Partial == sources.Reading })
	r.do("SWAPDB", 0, 1)
	r.Drain()
	r.Hub.Refresh("src")
	r.Expect(sources.EventReleased, "lock:a")
}

func TestWhatTheServerRefusesToShowIsNotWhole(t *testing.T) {
	t.Parallel()
	all := "+ping +pttl +strlen +getrange +client|tracking +type "
	for name, tt := range map[string]struct {
		user  string
		watch []Selection
		want  sources.Partial
	}{
		"a named key":       {"~app:* +scan " + all, []Selection{{Pattern: "app:leader:x"}, {Pattern: "other:leader"}}, sources.Refused},
		"keys of a pattern": {"~app:* +scan " + all, []Selection{{Pattern: "*leader*"}}, sources.Refused},
		"names":             {"~* " + all, []Selection{{Pattern: "app:leader:x"}, {Pattern: "app:*"}}, sources.Refused},
		"nothing":           {"~* +scan " + all, []Selection{{Pattern: "app:leader:x"}}, sources.Whole},
		"what nobody named": {"~app:* +scan " + all, nil, sources.Whole},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, localserver.RedisOptions{Users: []string{"eve on >pw resetchannels " + tt.user}}, held, []any{"SET", "other:leader", uuidA}, []any{"SET", "page", "x"})
			watch(t, r, Options{Client: client(r.server.Addr(), "eve", "pw"), Selections: tt.watch}).synced()
			a := r.About("", name, func(a sources.About) bool { return a.Partial == tt.want })
			if (a.LeftOut == "") != (tt.want == sources.Whole) {
				t.Errorf("%q", a.LeftOut)
			}
		})
	}
}

func TestSessionsAreKnownByTheirNames(t *testing.T) {
	t.Parallel()
	r := lockReading(0, uuidA, time.Minute)
	long := lockReading(0, uuidA, 2*longestLease)
	for name, tt := range map[string]struct {
		r    *reading
		most int
	}{"session:": {r, mostSessions}, "app:csrf_tokens:": {r, mostSessions}, "PHPSESSID:": {r, mostSessions}, "order:": {r, mostAlike}, "upload:": {long, mostSessions}} {
		g, kept := guessing{}, 0
		g.recount(nil)
		for i := range mostAlike + 10 {
			if !g.tooManyAlike(fmt.Sprintf("%s%d", name, i), rule{}, tt.r) {
				kept++
			}
		}
		if kept != tt.most {
			t.Errorf("%s: %d are kept, want %d", name, kept, tt.most)
		}
	}
}

// TestEachSweepReadsAPageOfNames has sweeps that are late before their first step, as on a machine that stalls.
func TestEachSweepReadsAPageOfNames(t *testing.T) {
	t.Parallel()
	r := setup(t, localserver.RedisOptions{}, Options{Selections: leaders(), Resync: 1}, held)
	for {
		switch e := r.Next(); e.Kind {
		case sources.EventPresent:
			return
		case sources.EventSynced:
			t.Fatal("it is listed, and the key is not among it")
		}
	}
}
