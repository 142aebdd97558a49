package headless_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/headless"
	"coordtop/sources"
	"coordtop/ui/uitest"
)

// waits starts a wait for a feed, and returns what it printed once it is over.
func waits(t *testing.T, feed headless.Feed, o headless.WaitOptions) (ended func() (out, diag string, err error)) {
	var out, diag bytes.Buffer
	done := make(chan error)
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	go func() { done <- headless.Wait(ctx, feed, &out, &diag, o) }()
	synctest.Wait()
	return func() (string, string, error) {
		err := <-done
		cancel()
		return out.String(), diag.String(), err
	}
}

func TestWaitForSeveralNamesIsForAllOfThemAtOnceOrForAny(t *testing.T) {
	t.Parallel()
	for _, any := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			queued := read("x", "ann")
			queued.Queue = sources.Queue{How: sources.Told, Len: 5, Waiters: []sources.Waiter{{Label: "bob"}, {Label: "eve"}}}
			feed := newScript(live(queued, read("y", "cem")))
			ended := waits(t, feed, headless.WaitOptions{Names: []string{"a/x", "a/y"}, For: "free", Any: any, Timeout: time.Minute})
			time.Sleep(12 * time.Second)
			feed.tell(live(read("x"), read("y", "cem")))
			synctest.Wait()
			feed.tell(live(read("x", "bob"), read("y")))
			synctest.Wait()
			feed.tell(live(read("x"), read("y")))
			out, diag, err := ended()
			names := "a/0/x, a/0/y"
			if any {
				names = "a/0/x"
			}
			for _, want := range []string{
				"waiting until it is free; a/0/x is held by ann, next: bob, eve and 3 more\n", "waiting until it is free; a/0/y is held by cem\n",
				"it is free after 12s: " + names + "\n",
			} {
				if !strings.Contains(diag, want) {
					t.Errorf("any %v lacks %q: %s", any, want, diag)
				}
			}
			if err != nil || strings.Contains(out, "y") == any || !strings.Contains(out, "x") {
				t.Errorf("any %v: %v, printed %s", any, err, out)
			}
		})
	}
}

func TestWaitJudgesProblemsAsGetDoes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		goal   headless.Goal
		names  []string
		filter string                                // muted
		change func(s *sources.State, now time.Time) // before the wait
		after  func(now time.Time) *sources.State    // told after a minute
		says   string
		err    error
	}{
		{goal: "calm", names: []string{"leases/well"}},
		{goal: "problem", names: []string{"leases/lost-a"}},
		{goal: "problem", names: []string{"leases"}},
		{goal: "problem"},
		{goal: "problem", names: []string{"leases/well"}, says: "it has a problem after 11s: leases/0/well"}, // by time alone,
		{goal: "calm", names: []string{"leases/lost-a"}, err: headless.ErrNotInTime, says: "leases/0/lost-a has a problem: nobody leads it"},
		{goal: "calm", names: []string{"leases"}, err: headless.ErrNotInTime, says: "leases has 2 problems, the first is of leases/0/lost-a: nobody leads it"},
		{goal: "calm", names: []string{"leases/lost-a"}, filter: "lost-a"},
		{goal: "calm", names: []string{"leases"}, filter: "lost-a", err: headless.ErrNotInTime, says: "leases has a problem: nobody leads it"},
		{goal: "problem", names: []string{"leases/lost-a"}, filter: "lost-a", err: headless.ErrNotInTime, says: "has no problem"},
		{goal: "calm", after: func(now time.Time) *sources.State { return uitest.State(now, uitest.Led("well", "host-1", now)) }, says: "it is calm after 1m00s: leases/0/well"},
		{goal: "calm", names: []string{"leases/well"}, err: headless.ErrNotInTime, says: "has a problem", change: func(s *sources.State, _ time.Time) {
			s.Sources[0].Health, s.Sources[0].Err, s.Scopes[0].Health = sources.HealthStale, errSilent{}, sources.HealthStale
		}},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := vacancies(time.Now())
			o := headless.WaitOptions{Names: c.names, For: c.goal, Timeout: 2 * time.Minute}
			if c.filter != "" {
				o.Muting = muted(s, c.filter)
				o.Unacknowledged = true
			}
			if c.change != nil {
				c.change(s, time.Now())
			}
			feed := newScript(s)
			ended := waits(t, feed, o)
			if c.after != nil {
				time.Sleep(time.Minute)
				feed.tell(c.after(time.Now()))
			}
			_, diag, err := ended()
			if !errors.Is(err, c.err) || c.err == nil && err != nil || !strings.Contains(diag, c.says) {
				t.Errorf("%s of %v, muted %q: %v, said %s", c.goal, c.names, c.filter, err, diag)
			}
		})
	}
}
