package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/redis/go-redis/v9"

	"coordtop/coord/dflockwire"
	"coordtop/internal/demo"
	"coordtop/internal/ground/raced"
	"coordtop/internal/localserver"
)

// demoRun is a demo without a screen, in a process of its own.
type demoRun struct {
	cmd      *exec.Cmd
	out      *stream
	redis    *redis.Client
	postgres *pgx.Conn
	ydb      string   // URL
	dflockd  string   // URL
	views    []string // URLs of the last line
	dirs     []string // of the servers
}

// startDemo returns when the primitives of the demo have their owners and waiters. Only those of
// dflockd and the pool of connections fill later: see lockServed and busy.
func startDemo(t *testing.T, args ...string) *demoRun {
	t.Helper()
	localserver.NeedsServer(t)
	d := &demoRun{cmd: command(t, append([]string{"demo", "--no-ui"}, args...)...), out: newStream()}
	d.cmd.Env = append(d.cmd.Env, "PATH="+os.Getenv("PATH"))
	d.cmd.Stdout, d.cmd.Stderr = d.out, d.out
	if err := d.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	text := d.out.await(t, func(s string) bool { return strings.Contains(s, "all coordtop '") && strings.HasSuffix(s, "\n") })
	lines := strings.Split(text, "\n")
	d.views = strings.Split(strings.Trim(strings.TrimPrefix(lines[4], "all coordtop "), "'"), "' '")
	address, err := url.Parse(strings.TrimPrefix(lines[0], "redis "))
	if err != nil {
		t.Fatal(err)
	}
	d.redis = writer(t, address.Host)
	d.postgres = login(t, strings.TrimPrefix(lines[1], "postgres "), "the test").conn
	d.ydb = strings.TrimPrefix(lines[2], "ydb ")
	d.dflockd = strings.TrimPrefix(lines[3], "dflockd ")
	data := ""
	if err := d.postgres.QueryRow(t.Context(), "show data_directory").Scan(&data); err != nil {
		t.Fatal(err)
	}
	d.dirs = []string{d.redis.ConfigGet(t.Context(), "dir").Val()["dir"], filepath.Dir(data)}
	eventually(t, "all five primitives in Redis are owned", func() bool { return len(d.owners(t)) == 5 })
	eventually(t, "the locks in Postgres are owned and awaited", func() bool { return d.complete(t) })
	eventually(t, "the semaphores of YDB are owned and awaited", func() bool { return d.patterns(t) })
	return d
}

// lockServed reports whether dflockd's election has a leader who is waited for, the uploads have
// both, and some permits of the pool are taken.
func (d *demoRun) lockServed(t *testing.T) bool {
	t.Helper()
	address, err := url.Parse(d.dflockd)
	if err != nil {
		t.Fatal(err)
	}
	c, err := dflockwire.Dialer{Addr: address.Host}.Connect(t.Context())
	if err != nil {
		return false
	}
	defer c.Close()
	contended, pools := 0, 0
	_, err = c.Stats(t.Context(), func(e *dflockwire.Entry) {
		switch key := string(e.Key); {
		case (key == "demo/leader/dispatch" || key == "demo/lock/upload") && e.Owner != 0 && e.Waiters > 0:
			contended++
		case e.Semaphore && !e.Idle && e.Taken > 0:
			pools++
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return contended == 2 && pools == 1
}

// locks are those in Postgres, by name.
func (d *demoRun) locks(t *testing.T) map[string]lockJSON {
	t.Helper()
	locks := map[string]lockJSON{}
	for _, l := range look(t, newWorld(t), d.views[1]).Primitives {
		locks[l.Name] = l
	}
	return locks
}

// complete reports whether the locks in Postgres are those that the demo promises.
func (d *demoRun) complete(t *testing.T) bool {
	t.Helper()
	locks := d.locks(t)
	leader, mutex, shared, leaked := locks["demo:leader:ledger"], locks["demo:lock:month-end"], locks["17:-4"], locks["4242"]
	return leader.Kind == "election" && len(leader.Owners) == 1 && leader.Queue.Len == 2 &&
		mutex.Kind == "mutex" && len(mutex.Owners) == 1 && mutex.Queue.Len > 0 &&
		len(shared.Owners) == 2 && shared.Owners[1].Mode == "shared" &&
		len(leaked.Owners) == 1 && leaked.Queue.Len == 2 && leaked.Owners[0].Attrs["state"] == "idle"
}

// leavesNothing fails unless the processes, the servers and their folders vanish.
func (d *demoRun) leavesNothing(t *testing.T, processes ...map[string]int) {
	t.Helper()
	eventually(t, "Redis is gone", func() bool { return d.redis.Ping(context.Background()).Err() != nil })
	eventually(t, "Postgres is gone", func() bool { return refuses(d.postgres.Config().ConnString()) })
	eventually(t, "the emulator of YDB is gone", func() bool { return d.ydbRefuses(t) })
	for _, dir := range d.dirs {
		eventually(t, "the server's folder is gone: "+dir, func() bool {
			_, err := os.Stat(dir)
			return errors.Is(err, fs.ErrNotExist)
		})
	}
	for _, list := range processes {
		for what, pid := range list {
			eventually(t, what+" is gone", func() bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) })
		}
	}
}

func refuses(url string) bool {
	conn, err := pgx.Connect(context.Background(), url)
	if err == nil {
		_ = conn.Close(context.Background())
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// interrupt ends the demo as ctrl-c does.
func (d *demoRun) interrupt(t *testing.T) {
	t.Helper()
	if err := d.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := ends(t, d.cmd); code != 0 {
		t.Errorf("exit code %d: %s", code, d.out)
	}
}

// eventually looks again and again, but not for ever.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	bound := time.NewTimer(longEnough)
	defer bound.Stop()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for !ok() {
		select {
		case <-again.C:
		case <-bound.C:
			t.Fatalf("never came: %s", what)
		}
	}
}

// TestDemoServesUntilASignal has one demo for all that can be seen while it runs: each is some
// thirty processes.
func TestDemoServesUntilASignal(t *testing.T) {
	t.Parallel()
	d := startDemo(t)
	d.printsWhereItsServersAre(t)
	d.hearsLeader(t)
	d.servesYDBToAnybody(t)
	d.leadersThatAreKilledAreFollowed(t)
	eventually(t, "most permits of the pool are taken, beside all else", func() bool { return d.patterns(t) && d.busy(t) })
	eventually(t, "the locks of dflockd are owned and awaited", func() bool { return d.lockServed(t) })
	owners, others, third := d.owners(t), d.processes(t), d.clients(t)
	d.interrupt(t)
	d.leavesNothing(t, owners, others, third)
}

func (d *demoRun) printsWhereItsServersAre(t *testing.T) {
	t.Helper()
	const redis, postgres = `redis://127\.0\.0\.1:\d+/0`, `postgres://postgres@127\.0\.0\.1:\d+/postgres\?sslmode=disable`
	const ydb, dflockd = `grpc://127\.0\.0\.1:\d+/local`, `dflockd://127\.0\.0\.1:\d+`
	form := regexp.MustCompile(`^redis ` + redis + `\npostgres ` + postgres + `\nydb ` + ydb + `\ndflockd ` + dflockd + `\n` +
		`all coordtop '` + redis + `\?election=demo:leader:\*&mutex=demo:lock:\*' '` + postgres + `&election=\S+&mutex=\S+&channels=demo_ledger' '` + ydb + `\?node=/local/demo&\S+' '` + dflockd + `\?election=demo/leader/\*&\S+'\n$`)
	if text := d.out.String(); !form.MatchString(text) {
		t.Errorf("printed %q", text)
	}
}

func TestDemoThatIsKilledLeavesNothingBehindAndItsNeighbourItsPorts(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "it starts a hundred processes and kills them from outside; other tests run demos with the race detector")
	killed, neighbour := startDemo(t, "--seed", "1"), startDemo(t, "--seed", "1")
	owners, others, third := killed.owners(t), killed.processes(t), killed.clients(t)
	if err := killed.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	ends(t, killed.cmd)
	killed.leavesNothing(t, owners, others, third)
	if len(neighbour.owners(t)) == 0 || len(neighbour.processes(t)) == 0 {
		t.Error("the demo beside it lost its owners too")
	}
	ports := regexp.MustCompile(`redis://127.0.0.1:(\d+)/0\npostgres \S+@127.0.0.1:(\d+)/\S+\nydb grpc://127.0.0.1:(\d+)/local\ndflockd dflockd://127.0.0.1:(\d+)\n`).FindStringSubmatch(neighbour.out.String())
	for flag, port := range map[string]string{"--redis-port": ports[1], "--postgres-port": ports[2], "--ydb-port": ports[3], "--dflockd-port": ports[4]} {
		second := newWorld(t)
		if code := second.main(t.Context(), "demo", "--no-ui", flag, port); code != exitError || !strings.Contains(second.stderr.String(), port) {
			t.Errorf("%s is taken: exit code %d, %s", flag, code, second.stderr)
		}
	}
	if err := neighbour.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := ends(t, neighbour.cmd); code != 0 {
		t.Errorf("exit code %d: %s", code, neighbour.out)
	}
	again := startDemo(t, "--redis-port", ports[1], "--postgres-port", ports[2], "--ydb-port", ports[3], "--dflockd-port", ports[4])
	for _, port := range ports[1:] {
		if !regexp.MustCompile(":" + port + "[/\n]").MatchString(again.out.String()) {
			t.Errorf("asked for port %s, printed %q", port, again.out)
		}
	}
	again.interrupt(t)
}

func (d *demoRun) leadersThatAreKilledAreFollowed(t *testing.T) {
	t.Helper()
	leaders := map[string]func() int{
		"in Redis":    func() int { return d.owners(t)["demo:leader:scheduler"] },
		"in Postgres": func() int { return d.processes(t)["owner 0 of demo:leader:ledger"] },
		"in YDB":      func() int { return d.clients(t)["owner 0 of scheduler"] },
	}
	first := map[string]int{}
	for what, leader := range leaders {
		first[what] = leader()
		if err := syscall.Kill(first[what], syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
	}
	for what, leader := range leaders {
		eventually(t, "another process leads "+what, func() bool {
			next := leader()
			return next != 0 && next != first[what]
		})
	}
}

// hearsLeader fails unless the election's leader says something on the channel.
func (d *demoRun) hearsLeader(t *testing.T) {
	t.Helper()
	if _, err := d.postgres.Exec(t.Context(), "listen demo_ledger"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), longEnough)
	defer cancel()
	n, err := d.postgres.WaitForNotification(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if leader := d.locks(t)["demo:leader:ledger"].Owners[0].Label; !strings.HasPrefix(n.Payload, strings.Split(leader, " ")[0]+" posted batch ") {
		t.Errorf("%s leads, and %q was said", leader, n.Payload)
	}
}

func TestDemoRefusesWhatItCannotDo(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"demo":                              "coordtop demo --no-ui serves without a screen",
		"demo --no-ui --redis-port 70000":   "--redis-port 70000: a port is a number from 1 to 65535",
		"demo --no-ui --postgres-port -1":   "--postgres-port -1: a port is a number from 1 to 65535",
		"demo --no-ui --redis-port 6379":    "6379 is a standard port",
		"demo --no-ui --postgres-port 5432": "5432 is the standard port",
		"demo --no-ui --ydb-port 2136":      "2136 is a standard port",
		"demo --no-ui --dflockd-port 6388":  "6388 is the standard port",
		"demo --no-ui extra":                "demo takes no argument",
		`demo-candidate {"Role":"juggler"}`: "its scheme is unknown",
		"demo --no-ui --seed minus-eleven":  "--seed",
	} {
		w := newWorld(t)
		if code := w.main(t.Context(), strings.Fields(args)...); code == exitOK || !strings.Contains(w.stderr.String(), want) {
			t.Errorf("%s: exit code %d, said %q, want %q", args, code, w.stderr, want)
		}
	}
}

// withoutRedis is a demo that finds a Postgres and no Redis.
func withoutRedis(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	localserver.NeedsServer(t)
	cmd := command(t, append([]string{"demo"}, args...)...)
	path := t.TempDir()
	for _, name := range []string{"initdb", "mkdir", "rm", "sed", "sleep", "ipcrm"} { // what localserver needs
		program, err := exec.LookPath(name)
		if err != nil {
			continue // initdb is found where systems put it; without the others it still ends
		}
		if program, err = filepath.EvalSymlinks(program); err == nil {
			err = os.Symlink(program, filepath.Join(path, name))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd.Env = append(cmd.Env, "PATH="+path)
	return cmd
}

func TestDemoWithoutRedisSaysWhatToInstallAndServesPostgres(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "it starts some dozen processes; other tests run demos with the race detector")
	cmd := withoutRedis(t, "--no-ui")
	out, errs := newStream(), newStream()
	cmd.Stdout, cmd.Stderr = out, errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	out.await(t, func(s string) bool {
		return strings.HasPrefix(s, "postgres postgres://") && strings.Contains(s, "\nall coordtop 'postgres://")
	})
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if code := ends(t, cmd); code != 0 || !strings.Contains(errs.String(), "apt-get install redis-server") {
		t.Errorf("exit code %d, said %q", code, errs)
	}
}

func TestDemoWithoutRedisShowsThatBesidePostgres(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "it starts some dozen processes; other tests run demos with the race detector")
	cmd := withoutRedis(t)
	s := onScreen(t, cmd)
	s.await(t, func(out string) bool {
		return strings.Contains(out, "4242") && strings.Contains(out, "redis-server is n")
	})
	if _, err := s.file.WriteString("q"); err != nil {
		t.Fatal(err)
	}
	code := ends(t, cmd)
	s.read.Wait()
	if code != 0 {
		t.Errorf("exit code %d, the end is %q", code, s.String()[max(0, len(s.String())-600):])
	}
}

func TestDemoWithoutAnyServerIsAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	env := Environment{Stdout: w.stdout, Stderr: w.stderr}
	missing := func(name string) demo.Endpoint {
		return demo.Endpoint{Name: name, Err: fmt.Errorf("%s is %w", name, localserver.ErrMissing)}
	}
	if err := serve(t.Context(), env, []demo.Endpoint{missing("redis"), missing("postgres")}); err == nil {
		t.Error("it serves nothing, and says so to nobody")
	}
	if text := w.stderr.String(); text != "coordtop: redis: redis is not installed\ncoordtop: postgres: postgres is not installed\n" || w.stdout.String() != "" {
		t.Errorf("said %q and %q", text, w.stdout)
	}
}

func TestTheDemoOfATeamKillsARecorderAndAnotherGoesOn(t *testing.T) {
	t.Parallel()
	localserver.NeedsServer(t)
	cmd := command(t, "demo", "--team")
	out := newStream()
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	text := out.await(t, func(text string) bool { return strings.Contains(text, "was started again, and stands by") })
	for _, want := range []string{"record --status", "--from all", "/metrics", "recorder 1 was killed", "recorder 2 records after"} {
		if !strings.Contains(text, want) && !strings.Contains(text, strings.NewReplacer("1", "2", "2", "1").Replace(want)) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	_ = cmd.Process.Signal(os.Interrupt)
	if code := ends(t, cmd); code != 0 {
		t.Errorf("it ends with %d: %s", code, out)
	}
}
