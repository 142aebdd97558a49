package incidents

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"coordtop/internal/emulator/dflocktest"
	"coordtop/internal/emulator/ydbtest"
)

// claimant is a process that campaigns for an election, or acquires a lock, and keeps it until it is told to end.
type claimant struct {
	i   *incident
	cmd *exec.Cmd
}

// claim starts one, as a program on a host of its own.
func (i *incident) claim(verb, identity, source, name string) *claimant {
	i.Helper()
	home := i.TempDir()
	configure(i.T, home, fmt.Sprintf("identity: %q\nsources:\n- %s\n", identity, source))
	c := &claimant{i, command(i.T, home, verb, "--write", "--yes", name)}
	if err := c.cmd.Start(); err != nil { // its standard input is /dev/null: a signal ends it politely
		i.Fatal(err)
	}
	i.Cleanup(func() {
		if c.cmd.ProcessState == nil {
			_ = c.cmd.Process.Kill()
			_ = c.cmd.Wait()
		}
	})
	return c
}

func (c *claimant) signal(s os.Signal) {
	c.i.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.i.Fatal(err)
	}
}

// ends waits until the process has ended.
func (c *claimant) ends() {
	bound := time.AfterFunc(patience, func() { _ = c.cmd.Process.Kill() })
	defer bound.Stop()
	_ = c.cmd.Wait() // 9 where it lost its lease
}

// leave gives up what it owns, or its place in the queue, and returns when it has ended.
func (c *claimant) leave() {
	c.i.Helper()
	c.signal(syscall.SIGTERM)
	c.ends()
}

// ydbNode is an emulator with a coordination node and a semaphore of limit 1.
func ydbNode(t *testing.T, node, row string) *ydbtest.Server {
	t.Helper()
	ydb, err := ydbtest.Start(ydbtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ydb.Close() })
	if err := ydb.CreateNode(node); err != nil {
		t.Fatal(err)
	}
	if err := ydb.CreateSemaphore(node, row, 1, nil); err != nil {
		t.Fatal(err)
	}
	return ydb
}

func dflockd(t *testing.T) *dflocktest.Server {
	t.Helper()
	s, err := dflocktest.Start(dflocktest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// watchDeployment is a witness of an election of YDB, by the data of the sessions, and of a lock of dflockd.
func watchDeployment(t *testing.T, ydb *ydbtest.Server, dflock *dflocktest.Server, node, row, lock string) *witness {
	t.Helper()
	return newWitness(t, func() (map[string]seen, error) {
		s, rows := seen{}, map[string]seen{}
		for _, o := range ydb.Owners(node, row) {
			s.owner = string(o.Data)
		}
		for _, o := range ydb.Waiters(node, row) {
			s.waiters = append(s.waiters, string(o.Data))
		}
		rows[row] = s
		if e, err := dflock.Entry(lock); err == nil && len(e.Owners) > 0 {
			rows[lock] = seen{owner: fmt.Sprint("conn ", e.Owners[0].Conn)}
		}
		return rows, nil
	})
}

// TestALeaderStopsAndComesBackInARollingDeployment: its session expires while it is stopped, it queues again behind the new
// version, and leads once more, as the old version, before it is replaced.
func TestALeaderStopsAndComesBackInARollingDeployment(t *testing.T) {
	t.Parallel()
	skipUnlessAsked(t)
	const node, row, lock = "/local/app", "primary", "app/deploy"
	ydb, dflock := ydbNode(t, node, row), dflockd(t)
	coord := fmt.Sprintf("{name: coord, url: 'grpc://%s/local?discovery=off', watch: [{election: %s, node: %s}]}", ydb.Endpoint(0), row, node)
	workers := fmt.Sprintf("{name: workers, url: 'dflockd://%s', watch: [{mutex: %s}]}", dflock.Addr(), lock)
	i := newIncident(t, fmt.Sprintf("sources:\n- %s\n- %s\n", coord, workers))
	w := watchDeployment(t, ydb, dflock, node, row, lock)
	queued := func(n int) func() bool {
		return func() bool { return len(ydb.Waiters(node, row)) == n }
	}
	leads := func(who string) {
		t.Helper()
		i.await(who+" leads", func() bool { return strings.HasPrefix(w.owner(row), who) })
	}
	campaigner := func(who string, behind int) *claimant {
		t.Helper()
		c := i.claim("campaign", who, coord, "coord/"+row)
		if behind == 0 {
			leads(who)
		} else {
			i.await(who+" queues", queued(behind))
		}
		return c
	}
	stopped := campaigner("host-1:v1", 0)
	second := campaigner("host-2:v1", 1)
	third := campaigner("host-3:v1", 2)
	r := i.record()
	i.recorded(row, "host-1:v1")
	i.wait(5 * time.Second)

	deploy := i.claim("acquire", "deploy:17", workers, "workers/"+lock)
	i.await("the deployment has begun", func() bool { return w.owner(lock) != "" })
	stopped.signal(syscall.SIGSTOP)
	third.leave()
	third = campaigner("host-3:v2", 2)
	leads("host-2:v1")
	i.wait(3 * time.Second)
	stopped.signal(syscall.SIGCONT)
	stopped.ends() // it lost its lease
	stopped = campaigner("host-1:v1", 2)
	i.wait(3 * time.Second)
	second.leave()
	leads("host-3:v2")
	campaigner("host-2:v2", 2)
	i.wait(4 * time.Second)
	third.leave() // it takes its new settings
	leads("host-1:v1")
	campaigner("host-3:v2", 2)
	i.wait(5 * time.Second)
	stopped.leave()
	leads("host-2:v2")
	campaigner("host-1:v2", 2)
	deploy.leave()
	i.wait(6 * time.Second)
	w.end()
	r.stop()
	so, deployed := w.of(row), w.of(lock)
	middle := so.terms[3].from.to.Add(2 * time.Second)
	order := []string{"host-1:v1", "host-2:v1", "host-3:v2", "host-1:v1", "host-2:v2"}
	var inOrder string
	for _, who := range order {
		inOrder += `(?:term .*` + row + ` .* ` + who + ` .*\n)`
	}
	i.ask([]question{
		{"Who led at " + clock(middle) + ", in the middle of the deployment?", "replay --at=" + middle.Format(time.RFC3339Nano), []check{says(`primary +coord +election +A host-1:v1 `)}},
		{"Who led before it stopped, and until when?", "history coord/" + row, []check{at(`≤ \S+ \S+ +~ \S+ (\S+) .* host-1:v1 `, so.terms[0].to, 0)}},
		{"Why did its leadership end? (YDB does not tell.)", "history coord/" + row, []check{says(`≤ .* host-1:v1 +\d+ +unknown `)}},
		{"Who took over, and how long did nobody lead?", "report", []check{
			says(`coord/primary \| election \| host-2:v2, host-1:v1, host-3:v2, host-2:v1 \| %d \|`, len(so.terms)-1), lasted(`coord/primary \|(?:[^|]*\|){4} ([^|]*) \|`, span{0, so.gap(0).max + so.gap(1).max}, 0)}},
		{"Who led after whom?", "history coord/" + row, []check{says("^" + inOrder)}},
		{"When did the one that had stopped lead again, and for how long?", "history coord/" + row, []check{
			at(`^term .* ~ \S+ (\S+) +~ .* host-1:v1 `, so.terms[3].from, 0), lasted(`^term .* ~ \S+ \S+ +~ \S+ \S+ +(\S.*?)  +host-1:v1 `, so.terms[3].length(), 0)}},
		{"How long did host-3:v2 wait for its first term?", "report", []check{lasted(`\| ([^|]*) \| coord/primary \| host-3:v2 \| [^|]* \| owned it then`, waited(so, "host-3:v2"), 0)}},
		{"When did the deployment own its lock?", "history workers -o json", []check{
			at(`"label":"conn \d+".*?"start":"(\S+?)".*?"start_after":"(\S+?)"`, deployed.terms[0].from, 0), at(`"label":"conn \d+".*?"end":"(\S+?)".*?"end_after":"(\S+?)"`, deployed.terms[0].to, 0)}},
	})
}

// waited is how long somebody waited the first time.
func waited(so truth, who string) span {
	for _, s := range so.waits {
		if strings.HasPrefix(s.who, who) {
			return s.length()
		}
	}
	return span{}
}
