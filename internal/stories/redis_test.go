package stories

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"coordtop/internal/localserver"
)

const leases = quick + "sources:\n- {name: leases, url: %q, watch: [{election: 'app:leader:*'}]}\n"

func redisStory(t *testing.T) (*story, *localserver.Redis) {
	t.Helper()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	return tell(t, fmt.Sprintf(leases, server.URL())), server
}

func TestOneHostLosesTenElectionsAtOnce(t *testing.T) {
	t.Parallel()
	s, server := redisStory(t)
	lost := keys("app:leader:%d", 10)
	dying := s.leads(server.Addr(), "host-22:4411", 2*time.Second, 500*time.Millisecond, lost...)
	s.leads(server.Addr(), "host-7:1", 20*time.Second, time.Second, "app:leader:other")
	s.record(append([]string{"app:leader:other"}, lost...)...)
	dying.die()
	s.finds(truth{"owner-gone", lost, []string{
		"^owner-gone: 10 elections have no leader$", "all were owned by host-22 until .*leases ran out", "^possible: it was killed$",
		"^possible: it is cut off", `^next: look at host-22.* \[4\]`,
	}})
}

func TestTwoHostsLoseAnElectionEachAtTheSameTime(t *testing.T) {
	t.Parallel()
	s, server := redisStory(t)
	a := s.leads(server.Addr(), "host-1:1", 2*time.Second, 500*time.Millisecond, "app:leader:a")
	b := s.leads(server.Addr(), "host-2:1", 2*time.Second, 500*time.Millisecond, "app:leader:b")
	s.record("app:leader:a", "app:leader:b")
	a.die()
	b.die()
	s.finds(
		truth{"owner-gone", []string{"app:leader:a"}, []string{"host-1:1 owned it until", "!host-2", "^effect: nobody else was seen in the last hour$"}},
		truth{"owner-gone", []string{"app:leader:b"}, []string{"host-2:1 owned it until", "!host-1"}},
	)
}

func TestOneHostLosesTwoElectionsLongAfterEachOther(t *testing.T) {
	t.Parallel()
	long(t)
	s, server := redisStory(t)
	a := s.leads(server.Addr(), "host-1:1", 2*time.Second, 500*time.Millisecond, "app:leader:a")
	b := s.leads(server.Addr(), "host-1:2", 2*time.Second, 500*time.Millisecond, "app:leader:b")
	s.record("app:leader:a", "app:leader:b")
	a.die()
	s.wait(40 * time.Second) // longer than leases of one death are apart
	b.die()
	s.finds(
		truth{"owner-gone", []string{"app:leader:a"}, nil},
		truth{"owner-gone", []string{"app:leader:b"}, nil},
	)
}

func TestALeaderResignsAndNobodyTakesIt(t *testing.T) {
	t.Parallel()
	s, server := redisStory(t)
	h := s.leads(server.Addr(), "host-1:1", 20*time.Second, time.Second, "app:leader:a")
	s.record("app:leader:a")
	h.die()
	s.del(redisClient(t, server.Addr()), "app:leader:a")
	s.finds(truth{"leader-gone", []string{"app:leader:a"}, []string{"^told: host-1:1 owned it until .*; its lease was not over$", "^possible: it gave it up$", "^possible: somebody deleted the key$"}})
}

func TestARedisIsRestartedEmpty(t *testing.T) {
	t.Parallel()
	s, server := redisStory(t)
	h := s.leads(server.Addr(), "host-1:1", 20*time.Second, time.Second, "app:leader:a", "app:leader:b")
	other := s.leads(server.Addr(), "host-2:1", 20*time.Second, time.Second, "app:leader:c")
	s.record("app:leader:a", "app:leader:c")
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.finds(truth{"server-restarted", []string{"app:leader:a", "app:leader:b", "app:leader:c"}, nil})
	h.die()
	other.die()
}

func TestARedisThatKeepsItsDataIsRestarted(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{Keep: true})
	s := tell(t, fmt.Sprintf(leases, server.URL()))
	s.leads(server.Addr(), "host-1:1", 20*time.Second, time.Second, "app:leader:a")
	s.record("app:leader:a")
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.gets("leases/app:leader:a", func(r *row) bool { return r.State == "led" })
	s.calm()
}

func TestARedisIsDown(t *testing.T) {
	t.Parallel()
	s, server := redisStory(t)
	s.leads(server.Addr(), "host-1:1", 20*time.Second, time.Second, "app:leader:a")
	s.record("app:leader:a")
	server.Kill()
	s.finds(truth{"server-silent", nil, []string{"^server-silent: redis leases does not answer$", "^told: nothing listens at ", "^effect: 1 row is as of the last answer", "^next: check the server.* coordtop doctor leases$"}})
}

func TestALeaderIsEndedByForce(t *testing.T) {
	t.Parallel()
	s, server := redisStory(t)
	h := s.leads(server.Addr(), "host-1:1", 20*time.Second, time.Second, "app:leader:a")
	s.record("app:leader:a")
	h.die()
	s.release("leases/app:leader:a")
	s.finds(truth{"ended-by-force", []string{"app:leader:a"}, []string{"^told: host-1:1 was ended by force by .*@.* at "}})
}

func TestALeaderIsEndedByForceAndAnotherTakesIt(t *testing.T) {
	t.Parallel()
	s, server := redisStory(t)
	h := s.leads(server.Addr(), "host-1:1", 20*time.Second, time.Second, "app:leader:a")
	s.record("app:leader:a")
	h.die()
	s.release("leases/app:leader:a")
	s.leads(server.Addr(), "host-2:1", 20*time.Second, time.Second, "app:leader:a")
	s.gets("leases/app:leader:a", func(r *row) bool { return r.State == "led" })
	s.calm()
}

func TestAnElectionIsNeverLed(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	s := tell(t, fmt.Sprintf(quick+"sources:\n- {name: leases, url: %q, watch: [{election: 'app:leader:typo', expected: true}]}\n", server.URL()))
	s.finds(truth{"never-led", []string{"app:leader:typo"}, []string{"^told: nobody was seen to own it", "^possible: its name is misspelt"}})
}

func TestALockWithoutATTLOutlivesItsOwner(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	s := tell(t, fmt.Sprintf(quick+"sources:\n- {name: leases, url: %q, watch: [{mutex: 'app:lock:*'}]}\n", server.URL()))
	c := redisClient(t, server.Addr())
	s.set(c, "app:lock:export", "host-9:77", 0)
	s.set(c, "app:lock:import", "host-9:77", time.Hour)
	s.finds(truth{"no-end", []string{"app:lock:export"}, []string{"^told: host-9:77 owns it.*no TTL: it stays if its owner dies", "^next: find out whether host-9", "next: release it by force .* coordtop release leases/0/app:lock:export"}})
}

func TestALeaderStopsRenewing(t *testing.T) {
	t.Parallel()
	s, server := redisStory(t)
	h := s.leads(server.Addr(), "host-1:1", 16*time.Second, 300*time.Millisecond, "app:leader:a")
	s.record("app:leader:a")
	s.wait(2 * time.Second) // its rhythm is seen
	h.die()
	s.finds(truth{"renews-late", []string{"app:leader:a"}, []string{"^renews-late: .*host-1:1 is late", "usually every .*ms", "^effect: its lease ends in "}})
}

func TestAServerDelaysTheRenewalsOfThreeHosts(t *testing.T) {
	t.Parallel()
	s, server := redisStory(t)
	for n, key := range keys("app:leader:%d", 3) {
		s.leads(server.Addr(), fmt.Sprintf("host-%d:1", n), 16*time.Second, 500*time.Millisecond, key)
	}
	s.record(keys("app:leader:%d", 3)...)
	s.wait(2 * time.Second) // their rhythm is seen
	if err := redisClient(t, server.Addr()).Do(t.Context(), "CLIENT", "PAUSE", "14000", "WRITE").Err(); err != nil {
		t.Fatal(err)
	}
	s.finds(truth{"server-slow", keys("app:leader:%d", 3), []string{"^server-slow: 3 renewals late on redis leases$", "^told: 3 hosts renew late at the same time$", "^possible: the server or the network to it is slow$", "^effect: leases run out if it goes on"}})
}

func TestALeaderThatRenewsSeldomIsNotLate(t *testing.T) {
	t.Parallel()
	s, server := redisStory(t)
	s.leads(server.Addr(), "host-1:1", 4*time.Second, 2*time.Second, "app:leader:a")
	s.record("app:leader:a")
	s.wait(5 * time.Second)
	s.calm()
}

func TestAnElectionFlapsBecauseItsTTLIsShorterThanThePauses(t *testing.T) {
	t.Parallel()
	s, server := redisStory(t)
	c := redisClient(t, server.Addr())
	s.set(c, "app:leader:a", "host-1:1", time.Minute)
	s.record("app:leader:a")
	for range 5 { // it renews every 1.2 s what lasts for 800 ms
		s.set(c, "app:leader:a", "host-1:1", 800*time.Millisecond)
		s.wait(1200 * time.Millisecond)
	}
	s.set(c, "app:leader:a", "host-1:1", time.Minute)
	s.finds(truth{"flapping", []string{"app:leader:a"}, []string{"losses in 10m, one about every 1\\.[1-4]", "lost by host-1:1", "^possible: .*TTL"}})
}

func TestTwoServersHaveTheSameLock(t *testing.T) {
	t.Parallel()
	a, b := localserver.RedisForTest(t, localserver.RedisOptions{}), localserver.RedisForTest(t, localserver.RedisOptions{})
	s := tell(t, fmt.Sprintf(quick+"agree: [old, new]\nsources:\n- {name: old, url: %q, watch: [{election: 'app:leader:*'}]}\n- {name: new, url: %q, watch: [{election: 'app:leader:*'}]}\n", a.URL(), b.URL()))
	s.leads(a.Addr(), "host-1:1", 20*time.Second, time.Second, "app:leader:a", "app:leader:same")
	s.leads(b.Addr(), "host-2:1", 20*time.Second, time.Second, "app:leader:a")
	s.leads(b.Addr(), "host-1:1", 20*time.Second, time.Second, "app:leader:same") // a twin: one owner on both
	s.finds(truth{"two-owners", []string{"app:leader:a", "app:leader:a"}, []string{"^told: host-1:1 owns it in old/", "^told: host-2:1 owns it in new/", "^possible: two servers", "^possible: programs are configured with different"}})
}

func TestALockIsGoneFromAServerThatEvicts(t *testing.T) {
	t.Parallel()
	server := localserver.RedisForTest(t, localserver.RedisOptions{Config: []string{"maxmemory 10mb", "maxmemory-policy volatile-lru"}})
	s := tell(t, fmt.Sprintf(leases, server.URL()))
	h := s.leads(server.Addr(), "host-1:1", time.Minute, time.Second, "app:leader:a")
	s.record("app:leader:a")
	h.die()
	c := redisClient(t, server.Addr())
	for n := 0; c.Exists(t.Context(), "app:leader:a").Val() == 1; n++ { // others fill the memory
		s.set(c, fmt.Sprint("cache:", n), strings.Repeat("x", 1<<18), time.Hour)
	}
	s.finds(truth{"leader-gone", []string{"app:leader:a"}, []string{"^possible: the server dropped the key because its memory is full$"}})
}

// release ends by force what another owns, as a person does on the command line.
func (s *story) release(name string) {
	s.Helper()
	var got struct {
		Primitives []struct{ Owners []struct{ Guard string } }
	}
	out, _ := s.run("get", name, "-o", "json")
	if err := json.Unmarshal(out, &got); err != nil || len(got.Primitives) != 1 || len(got.Primitives[0].Owners) != 1 {
		s.Fatalf("%s has no owner: %s, %v", name, out, err)
	}
	if out, code := s.run("release", name, "--if-owner", got.Primitives[0].Owners[0].Guard, "--reason", "a story", "--write", "--yes"); code != 0 {
		s.Fatalf("release ended with %d: %s", code, out)
	}
}
