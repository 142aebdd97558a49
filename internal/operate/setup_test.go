package operate_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/coord/pgcoord"
	"coordtop/coord/rediscoord"
	"coordtop/internal/action"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/localserver"
	"coordtop/internal/operate"
	"coordtop/sources"
	"coordtop/sources/pgsource"
	"coordtop/sources/redissource"
)

// patience is long enough that only a defect makes a test wait for it.
const patience = 30 * time.Second

// rig is an Operator over a Hub that watches a real server.
type rig struct {
	*operate.Operator
	t       *testing.T
	hub     *sources.Hub
	journal string
	url     string // of the server, for other clients
}

// options are what tests change of an Operator and its one source, named s.
type options struct {
	panics func(*spawn.Panic) // nil: one ends the tests
	change func(*operate.Options, *operate.Backend)
}

func redisRig(t *testing.T, o options) *rig {
	t.Helper()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	return redisRigAt(t, server.URL(), redisClient(t, server.URL()), o)
}

// redisRigAt watches a server through watched; the Operator reaches it by its url.
func redisRigAt(t *testing.T, url string, watched rediscoord.ClientOptions, o options) *rig {
	t.Helper()
	source := redissource.New(redissource.Options{Name: "s", Client: watched, Selections: []redissource.Selection{
		{Pattern: "app:leader:x", Kind: sources.KindElection}, {Pattern: "app:lock:y", Kind: sources.KindMutex},
	}})
	backend := operate.Backend{
		Type: "redis", Identity: "ana@desk:1", Demo: true, Nameless: true, RunsOut: true, Lease: 30 * time.Second,
		Caps: coord.Caps{Mutex: true, Election: true, MaxData: 4096},
		Open: func(context.Context, string) (coord.Driver, error) {
			return rediscoord.New(redisClient(t, url), rediscoord.Options{RetryDelay: 50 * time.Millisecond})
		},
	}
	return newRig(t, url, source, backend, o)
}

func postgresRig(t *testing.T, o options) *rig {
	t.Helper()
	return postgresRigAt(t, localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL(), o)
}

func postgresRigAt(t *testing.T, url string, o options) *rig {
	t.Helper()
	source, err := pgsource.New(pgsource.Options{Name: "s", URL: url, Selections: []pgsource.Selection{
		{Pattern: "4242", Kind: sources.KindElection}, {Pattern: "17:-4", Kind: sources.KindMutex},
	}})
	if err != nil {
		t.Fatal(err)
	}
	backend := operate.Backend{
		Type: "postgres", Identity: "ana@desk:1", Demo: true, Lease: 11 * time.Second,
		Caps: pgcoord.Options{}.Caps("ana@desk:1"),
		Open: func(context.Context, string) (coord.Driver, error) {
			return pgcoord.New(url, pgcoord.Options{})
		},
	}
	return newRig(t, url, source, backend, o)
}

func newRig(t *testing.T, url string, source sources.Source, backend operate.Backend, o options) *rig {
	t.Helper()
	hub := sources.NewHub(t.Context(), sources.HubOptions{})
	ctx, stop := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := sources.Run(ctx, hub, []sources.Spec{{Name: "s", Type: backend.Type, Source: source}}); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("running the source: %v", err)
		}
	})
	t.Cleanup(func() {
		stop()
		running.Wait()
		hub.Close()
	})
	r := &rig{t: t, hub: hub, url: url, journal: filepath.Join(t.TempDir(), "state", "audit.jsonl")}
	oo := operate.Options{View: hub, Always: true, Audit: operate.NewAuditLog(r.journal, operate.Actor{User: "ana", Host: "desk", SSH: "10.0.0.9:4711"})}
	if o.change != nil {
		o.change(&oo, &backend)
	}
	if oo.Backends == nil {
		oo.Backends = map[string]operate.Backend{}
	}
	oo.Backends["s"] = backend
	life := t.Context()
	if o.panics != nil {
		life = spawn.With(life, o.panics)
	}
	r.Operator = operate.New(life, oo)
	t.Cleanup(func() { r.close() })
	r.until("the source is complete", func(s *sources.State) bool {
		return len(s.Scopes) == 1 && s.Scopes[0].Synced && s.Scopes[0].Health == sources.HealthLive
	})
	return r
}

func (r *rig) close() {
	if err := r.Close(); err != nil {
		r.t.Logf("closing: %v", err)
	}
}

func postgresDriver(url string) (coord.Driver, error) { return pgcoord.New(url, pgcoord.Options{}) }

func redisClient(t *testing.T, url string) rediscoord.ClientOptions {
	t.Helper()
	client, err := rediscoord.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// until waits for a state of the Hub.
func (r *rig) until(what string, ok func(*sources.State) bool) {
	r.t.Helper()
	sub := r.hub.Subscribe(0)
	defer sub.Close()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for !ok(r.hub.State()) {
		select {
		case <-sub.Wake():
		case <-limit.C:
			r.t.Fatalf("waited in vain until %s", what)
		}
	}
}

// row is the row of that name now; nil: there is none.
func (r *rig) row(name string) *sources.Row {
	for _, row := range r.hub.State().Rows {
		if row != nil && row.Name == name {
			return row
		}
	}
	return nil
}

// owner waits until the row shows an owner that is not of those IDs.
func (r *rig) owner(name string, not ...string) sources.Owner {
	r.t.Helper()
	var found sources.Owner
	r.until(name+" has another owner", func(*sources.State) bool {
		row := r.row(name)
		if row == nil || len(row.Owners) == 0 {
			return false
		}
		found = row.Owners[0]
		for _, id := range not {
			if found.ID == id {
				return false
			}
		}
		return true
	})
	return found
}

// ask makes a request about the row as it is now.
func (r *rig) ask(v action.Verb, name string) action.Request {
	r.t.Helper()
	row := r.row(name)
	if row == nil {
		r.t.Fatalf("no row %s", name)
	}
	var owner *sources.Owner
	if len(row.Owners) > 0 {
		owner = &row.Owners[0]
	}
	return action.Request{Verb: v, Target: action.TargetOf(row, owner)}
}

// do starts a request that must be let through.
func (r *rig) do(q action.Request) uint64 {
	r.t.Helper()
	id, err := r.Start(q)
	if err != nil {
		r.t.Fatalf("%v: %v", q.Verb, err)
	}
	return id
}

// reaches waits until a run is in one of the phases, and fails when it ends in another.
func (r *rig) reaches(id uint64, phases ...action.Phase) action.Run {
	r.t.Helper()
	limit := time.NewTimer(patience)
	defer limit.Stop()
	for {
		run := r.run(id) // the zero Run while there is none
		for _, p := range phases {
			if run.ID == id && run.Phase == p {
				return run
			}
		}
		if run.Phase.Over() {
			r.t.Fatalf("run %d is %v (%s), want %v", id, run.Phase, run.Text, phases)
		}
		select {
		case <-r.Wake():
		case <-limit.C:
			r.t.Fatalf("run %d stays %v (%s), want %v", id, run.Phase, run.Text, phases)
		}
	}
}

func (r *rig) run(id uint64) action.Run {
	for _, run := range r.Status().Runs {
		if run.ID == id {
			return run
		}
	}
	return action.Run{}
}

// audit reads the lines written so far.
func (r *rig) audit() []operate.Record {
	r.t.Helper()
	f, err := os.Open(r.journal)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		r.t.Fatal(err)
	}
	defer f.Close()
	var list []operate.Record
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var rec operate.Record
		if err := json.Unmarshal(lines.Bytes(), &rec); err != nil {
			r.t.Fatalf("%q: %v", lines.Text(), err)
		}
		list = append(list, rec)
	}
	return list
}
