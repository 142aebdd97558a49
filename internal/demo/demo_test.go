package demo

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	known "coordtop/internal/app/backends"
	"coordtop/internal/config"
	"coordtop/internal/localserver"
	"coordtop/sources"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestTheSameSeedGivesTheSamePauses(t *testing.T) {
	t.Parallel()
	draw := func(seed uint64) (pauses []time.Duration) {
		next := between(seed, time.Second, time.Minute)
		for range 10 {
			pauses = append(pauses, next())
		}
		return pauses
	}
	first := draw(7)
	if !slices.Equal(first, draw(7)) {
		t.Error("a seed gives other pauses the second time")
	}
	if slices.Equal(first, draw(8)) {
		t.Error("another seed gives the same pauses")
	}
	if least, most := slices.Min(first), slices.Max(first); least < time.Second || most >= time.Minute {
		t.Errorf("pauses from %v to %v, want from 1s to 1m", least, most)
	}
}

func TestOnlyTheOwnerIsReplaced(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("cat") // ends with its input, and does nothing
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &member{log: slog.New(slog.DiscardHandler)}
	if c.stopIfOwner() {
		t.Error("a candidate between two lives was stopped")
	}
	c.set("worker-a", cmd, in)
	c.follow(strings.NewReader(saysOwns + " conn 7\n" + saysWaits + "\n"))
	if c.stopIfOwner() {
		t.Error("a candidate that waits was stopped")
	}
	c.follow(strings.NewReader(saysWaits + "\n" + saysOwns + " conn 7\n"))
	if !c.stopIfOwner() {
		t.Error("the owner was not stopped")
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the owner was not asked: %v", err)
	}
}

func TestTheScenarioHasWhatPeopleComeToSee(t *testing.T) {
	t.Parallel()
	for name, contests := range map[string][]contest{"redis": redisContests(), "postgres": postgresContests(), "ydb": ydbContests(), "dflockd": dflockdContests()} {
		var restless, mutexes int
		contending := map[string]int{}
		for _, c := range contests {
			contending[c.Key] += len(c.names)
			if c.Role == RoleWorker {
				mutexes++
			}
			if c.replaceEvery[1] > 0 {
				restless++
				if c.replaceEvery[0] < c.TTL {
					t.Errorf("%s: its leader may be replaced before it is followed", c.Key)
				}
			}
		}
		for key, n := range contending {
			if n < 2 && key != ydbSettings { // which one writes and the others read
				t.Errorf("%s: %d processes do not contend", key, n)
			}
		}
		if restless == 0 || mutexes == 0 {
			t.Errorf("%s: %d restless elections, %d mutexes: each is wanted", name, restless, mutexes)
		}
	}
}

func TestEveryProcessOfTheDemoHasANameOfItsOwn(t *testing.T) {
	t.Parallel()
	used := map[string]string{}
	for _, b := range backends(Options{}) {
		for _, c := range b.contests {
			for _, name := range c.names {
				if by, taken := used[name]; taken {
					t.Errorf("%s is one of %s and of %s: ending its process would hit one of them by chance", name, by, c.Key)
				}
				used[name] = c.Key
			}
		}
	}
}

func TestALeaderHasAnotherIDInEachLife(t *testing.T) {
	t.Parallel()
	leader := &member{contest: contest{Task: Task{Role: RoleLeader}}, name: "host-01", firstID: firstID}
	if a, b := leader.identity(0), leader.identity(1); a != "host-01:4411" || a == b {
		t.Errorf("got %s, then %s", a, b)
	}
	if worker := (&member{contest: contest{Task: Task{Role: RoleWorker}}, name: "worker-b"}); worker.identity(0) != "worker-b" || worker.identity(1) != "worker-b" {
		t.Error("a worker changes its name")
	}
}

func TestTheViewsShowAllOfTheScenario(t *testing.T) {
	t.Parallel()
	for _, b := range backends(Options{}) {
		scheme := map[string]string{"ydb": "grpc"}[b.name]
		if scheme == "" {
			scheme = b.name
		}
		target, err := known.Config().ParseURL(scheme + "://h/0?" + b.query)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range b.contests {
			shown := slices.ContainsFunc(target.Watch, func(w config.Watch) bool {
				prefix, glob := strings.CutSuffix(w.Pattern, "*")
				return (w.Pattern == c.Key || glob && strings.HasPrefix(c.Key, prefix)) && kindOf(c.Role) == w.Kind
			})
			if c.Also != "" && !slices.ContainsFunc(target.Watch, func(w config.Watch) bool {
				prefix, glob := strings.CutSuffix(w.Pattern, "*")
				return w.Kind == sources.KindElection && (w.Pattern == c.Also || glob && strings.HasPrefix(c.Also, prefix))
			}) {
				t.Errorf("%s: %s is not shown by %s", b.name, c.Also, b.query)
			}
			if !shown {
				t.Errorf("%s: %s is not shown as what it is by %s", b.name, c.Key, b.query)
			}
			if c.Channel != "" && !slices.Contains(target.Channels, c.Channel) {
				t.Errorf("%s: nobody listens to %s: %s", b.name, c.Channel, b.query)
			}
		}
	}
}

// kindOf is what candidates of a role take their primitive for.
func kindOf(role Role) sources.Kind {
	switch role {
	case RoleLeader, RoleDeputy, RoleScheduler:
		return sources.KindElection
	case RolePublisher, RolePool, RoleService:
		return sources.KindSemaphore
	}
	return sources.KindMutex
}

// quiet are options for a demo whose candidates end at once.
func quiet() Options { return Options{Program: "/bin/false", Log: slog.New(slog.DiscardHandler)} }

func TestAServerThatIsMissingIsSaidToBeAndTheOtherServes(t *testing.T) {
	t.Parallel()
	localserver.NeedsServer(t)
	o := quiet()
	o.PostgresBin = t.TempDir()
	d, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	redis, postgres := d.Endpoints()[0], d.Endpoints()[1]
	if redis.Err != nil || redis.URL == "" || !strings.HasPrefix(redis.View, redis.URL+"?") {
		t.Errorf("got %+v", redis)
	}
	if !errors.Is(postgres.Err, localserver.ErrMissing) || !strings.Contains(postgres.Err.Error(), "apt-get install postgresql") || postgres.Name != "postgres" || postgres.URL+postgres.View != "" {
		t.Errorf("got %+v", postgres)
	}
	if ydb := d.Endpoints()[2]; ydb.Err != nil || ydb.Name != "ydb" || ydb.View != ydb.URL+"?"+ydbQuery {
		t.Errorf("got %+v", ydb)
	}
	for range 2 {
		if err := d.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestAStartThatIsGivenUpLeavesNothing(t *testing.T) {
	t.Parallel()
	localserver.NeedsServer(t)
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, ask := range []func(o *Options, port int){
		func(o *Options, port int) { o.PostgresPort = port },
		func(o *Options, port int) { o.YDBPort = port },
		func(o *Options, port int) { o.DflockdPort = port },
	} {
		o := quiet()
		ask(&o, taken.Addr().(*net.TCPAddr).Port)
		if _, err := Start(t.Context(), o); !errors.Is(err, syscall.EADDRINUSE) {
			t.Errorf("a port that is taken: got %v", err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Start(ctx, quiet()); !errors.Is(err, context.Canceled) {
		t.Errorf("a start that is given up: got %v", err)
	}
}
