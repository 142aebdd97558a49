package coordtest

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
)

// Real servers have tests of their own; here a few cases show that the suite works
// outside bubbles too.
func TestSuiteInRealTime(t *testing.T) {
	t.Parallel()
	some := []string{
		"CloseLeavesNoGoroutine", "WaitGetsItAfterRelease/mutex", "WaitRunsOutAndLeavesNothing/mutex",
		"AbandonedRunsOutAndNotBefore/election", "Lease/KeptBeyondItsTTL", "Election/ObserveTellsTheWholeStory",
	}
	for _, shape := range []Shape{SessionRenews, GrantRenews} {
		for _, c := range allCases() {
			if !slices.Contains(some, c.name) {
				continue
			}
			t.Run(shape.String()+"/"+c.name, func(t *testing.T) {
				t.Parallel()
				c.execute(t, func(testing.TB) Harness { return plain(shape) })
			})
		}
	}
}

func plain(shape Shape) Harness {
	m := NewMem(shape, MemOptions{})
	return Harness{NewDriver: func(testing.TB) coord.Driver { return m.NewDriver(nil) }, TTL: time.Second}
}

// A case that fails while the machine stands still is run again, one that fails
// otherwise is not.
func TestStalledCaseIsRunAgain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what  string
		stall func(run int) time.Duration
		fails func(run int) bool
		runs  int
		fail  bool
	}{
		{"passes", none, func(int) bool { return false }, 1, false},
		{"passes although stalled", always, func(int) bool { return false }, 1, false},
		{"fails", none, func(int) bool { return true }, 1, true},
		{"fails once, stalled", always, func(run int) bool { return run == 1 }, 2, false},
		{"fails each time, stalled", always, func(int) bool { return true }, tries, true},
		{"fails stalled, then not stalled", once, func(int) bool { return true }, 2, true},
	} {
		t.Run(c.what, func(t *testing.T) {
			t.Parallel()
			runs, counted := 0, filepath.Join(t.TempDir(), "reruns")
			a := try(t, func(a *attempt) {
				testCase{run: func(s *suite) {
					runs++
					s.late(c.stall(runs))
					if c.fails(runs) {
						s.Fatal("no good")
					}
				}}.count(a, func(testing.TB) Harness {
					h := plain(GrantRenews)
					h.TTL = 10 * time.Minute // so that no real stall counts
					return h
				}, counted)
			})
			if runs != c.runs || a.failed != c.fail {
				t.Errorf("run %d times, failed: %v, want %d times, %v", runs, a.failed, c.runs, c.fail)
			}
			lines, _ := os.ReadFile(counted) // there is none without a rerun
			if n := strings.Count(string(lines), t.Name()+"\n"); n != c.runs-1 {
				t.Errorf("%d reruns are counted, want %d: %q", n, c.runs-1, lines)
			}
		})
	}
}

func none(int) time.Duration   { return 0 }
func always(int) time.Duration { return 10 * time.Minute }

func once(run int) time.Duration {
	if run == 1 {
		return always(run)
	}
	return 0
}

func TestAttemptCleansUpInReverseAlsoAfterFatal(t *testing.T) {
	t.Parallel()
	var order []int
	a := try(t, func(a *attempt) {
		for i := range 3 {
			a.Cleanup(func() {
				order = append(order, i)
				if i == 1 {
					a.Fatal("in a clean-up")
				}
			})
		}
		a.Fatalf("number %d", 7)
	})
	if want := []int{2, 1, 0}; !slices.Equal(order, want) {
		t.Errorf("cleaned up in the order %v, want %v", order, want)
	}
	if want := []string{"number 7", "in a clean-up"}; !slices.Equal(a.failures, want) {
		t.Errorf("failures %q, want %q", a.failures, want)
	}
	if a.ctx.Err() == nil {
		t.Error("its context goes on")
	}
	if a := try(t, func(a *attempt) { a.Skip("no", 1) }); a.failed || a.skipped != "no1" {
		t.Errorf("skipped: failed %v, %q", a.failed, a.skipped)
	}
}

// A renewal under way when a case closes its session fails, which is no verdict about the
// driver.
func TestCaseRenewsNothingThatItCloses(t *testing.T) {
	t.Parallel()
	cases := allCases()
	i := slices.IndexFunc(cases, func(c testCase) bool { return c.name == "OpenStopsWithItsContext" })
	synctest.Test(t, func(t *testing.T) {
		m := NewMem(GrantRenews, MemOptions{})
		cases[i].execute(t, func(testing.TB) Harness {
			return Harness{NewDriver: func(testing.TB) coord.Driver { return slowDriver{m.NewDriver(nil)} }, TTL: time.Second}
		})
	})
}

// slowDriver answers a renewal when its session is closed, and closes after that.
type slowDriver struct{ coord.Driver }

func (d slowDriver) Open(ctx context.Context, o coord.SessionOptions) (coord.DriverSession, error) {
	s, err := d.Driver.Open(ctx, o)
	return slowSession{s}, err
}

type slowSession struct{ coord.DriverSession }

func (s slowSession) Acquire(ctx context.Context, c coord.Claim) (coord.Grant, bool, error) {
	g, ok, err := s.DriverSession.Acquire(ctx, c)
	return slowGrant{g, s}, ok, err
}

func (s slowSession) Close(ctx context.Context) error {
	err := s.DriverSession.Close(ctx)
	synctest.Wait()
	return err
}

type slowGrant struct {
	coord.Grant
	s slowSession
}

func (g slowGrant) Renew(ctx context.Context) (coord.Window, error) {
	select {
	case <-ctx.Done():
		return coord.Window{}, ctx.Err()
	case <-g.s.Done():
		return coord.Window{}, g.s.Err()
	}
}
