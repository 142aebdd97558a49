package operate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"coordtop/coord"
	"coordtop/coord/rediscoord"
	"coordtop/internal/action"
	"coordtop/internal/operate"
	"coordtop/sources"
)

// forcing is a driver that deletes a key as another client would, if its value is the one
// that was shown, after before was called; answer may replace what it learned.
type forcing struct {
	coord.Driver
	rig    *rig
	before func()
	answer func(error) error
	drops  bool  // the request never arrives
	lost   error // what is learned of one that never arrives
}

func (f *forcing) ForceRelease(ctx context.Context, x coord.Foreign) error {
	if f.before != nil {
		f.before()
	}
	if f.drops {
		return f.lost
	}
	client, n := f.rig.redis(), int64(0)
	var err error
	if rediscoord.Guard(x.Name, []byte(client.Get(ctx, x.Name).Val())) == x.Guard {
		n, err = client.Del(ctx, x.Name).Result()
	}
	if err == nil && n == 0 {
		err = fmt.Errorf("%w: another value", coord.ErrChanged)
	}
	if f.answer != nil {
		err = f.answer(err)
	}
	return err
}

// forcedRig is a rig whose driver can end what others own.
func forcedRig(t *testing.T, f *forcing, change func(*operate.Options, *operate.Backend)) *rig {
	t.Helper()
	f.rig = redisRig(t, options{change: func(o *operate.Options, b *operate.Backend) {
		open := b.Open
		b.Open = func(ctx context.Context, space string) (coord.Driver, error) {
			d, err := open(ctx, space)
			f.Driver = d
			return f, err
		}
		b.Force = &operate.Force{Effect: func(*sources.Row, *sources.Owner) []string { return []string{"It notices nothing."} }}
		if change != nil {
			change(o, b)
		}
	}})
	return f.rig
}

// value is what the server has under a key; "": nothing.
func (r *rig) value(key string) string {
	r.t.Helper()
	text, err := r.redis().Get(r.t.Context(), key).Result()
	if err != nil && text != "" {
		r.t.Fatal(err)
	}
	return text
}

func TestWhatAnotherOwnsIsReleasedByForce(t *testing.T) {
	t.Parallel()
	r := forcedRig(t, &forcing{}, nil)
	r.occupy(mutex, "host-a:1")
	effect, err := r.Describe(t.Context(), r.ask(action.Release, mutex))
	if text := strings.Join(effect.Lines, "\n"); err != nil || !effect.Danger || effect.NeedsName != "" ||
		text != "Ends the ownership of host-a:1, if it is still the owner just then.\nIt notices nothing." {
		t.Errorf("%+v, %v", effect, err)
	}
	run := r.reaches(r.do(r.ask(action.Release, mutex)), action.Seen)
	if run.Text != "released by force: nobody owns it now" || r.value(mutex) != "" {
		t.Errorf("%q, the key has %q", run.Text, r.value(mutex))
	}
	if last := r.lastTerm(mutex); last.Cause != sources.CauseEvicted || last.How != sources.Ours && last.How != sources.Inferred {
		t.Errorf("the term has the cause %v, known as %v", last.Cause, last.How)
	}
	lines := r.audit()
	if len(lines) != 2 || lines[0].Action != "release" || lines[0].LabelBefore != "host-a:1" || lines[1].Result != "done" {
		t.Errorf("%+v", lines)
	}
}

func TestWhoComesAfterAForceReleaseIsTold(t *testing.T) {
	t.Parallel()
	f := &forcing{}
	r := forcedRig(t, f, nil)
	r.occupy(mutex, "host-a:1")
	f.answer = func(err error) error {
		r.occupy(mutex, "host-a:1 again")
		return err
	}
	run := r.reaches(r.do(r.ask(action.Release, mutex)), action.Seen)
	if !strings.HasPrefix(run.Text, "released by force: host-a:1 again owns now") {
		t.Errorf("%q", run.Text)
	}
}

func TestAChangeJustBeforeAForceReleaseLosesNothing(t *testing.T) {
	t.Parallel()
	f := &forcing{}
	r := forcedRig(t, f, nil)
	r.occupy(mutex, "host-a:1")
	f.before = func() { r.redis().Set(t.Context(), mutex, "host-b:2", 0) }
	run := r.reaches(r.do(r.ask(action.Release, mutex)), action.Changed)
	if r.value(mutex) != "host-b:2" || !strings.Contains(run.Text, "nothing was released: ") || !strings.Contains(run.Text, coord.ErrChanged.Error()) {
		t.Errorf("%q, the key has %q", run.Text, r.value(mutex))
	}
	r.owner(mutex, "host-a:1")
	r.redis().Del(t.Context(), mutex)
	r.until("it is free", func(*sources.State) bool { return len(r.row(mutex).Owners) == 0 })
	if r.lastTerm(mutex).Cause == sources.CauseEvicted {
		t.Error("an end that was not ours is told as ours")
	}
}

// lastTerm is the last term of a row.
func (r *rig) lastTerm(name string) sources.Term {
	terms := r.row(name).Terms
	return terms[len(terms)-1]
}

// free waits until our watch shows that nobody owns a row.
func (r *rig) free(name string) {
	r.until(name+" is free", func(*sources.State) bool { return len(r.row(name).Owners) == 0 })
}

func TestOnlyAnEndAfterTheAnswerToAForceReleaseIsOurs(t *testing.T) {
	t.Parallel()
	f := &forcing{}
	r := forcedRig(t, f, nil)
	r.occupy(mutex, "host-a:1")
	f.before = func() {
		r.redis().Del(t.Context(), mutex)
		r.free(mutex)
	}
	r.reaches(r.do(r.ask(action.Release, mutex)), action.Changed)
	if last := r.lastTerm(mutex); last.How == sources.Ours {
		t.Error("an end before the request arrived is told as ours")
	}

	f.before, f.answer = nil, func(err error) error {
		r.free(mutex)
		return err
	}
	r.occupy(mutex, "host-a:1")
	r.reaches(r.do(r.ask(action.Release, mutex)), action.Seen)
	if last := r.lastTerm(mutex); last.Cause != sources.CauseEvicted || last.How != sources.Inferred {
		t.Errorf("the end that was seen before the answer has the cause %v, known as %v", last.Cause, last.How)
	}
	r.occupy(mutex, "host-a:1")
	notEvicted(t, r, mutex)

	f.drops, f.answer = true, nil
	if last := endedOnceSent(t, r); last.Cause != sources.CauseEvicted || last.How != sources.Ours {
		t.Errorf("the end that was seen after the answer has the cause %v, known as %v", last.Cause, last.How)
	}
	r.occupy(mutex, "host-a:1")
	notEvicted(t, r, mutex)
}

// endedOnceSent is the term of an owner that goes after its release was sent and before the answer.
func endedOnceSent(t *testing.T, r *rig) sources.Term {
	t.Helper()
	r.occupy(mutex, "host-a:1")
	id := r.do(r.ask(action.Release, mutex))
	r.reaches(id, action.Sent)
	r.redis().Del(t.Context(), mutex)
	r.reaches(id, action.Seen)
	return r.lastTerm(mutex)
}

// notEvicted ends an ownership that nobody releases any more: it is given up.
func notEvicted(t *testing.T, r *rig, name string) {
	t.Helper()
	r.redis().Del(t.Context(), name)
	r.free(name)
	if last := r.lastTerm(name); last.Cause == sources.CauseEvicted {
		t.Errorf("what was given up long after is evicted, known as %v", last.How)
	}
}

func TestAnEndAfterALostForceReleaseIsNotOurs(t *testing.T) {
	t.Parallel()
	r := forcedRig(t, &forcing{drops: true, lost: coord.ErrUncertain}, nil)
	if last := endedOnceSent(t, r); last.Cause != sources.CauseEvicted || last.How != sources.Inferred {
		t.Errorf("the term has the cause %v, known as %v", last.Cause, last.How)
	}
}

func TestAForceReleaseWithoutAnAnswerIsNotCalledFailed(t *testing.T) {
	t.Parallel()
	lost := func(err error) error {
		return errors.Join(coord.ErrUncertain, err)
	}
	f := &forcing{answer: lost}
	r := forcedRig(t, f, nil)
	r.occupy(mutex, "host-a:1")
	run := r.reaches(r.do(r.ask(action.Release, mutex)), action.Seen)
	if !strings.Contains(run.Text, "whether it was done is not known, but host-a:1 is gone") {
		t.Errorf("%q", run.Text)
	}
}

func TestAForceReleaseThatMayStillBeDoneIsUnknown(t *testing.T) {
	t.Parallel()
	f := &forcing{drops: true, lost: coord.ErrUncertain}
	r := forcedRig(t, f, func(o *operate.Options, _ *operate.Backend) { o.Patience = 1 })
	r.occupy(election, "host-a:1")
	run := r.reaches(r.do(r.ask(action.Release, election)), action.Unknown)
	if !strings.Contains(run.Text, "whether it was done is not known") {
		t.Errorf("%q", run.Text)
	}
	notEvicted(t, r, election)
}

func TestAForceReleaseIsGuarded(t *testing.T) {
	t.Parallel()
	f := &forcing{before: func() { t.Error("something was sent") }}
	refuses := ""
	r := forcedRig(t, f, func(_ *operate.Options, b *operate.Backend) {
		b.Demo = false
		b.Force.Refuses = func(*sources.Row, *sources.Owner) string { return refuses }
	})
	r.refused(r.ask(action.Release, mutex), operate.ErrChanged, "nobody owned it")
	for _, c := range r.Choices(r.row(mutex)) {
		if c.Verb == action.Release && c.Not != "nobody owns it" {
			t.Errorf("release is not possible because: %q", c.Not)
		}
	}
	r.occupy(mutex, "host-a:1")
	q := r.ask(action.Release, mutex)
	r.refused(q, operate.ErrUnconfirmed, "type "+mutex)
	q.Typed = mutex
	for name, change := range map[string]func(*action.Target){
		"what host-a:1 wrote":   func(t *action.Target) { t.Guard = "" },
		"what host-a:1 wrote w": func(t *action.Target) { t.Guard = strings.Repeat("0", 40) },
		"with fence 7":          func(t *action.Target) { t.Fence = 7 },
		"shared":                func(t *action.Target) { t.Mode = sources.Shared },
		"2 of its permits":      func(t *action.Target) { t.Permits = 2 },
		"another owner of that": func(t *action.Target) { t.Owner = "host-b:2" },
		"nobody owned it":       func(t *action.Target) { t.Owner = "" },
	} {
		other := q
		change(&other.Target)
		r.refused(other, operate.ErrChanged, strings.TrimSuffix(name, " w"))
	}
	waiter := q
	waiter.Target.Waiting = true
	r.refused(waiter, operate.ErrChanged, "now it does not")
	refuses = "it is a prepared transaction"
	r.refused(q, operate.ErrNotPossible, refuses)
	if got := r.NotEnded(r.row(mutex), q.Target); got != refuses {
		t.Errorf("%q", got)
	}
	refuses = ""
	r.Disarm()
	r.refused(q, operate.ErrNotArmed, "arm it")
}

// The secret of a source may be asked of a person, who takes a minute.
func TestAnOwnerThatChangesWhileTheDriverOpensIsNotReleased(t *testing.T) {
	t.Parallel()
	f := &forcing{before: func() { t.Error("something was sent") }}
	var r *rig
	r = forcedRig(t, f, func(_ *operate.Options, b *operate.Backend) {
		open := b.Open
		b.Open = func(ctx context.Context, space string) (coord.Driver, error) {
			r.occupy(mutex, "host-b:2")
			return open(ctx, space)
		}
	})
	r.occupy(mutex, "host-a:1")
	r.reaches(r.do(r.ask(action.Release, mutex)), action.Changed)
	if r.value(mutex) != "host-b:2" {
		t.Errorf("the key has %q", r.value(mutex))
	}
}

func TestOurOwnIsResignedAndNotReleasedByForce(t *testing.T) {
	t.Parallel()
	r := forcedRig(t, &forcing{}, nil)
	r.reaches(r.do(r.ask(action.Try, mutex)), action.Seen)
	r.owner(mutex)
	r.refused(r.ask(action.Release, mutex), operate.ErrNotPossible, "resign gives it up")
}

func TestWhatASourceCannotReleaseSaysSo(t *testing.T) {
	t.Parallel()
	r := redisRig(t, options{})
	r.occupy(mutex, "host-a:1")
	r.refused(r.ask(action.Release, mutex), operate.ErrNotPossible, "no way to end what another owns on redis")
	if _, ok := operate.ReadOnly(&forcing{}).(coord.ForceReleaser); ok {
		t.Error("a read-only driver can release by force")
	}
}

func TestALeaseWithoutAnEndIsSaidToBeReleasedByForceWhereItCanBe(t *testing.T) {
	t.Parallel()
	refuses := ""
	r := forcedRig(t, &forcing{}, func(_ *operate.Options, b *operate.Backend) {
		b.Force.Refuses = func(*sources.Row, *sources.Owner) string { return refuses }
	})
	r.occupy(mutex, "host-a:1")
	r.redis().Persist(t.Context(), mutex)
	r.until("it has no end", func(*sources.State) bool { return r.row(mutex).Owners[0].NoExpiry })
	const either = "its owner has to release it, or a force-release ends it"
	r.refused(r.ask(action.Acquire, mutex), operate.ErrNotPossible, either)
	refuses = "it cannot be compared"
	for _, c := range r.Choices(r.row(mutex)) {
		if c.Verb == action.Acquire && (strings.Contains(c.Not, either) || !strings.HasSuffix(c.Not, "its owner has to release it")) {
			t.Errorf("%q", c.Not)
		}
	}
}
