package incidents

import (
	"fmt"
	"testing"
	"time"

	"coordtop/internal/localserver"
)

// TestTwoEnvironmentsWithTheSameNames: one has an outage, in the other a leader hangs until a person ends it by force, and the
// recorder dies and is started again while leaders change.
func TestTwoEnvironmentsWithTheSameNames(t *testing.T) {
	t.Parallel()
	skipUnlessAsked(t)
	const row, other = "app:leader:billing", "app:leader:mail"
	servers, proxies, of := map[string]*localserver.Redis{}, map[string]*localserver.Proxy{}, map[string]*witness{}
	config := "sources:\n"
	for _, name := range []string{"eu", "us"} {
		s := localserver.RedisForTest(t, localserver.RedisOptions{})
		servers[name], proxies[name] = s, localserver.ProxyForTest(t, s.Addr())
		config += fmt.Sprintf("- {name: %s, url: 'redis://%s/0', watch: [{election: 'app:leader:*'}]}\n", name, proxies[name].Addr())
		of[name] = watchRedis(t, s.Addr(), row, other)
	}
	i := newIncident(t, config)
	first := campaign(t, servers["eu"].Addr(), row, "eu-1:4411", 6*time.Second, 300*time.Millisecond)
	hung := campaign(t, servers["us"].Addr(), row, "us-1:4411", 10*time.Minute, time.Second)
	for name, server := range servers {
		campaign(t, server.Addr(), other, name+"-9:4411", 30*time.Second, time.Second)
	}
	i.await("all lead", func() bool {
		return of["eu"].owner(row) != "" && of["us"].owner(row) != "" && of["eu"].owner(other) != "" && of["us"].owner(other) != ""
	})
	r := i.record()
	i.recorded("us/"+row, "us-1:4411")
	i.wait(4 * time.Second)

	outage := moment{from: time.Now()} // of the way to eu; its leader changes meanwhile
	proxies["eu"].Cut()
	first.quit()
	second := campaign(t, servers["eu"].Addr(), row, "eu-2:4411", 6*time.Second, 300*time.Millisecond)
	i.wait(8 * time.Second)
	proxies["eu"].Resume()
	outage.to = time.Now()
	i.recorded("eu/"+row, "eu-2:4411")
	i.wait(4 * time.Second)

	hung.die() // and keeps a lease of ten minutes
	i.wait(3 * time.Second)
	heir := campaign(t, servers["us"].Addr(), row, "us-2:4411", 6*time.Second, 1500*time.Millisecond)
	i.wait(2 * time.Second)
	i.release("us/"+row, "us-1 hangs, INC-8")
	i.await("us-2 leads", func() bool { return of["us"].owner(row) == heir.name })
	i.recorded("us/"+row, "us-2:4411")
	i.wait(4 * time.Second)

	dead := r.kill()
	second.quit()
	third := campaign(t, servers["eu"].Addr(), row, "eu-3:4411", 6*time.Second, 300*time.Millisecond)
	i.await("eu-3 leads", func() bool { return of["eu"].owner(row) == third.name })
	i.wait(10 * time.Second)
	again := moment{from: time.Now()}
	r = i.record()
	i.recorded("eu/"+row, "eu-3:4411")
	again.to = time.Now()
	i.wait(4 * time.Second)
	heir.quit()
	last := campaign(t, servers["us"].Addr(), row, "us-3:4411", 6*time.Second, 300*time.Millisecond)
	i.await("us-3 leads", func() bool { return of["us"].owner(row) == last.name })
	i.wait(4 * time.Second)
	r.stop()
	eu, us := of["eu"].of(row), of["us"].of(row)
	forced := `us-1:4411 was ended by force by ` + escaped(person(t)+` ("us-1 hangs, INC-8")`)
	during := dead.from.Add(-2 * time.Second)
	i.ask([]question{
		{"Which source of the two did not answer, and for how long?", "replay", []check{lasted(`^ *\S+ +(\S+ s) +eu did not answer`, outage.length(), 2*time.Second), never(`us did not answer`)}},
		{"From when on?", "report", []check{at(`\| (\S+ \S+) \| [^|]* \| eu did not answer`, moment{outage.from.Add(-time.Second), outage.from}, time.Second)}},
		{"Who led in each at " + clock(during) + "?", "replay --at=" + during.Format(time.RFC3339Nano), []check{says(`eu/app:leader:billing +eu +election +. eu-2:4411 `), says(`us/app:leader:billing +us +election +. us-2:4411 `)}},
		{"Who released what by force, from which host, and why?", "report", []check{says(`us/app:leader:billing had no leader \| %s \| then us-2:4411 led`, forced), never(`eu/app:leader:billing[^|]*\| [^|]*by force`)}},
		{"How long had nobody it then?", "history us/" + row, []check{lasted(`^term .* us-2:4411 .*  (\S.*?)$`, us.gap(0), 0)}},
		{"What was not recorded?", "report", []check{
			at(`## Not recorded\n(?:.*\n)*?- (\S+ \S+) to`, moment{dead.from.Add(-2 * time.Second), dead.to}, 0), at(`## Not recorded\n(?:.*\n)*?- \S+ \S+ to (\S+ \S+) \(`, again, 0)}},
		{"Who led eu afterwards, and since when at the earliest?", "history eu/" + row + " -o json", []check{
			at(`"label":"eu-3:4411".*?"start":"(\S+?)".*?"start_after":"(\S+?)"`, eu.terms[len(eu.terms)-1].from, 0), says(`"label":"eu-2:4411".*"cause":"unknown"`)}},
		{"Who led us in the end, since when, and why did the one before not any more?", "history us/" + row, []check{
			at(`^term .* ~ \S+ (\S+) +≥ .* us-3:4411 `, us.terms[len(us.terms)-1].from, 0), says(`us-2:4411 +- +released, inferred`)}},
	})
}
