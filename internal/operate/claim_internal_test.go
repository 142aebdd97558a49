package operate

import (
	"path/filepath"
	"testing"
	"testing/synctest"

	"coordtop/coord"
	"coordtop/coord/coordtest"
	"coordtop/internal/action"
	"coordtop/sources"
)

// win is an Operator that owns a lease.
type win struct {
	*Operator
	n       *run
	h       *holding
	lease   *coord.Lease
	session *coord.Session
}

func newWin(t *testing.T, journal string) win {
	t.Helper()
	hub := sources.NewHub(t.Context(), sources.HubOptions{})
	w := win{Operator: New(t.Context(), Options{View: hub, Always: true, Audit: NewAuditLog(journal, Actor{})})}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		hub.Close()
	})
	d := coordtest.NewMem(coordtest.GrantRenews, coordtest.MemOptions{}).NewDriver(nil)
	var err error
	if w.session, err = coord.Open(t.Context(), d, coord.SessionOptions{}); err != nil {
		t.Fatal(err)
	}
	if w.lease, err = w.session.Mutex("x", coord.MutexOptions{}).Lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.n = w.runLocked(action.Request{Verb: action.Acquire})
	w.h = newHolding(w.n, w.options.Now())
	w.h.session = w.session
	w.runs = append(w.runs, w.n)
	return w
}

// keeping is take from the moment on that the lease is won.
func (w win) keeping() {
	w.n.sub = w.view.Subscribe(w.view.State().LastSeq)
	w.start(func() {
		defer close(w.h.ended)
		defer w.n.sub.Close()
		w.n.keep(w.h, w.lease, nil)
		_ = w.leaveSession(w.session, w.h) // what it had is released
	})
	synctest.Wait()
}

// ends checks how a run ended.
func (w win) ends(t *testing.T, n *run, text string) {
	t.Helper()
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if n.Phase != action.Dropped || n.Lost || n.Text != text {
		t.Errorf("%v ended as %v (lost: %v), %s, want %s", n.Request.Verb, n.Phase, n.Lost, n.Text, text)
	}
}

// Somebody who resigns and quits at once may end the run just before the release begins.
func TestWhatIsBeingResignedWhileWeCloseIsNotLost(t *testing.T) {
	t.Parallel()
	journal := filepath.Join(t.TempDir(), "audit.jsonl")
	synctest.Test(t, func(t *testing.T) {
		w := newWin(t, journal)
		w.h.resigning = &run{}
		w.n.cancel(errCalledOff)
		w.keeping()
		if err := w.lease.Release(t.Context()); err != nil {
			t.Error(err)
		}
		w.ends(t, w.n, "resigned before our watch showed it")
	})
}

func TestWhatIsBeingGivenBackWhileItIsResignedIsNotLost(t *testing.T) {
	t.Parallel()
	journal := filepath.Join(t.TempDir(), "audit.jsonl")
	synctest.Test(t, func(t *testing.T) {
		w := newWin(t, journal)
		w.n.cancel(errCalledOff)
		w.keeping()
		w.ends(t, w.n, "given back")
		w.mu.Lock()
		late := w.runLocked(action.Request{Verb: action.Resign})
		w.h.lease, w.h.waiting = w.lease, false
		w.mu.Unlock()
		w.start(func() { late.resign(w.h, &Backend{}) })
		w.ends(t, late, "it was being given back already")
	})
}
