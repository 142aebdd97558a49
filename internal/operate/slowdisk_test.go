package operate_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/operate"
	"coordtop/sources"
)

// slow is a rig whose disk takes nothing until goOn is called. Start of q waits for it, past
// its guards; started is what it then returns.
func slow(t *testing.T, q func(*rig) action.Request) (r *rig, goOn func(), started <-chan error) {
	t.Helper()
	var journal *operate.AuditLog
	recorded := make(chan struct{}, 1)
	r = redisRig(t, options{change: func(o *operate.Options, b *operate.Backend) {
		journal = o.Audit
		journal.Wait()
		b.Call = func(action.Request) string { // which stands in the first line
			select {
			case recorded <- struct{}{}:
			default:
			}
			return ""
		}
	}})
	goOn = journal.Stall()
	request := q(r)
	ended := make(chan error, 1)
	go func() { // received by the test
		_, err := r.Start(request)
		ended <- err
	}()
	<-recorded
	return r, goOn, ended
}

// receive waits for what Start returned.
func (r *rig) receive(started <-chan error) error {
	r.t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	select {
	case err := <-started:
		return err
	case <-limit.C:
		r.t.Fatal("Start does not return")
		return nil
	}
}

// stages are those of the audit, with the results.
func (r *rig) stages() []string {
	r.t.Helper()
	var list []string
	for _, rec := range r.audit() {
		list = append(list, strings.TrimSpace(rec.Action+" "+rec.Stage+" "+rec.Result))
	}
	return list
}

func TestASlowDiskDelaysOnlyWhatItIsWaitedFor(t *testing.T) {
	t.Parallel()
	r, goOn, started := slow(t, func(r *rig) action.Request { return r.ask(action.Campaign, election) })
	// None of these returns if it waits for the disk.
	r.Choices(r.row(election))
	if _, err := r.Describe(t.Context(), r.ask(action.Campaign, election)); err != nil {
		t.Error(err)
	}
	r.CallOff(1)
	r.LetRunOut()
	if len(r.Status().Runs) != 0 {
		t.Error("it runs before the audit has its line")
	}
	select {
	case err := <-started:
		t.Fatalf("Start did not wait for the audit: %v", err)
	default:
	}
	goOn()
	if err := r.receive(started); err != nil {
		t.Fatal(err)
	}
	r.until("we lead", func(*sources.State) bool { return len(r.row(election).Owners) == 1 })
}

func TestWhatChangesWhileTheDiskIsWaitedForIsRefusedInASecondLine(t *testing.T) {
	t.Parallel()
	r, goOn, started := slow(t, func(r *rig) action.Request {
		return r.ask(action.Try, mutex)
	})
	r.occupy(mutex, "host-b:2")
	goOn()
	if err := r.receive(started); !errors.Is(err, operate.ErrChanged) {
		t.Fatalf("it says %v", err)
	}
	if got, want := r.stages(), []string{"try before", "try after failed"}; !slices.Equal(got, want) {
		t.Errorf("the audit has %q, want %q", got, want)
	}
	if lines := r.audit(); lines[0].ID != lines[1].ID || !strings.Contains(lines[1].Detail, "nothing was sent") {
		t.Errorf("the audit has %+v", lines)
	}
	if len(r.Status().Runs) != 0 {
		t.Errorf("it runs: %+v", r.Status().Runs)
	}
}

func TestALossIsShownBeforeTheDiskHasItsLine(t *testing.T) {
	t.Parallel()
	var journal *operate.AuditLog
	r := redisRig(t, options{change: func(o *operate.Options, b *operate.Backend) {
		journal, b.Renew = o.Audit, 100*time.Millisecond
		journal.Wait()
	}})
	id := r.do(r.ask(action.Campaign, election))
	r.reaches(id, action.Seen)
	goOn := journal.Stall()
	r.occupy(election, "thief:1")
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for len(r.Status().Holdings) > 0 {
		select {
		case <-r.Wake():
		case <-limit.C:
			t.Fatal("it is shown as ours until the disk answers")
		}
	}
	if runs := r.Status().Runs; !runs[len(runs)-1].Lost || !strings.HasPrefix(runs[len(runs)-1].Text, "lost after ") {
		t.Errorf("it is gone, and why is not told: %+v", runs)
	}
	goOn()
	r.reaches(id+1, action.Failed)
}

func TestCloseDoesNotWaitLongForTheDiskOfAStart(t *testing.T) {
	t.Parallel()
	r, goOn, started := slow(t, func(r *rig) action.Request { return r.ask(action.Campaign, election) })
	defer goOn()
	closed := make(chan error, 1)
	go func() { closed <- r.Close() }() // received below
	if err := r.receive(started); !errors.Is(err, operate.ErrNoAudit) && !errors.Is(err, operate.ErrClosed) {
		t.Errorf("it says %v", err)
	}
	if err := r.receive(closed); err != nil {
		t.Error(err)
	}
	if n := r.redis().Exists(t.Context(), election).Val(); n != 0 {
		t.Error("something was sent")
	}
}
