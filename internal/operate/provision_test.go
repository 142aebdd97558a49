package operate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/coord/ydbcoord"
	"coordtop/internal/action"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/internal/operate"
	"coordtop/sources"
	"coordtop/sources/ydbsource"
)

const node = "/local/app"

// ydbRig watches the semaphores quota and primary, and the mutex job, of a node that is
// there only if made says so.
func ydbRig(t *testing.T, made bool, o options) (*rig, *ydbtest.Server) {
	t.Helper()
	server, err := ydbtest.Start(ydbtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	if made {
		if err := server.CreateNode(node); err != nil {
			t.Fatal(err)
		}
	}
	return ydbRigAt(t, server, o), server
}

func ydbRigAt(t *testing.T, server *ydbtest.Server, o options) *rig {
	t.Helper()
	client, err := ydbcoord.ParseURL(server.URL(0))
	if err != nil {
		t.Fatal(err)
	}
	source, err := ydbsource.New(ydbsource.Options{Name: "s", Client: client, Nodes: []string{node}, Selections: []ydbsource.Selection{
		{Pattern: "quota", Kind: sources.KindSemaphore}, {Pattern: "primary", Kind: sources.KindElection}, {Pattern: "job", Kind: sources.KindMutex},
	}})
	if err != nil {
		t.Fatal(err)
	}
	backend := operate.Backend{
		Type: "ydb", Identity: "ana@desk:1", Demo: true, Nameless: true, RunsOut: true, Lease: 10 * time.Second, Provisions: true,
		Caps: coord.Caps{Mutex: true, Semaphore: true, Election: true, FIFO: true, MaxData: 1 << 20},
		Open: func(_ context.Context, space string) (coord.Driver, error) {
			return ydbcoord.New(server.URL(0)+"?node="+space, ydbcoord.Options{Incarnations: true})
		},
		Nodes: &operate.Nodes{Create: func(ctx context.Context, space string, _ []sources.Attr) error {
			c, err := ydbcoord.NewClient(client)
			if err != nil {
				return err
			}
			return errors.Join(c.Nodes().Create(ctx, space, nil), c.Close(ctx))
		}},
	}
	return newRig(t, server.URL(0), source, backend, o)
}

// not is why a verb is not possible now; "": it is.
func (r *rig) not(v action.Verb, name string) string {
	r.t.Helper()
	list := r.Choices(r.row(name))
	i := slices.IndexFunc(list, func(c action.Choice) bool { return c.Verb == v })
	if i < 0 {
		r.t.Fatalf("%v is not in the list", v)
	}
	return list[i].Not
}

func TestWhatExistsIsCreatedUpdatedAndDeleted(t *testing.T) {
	t.Parallel()
	r, server := ydbRig(t, false, options{})
	if not := r.not(action.Create, "quota"); not != "there is no such coordination node" {
		t.Errorf("a semaphore of no node: %q", not)
	}
	if run := r.reaches(r.do(r.ask(action.CreateNode, "quota")), action.Seen); run.Text != "created" {
		t.Errorf("got %+v", run)
	}
	if not := r.not(action.CreateNode, "quota"); not != node+" exists" {
		t.Errorf("a node that is there: %q", not)
	}
	q := r.ask(action.Create, "quota")
	q.Limit, q.Data = 7, []byte("first")
	r.reaches(r.do(q), action.Seen)
	if s, err := server.Semaphore(node, "quota"); err != nil || s.Limit != 7 || string(s.Data) != "first" {
		t.Errorf("the service has %+v, %v", s, err)
	}
	q = r.ask(action.Update, "quota")
	q.Data = []byte("second")
	r.reaches(r.do(q), action.Seen)
	r.reaches(r.do(r.ask(action.Delete, "quota")), action.Seen)
	if _, err := server.Semaphore(node, "quota"); !errors.Is(err, ydbtest.ErrNotFound) {
		t.Errorf("it is there: %v", err)
	}
	var list []string
	for _, rec := range r.audit() {
		list = append(list, strings.TrimSpace(rec.Action+" "+rec.Stage+" "+rec.Result))
	}
	if got, want := strings.Join(list, ", "), "create-node before, create-node after done, create before, create after done, "+
		"update before, update after done, delete before, delete after done"; got != want {
		t.Errorf("the audit has %s", got)
	}
	if len(server.Sessions(node)) != 1 {
		t.Errorf("sessions are left: %+v", server.Sessions(node))
	}
}

func TestWhatIsInUseIsNotDeletedAndWhatIsThereNotCreated(t *testing.T) {
	t.Parallel()
	r, server := ydbRig(t, true, options{})
	if err := server.CreateSemaphore(node, "quota", 3, nil); err != nil {
		t.Fatal(err)
	}
	r.until("it is there", func(*sources.State) bool { return !r.row("quota").Absent })
	if not := r.not(action.Create, "quota"); not != "it exists" {
		t.Errorf("create: %q", not)
	}
	if not := r.not(action.Update, "primary"); not != "it does not exist" {
		t.Errorf("update: %q", not)
	}
	if not := r.not(action.Create, "job"); not != "a mutex is there while somebody uses it" {
		t.Errorf("a mutex: %q", not)
	}
	stale := r.ask(action.Delete, "quota") // decided before somebody took it
	take := r.do(r.ask(action.Acquire, "quota"))
	r.reaches(take, action.Seen)
	if not := r.not(action.Delete, "quota"); !strings.HasPrefix(not, "owned by ana@desk:1") {
		t.Errorf("delete: %q", not)
	}
	if _, err := r.Start(stale); !errors.Is(err, operate.ErrChanged) && !errors.Is(err, operate.ErrNotPossible) {
		t.Errorf("got %v", err)
	}
	q := r.ask(action.Create, "primary")
	q.Limit = 2
	if _, err := r.Start(q); !errors.Is(err, operate.ErrNotPossible) {
		t.Errorf("an election with two permits: %v", err)
	}
}

func TestDataThatAnotherWroteMeanwhileIsKept(t *testing.T) {
	t.Parallel()
	var server *ydbtest.Server
	r, server := ydbRig(t, true, options{change: func(_ *operate.Options, b *operate.Backend) {
		open := b.Open
		b.Open = func(ctx context.Context, space string) (coord.Driver, error) { // between the guards and the sending
			if err := server.UpdateSemaphore(node, "quota", []byte("theirs")); err != nil {
				return nil, err
			}
			return open(ctx, space)
		}
	}})
	if err := server.CreateSemaphore(node, "quota", 3, []byte("old")); err != nil {
		t.Fatal(err)
	}
	r.until("it is there", func(*sources.State) bool { return r.row("quota").Data.Len == 3 })
	q := r.ask(action.Update, "quota")
	q.Data = []byte("ours")
	if run := r.reaches(r.do(q), action.Changed); run.Text != "its data is another by now: nothing was sent" {
		t.Errorf("got %q", run.Text)
	}
	if s, err := server.Semaphore(node, "quota"); err != nil || string(s.Data) != "theirs" {
		t.Errorf("the service has %+v, %v", s, err)
	}
}

func TestWhatChangesWhatExistsIsGuarded(t *testing.T) {
	t.Parallel()
	r, server := ydbRig(t, true, options{change: func(_ *operate.Options, b *operate.Backend) { b.Demo = false }})
	if err := server.CreateSemaphore(node, "quota", 3, []byte("old")); err != nil {
		t.Fatal(err)
	}
	r.until("it is there", func(*sources.State) bool { return r.row("quota").Data.Len == 3 })
	for _, v := range []action.Verb{action.Update, action.Delete} {
		q := r.ask(v, "quota")
		if e, err := r.Describe(t.Context(), q); err != nil || e.NeedsName != "quota" || !e.Danger {
			t.Errorf("%v: %+v, %v", v, e, err)
		}
		if _, err := r.Start(q); !errors.Is(err, operate.ErrUnconfirmed) {
			t.Errorf("%v without its name: %v", v, err)
		}
	}
	if e, err := r.Describe(t.Context(), r.ask(action.Create, "quota")); err != nil || !e.TakesLimit || e.DataMax != 1<<20 || e.Danger {
		t.Errorf("%+v, %v", e, err)
	}
	readOnly, _ := ydbRig(t, true, options{change: func(_ *operate.Options, b *operate.Backend) { b.ReadOnly = true }})
	if _, err := readOnly.Start(readOnly.ask(action.Create, "quota")); !errors.Is(err, operate.ErrReadOnly) {
		t.Errorf("got %v", err)
	}
}

func TestPermitsAreAskedForWhoeverOwnsOthers(t *testing.T) {
	t.Parallel()
	r, server := ydbRig(t, true, options{})
	if err := server.CreateSemaphore(node, "quota", 3, nil); err != nil {
		t.Fatal(err)
	}
	r.until("it is there", func(*sources.State) bool { return r.row("quota").Limit == 3 })
	q := r.ask(action.Acquire, "quota")
	q.Permits = 2
	q.Target.Owner, q.Target.Label = "somebody who has left since", "host-1"
	e, err := r.Describe(t.Context(), q)
	if err != nil || len(e.Lines) < 2 || !strings.HasPrefix(e.Lines[0], "You will take 2 of 3 permits of quota.") || strings.Contains(e.Lines[1], "are free now") {
		t.Errorf("it would do %q, %v", e.Lines, err)
	}
	r.reaches(r.do(q), action.Seen)
	q = r.ask(action.Try, "job")
	q.Target.Owner = "somebody who has left since"
	if _, err := r.Start(q); !errors.Is(err, operate.ErrChanged) {
		t.Errorf("a mutex whose owner has gone: %v", err)
	}
}

func TestTheBoxShowsTheLimitThatAClaimNames(t *testing.T) {
	t.Parallel()
	r, server := ydbRig(t, true, options{change: func(_ *operate.Options, b *operate.Backend) {
		b.LimitInClaims, b.Call = true, func(r action.Request) string { return fmt.Sprint("limit ", r.Limit) }
	}})
	if err := server.CreateSemaphore(node, "quota", 3, nil); err != nil {
		t.Fatal(err)
	}
	r.until("it is there", func(*sources.State) bool { return r.row("quota").Limit == 3 })
	for name, want := range map[string]string{"quota": "limit 3", "job": "limit 0"} {
		if e, err := r.Describe(t.Context(), r.ask(action.Acquire, name)); err != nil || e.Call != want {
			t.Errorf("%s: it sends %q, %v, want %q", name, e.Call, err, want)
		}
	}
}
