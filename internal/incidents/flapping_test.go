package incidents

import (
	"fmt"
	"testing"
	"time"

	"coordtop/internal/localserver"
)

// TestALeaderFlapsBehindASlowStore: the way of the leader to its store is slow at times, so its renewals come when its lease
// is over. In the end the store stands still for all.
func TestALeaderFlapsBehindASlowStore(t *testing.T) {
	t.Parallel()
	skipUnlessAsked(t)
	const row, calm = "app:leader:billing", "app:leader:mail"
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	i := newIncident(t, fmt.Sprintf("sources:\n- {name: leases, url: %q, watch: [{election: 'app:leader:*'}]}\n", server.URL()))
	w := watchRedis(t, server.Addr(), row, calm)
	slow := localserver.ProxyForTest(t, server.Addr())
	first := campaign(t, slow.Addr(), row, "host-1:4411", 3*time.Second, 100*time.Millisecond)
	campaign(t, server.Addr(), calm, "host-3:4411", 30*time.Second, time.Second)
	i.await("host-1 leads", func() bool { return w.owner(row) == first.name && w.owner(calm) != "" })
	r := i.record()
	i.recorded(row, "host-1:4411")
	i.wait(4 * time.Second)

	for range 3 { // it loses its lease, and is the first again when its own answers come
		n := len(w.of(row).terms)
		slow.Delay(2500 * time.Millisecond)
		i.await("host-1 lost it and leads again", func() bool { return len(w.of(row).terms) > n })
		slow.Delay(0)
		i.wait(5 * time.Second)
	}
	second := campaign(t, server.Addr(), row, "host-2:4411", 3*time.Second, 700*time.Millisecond)
	i.wait(2 * time.Second)
	slow.Delay(2500 * time.Millisecond)
	i.await("host-2 leads", func() bool { return w.owner(row) == second.name })
	first.die()
	slow.Delay(0)
	i.wait(5 * time.Second)

	frozen := moment{from: time.Now()} // its length is that of the standstill
	if err := server.Freeze(); err != nil {
		t.Fatal(err)
	}
	i.wait(6 * time.Second)
	if err := server.Thaw(); err != nil {
		t.Fatal(err)
	}
	frozen.to = time.Now()
	i.await("host-2 leads again", func() bool { return w.owner(row) == second.name })
	i.wait(5 * time.Second)
	w.end()
	r.stop()
	so := w.of(row)
	last := len(so.terms) - 1 // host-2, behind the standstill
	n := last - 1             // host-2, before it
	var nobody, longest span
	for at := range last {
		gap := so.gap(at)
		nobody = span{nobody.min + gap.min, nobody.max + gap.max}
		longest = span{max(longest.min, gap.min), max(longest.max, gap.max)}
	}
	middle := so.terms[2].from.to.Add(time.Second)
	i.ask([]question{
		{"Who led at " + clock(middle) + "?", "replay --at=" + middle.Format(time.RFC3339Nano), []check{says(row + ` .*election +A host-1:4411 `)}},
		{"How often was it lost?", "report", []check{says(`was lost %d times, again and again`, last)}},
		{"How long had nobody it in all?", "replay", []check{lasted(`WHAT .* without an owner for (.*?) in all`, nobody, 0)}},
		{"And how long at a stretch?", "report", []check{lasted(`\| leases/app:leader:billing \|(?:[^|]*\|){5} ([^|]*) \|`, longest, 0)}},
		{"Why did it end?", "replay", []check{says(`WHY +the lease of host-1:4411 ran out`)}},
		{"Who took over from host-1, and when?", "history " + row, []check{
			at(`^term .* ~ 2026-\S+ (\S+) +[~≥] .* host-2:4411 `, so.terms[n].from, 0), says(`host-1:4411 .*expired, inferred.*\n(?:not observed .*\n)*term .* host-2:4411 `)}},
		{"What was not observed, and of which source?", "replay", []check{
			lasted(`^ *\S+ +(\S+ m?s) +leases did not answer`, frozen.length(), time.Second), at(`(\S+) +\S+ m?s +leases did not answer`, moment{frozen.from.Add(-time.Second), frozen.from}, time.Second)}},
		{"Was it this election alone?", "report", []check{never(calm), says(`leases/app:leader:billing was lost`)}},
	})
}
