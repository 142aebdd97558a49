package app

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"coordtop/coord/rediscoord"
)

// processes are all that own or await a lock in Postgres, by what they do.
func (d *demoRun) processes(t *testing.T) map[string]int {
	t.Helper()
	return d.candidates(t, d.locks(t), regexp.MustCompile(`^(\S+) pid \d+$`))
}

// candidates are the processes of those who own or await one of these, by what they do. The
// expression finds the name of a process in a label.
func (d *demoRun) candidates(t *testing.T, locks map[string]lockJSON, named *regexp.Regexp) map[string]int {
	t.Helper()
	running, pids := d.running(t), map[string]int{}
	add := func(what, label string) {
		t.Helper()
		form := named.FindStringSubmatch(label)
		if form == nil {
			t.Fatalf("%s is called %q, want %s", what, label, named)
		}
		if pid, ok := running[form[1]]; ok { // else it was replaced meanwhile
			pids[what] = pid
		}
	}
	for name, l := range locks {
		for i, o := range l.Owners {
			add(fmt.Sprintf("owner %d of %s", i, name), o.Label)
		}
		for i, w := range l.Queue.Waiters {
			add(fmt.Sprintf("waiter %d of %s", i, name), w.Label)
		}
	}
	if len(pids) == 0 {
		t.Fatal("no process of an owner or a waiter was found")
	}
	return pids
}

// running are the processes that the demo started, by what they call themselves.
func (d *demoRun) running(t *testing.T) map[string]int {
	t.Helper()
	list, err := exec.Command("ps", "-A", "-o", "pid=,ppid=,args=").Output()
	if err != nil {
		t.Fatal(err)
	}
	pids := map[string]int{}
	for line := range strings.Lines(string(list)) {
		var pid, parent int
		if _, err := fmt.Sscan(line, &pid, &parent); err != nil {
			t.Fatalf("reading %q: %v", line, err)
		}
		_, rest, found := strings.Cut(line, " --name ")
		if name, _, _ := strings.Cut(rest, " "); found && parent == d.cmd.Process.Pid {
			pids[name] = pid
		}
	}
	return pids
}

// owners are the processes that own the keys of the demo.
func (d *demoRun) owners(t *testing.T) map[string]int {
	t.Helper()
	owners, running := map[string]int{}, d.running(t)
	for _, key := range d.redis.Keys(context.Background(), "demo:*").Val() {
		value, err := d.redis.Get(context.Background(), key).Bytes()
		if errors.Is(err, redis.Nil) {
			continue // it ended between the two questions
		}
		if err != nil {
			t.Fatal(err)
		}
		label, _, _ := strings.Cut(string(rediscoord.OwnerOf(value).Data), " ")
		if pid, ok := running[label]; ok { // else it was replaced meanwhile
			owners[key] = pid
		}
	}
	return owners
}
