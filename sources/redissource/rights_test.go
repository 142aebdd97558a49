package redissource

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

// refused are the entries of ACL LOG: how often what was refused, by the object.
func (r *rig) refused() map[string]int64 {
	r.t.Helper()
	list, _ := r.do("ACL", "LOG", "128").([]any)
	all := make(map[string]int64)
	for _, e := range list {
		entry, _ := e.(map[any]any)
		count, _ := entry["count"].(int64)
		all[fmt.Sprint(entry["object"])] += count
	}
	return all
}

// swept waits until the server has been asked for its keys in full so many times more.
func (r *rig) swept(times int) {
	r.t.Helper()
	for range times {
		name := fmt.Sprintf("other:leader:%d", time.Now().UnixNano())
		r.do("SET", name, uuidA) // nothing is pushed: a sweep finds it
		r.Row("", name, "found", func(*sources.Row, *sources.State) bool { return true })
	}
}

// reconnected cuts the source's connections and waits until it has listed all again.
func (r *rig) reconnected() {
	r.t.Helper()
	r.Drain()
	r.do("CLIENT", "KILL", "USER", "eve")
	r.Event(sources.EventSourceDown, "")
	r.Event(sources.EventSynced, "")
}

// TestRefusedRightIsAskedForOnce looks at ACL LOG after a start, sweeps and connecting anew,
// with fewer rights than are of use.
func TestRefusedRightIsAskedForOnce(t *testing.T) {
	t.Parallel()
	for name, rights := range map[string]string{
		"least":          "+ping +scan +pttl +strlen +getrange",
		"names only":     "+ping +pttl +strlen +getrange",
		"tracking":       "+ping +scan +pttl +strlen +getrange +client|tracking",
		"part of hashes": "+ping +scan +pttl +strlen +getrange +type +hlen",
		"no hgetall":     "+ping +scan +pttl +strlen +getrange +type +hlen +object|encoding",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serve(t, localserver.RedisOptions{Users: []string{"eve on >secret ~* resetchannels " + rights}}, held,
				[]any{"HSET", "app:leader:hash", "a", "b"})
			list := append(leaders(), Selection{Pattern: "other:leader:*"}, Selection{Pattern: "app:leader:named"})
			watch(t, r, Options{Client: client(r.server.Addr(), "eve", "secret"), Selections: list, Resync: 50 * time.Millisecond, PollMin: 10 * time.Millisecond}).synced()
			if strings.Contains(rights, "+scan") {
				r.swept(3)
			}
			r.reconnected()
			if strings.Contains(rights, "+scan") {
				r.swept(3)
			}
			for what, times := range r.refused() {
				if times > 1 {
					t.Errorf("%s was refused %d times", what, times)
				}
			}
		})
	}
}

// TestTheRightsOfTheTopicAreAllThatIsAskedFor takes the user that it makes.
func TestTheRightsOfTheTopicAreAllThatIsAskedFor(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../internal/help/rights.md")
	noError(t, err)
	line := regexp.MustCompile(`ACL SETUSER watcher on >PASSWORD ~app:\* (.*)`).FindSubmatch(text)
	if line == nil {
		t.Fatal("the topic makes no user")
	}
	r := serve(t, localserver.RedisOptions{Users: []string{"eve on >secret ~app:* ~other:* " + string(line[1])}}, held)
	list := append(leaders(), Selection{Pattern: "other:leader:*"})
	watch(t, r, Options{Client: client(r.server.Addr(), "eve", "secret"), Selections: list, Resync: 50 * time.Millisecond}).synced()
	r.mode(modeTracking)
	r.swept(2)
	r.reconnected()
	r.swept(2)
	if all := r.refused(); len(all) > 0 {
		t.Errorf("refused: %v", all)
	}
}

// TestKeysThatMayNotBeReadAreProbedOneAtATime takes the right to keys away and gives it back.
func TestKeysThatMayNotBeReadAreProbedOneAtATime(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.RedisOptions{Users: []string{"eve on >secret ~app:* +@all"}}, held)
	const denied = 20
	for i := range denied {
		r.do("SET", fmt.Sprintf("secret:leader:%d", i), uuidA)
	}
	list := []Selection{{Pattern: "*:leader:*"}}
	watch(t, r, Options{Client: client(r.server.Addr(), "eve", "secret"), Selections: list, Resync: 20 * time.Millisecond, PollMin: 10 * time.Millisecond}).synced()
	sweeps := func(times int64) {
		t.Helper()
		scans := func() int64 {
			var calls int64
			_, rest, _ := strings.Cut(fmt.Sprint(r.do("INFO", "commandstats")), "cmdstat_scan:calls=")
			_, _ = fmt.Sscanf(rest, "%d", &calls)
			return calls
		}
		again := time.NewTicker(5 * time.Millisecond)
		defer again.Stop()
		for until := scans() + times; scans() < until; {
			<-again.C
		}
	}
	sweeps(10)
	before := r.refused()
	sweeps(10)
	asked := int64(0)
	for name, times := range r.refused() {
		asked += times - before[name]
	}
	if most := int64(4 * (denied - 1)); asked > most {
		t.Errorf("%d refusals in a few sweeps over %d keys", asked, denied)
	}
	r.do("ACL", "SETUSER", "eve", "~*")
	for i := range denied {
		r.Row("", fmt.Sprintf("secret:leader:%d", i), "led", led)
	}
}
