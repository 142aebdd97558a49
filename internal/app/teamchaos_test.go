package app

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"coordtop/internal/localserver"
)

// chaosName names the variable with the number of rounds.
const chaosName = "COORDTOP_TEST_CHAOS"

// crew is a store, the recorders that stand for it, and what happened on the server that they watch.
type crew struct {
	t       *testing.T
	server  *localserver.Postgres
	watched string // URL
	members []*member
	truth   *turns
}

// member is one recorder, and its links to the store.
type member struct {
	home  string
	proxy *localserver.Proxy
	cmd   *exec.Cmd
	errs  *stream
}

// newCrew starts n recorders whose user is the superuser.
func newCrew(t *testing.T, n int) *crew {
	t.Helper()
	g := newStore(t)
	for range n {
		g.start(g.member("postgres"))
	}
	return g
}

func newStore(t *testing.T) *crew {
	t.Helper()
	redis := localserver.RedisForTest(t, localserver.RedisOptions{})
	g := &crew{t: t, server: localserver.PostgresForTest(t, localserver.PostgresOptions{}), watched: redis.URL() + "?keys=app:leader:*", truth: &turns{all: map[string][]taken{}}}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	c := writer(t, redis.Addr())
	running.Go(func() { g.truth.run(ctx, c, 20*time.Millisecond) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return g
}

// member returns a recorder with a user of the store. It does not run yet.
func (g *crew) member(user string) *member {
	g.t.Helper()
	_, rest, _ := strings.Cut(g.server.URL(), "@")
	host, database, _ := strings.Cut(rest, "/")
	m := &member{home: g.t.TempDir(), proxy: localserver.ProxyForTest(g.t, host)}
	config := fmt.Sprintf("history: {url: 'postgres://%s@%s/%s'}\nsources: [{name: leases, url: '%s'}]\n", user, m.proxy.Addr(), database, g.watched)
	if err := os.WriteFile(filepath.Join(m.home, "config.yaml"), []byte(config), 0o600); err != nil {
		g.t.Fatal(err)
	}
	g.members = append(g.members, m)
	return m
}

func (g *crew) start(m *member) {
	g.t.Helper()
	m.cmd, m.errs = command(g.t, "record", "--listen", "127.0.0.1:0", "--config", filepath.Join(m.home, "config.yaml")), newStream()
	m.cmd.Env = append(m.cmd.Env, "HOME="+m.home)
	m.cmd.Stderr = m.errs
	if err := m.cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
}

// ask runs a query on the store, whose rows it returns as text. It tries again while the server restarts.
func (g *crew) ask(sql string) (rows [][]string) {
	g.t.Helper()
	var err error
	for limit := time.Now().Add(longEnough); time.Now().Before(limit); time.Sleep(50 * time.Millisecond) {
		if rows, err = g.query(sql); err == nil {
			return rows
		}
	}
	g.t.Fatalf("%s: %v", sql, err)
	return nil
}

func (g *crew) query(sql string) (list [][]string, err error) {
	ctx, cancel := context.WithTimeout(g.t.Context(), 10*time.Second)
	defer cancel()
	conn, err := pgx.Connect(ctx, g.server.URL())
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(ctx) }()
	results, err := conn.PgConn().Exec(ctx, "set timezone = 'UTC'; set search_path = coordtop; "+sql).ReadAll()
	if err != nil {
		return nil, err
	}
	for _, row := range results[len(results)-1].Rows {
		var line []string
		for _, v := range row {
			line = append(line, string(v))
		}
		list = append(list, line)
	}
	return list, nil
}

// recorder waits until a run later than after is written to, and returns its number and the member that writes it.
func (g *crew) recorder(after int64) (run int64, m *member) {
	g.t.Helper()
	for limit := time.Now().Add(longEnough); time.Now().Before(limit); time.Sleep(50 * time.Millisecond) {
		rows, err := g.query("select r.id, r.pid from store s join run r on r.id = s.run where r.writes > 0 and r.wrote > clock_timestamp() - interval '1.5 s' and r.ended is null")
		if err != nil || len(rows) != 1 {
			continue
		}
		if run, _ = strconv.ParseInt(rows[0][0], 10, 64); run <= after {
			continue
		}
		for _, m := range g.members {
			if strconv.Itoa(m.cmd.Process.Pid) == rows[0][1] {
				return run, m
			}
		}
	}
	for i, m := range g.members {
		g.t.Logf("recorder %d: %s", i, m.errs)
	}
	g.t.Fatalf("nobody records after run %d: %v", after, g.ask("select * from run"))
	return 0, nil
}

// faults returns functions that each do one kind of harm to the present recorder m, and undo it before they return. They
// call taken, which waits for a new recorder, as soon as another one should take over.
func (g *crew) faults(long time.Duration) map[string]func(m *member, taken func()) {
	link := func(break_ func(*localserver.Proxy), resume bool) func(*member, func()) {
		return func(m *member, _ func()) {
			break_(m.proxy)
			if resume {
				time.Sleep(rand.N(long / 2))
				m.proxy.Resume()
			}
		}
	}
	return map[string]func(*member, func()){
		"kill": func(m *member, taken func()) {
			_ = m.cmd.Process.Kill()
			_ = m.cmd.Wait() // it was killed
			taken()
			g.start(m)
		},
		"stop": func(m *member, taken func()) {
			_ = m.cmd.Process.Signal(syscall.SIGSTOP)
			began := time.Now()
			taken()
			time.Sleep(time.Until(began.Add(long)))
			_ = m.cmd.Process.Signal(syscall.SIGCONT)
		},
		"cut":          link((*localserver.Proxy).Cut, true),
		"black hole":   link((*localserver.Proxy).BlackHole, true),
		"freeze":       link((*localserver.Proxy).Freeze, false),
		"drop clients": link((*localserver.Proxy).DropClients, false),
		"half close":   link((*localserver.Proxy).HalfClose, false),
		"restart": func(*member, func()) {
			if err := g.server.Restart(g.t.Context()); err != nil {
				g.t.Fatal(err)
			}
		},
	}
}

func TestSeveralRecordersOfOneStoreLoseAndRepeatNothing(t *testing.T) {
	t.Parallel()
	localserver.NeedsServer(t)
	rounds, few := 2, []string{"kill", "cut"}
	if text := os.Getenv(chaosName); text != "" {
		rounds, _ = strconv.Atoi(text)
		few = []string{"kill", "stop", "cut", "black hole", "freeze", "drop clients", "half close", "restart"}
	}
	g := newCrew(t, 3)
	all := g.faults(20 * time.Second)
	began := time.Now()
	run, m := g.recorder(0)
	if text := g.status(0); !strings.Contains(text, fmt.Sprintf("recorder   process %d on ", m.cmd.Process.Pid)) || strings.Contains(text, "standby    nobody") {
		t.Errorf("process %d records, and the status is\n%s", m.cmd.Process.Pid, text)
	}
	for n := range rounds {
		name := few[n%len(few)]
		time.Sleep(time.Second + rand.N(2*time.Second))
		at := time.Now()
		all[name](m, func() {
			run, _ = g.recorder(run)
			t.Logf("round %d: %s: run %d records after %v", n, name, run, time.Since(at).Round(10*time.Millisecond))
		})
		run, m = g.recorder(run - 1)
	}
	ended := time.Now()
	for limit := ended.Add(longEnough); len(g.ask("select from run where last > "+strconv.FormatInt(ended.Add(time.Second).UnixNano(), 10))) == 0; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatal("nobody records any more")
		}
	}
	g.compare(began, ended)
	for _, m := range g.members {
		_ = m.cmd.Process.Signal(os.Interrupt)
		if code := ends(t, m.cmd); code != 0 {
			t.Errorf("asked to end, a recorder ends with %d: %s", code, m.errs)
		}
	}
	if text := g.status(exitFailed); !strings.Contains(text, "recorder   nobody since ") || !strings.Contains(text, "sources    leases\n") {
		t.Errorf("nobody records, and the status is\n%s", text)
	}
}

// status returns what record --status prints, and checks its exit code.
func (g *crew) status(code int) string {
	g.t.Helper()
	m := g.members[0]
	cmd := command(g.t, "record", "--status", "--config", filepath.Join(m.home, "config.yaml"))
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		g.t.Fatal(err)
	}
	if got := ends(g.t, cmd); got != code {
		g.t.Errorf("exit code %d: %s", got, out.String())
	}
	return out.String()
}

// compare compares the store with what happened in a span.
func (g *crew) compare(from, to time.Time) {
	g.t.Helper()
	var twice [][]string
	for limit := time.Now().Add(longEnough); time.Now().Before(limit); time.Sleep(100 * time.Millisecond) { // a recorder may be filling a stretch
		twice = g.ask("select source, name, kind, owner, previous, count(*), array_agg(run) from events where kind <> 'action' and owner <> '' group by 1, 2, 3, 4, 5 having count(*) > 1")
		if len(twice) == 0 {
			break
		}
	}
	for _, row := range twice {
		g.t.Errorf("an event is there more than once: %v", row)
	}
	for _, row := range g.ask("select a.run, a.at, b.run, b.at from (select run, max(at) as at from event group by run) a join (select run, min(at) as at from event group by run) b on b.run > a.run and b.at < a.at") {
		g.t.Errorf("a row of an older run is in the time of a newer one: %v", row)
	}
	for _, row := range g.ask("select a.run, a.last, b.run, b.began from runs a join runs b on b.run > a.run and b.began < a.last") {
		g.t.Errorf("an older run goes on in the time of a newer one: %v", row)
	}
	recorded := map[string]int{}
	for _, row := range g.ask("select owner, count(*) from terms group by 1") {
		recorded[row[0]], _ = strconv.Atoi(row[1])
	}
	type hole struct{ from, to time.Time }
	var holes []hole
	seconds := func(text string) time.Time {
		f, _ := strconv.ParseFloat(text, 64)
		return time.UnixMicro(int64(f * 1e6))
	}
	sum := time.Duration(0)
	for _, row := range g.ask("select extract(epoch from start), extract(epoch from coalesce(until, now())), why from unobserved order by 1") {
		h := hole{seconds(row[0]), seconds(row[1])}
		if holes = append(holes, h); row[2] == "nobody recorded" {
			sum += h.to.Sub(h.from)
		}
	}
	missing, hidden, count := 0, 0, 0
	for n := range turnKeys {
		list := g.truth.of(turnKey(n), from.Add(3*time.Second), to)
		for i, h := range list {
			if i+1 == len(list) {
				break // its end is not known
			}
			count++
			if recorded[h.owner] == 1 {
				continue
			}
			if recorded[h.owner] > 1 {
				g.t.Errorf("%s has %d terms", h.owner, recorded[h.owner])
			}
			said := false
			for _, x := range holes {
				said = said || x.from.Before(list[i+1].answered) && x.to.After(h.sent)
			}
			if hidden++; !said {
				hidden--
				missing++
				g.t.Logf("missing: %s of %s at %v, which was owned until %v", h.owner, turnKey(n), h.answered.UTC(), list[i+1].answered.UTC())
			}
		}
	}
	g.t.Logf("%d take-overs: %d in holes that are said (%v in all), %d missing", count, hidden, sum.Round(time.Millisecond), missing)
	if missing > 0 {
		for _, row := range g.ask("select run, pid, began, last, ended, begun, wrote, refused from runs order by run") {
			g.t.Log(row)
		}
		g.t.Errorf("%d take-overs are lost in no hole", missing)
	}
}
