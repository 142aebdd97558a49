package pgsource

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

// turns writes a queue as it is shown: the processes of each turn, with an s behind those
// that share.
func turns(q *sources.Queue) string {
	var list []string
	last := -1
	for _, w := range q.Waiters {
		text := queue([]sources.Waiter{w})
		if w.Turn == last && len(list) > 0 {
			list[len(list)-1] += "+" + text
		} else {
			list = append(list, text)
		}
		last = w.Turn
	}
	return strings.Join(list, " ")
}

// selects puts the cursor on a row.
func (r *rig) selects(name string) {
	ref := sources.Ref{Source: "src", Space: "postgres", Name: name}
	r.Hub.Focus([]sources.Ref{ref}, ref)
}

// ordered waits until the queue of name is shown in the order that the server tells.
func (r *rig) ordered(name, what string, ok func(q *sources.Queue) bool) *sources.Row {
	return r.row("", name, what, func(row *sources.Row, _ *sources.State) bool { return row.Queue.How == sources.Told && ok(&row.Queue) })
}

func TestQueueIsTheServersOnlyWhereTheRowIsSelected(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.PostgresOptions{})
	for _, key := range []string{"900", "901"} {
		r.session("owner").do("select pg_advisory_lock(" + key + ")")
		for range 2 {
			r.wait(r.session("w"), "select pg_advisory_lock("+key+")")
		}
	}
	r.session("owner").do("select pg_advisory_lock(902)")
	r.wait(r.session("w"), "select pg_advisory_lock(902)")
	r.watch(Options{}).synced()
	inferred := func(row *sources.Row, _ *sources.State) bool {
		return row.Queue.Len == 2 && row.Queue.How == sources.Inferred
	}
	all := func(q *sources.Queue) bool { return q.Len == 2 }
	r.row("", "900", "inferred", inferred)
	r.selects("900")
	r.ordered("900", "told", all)
	r.row("", "901", "inferred", inferred)
	r.selects("901")
	r.ordered("901", "told", all)
	r.row("", "900", "inferred again", inferred)
	r.ordered("902", "one that waits alone is the next for sure", func(q *sources.Queue) bool { return q.Len == 1 })
	r.root.do("select pg_terminate_backend(pid) from pg_stat_activity where application_name = '" + clientName + "'")
	r.Event(sources.EventSourceDown, "")
	r.row("", "901", "told again", func(row *sources.Row, s *sources.State) bool {
		return row.Queue.How == sources.Told && row.Status(s) == sources.StatusHeld
	})
}

// An owner that asks for more goes ahead of those that wait for it, and stays there when they
// have left.
func TestOwnerThatAsksForMoreIsNext(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.PostgresOptions{})
	a := r.session("a").do("select pg_advisory_lock_shared(900)")
	b := r.session("b").do("select pg_advisory_lock_shared(900)")
	x, s := r.session("x"), r.session("s")
	r.wait(x, "select pg_advisory_lock(900)")
	r.wait(s, "select pg_advisory_lock_shared(900)")
	done := r.wait(a, "select pg_advisory_lock(900)")
	r.watch(Options{}).synced()
	r.selects("900")
	want := pids(a.pid, x.pid, pids(s.pid)+"s")
	row := r.ordered("900", "the owner first", func(q *sources.Queue) bool { return turns(q) == want })
	if got := attr(row.Queue.Waiters[0].Attrs, "blocked by"); got != pids(b.pid) {
		t.Errorf("the first is blocked by %s, want %d", got, b.pid)
	}
	r.root.do("select pg_cancel_backend(" + utoa(x.pid) + ")")
	want = pids(a.pid, pids(s.pid)+"s")
	r.ordered("900", "the owner first, also after the one that it went ahead of has left", func(q *sources.Queue) bool { return turns(q) == want })
	b.do("select pg_advisory_unlock_shared(900)")
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestSharedWaitersThatGoTogetherHaveOneTurn(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.PostgresOptions{})
	r.session("owner").do("select pg_advisory_lock(900)")
	s1, s2, x1, s3 := r.session("s1"), r.session("s2"), r.session("x1"), r.session("s3")
	r.wait(s1, "select pg_advisory_lock_shared(900)")
	r.wait(s2, "select pg_advisory_lock_shared(900)")
	r.wait(x1, "select pg_advisory_lock(900)")
	r.wait(s3, "select pg_advisory_lock_shared(900)")
	r.watch(Options{}).synced()
	r.selects("900")
	want := pids(pids(s1.pid)+"s+"+pids(s2.pid)+"s", x1.pid, pids(s3.pid)+"s")
	r.ordered("900", want, func(q *sources.Queue) bool { return turns(q) == want })
}

// No second has more calls than the server is to bear, however long the queue is, and the
// order is told all the same.
func TestOrderOfALongQueueIsAskedForLittleByLittle(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.PostgresOptions{Config: []string{"track_functions = none", "max_connections = 80"}})
	r.session("owner").do("select pg_advisory_lock(900)")
	var came []any
	for range 2*blockingMost + 5 {
		w := r.session("w")
		r.wait(w, "select pg_advisory_lock(900)")
		came = append(came, w.pid)
	}
	r.watch(Options{PollMin: 50 * time.Millisecond}).synced()
	began := time.Now()
	r.selects("900")
	r.ordered("900", "told", func(q *sources.Queue) bool { return turns(q) == pids(came...) })
	if d := time.Since(began); d < 2*time.Second {
		t.Errorf("%d calls were made in %v", len(came), d)
	}
}

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
	r := serve(t, localserver.PostgresOptions{Config: []string{"deadlock_timeout = '10ms'"}})
	g := &crowd{rig: r, random: rand.New(rand.NewPCG(seed, 0))}
	for range 7 {
		g.people = append(g.people, &queuer{person: r.session("p")})
	}
	source := r.source(Options{PollMin: 20 * time.Millisecond})
	source.last.calls.at = make([]time.Time, 10*blockingMost) // faster than one would bear
	r.run(source).synced()
	wrong, upgrades, together := 0, 0, 0
	for n := 0; n < queues; {
		g.key = 900 + int(g.random.Uint32N(3))
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
	key       int
	story     []string
	waiting   []string // of the lock, as "pid mode"
	upgrades  int
	deadlocks int
}

type queuer struct {
	*person
	done <-chan error // of what it waits for; nil: it does not
}

const otherKey = 7777

// gather makes a queue; false: nobody waits, or just one.
func (g *crowd) gather() bool {
	g.story = nil
	for range 8 + g.random.IntN(10) {
		g.act(g.people[g.random.IntN(len(g.people))])
	}
	// Who waits for longer than deadlock_timeout has looked for deadlocks.
	g.until("the detector has done", func() bool {
		return one[bool](g.root, "select coalesce(bool_and(clock_timestamp() - waitstart > '30ms'), true) from pg_locks where not granted and locktype = 'advisory'")
	})
	for _, p := range g.people {
		g.collect(p)
	}
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

// act lets somebody do something.
func (g *crowd) act(p *queuer) {
	key := g.key
	if g.random.IntN(4) == 0 {
		key = otherKey
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
	p.done = p.begin(sql)
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
