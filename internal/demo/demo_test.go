package demo

import (
	"log/slog"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
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

func TestOnlyTheOwnerIsKilled(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("cat") // ends with its input, and does nothing
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	c := &candidate{log: slog.New(slog.DiscardHandler)}
	if c.killIfOwner() {
		t.Error("a candidate between two lives was killed")
	}
	c.set(cmd)
	c.follow(strings.NewReader(saysOwns + "\n" + saysWaits + "\n"))
	if c.killIfOwner() {
		t.Error("a candidate that waits was killed")
	}
	c.follow(strings.NewReader(saysWaits + "\n" + saysOwns + "\n"))
	if !c.killIfOwner() {
		t.Error("the owner was not killed")
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the owner ended by itself")
	}
	_ = in.Close()
}

func TestTheScenarioHasWhatPeopleComeToSee(t *testing.T) {
	t.Parallel()
	var restless, calm, mutexes int
	for _, c := range contests() {
		switch {
		case c.role == RoleWorker:
			mutexes++
		case c.killEvery[1] > 0:
			restless++
			if c.killEvery[0] < c.ttl {
				t.Errorf("%s: its leader may be killed before it is followed", c.key)
			}
		case c.role == RoleLeader:
			calm++
		}
		if c.processes < 2 {
			t.Errorf("%s: %d processes do not contend", c.key, c.processes)
		}
	}
	if restless == 0 || calm == 0 || mutexes == 0 {
		t.Errorf("%d restless elections, %d calm ones, %d mutexes: each is wanted", restless, calm, mutexes)
	}
}
