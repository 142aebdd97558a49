package operate_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"coordtop/internal/action"
	"coordtop/internal/operate"
)

// another is the audit's lines of another coordtop, of the process pid on this host.
func (r *rig) another(pid int, n, host string, records ...operate.Record) {
	r.t.Helper()
	j := operate.NewAuditLog(r.journal, operate.Actor{User: "bo", Host: host})
	for _, rec := range records {
		rec.ID, rec.Source, rec.Space, rec.Name = "run-"+strconv.Itoa(pid)+"-"+n, "s", "0", mutex
		if err := j.Write(r.t.Context(), rec); err != nil {
			r.t.Fatal(err)
		}
	}
}

func TestTheBoxSaysWhatAnotherCoordtopDoes(t *testing.T) {
	t.Parallel()
	r := redisRig(t, options{change: func(_ *operate.Options, b *operate.Backend) {
		b.Force = &operate.Force{}
	}})
	box := func(want string, nots ...string) {
		t.Helper()
		effect, err := r.Describe(t.Context(), r.ask(action.Release, mutex))
		text := strings.Join(effect.Lines, "\n")
		if err != nil || !strings.Contains(text, want) {
			t.Errorf("the box does not say %q: %v\n%s", want, err, text)
		}
		for _, not := range nots {
			if strings.Contains(text, not) {
				t.Errorf("the box says %q:\n%s", not, text)
			}
		}
	}
	r.occupy(mutex, "host-a:1")
	box("Ends the ownership of host-a:1", "another coordtop")
	r.occupy(mutex, "bo@desk:77")
	before := operate.Record{Stage: operate.Before, Action: "release", Call: "x"}
	r.another(os.Getpid(), "1", "desk", before)
	box("bo@desk began release with another coordtop 0s ago: no end is written yet, and process " + strconv.Itoa(os.Getpid()) + " runs")
	r.another(os.Getpid(), "1", "desk", operate.Record{Stage: operate.After, Action: "release", Result: "done"})
	box("bo@desk did release with another coordtop 0s ago: done.", "began")
	won := operate.Record{Stage: operate.After, Action: "acquire", Result: "done", LabelAfter: "bo@desk:77"}
	r.another(os.Getpid(), "2", "elsewhere", operate.Record{Stage: operate.Before, Action: "acquire", Call: "x"}, won)
	box("Its owner bo@desk:77 is bo@elsewhere, who took it with another coordtop 0s ago.")
}

func TestOfAnActionWithoutAnEndItIsSaidWhetherItsProcessRuns(t *testing.T) {
	t.Parallel()
	r := redisRig(t, options{})
	gone := 1 << 30 // more than any system numbers processes with
	before := operate.Record{Stage: operate.Before, Action: "acquire", Call: "x"}
	r.another(gone, "1", "desk", before)
	r.another(os.Getpid(), "2", "desk", before)
	r.another(os.Getpid(), "3", "elsewhere", before)
	list, err := r.Audit().Entries()
	if err != nil || len(list) != 3 {
		t.Fatalf("%+v, %v", list, err)
	}
	for i, want := range []string{"process 1073741824 is gone: whether it was done is not known", "runs: it may wait", "no end is written"} {
		if got := list[i].Unfinished(); !strings.HasSuffix(got, want) || i == 2 && got != want {
			t.Errorf("%d: %q, want %q", i, got, want)
		}
	}
}
