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
	r.refused(r.ask(action.Try, election), operate.ErrNotArmed, "arm it")
	r.awake("the status says that writing is off", func(s *action.Status) bool { return s.Armed.IsZero() })
	if err := r.Arm("s", ""); err != nil {
		t.Fatal(err)
	}
	r.reaches(r.do(r.ask(action.Try, election)), action.Seen) // what was slept before does not count
}

// protectedRig has a protected source beside another one.
func protectedRig(t *testing.T) (*rig, *asleep) {
	t.Helper()
	var laptop asleep
	return redisRig(t, options{change: func(o *operate.Options, b *operate.Backend) {
		laptop.options().change(o, b)
		b.Protect = true
		o.Backends = map[string]operate.Backend{"dev": {Type: "redis"}}
	}}), &laptop
}

func TestArmingAnotherSourceDoesNotArmAProtectedOne(t *testing.T) {
	t.Parallel()
	r, laptop := protectedRig(t)
	q := r.ask(action.Try, mutex)
	q.Reason = "INC-1"
	for _, passed := range []time.Duration{2 * time.Minute, 3 * time.Minute, 10 * time.Minute} {
		if err := r.Arm("s", "s"); err != nil {
			t.Fatal(err)
		}
		laptop.slept.Add(int64(passed))
		if err := r.Arm("dev", ""); err != nil {
			t.Fatal(err)
		}
		laptop.slept.Add(int64(2 * time.Minute))
		if passed+2*time.Minute >= 5*time.Minute {
			r.refused(q, operate.ErrNotArmed, "typing its name")
		} else {
			r.reaches(r.do(q), action.Seen)
			q.Verb = action.Resign
			r.reaches(r.do(q), action.Seen)
			q.Verb = action.Try
		}
	}
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

func TestAClaimAtAProtectedSourceEndsWithTheTimeOfItsOwnName(t *testing.T) {
	t.Parallel()
	r, laptop := protectedRig(t)
	if err := r.Arm("s", "s"); err != nil {
		t.Fatal(err)
	}
	r.occupy(election, "host-a:1")
	q := r.ask(action.Campaign, election)
	q.Reason = "INC-1"
	id := r.do(q)
	r.reaches(id, action.Waiting)
	laptop.slept.Add(int64(3 * time.Minute))
	if err := r.Arm("dev", ""); err != nil {
		t.Fatal(err)
	}
	laptop.slept.Add(int64(2 * time.Minute))
	if run := r.reaches(id, action.Dropped); run.Text != "the time for writing is over" {
		t.Errorf("it says %q", run.Text)
	}
	if !r.Status().CanWrite(time.Now()) {
		t.Error("the other source is not armed any more")
	}
}
