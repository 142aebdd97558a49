package operate_test

import (
	"sync/atomic"
	"testing"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/operate"
)

// asleep is a machine that can be suspended, with Options that believe it.
type asleep struct{ slept atomic.Int64 }

func (a *asleep) options() options {
	return options{change: func(o *operate.Options, _ *operate.Backend) {
		o.Always, o.Slept = false, func() time.Duration { return time.Duration(a.slept.Load()) }
	}}
}

func TestTheTimeAsleepCountsAgainstBeingArmed(t *testing.T) {
	t.Parallel()
	var laptop asleep
	r := redisRig(t, laptop.options())
	if err := r.Arm("s", ""); err != nil {
		t.Fatal(err)
	}
	whole := r.Status().Armed
	laptop.slept.Store(int64(4 * time.Minute))
	r.awake("the countdown has lost the time asleep", func(s *action.Status) bool {
		return s.Armed.Equal(whole.Add(-4 * time.Minute))
	})
	r.reaches(r.do(r.ask(action.Try, mutex)), action.Seen)
	laptop.slept.Store(int64(5 * time.Minute))
	r.refused(r.ask(action.Resign, mutex), operate.ErrNotArmed, "arm it")
	r.awake("the status says that writing is off", func(s *action.Status) bool { return s.Armed.IsZero() })
	if err := r.Arm("s", ""); err != nil {
		t.Fatal(err)
	}
	r.reaches(r.do(r.ask(action.Resign, mutex)), action.Seen) // what was slept before does not count
}

// awake waits for a status.
func (r *rig) awake(what string, ok func(*action.Status) bool) {
	r.t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for !ok(r.Status()) {
		select {
		case <-r.Wake():
		case <-limit.C:
			r.t.Fatalf("waited in vain until %s", what)
		}
	}
}
