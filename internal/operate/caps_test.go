package operate_test

import (
	"slices"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/internal/action"
	"coordtop/internal/operate"
	"coordtop/sources"
)

func TestCapsSaysOfEachSourceWhatItCanAtAll(t *testing.T) {
	t.Parallel()
	hub := sources.NewHub(t.Context(), sources.HubOptions{})
	defer hub.Close()
	o := operate.New(t.Context(), operate.Options{View: hub, Backends: map[string]operate.Backend{
		"node":   {Type: "ydb", Provisions: true, Lease: time.Second, Caps: coord.Caps{Mutex: true, Semaphore: true, Election: true, FIFO: true, MaxData: 1024}},
		"leases": {Type: "redis", Protect: true, Lease: time.Second, Caps: coord.Caps{Election: true}},
		"old":    {Type: "redis", ReadOnly: true, Caps: coord.Caps{Mutex: true, Election: true, MaxData: 9}},
	}})
	defer func() {
		if err := o.Close(); err != nil {
			t.Error(err)
		}
	}()
	want := map[string][]action.Verb{
		"leases": {action.Campaign, action.Try, action.Resign},
		"node":   {action.Acquire, action.Campaign, action.Try, action.Proclaim, action.Resign, action.Create, action.Update, action.Delete},
		"old":    nil,
	}
	for _, a := range o.Caps() {
		var can []action.Verb
		for _, c := range a.Choices {
			if c.Verb == action.Crash {
				t.Errorf("%s: crash is of the demo alone", a.Source)
			}
			if c.Not == "" {
				can = append(can, c.Verb)
			}
		}
		if !slices.Equal(can, want[a.Source]) || a.Can() != (len(can) > 0) || a.Protect != (a.Source == "leases") || a.ReadOnly != (a.Source == "old") {
			t.Errorf("%+v: can %v, want %v", a, can, want[a.Source])
		}
		delete(want, a.Source)
	}
	if len(want) > 0 {
		t.Errorf("nothing is said of %v", want)
	}
}
