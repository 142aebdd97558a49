package ydbsource

import (
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/emulator/ydbtest"
	"coordtop/sources"
)

func TestSinceStartsAnewWhereASemaphoreOrItsNodeIsMadeAnew(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := serve(t, ydbtest.Options{InMemory: true}, "leader")
		r.counted(Options{Nodes: []string{app}, Selections: elections("leader")})
		r.synced()
		row := r.Row("", "leader", "there", is(sources.StatusNoLeader))
		if row.Nobody.How != sources.AtLeast {
			t.Errorf("nobody since %+v, want at least since the first look", row.Nobody)
		}
		for what, again := range map[string]func() error{
			"the semaphore": func() error { return r.DeleteSemaphore(app, "leader") },
			"the node":      func() error { return r.nodes().Drop(t.Context(), app) },
		} {
			time.Sleep(time.Minute)
			noError(t, again())
			if row := r.Row("", "leader", "absent", is(sources.StatusAbsent)); row.Nobody != (sources.Stamp{}) {
				t.Errorf("%s is gone: nobody since %+v", what, row.Nobody)
			}
			time.Sleep(time.Minute)
			made := time.Now()
			if what == "the node" {
				r.node(app)
			}
			noError(t, r.CreateSemaphore(app, "leader", 1, nil))
			row := r.Row("", "leader", "there again", is(sources.StatusNoLeader))
			if row.Nobody.How == sources.AtLeast || row.Nobody.At.Before(made) {
				t.Errorf("%s was made anew at %v, nobody since %+v", what, made, row.Nobody)
			}
		}
		r.Stop()
	})
}
