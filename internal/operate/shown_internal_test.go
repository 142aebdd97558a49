package operate

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
	"coordtop/internal/action"
	"coordtop/sources"
)

// shown is a view of one row, which a test changes.
type shown struct {
	*sources.Hub
	mu  sync.Mutex
	now *decision
}

func (s *shown) State() *sources.State {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now.state
}

func (s *shown) Row(_ *sources.State, ref sources.Ref) *sources.Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now.row == nil || s.now.row.Ref != ref {
		return nil
	}
	return s.now.row
}

// change replaces the row and wakes whoever watches.
func (s *shown) change(change func(d *decision)) {
	s.mu.Lock()
	p, row, state := *s.now.row.Primitive, *s.now.row, *s.now.state
	p.Owners, p.Queue.Waiters = slices.Clone(p.Owners), slices.Clone(p.Queue.Waiters)
	p.At, row.Primitive, state.Scopes = time.Now(), &p, slices.Clone(state.Scopes)
	s.now.row, s.now.state = &row, &state
	change(s.now)
	s.mu.Unlock()
	s.AddEvent(sources.Event{Kind: sources.EventNote, Detail: "wake"})
}

// forcing is a driver that ends what it is told to.
type forcing struct {
	coord.Driver
	foreign []coord.Foreign
	answer  func() error
}

func (f *forcing) ForceRelease(_ context.Context, what coord.Foreign) error {
	f.foreign = append(f.foreign, what)
	return f.answer()
}

// world is an Operator in a bubble, over one row and a driver without a server.
type world struct {
	*Operator
	view   *shown
	force  *forcing
	b      *Backend
	opened func()
}

func newWorld(t *testing.T, v action.Verb, journal string) *world {
	t.Helper()
	hub := sources.NewHub(t.Context(), sources.HubOptions{})
	w := &world{view: &shown{Hub: hub, now: allowed(v)}, opened: func() {}}
	w.force = &forcing{Driver: coordtest.NewMem(coordtest.GrantRenews, coordtest.MemOptions{}).NewDriver(nil), answer: func() error { return nil }}
	w.b = w.view.now.b
	w.b.Open = func(context.Context, string) (coord.Driver, error) { w.opened(); return w.force, nil }
	w.operator(t, Options{Always: true, Audit: NewAuditLog(journal, Actor{User: "ana"})})
	t.Cleanup(hub.Close)
	return w
}

func (w *world) operator(t *testing.T, o Options) {
	t.Helper()
	o.View, o.Backends = w.view, map[string]Backend{"s": *w.b}
	op := New(t.Context(), o)
	w.Operator = op
	t.Cleanup(func() { _ = op.Close() }) // nothing is held at a server
}

// operatorAs makes the Operator see its source as b.
func (w *world) operatorAs(b Backend) {
	w.options.Backends["s"] = b
}

// leaseOf is a lease at the service without a server, in its session.
func leaseOf(t *testing.T, w *world) (*coord.Session, *coord.Lease) {
	t.Helper()
	s, err := coord.Open(t.Context(), w.force.Driver, coord.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	lease, err := s.Mutex("app:lock:x", coord.MutexOptions{}).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return s, lease
}

// ended starts the request of the row and returns what came of it.
func (w *world) ended(t *testing.T) action.Run {
	t.Helper()
	id, err := w.Start(w.view.now.Request)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	time.Sleep(time.Minute)
	synctest.Wait()
	run := runBy(w.Operator, id)
	if !run.Phase.Over() {
		t.Errorf("it is %v: %s", run.Phase, run.Text)
	}
	return run
}

func runBy(o *Operator, id uint64) action.Run {
	for _, run := range o.Status().Runs {
		if run.ID == id {
			return run
		}
	}
	return action.Run{}
}

func TestWhatChangesWhileTheDriverIsOpenedIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(w *world)
		phase  action.Phase
		text   string
		sent   int
	}{
		"nothing":             {func(*world) {}, action.Seen, "released by force: nobody owns it now", 1},
		"the owner":           {func(w *world) { w.view.change(func(d *decision) { d.row.Owners[0].ID = "b" }) }, action.Changed, "it changed just before, nothing was released", 0},
		"what it wrote":       {func(w *world) { w.view.change(func(d *decision) { d.row.Owners[0].Guard = "h" }) }, action.Changed, "another value", 0},
		"its source":          {func(w *world) { w.view.change(func(d *decision) { d.state.Scopes[0].Health = sources.HealthStale }) }, action.Failed, "since its source is silent", 0},
		"writing is disarmed": {func(w *world) { w.disarm() }, action.Dropped, "writing was switched off: nothing was sent", 0},
		"it is called off":    {func(w *world) { w.CallOff(1) }, action.Dropped, "called off: nothing was sent", 0},
		"it cannot end it":    {func(w *world) { w.force.answer = func() error { return coord.ErrUnsupported } }, action.Failed, coord.ErrUnsupported.Error(), 1},
		"it changed there":    {func(w *world) { w.force.answer = func() error { return coord.ErrChanged } }, action.Changed, "it changed just before, nothing was released", 1},
		"it is not known":     {func(w *world) { w.force.answer = func() error { return coord.ErrUncertain } }, action.Unknown, "sent; whether it was done is not known", 1},
		"no such ability":     {func(w *world) { w.b.Open = nil }, action.Failed, "has no way to do this", 0},
	} {
		journal := filepath.Join(t.TempDir(), "audit.jsonl")
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, action.Release, journal)
			w.opened = func() { c.change(w) }
			if name == "no such ability" {
				w.b.Open = func(context.Context, string) (coord.Driver, error) { return w.force.Driver, nil }
				w.operator(t, Options{Always: true, Audit: NewAuditLog(journal, Actor{})})
			}
			answer := w.force.answer
			if c.phase == action.Seen {
				w.force.answer = func() error {
					time.Sleep(time.Millisecond) // a look that begins later is one of after
					w.view.change(func(d *decision) { d.row.Owners = nil })
					return answer()
				}
			}
			run := w.ended(t)
			if run.Phase != c.phase || !strings.Contains(run.Text, c.text) || len(w.force.foreign) != c.sent {
				t.Errorf("%s: %v, %q, and %d were sent; want %v, %q, %d", name, run.Phase, run.Text, len(w.force.foreign), c.phase, c.text, c.sent)
			}
			if refused := name == "its source" || name == "it cannot end it" || name == "no such ability"; refused && run.NotPossible != (name != "its source") {
				t.Errorf("%s: not possible: %v", name, run.NotPossible)
			}
			if c.sent == 1 {
				if f := w.force.foreign[0]; f.Owner != "a" || f.Guard != "g" || f.Name != "app:lock:x" || f.Waiting {
					t.Errorf("%s: it asked to end %+v", name, f)
				}
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestARequestThatIsRefusedIsNeitherWrittenNorSent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(w *world, r *action.Request)
		want   error
	}{
		"not armed":        {func(w *world, _ *action.Request) { w.disarm() }, ErrNotArmed},
		"an unknown place": {func(_ *world, r *action.Request) { r.Target.Ref.Source = "t" }, ErrNotPossible},
		"no such row":      {func(_ *world, r *action.Request) { r.Target.Ref.Name = "y" }, ErrNotPossible},
		"not typed":        {func(_ *world, r *action.Request) { r.Typed = "" }, ErrUnconfirmed},
		"changed":          {func(w *world, _ *action.Request) { w.view.change(func(d *decision) { d.row.Owners = nil }) }, ErrChanged},
		"closed":           {func(w *world, _ *action.Request) { _ = w.Close() }, ErrClosed},
		"no audit":         {func(w *world, _ *action.Request) { w.options.Audit = nil }, ErrNoAudit},
	} {
		journal := filepath.Join(t.TempDir(), "audit.jsonl")
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, action.Release, journal)
			r := w.view.now.Request
			c.change(w, &r)
			id, err := w.Start(r)
			synctest.Wait()
			if !errors.Is(err, c.want) || id != 0 || len(w.force.foreign) > 0 || len(w.Status().Runs) > 0 {
				t.Errorf("%s: run %d, %v, and %d were sent; want %v", name, id, err, len(w.force.foreign), c.want)
			}
			if audit := NewAuditLog(journal, Actor{}); name != "no audit" {
				if list, err := audit.Entries(); err == nil && len(list) > 0 {
					t.Errorf("%s: the audit has %+v", name, list)
				}
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// The disk may take seconds for the first line.
func TestWhatChangesWhileTheFirstLineIsWrittenIsRefused(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(w *world){
		"the owner": func(w *world) { w.view.change(func(d *decision) { d.row.Owners[0].ID = "b" }) },
		"the arms":  func(w *world) { w.disarm() },
		"nothing":   nil,
	} {
		journal := filepath.Join(t.TempDir(), "audit.jsonl")
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, action.Release, journal)
			w.options.Audit.Wait()
			goOn := w.options.Audit.Stall()
			got := make(chan error, 1)
			go func() { _, err := w.Start(w.view.now.Request); got <- err }() // received below
			synctest.Wait()
			if change != nil {
				change(w)
			}
			goOn()
			if err := <-got; (err == nil) != (change == nil) {
				t.Errorf("%s: %v", name, err)
			}
			synctest.Wait()
			if sent := len(w.force.foreign); (sent == 1) != (change == nil) {
				t.Errorf("%s: %d were sent", name, sent)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestASourceIsArmedOnlyAsTheConfigAllows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change        func(w *world)
		source, typed string
		want          error
	}{
		"plain":               {func(*world) {}, "s", "", nil},
		"plain, named":        {func(*world) {}, "s", "x", nil},
		"unknown":             {func(*world) {}, "t", "t", ErrNotPossible},
		"read-only":           {func(w *world) { w.b.ReadOnly = true }, "s", "s", ErrReadOnly},
		"protected":           {func(w *world) { w.b.Protect = true }, "s", "s", nil},
		"protected, not":      {func(w *world) { w.b.Protect = true }, "s", "", ErrUnconfirmed},
		"protected, misspelt": {func(w *world) { w.b.Protect = true }, "s", "S", ErrUnconfirmed},
	} {
		journal := filepath.Join(t.TempDir(), "audit.jsonl")
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, action.Release, journal)
			c.change(w)
			w.operator(t, Options{Audit: NewAuditLog(journal, Actor{})})
			if err := w.Arm(c.source, c.typed); !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
				t.Errorf("%s: %v, want %v", name, err, c.want)
			}
			w.mu.Lock()
			refuses := w.writing.refuses("s", w.b)
			w.mu.Unlock()
			if (refuses == nil) != (c.want == nil) || w.Status().CanWrite(time.Now()) != (c.want == nil) {
				t.Errorf("%s: %v", name, refuses)
			}
			w.Disarm()
			w.mu.Lock()
			refuses = w.writing.refuses("s", w.b)
			w.mu.Unlock()
			if refuses == nil || w.Status().CanWrite(time.Now()) {
				t.Errorf("%s: armed when it was disarmed", name)
			}
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			if err := w.Arm("s", "s"); err == nil {
				t.Errorf("%s: armed when it was closed", name)
			}
		})
	}
}

func TestNothingIsArmedWithoutALineOfIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, action.Release, "")
		w.operator(t, Options{})
		if err := w.Arm("s", ""); !errors.Is(err, ErrNoAudit) || w.Status().CanWrite(time.Now()) {
			t.Errorf("%v", err)
		}
		_ = w.Close()
	})
}

func TestArmingIsOverAfterItsTimeAndEndsWhatWaits(t *testing.T) {
	t.Parallel()
	journal := filepath.Join(t.TempDir(), "audit.jsonl")
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, action.Acquire, journal)
		w.operator(t, Options{Audit: NewAuditLog(journal, Actor{})})
		other, err := coord.Open(t.Context(), w.force.Driver, coord.SessionOptions{})
		if err != nil {
			t.Fatal(err)
		}
		lease, err := other.Mutex("app:lock:x", coord.MutexOptions{}).Lock(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Arm("s", ""); err != nil {
			t.Fatal(err)
		}
		id, err := w.Start(w.view.now.Request)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(action.ArmedFor - time.Second)
		synctest.Wait()
		if run := runBy(w.Operator, id); run.Phase != action.Waiting || len(w.Status().Holdings) != 1 {
			t.Errorf("it is %v: %s", run.Phase, run.Text)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if run := runBy(w.Operator, id); run.Phase != action.Dropped || run.Text != errOver.Error() || len(w.Status().Holdings) != 0 {
			t.Errorf("after the time for writing: %v: %s", run.Phase, run.Text)
		}
		_ = lease.Release(t.Context())
		_ = other.Close(t.Context())
		_ = w.Close()
	})
}
