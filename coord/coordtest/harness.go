package coordtest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"coordtop/coord"
)

// Harness is one service with functions that the suite may call on it. Run asks for one per
// case; cases on a real server may share the server, for every name is fresh.
type Harness struct {
	// NewDriver makes another client of the service. The suite closes it. Required.
	NewDriver func(t testing.TB) coord.Driver

	// TTL is that of sessions. On a real server about 1 s: long enough that a
	// busy machine renews in time, short enough to wait for its end. Required.
	TTL time.Duration

	// Name makes a name that nobody used before. Nil: some letters and digits, for
	// services that take any text.
	Name func(t testing.TB, kind coord.Kind) string

	// Expire makes the service end the ownership of a primitive before its
	// time. Nil: the cases that need it are skipped.
	Expire func(t testing.TB, kind coord.Kind, name string)

	// Owners returns the identities of the owners without the driver.
	// Nil: the suite uses the driver's Describe.
	Owners func(t testing.TB, kind coord.Kind, name string) []string

	// Endings starts a record and returns a function that returns it: the names of
	// primitives in the order in which the service saw their ownership end. Nil: the
	// order of releases is not checked.
	Endings func(t testing.TB) (recorded func() []string)

	// Freezer makes a client of a service that no other case uses, and a function that
	// makes this service silent, connections kept, until the test ends. Nil: the cases
	// that need it are skipped.
	Freezer func(t testing.TB) (d coord.Driver, freeze func())

	// FreezesQueues: a frozen service does not answer claims that wait either. False: the
	// case that needs it is skipped.
	FreezesQueues bool

	// Troubles makes clients of a service that no other case uses, and lists the ways in
	// which this service can fail for a while. Nil: the case that needs it is skipped.
	Troubles func(t testing.TB) (newDriver func(t testing.TB) coord.Driver, all []Trouble)
}

// Trouble is one way in which a service fails for a while, in the middle of a claim that waits.
type Trouble struct {
	Name  string
	Begin func()
	End   func()
	// Silent reports whether the driver outlives it by itself: nobody is notified.
	Silent bool
}

// Run puts a driver through the suite on a real service. Every case is a subtest,
// named for its promise and run in parallel with the others. Cases for an ability that Caps or a missing optional
// interface rules out are skipped. start is called once per case.
func Run(t *testing.T, start func(t testing.TB) Harness) {
	RunIn(t, func(t *testing.T, f func(*testing.T)) { f(t) }, start)
}

// RunIn is Run, with each case inside bubble, which is synctest.Test for a driver that
// needs nothing from outside.
func RunIn(t *testing.T, bubble func(*testing.T, func(*testing.T)), start func(t testing.TB) Harness) {
	for _, c := range allCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			skipped := false
			bubble(t, func(t *testing.T) {
				defer func() { skipped = t.Skipped() }()
				c.execute(t, start)
			})
			if skipped { // inside, which the test outside does not see
				t.SkipNow()
			}
		})
	}
}

// testCase is one promise.
type testCase struct {
	name  string
	needs func(coord.Caps) bool // nil: every driver
	run   func(s *suite)
}

// Reruns names the variable with the file that gets a line for each case that is run again, so
// that a run of all tests shows how many were.
const Reruns = "COORDTOP_TEST_RERUNS"

func allCases() []testCase {
	all := slices.Concat(driverCases(), coreCases(), electionCases())
	for _, kind := range []coord.Kind{coord.KindMutex, coord.KindSemaphore, coord.KindElection} {
		all = append(all, kindCases(kind)...)
	}
	return all
}

// tries is the most runs of one case: it runs again if the machine stood still meanwhile.
const tries = 5

func (c testCase) execute(t testing.TB, start func(testing.TB) Harness) {
	c.count(t, start, os.Getenv(Reruns))
}

// count executes the case and writes a line into a file, if there is one, for each further run.
func (c testCase) count(t testing.TB, start func(testing.TB) Harness, reruns string) {
	for n := 1; ; n++ {
		a, ttl := c.attempt(t, start, n)
		switch stalled := a.stalled > ttl/10; {
		case a.skipped != "":
			t.Skip(a.skipped)
		case !a.failed:
			return
		case stalled && n < tries:
			t.Logf("the test stood still for %v, so it says nothing (%q): once more", a.stalled, a.failures)
			noteRerun(t, reruns)
		default:
			for _, f := range a.failures {
				t.Error(f)
			}
			return
		}
	}
}

func noteRerun(t testing.TB, path string) {
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = fmt.Fprintln(f, filepath.Base(os.Args[0]), t.Name())
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Error(err)
	}
}

// attempt runs the case for the nth time, with n times the TTL, and returns that TTL.
func (c testCase) attempt(t testing.TB, start func(testing.TB) Harness, n int) (a *attempt, ttl time.Duration) {
	a = try(t, func(a *attempt) {
		h := start(a)
		h.TTL *= time.Duration(n)
		ttl = h.TTL
		ctx, cancel := context.WithTimeout(a.Context(), 30*time.Second+20*h.TTL)
		defer cancel()
		defer watchStalls(a, ttl)()
		s := &suite{attempt: a, h: h, ctx: ctx}
		s.caps = s.open().Info().Caps
		if c.needs != nil && !c.needs(s.caps) {
			s.Skip("the driver's Caps say that it has no such thing")
		}
		c.run(s)
	})
	return a, ttl
}

// watchStalls measures by how much this process is late within a TTL, until stop is called.
// It adds up the delays, because a renewal passes through several goroutines on its way there and
// back, and on a busy machine each of them is late.
func watchStalls(a *attempt, ttl time.Duration) (stop func()) {
	const step = 20 * time.Millisecond
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		var sum time.Duration
		last := make([]time.Duration, max(ttl/step, 1)) // each by how much, in turns
		for n := 0; ; n++ {
			due := time.Now().Add(step)
			select {
			case <-time.After(step):
				at := n % len(last)
				sum -= last[at]
				last[at] = time.Since(due)
				sum += last[at]
				a.late(sum)
			case <-quit:
				return
			}
		}
	}()
	return func() { close(quit); <-done }
}
