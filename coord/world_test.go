package coord_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
)

// What the tests in bubbles use unless they say otherwise.
const (
	ttl    = 10 * time.Second
	margin = time.Second
)

// world is a service in a bubble with one client of ours.
type world struct {
	*testing.T
	mem  *coordtest.Mem
	link *coordtest.Faults // on the wire of our client; other clients have perfect links
	s    *coord.Session
}

// inBothShapes runs f in a bubble for each shape of service.
func inBothShapes(t *testing.T, f func(w *world)) {
	t.Helper()
	for _, shape := range []coordtest.Shape{coordtest.SessionRenews, coordtest.GrantRenews} {
		t.Run(shape.String(), func(t *testing.T) {
			t.Parallel()
			inShape(t, shape, f)
		})
	}
}

func inShape(t *testing.T, shape coordtest.Shape, f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, mem: coordtest.NewMem(shape, coordtest.MemOptions{}), link: &coordtest.Faults{}}
		w.s = w.open(w.mem.NewDriver(w.link), options())
		f(w)
	})
}

func options() coord.SessionOptions { return coord.SessionOptions{TTL: ttl, Margin: margin} }

// open makes a session that is abandoned when the test ends.
func (w *world) open(d coord.Driver, o coord.SessionOptions) *coord.Session {
	w.Helper()
	s, err := coord.Open(w.Context(), d, o)
	if err != nil {
		w.Fatalf("opening a session: %v", err)
	}
	w.Cleanup(s.Abandon)
	return s
}

// rival makes a session of another client with a perfect link.
func (w *world) rival() *coord.Session {
	w.Helper()
	return w.open(w.mem.NewDriver(nil), options())
}

func mutex(s *coord.Session, name string) *coord.Mutex { return s.Mutex(name, coord.MutexOptions{}) }

func (w *world) lock(s *coord.Session, name string) *coord.Lease {
	w.Helper()
	l, err := mutex(s, name).Lock(w.Context())
	if err != nil {
		w.Fatalf("locking %q: %v", name, err)
	}
	return l
}

// want checks that an error wraps the wanted one; nil wants none.
func (w *world) want(what string, err, target error) {
	w.Helper()
	if !errors.Is(err, target) {
		w.Errorf("%s: %v, want %v", what, err, target)
	}
}

// ended waits for the end of a lease and returns when it was and why.
func (w *world) ended(l *coord.Lease) (time.Time, error) {
	w.Helper()
	select {
	case <-l.Context().Done():
		return time.Now(), context.Cause(l.Context())
	case <-time.After(100 * ttl):
		w.Fatal("the lease never ended")
		return time.Time{}, nil
	}
}

// owned reports whether anybody owns a mutex at the service.
func (w *world) owned(name string) bool { return len(w.mem.Owners(coord.KindMutex, name)) > 0 }
