package coord_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
)

// inShapes is inBothShapes for the given shapes of a service with options.
func inShapes(t *testing.T, o coordtest.MemOptions, f func(w *world), shapes ...coordtest.Shape) {
	t.Helper()
	for _, shape := range shapes {
		t.Run(shape.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := &world{T: t, mem: coordtest.NewMem(shape, o), link: &coordtest.Faults{}}
				w.s = w.open(w.mem.NewDriver(w.link), options())
				f(w)
			})
		})
	}
}

// owners are the identities that the service has for a mutex.
func (w *world) owners(name string) []string {
	var ids []string
	for _, o := range w.mem.Owners(coord.KindMutex, name) {
		ids = append(ids, o.ID)
	}
	return ids
}

// within is a context that ends after d.
func (w *world) within(d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(w.Context(), d)
	w.Cleanup(cancel)
	return ctx
}

func (w *world) must(what string, err error) {
	w.Helper()
	if err != nil {
		w.Fatalf("%s: %v", what, err)
	}
}

// await waits until our client has begun n requests of a verb, and everything that
// follows from it at this instant has happened.
func (w *world) await(v coordtest.Verb, n int) {
	w.Helper()
	w.must("awaiting", w.link.Await(w.Context(), v, n))
	synctest.Wait()
}

// held is the result of a Lock in the background.
type held struct {
	lease *coord.Lease
	err   error
	at    time.Time
}

// hold locks in the background.
func (w *world) hold(s *coord.Session, name string) <-chan held {
	c := make(chan held, 1)
	go func() {
		l, err := mutex(s, name).Lock(w.Context())
		c <- held{l, err, time.Now()}
	}()
	return c
}
