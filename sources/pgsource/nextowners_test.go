package pgsource

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

// queuesEnv is how many random queues to try, seedEnv repeats them.
const (
	queuesEnv = "COORDTOP_TRUTH_QUEUES"
	seedEnv   = "COORDTOP_TRUTH_SEED"
)

// TestNextOwnersOfASelectedQueueAreForetold makes random queues with upgrades, shared modes,
// waiters that leave and deadlocks, has all that own it give it up, and compares who gets it
// with what was shown before.
func TestNextOwnersOfASelectedQueueAreForetold(t *testing.T) {
	t.Parallel()
	queues, seed := 200, uint64(time.Now().UnixNano())
	if n, err := strconv.Atoi(os.Getenv(queuesEnv)); err == nil {
		queues = n
	}
	if n, err := strconv.ParseUint(os.Getenv(seedEnv), 10, 64); err == nil {
		seed = n
	}
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{Config: []string{"deadlock_timeout = '10ms'", "log_lock_waits = on"}})
	for i := range crowds {
		t.Run(strconv.Itoa(i), func(t *testing.T) {
			t.Parallel()
			r := &rig{t: t, server: server}
			r.root = r.session("root")
			(&crowd{rig: r, keys: 900 + 10*i, random: rand.New(rand.NewPCG(seed, uint64(i)))}).foretell(queues/crowds, seed)
		})
	}
}

// crowds is how many crowds queue at one server at a time, each for locks of its own: a crowd
// waits most of its time.
const crowds = 5

// foretell makes queues and compares.
func (g *crowd) foretell(queues int, seed uint64) {
	t := g.t
	for range 7 {
		g.people = append(g.people, &queuer{person: g.session("p")})
	}
	source := g.source(Options{PollMin: 20 * time.Millisecond})
	source.last.calls.most = 10 * blockingMost // faster than one would bear
	g.run(source).synced()
	wrong, upgrades, together := 0, 0, 0
	for n := 0; n < queues; {
		g.key = g.keys + int(g.random.Uint32N(3))
		if !g.gather() {
			g.disperse()
			continue
		}
		n++
		said, got := g.foretold(), ""
		g.release()
		got = g.owners()
		if said != got {
			wrong++
			t.Errorf("queue %d: foretold was %s, %s got it: %s", n, said, got, g.story)
		}
		upgrades += g.upgrades
		if strings.Contains(got, ", ") {
			together++
		}
		g.disperse()
	}
	t.Logf("seed %d: %d wrong of %d; %d upgrades waited, %d times several went together, %d deadlocks", seed, wrong, queues, upgrades, together, g.deadlocks)
}

// crowd is sessions that do random things to one lock.
type crowd struct {
	*rig
	random    *rand.Rand
	people    []*queuer
	keys, key int // the first of the keys that it queues for, and the one it queues for now
	story     []string
	waiting   []string // of the lock, as "pid mode"
	upgrades  int
	deadlocks int
}

type queuer struct {
	*person
	done <-chan error // of what it waits for; nil: it does not
	log  int64        // the length of the server's log before it began to wait
}

// gather makes a queue; false: at most one waits.
func (g *crowd) gather() bool {
	g.story = nil
	from := g.logSize()
	for range 8 + g.random.IntN(10) {
		g.act(g.people[g.random.IntN(len(g.people))])
	}
	// A waiter that has looked for deadlocks, which it does once, writes that into the log.
	g.until("the detector has done", func() bool {
		text := g.logged(from)
		return !slices.ContainsFunc(g.people, func(p *queuer) bool {
			g.collect(p)
			return p.done != nil && !strings.Contains(text[p.log-from:], fmt.Sprintf("process %d still waiting", p.pid))
		})
	})
	g.waiting = g.pairs("not granted")
	owners := g.pairs("granted")
	g.upgrades = 0
	for _, w := range g.waiting {
		pid, _, _ := strings.Cut(w, " ")
		if slices.ContainsFunc(owners, func(o string) bool { return strings.HasPrefix(o, pid+" ") }) {
			g.upgrades++
		}
	}
	return len(g.waiting) > 1
}

// logSize is the length of the server's log, logged what stands in it from a place on.
func (g *crowd) logSize() int64 {
	info, err := os.Stat(filepath.Join(g.server.Dir(), "postgres.log"))
	if err != nil {
		g.t.Fatal(err)
	}
	return info.Size()
}

func (g *crowd) logged(from int64) string {
	text := make([]byte, g.logSize()-from)
	f, err := os.Open(filepath.Join(g.server.Dir(), "postgres.log"))
	if err != nil {
		g.t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.ReadAt(text, from); err != nil {
		g.t.Fatal(err)
	}
	return string(text)
}

// act lets somebody do something.
func (g *crowd) act(p *queuer) {
	key := g.key
	if g.random.IntN(4) == 0 {
		key = g.keys + 5
	}
	mode := []string{"", "_shared"}[g.random.IntN(2)]
	sql := fmt.Sprintf("select pg_advisory_lock%s(%d)", mode, key)
	switch {
	case p.done != nil && g.random.IntN(3) > 0:
		return
	case p.done != nil:
		g.story = append(g.story, fmt.Sprint(p.pid, " leaves"))
		g.cancel(p)
		return
	case g.random.IntN(8) == 0:
		sql = fmt.Sprintf("select pg_advisory_unlock%s(%d)", mode, key)
	}
	g.story = append(g.story, fmt.Sprint(p.pid, " ", strings.TrimPrefix(sql, "select pg_advisory_")))
	p.log, p.done = g.logSize(), p.begin(sql)
	g.until("it waits or not", func() bool {
		g.collect(p)
		return p.done == nil || one[bool](g.root, "select exists (select from pg_locks where pid = $1 and not granted and waitstart is not null)", p.pid)
	})
}

// collect takes the end of what somebody waited for.
func (g *crowd) collect(p *queuer) {
	if p.done == nil {
		return
	}
	select {
	case err := <-p.done:
		p.done = nil
		if err != nil && strings.Contains(err.Error(), "40P01") {
			g.deadlocks++
			g.story = append(g.story, fmt.Sprint(p.pid, " deadlock"))
		}
	default:
	}
}

// cancel ends a waiting, unless it has just been served.
func (g *crowd) cancel(p *queuer) {
	g.root.do("select pg_cancel_backend(" + utoa(p.pid) + ")")
	<-p.done
	p.done = nil
}

// pairs lists rows of the lock as "pid mode", sorted.
func (g *crowd) pairs(which string) []string {
	text := one[string](g.root, `select coalesce(string_agg(pid || case mode when 'ShareLock' then 's' else ' ' end, ',' order by pid, mode), '')
 from pg_locks where locktype = 'advisory' and objid = $1 and `+which, g.key)
	if text == "" {
		return nil
	}
	var list []string
	for p := range strings.SplitSeq(text, ",") {
		pid, shared := strings.CutSuffix(strings.TrimSpace(p), "s")
		if shared {
			pid += " s"
		} else {
			pid += " x"
		}
		list = append(list, pid)
	}
	return list
}

// foretold waits until the selected row shows this very queue, and returns who is next.
func (g *crowd) foretold() string {
	name := strconv.Itoa(g.key)
	g.selects(name)
	pair := func(attrs []sources.Attr, m sources.Mode) string {
		return attr(attrs, "pid") + " " + map[sources.Mode]string{sources.Exclusive: "x", sources.Shared: "s"}[m]
	}
	owners := g.pairs("granted")
	row := g.row("", name, "this queue", func(row *sources.Row, _ *sources.State) bool {
		var owned, waits []string
		for _, o := range row.Owners {
			owned = append(owned, pair(o.Attrs, o.Mode))
		}
		for _, w := range row.Queue.Waiters {
			waits = append(waits, pair(w.Attrs, w.Mode))
		}
		slices.Sort(owned)
		slices.Sort(waits)
		slices.Sort(owners)
		slices.Sort(g.waiting)
		return row.Queue.How == sources.Told && slices.Equal(owned, owners) && slices.Equal(waits, g.waiting)
	})
	var next []string
	for _, w := range row.Queue.Waiters {
		if w.Turn == 1 {
			next = append(next, pair(w.Attrs, w.Mode))
		}
	}
	slices.Sort(next)
	return strings.Join(next, ", ")
}

// release has all give it up that own it and do not wait for it.
func (g *crowd) release() {
	for _, p := range g.people {
		waits := slices.ContainsFunc(g.waiting, func(w string) bool { return strings.HasPrefix(w, utoa(p.pid)+" ") })
		if waits {
			continue
		}
		if p.done != nil {
			g.cancel(p)
		}
		p.do("select pg_advisory_unlock_all()")
	}
}

// owners are those that waited and own it now.
func (g *crowd) owners() string {
	var list []string
	granted := g.pairs("granted")
	for _, w := range g.waiting {
		if slices.Contains(granted, w) {
			list = append(list, w)
		}
	}
	slices.Sort(list)
	return strings.Join(list, ", ")
}

// disperse ends all that waits and is owned.
func (g *crowd) disperse() {
	for _, p := range g.people {
		if p.done != nil {
			g.cancel(p)
		}
	}
	for _, p := range g.people {
		p.do("select pg_advisory_unlock_all()")
	}
}
