package ydbsource

import (
	"context"
	"strings"
	"testing"
	"time"

	"coordtop/internal/emulator/ydbtest"
	"coordtop/sources"
)

// overHost watches an election of a cluster of two hosts, which discovery names both, over the
// given one: the other is slow while the source connects. The URL names the first.
func overHost(t *testing.T, host int) *rig {
	t.Helper()
	r := serve(t, ydbtest.Options{AdvertiseAll: true}, "leader")
	r.Delay(1-host, time.Second)
	r.watch(Options{Selections: elections("leader")}).synced()
	r.Delay(1-host, 0)
	return r
}

func TestASourceOutlivesAnyHostOfTheDatabase(t *testing.T) {
	t.Parallel()
	faults := map[string]func(r *rig, host int){
		"closed": func(r *rig, host int) { r.Refuse(host, true) },
		"silent": func(r *rig, host int) { r.BlackHole(host, true) },
	}
	for name, fault := range faults {
		for dies, which := range []string{"in the URL", "beside it"} {
			t.Run(name+" "+which, func(t *testing.T) {
				t.Parallel()
				r := overHost(t, dies)
				term := r.lead(r.session(1-dies, testLimit), "leader", "a")
				r.Row("", "leader", "led by a", ledBy("a"))
				fault(r, dies)
				r.Event(sources.EventSynced, "") // it was lost and is complete again
				r.Row("", "leader", "led by a", ledBy("a"))
				r.resign(term)
				r.lead(r.session(1-dies, testLimit), "leader", "b")
				r.Row("", "leader", "led by b", ledBy("b"))
				for _, e := range r.Drain() {
					if e.Kind == sources.EventSourceDown {
						t.Errorf("the source is down, and a host answers: %s", e.Detail)
					}
				}
			})
		}
	}
}

func TestConnectPassesASilentHostBesideTheOneInTheURL(t *testing.T) {
	t.Parallel()
	r := serve(t, ydbtest.Options{AdvertiseAll: true}, "leader")
	r.BlackHole(1, true)
	for range 6 { // half of the times the SDK draws the silent one
		s := r.source(Options{Nodes: []string{app}, Selections: elections("leader")})
		ctx, cancel := context.WithTimeout(t.Context(), openLimit)
		if err := s.Connect(ctx); err != nil {
			t.Error(err)
		}
		cancel()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestASilentDatabaseIsCalledByTheHostsThatWereAsked(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it waits until each of two hosts was silent for some seconds")
	}
	r := overHost(t, 1)
	r.BlackHole(0, true)
	r.BlackHole(1, true)
	r.State("the source to name both hosts", func(s *sources.State) bool {
		err := s.Sources[0].Err
		return err != nil && strings.Contains(err.Error(), "no answer from ") &&
			strings.Contains(err.Error(), r.Endpoint(0)) && strings.Contains(err.Error(), r.Endpoint(1))
	})
}
