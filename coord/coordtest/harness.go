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

// Harness is one service with functions that the suite may call on it. Run calls its start function once per case.
// Cases may share a real server, because every name is fresh.
type Harness struct {
	// NewDriver returns another client of the service. The suite closes it. Required.
	NewDriver func(t testing.TB) coord.Driver

	// TTL is the TTL of sessions. On a real server it is about 1 s: long enough for renewals on a busy machine, short
	// enough to wait for its end. Required.
	TTL time.Duration

	// Name returns a fresh name. If it is nil, names are letters and digits.
	Name func(t testing.TB, kind coord.Kind) string

	// Expire makes the service end the ownership of a primitive before its time. If it is nil, the cases that need it
	// are skipped.
	Expire func(t testing.TB, kind coord.Kind, name string)

	// Owners returns the identities of the owners without the driver. If it is nil, the suite uses the driver's
	// Describe.
	Owners func(t testing.TB, kind coord.Kind, name string) []string

	// Endings starts a record of the names of primitives, in the order in which the service ended their ownership, and
	// returns a function that returns the record. If it is nil, the order of releases is not checked.
	Endings func(t testing.TB) (recorded func() []string)

	// Freezer starts a service that no other case uses. It returns a client of it, and a function after which the
	// service keeps its connections but does not answer until the test ends. If it is nil, the cases that need it are
	// skipped.
	Freezer func(t testing.TB) (d coord.Driver, freeze func())

	// FreezesQueues reports whether a frozen service leaves waiting claims unanswered as well. If not, the case that
	// needs that is skipped.
	FreezesQueues bool

	// Troubles returns a function that makes clients of a service that no other case uses, and the ways in which this
	// service can fail for a while. If it is nil, the case that needs it is skipped.
	Troubles func(t testing.TB) (newDriver func(t testing.TB) coord.Driver, all []Trouble)
}

// Trouble is one way in which a service fails for a while, while a claim waits.
type Trouble struct {
	Name  string
	Begin func()
	End   func()
	// Silent reports whether the driver handles the failure alone, so that OnTrouble is not called.
	Silent bool
}

// Run runs the suite for a driver on a real service. Every case is a subtest, named for its promise and run in parallel
// with the others. Cases for an ability that Caps or a missing optional interface excludes are skipped. start is called
// once per case.
func Run(t *testing.T, start func(t testing.TB) Harness) {
	RunIn(t, func(t *testing.T, f func(*testing.T)) { f(t) }, start)
}

// RunIn does the same as Run, with each case inside bubble. For a driver that needs nothing from outside, bubble is
// synctest.Test.
func RunIn(t *testing.T, bubble func(*testing.T, func(*testing.T)), start func(t testing.TB) Harness) {
	for _, c := range allCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			skipped := false
			bubble(t, func(t *testing.T) {
				defer func() { skipped = t.Skipped() }()
				c.execute(t, start)
			})
			if skipped { // the outer test does not notice a skip in the bubble
				t.SkipNow()
			}
		})
	}
}

// testCase is one case of the suite.
type testCase struct {
	name  string
	needs func(coord.Caps) bool // nil if it runs for every driver
	run   func(s *suite)
}

// Reruns is the environment variable that names a file. Each case that is run again adds a line to the file, so that a
// run of all tests can show their number.
const Reruns = "COORDTOP_TEST_RERUNS"

func allCases() []testCase {
	all := slices.Concat(driverCases(), coreCases(), electionCases())
	for _, kind := range []coord.Kind{coord.KindMutex, coord.KindSemaphore, coord.KindElection} {
		all = append(all, kindCases(kind)...)
	}
	return all
}

// tries bounds the runs of one case. A case that failed while its process was late runs again.
const tries = 5

func (c testCase) execute(t testing.TB, start func(testing.TB) Harness) {
	c.count(t, start, os.Getenv(Reruns))
}

// count runs the case, and for each further run writes a line to the file reruns, unless that is "".
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

// watchStalls measures by how much this process is late within a TTL, until stop is called. It adds up the delays,
// because a renewal passes through several goroutines, and on a busy machine each of them is late.
func watchStalls(a *attempt, ttl time.Duration) (stop func()) {
	const step = 20 * time.Millisecond
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		var sum time.Duration
		last := make([]time.Duration, max(ttl/step, 1)) // the latest delays, as a ring
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
