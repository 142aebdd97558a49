package recordtest

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/history/postgres"
	"coordtop/internal/history/record"
	"coordtop/internal/history/sqlite"
	"coordtop/internal/history/storetest"
	"coordtop/internal/localserver"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

// forwarded returns the options of a Forwarder from a file to a store.
func forwarded(from history.Log, to postgres.Options, done chan struct{}) record.ForwardOptions {
	reader := postgres.NewReader(to)
	return record.ForwardOptions{From: from, Done: done,
		Begin: func(ctx context.Context, run history.Run) (record.Output, error) {
			w, err := postgres.Begin(ctx, to, run)
			if err != nil {
				return nil, err
			}
			return w, nil
		},
		Since: func(ctx context.Context, from []history.Run) (map[int64]time.Time, error) {
			runs, err := reader.Runs(ctx)
			if errors.Is(err, history.ErrNothing) {
				err = nil
			}
			since := map[int64]time.Time{}
			for _, run := range from {
				if len(runs) > 0 {
					since[run.ID] = runs[len(runs)-1].To
				}
			}
			return since, err
		},
	}
}

// pieces reads all of the runs of a log.
func pieces(t *testing.T, log history.Log) (inputs []sources.Input) {
	t.Helper()
	runs, err := log.Runs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		c, err := log.Cursor(t.Context(), run.ID, run.From)
		if err != nil {
			t.Fatal(err)
		}
		for {
			p, err := c.Next(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if p.Empty() {
				break
			}
			inputs = append(inputs, p.Inputs...)
		}
	}
	return inputs
}

func TestTheStoreOfATeamAnswersAsTheFile(t *testing.T) {
	t.Parallel()
	file, _ := File(t, recordedHour(t))
	o := postgres.Options{Address: localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL(), Keep: century, Full: century}
	done := make(chan struct{})
	close(done)
	f := record.NewForwarder(forwarded(file, o, done))
	if err := f.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if text, _ := f.Status(); text != "" {
		t.Fatal(text)
	}
	store := postgres.NewReader(o)
	span := history.Span{From: at(-time.Hour), To: at(48 * time.Hour)}
	for name, ask := range map[string]func(r history.Reader) (any, error){
		"lanes":  func(r history.Reader) (any, error) { return r.Lanes(t.Context(), nil, span) },
		"totals": func(r history.Reader) (any, error) { return r.Totals(t.Context(), span) },
		"dark":   func(r history.Reader) (any, error) { return r.Dark(t.Context(), span) },
		"runs":   func(r history.Reader) (any, error) { return r.Runs(t.Context()) },
		"events": func(r history.Reader) (any, error) {
			return r.Events(t.Context(), span.To, 100_000, 0, history.EventFilter{})
		},
	} {
		want, err := ask(file)
		got, failed := ask(store)
		if err != nil || failed != nil || !storetest.Equal(got, want) {
			t.Errorf("%s: %v, %v\n got %+v\nwant %+v", name, err, failed, got, want)
		}
	}
	got, want := pieces(t, store), pieces(t, file)
	if len(got) == 0 || len(got) != len(want) {
		t.Errorf("a replay has %d Inputs, want %d", len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if got[i].Seq != want[i].Seq || got[i].Kind != want[i].Kind || !got[i].At.Wall.Equal(want[i].At.Wall) {
			t.Fatalf("Input %d is %+v, want %+v", i, got[i], want[i])
		}
	}
}

// owned is a Change in which an owner has a mutex.
func owned(n int) sources.Change {
	p := &sources.Primitive{Ref: sources.Ref{Source: "s", Name: "x"}, Kind: sources.KindMutex, Limit: 1, LimitHow: sources.Told, OwnersHow: sources.Told, At: sources.Wall(),
		Taken: 1, Owners: []sources.Owner{{ID: strconv.Itoa(n), Fence: uint64(n)}}}
	return sources.Change{At: p.At, Relists: n == 1, Synced: n == 1, Alive: []string{""}, Set: []*sources.Primitive{p}}
}

// TestAStoreThatIsAwayMissesNothing kills the server while owners change. It may have lost its last commits. A second
// recorder, which saw the same, waits or takes over.
func TestAStoreThatIsAwayMissesNothing(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	o := postgres.Options{Address: server.URL()}
	r := &Recorder{Path: filepath.Join(t.TempDir(), "spool.db")}
	options, err := r.Begin()
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	hub := sources.NewHub(t.Context(), options)
	stop := r.Record(hub)
	script := sourcetest.NewScript()
	ctx, cancel := context.WithCancel(t.Context())
	watching := make(chan error, 1)
	go func() {
		watching <- sources.Run(ctx, hub, []sources.Spec{{Name: "s", Type: "redis", Address: "a:1", Source: script}})
	}()
	done := make(chan struct{})
	spool := sqlite.NewReader(r.Path)
	ended := make(chan error, 2)
	f := record.NewForwarder(forwarded(spool, o, done))
	go func() { ended <- f.Run(t.Context()) }()
	store := postgres.NewReader(o)
	acquired := func(of history.Reader) (n int) {
		events, _ := of.Events(t.Context(), time.Now().Add(time.Hour), 1000, 0, history.EventFilter{Kinds: []sources.EventKind{sources.EventPresent, sources.EventAcquired, sources.EventOwnerChanged}})
		return len(events)
	}
	await := func(what string, is func() bool) {
		late := time.After(20 * time.Second)
		t.Helper()
		for !is() {
			select {
			case <-t.Context().Done():
				t.Fatal("in vain: " + what)
			case <-late:
				text, active := f.Status()
				t.Fatalf("in vain: %s: %q, active %t, %d events of %d", what, text, active, acquired(store), acquired(spool))
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	script.Push(owned(1))
	await("the store has the first owner", func() bool { takes, until := f.Store(); return acquired(store) == 1 && takes && !until.IsZero() })
	waiting := record.NewForwarder(forwarded(spool, o, done)) // as if another recorder had seen the same
	go func() { ended <- waiting.Run(t.Context()) }()
	await("the second recorder waits", func() bool { text, active := waiting.Status(); return text != "" && !active })
	server.Kill()
	killed := time.Now()
	for n := 2; n <= 5; n++ {
		script.Push(owned(n))
	}
	await("the forwarder reports the store", func() bool { takes, until := f.Store(); return !takes && until.Before(killed) })
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	await("the store has all owners", func() bool { return acquired(store) == 5 })
	cancel()
	<-watching
	hub.Close()
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	close(done)
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	lanes, err := store.Lanes(t.Context(), []sources.Ref{{Source: "s", Name: "x"}}, history.Span{From: time.Now().Add(-time.Hour), To: time.Now()})
	if err != nil || len(lanes[0].Terms) != 5 || acquired(store) != 5 {
		t.Errorf("%+v, %v: want the terms of five owners, and %d events of theirs", lanes, err, acquired(store))
	}
	if dark, err := store.Dark(t.Context(), history.Span{From: began, To: time.Now()}); err != nil || slices.ContainsFunc(dark, func(d history.DarkChange) bool {
		return d.Source == "" && !d.Dark.To.IsZero() && d.Dark.From.After(began)
	}) {
		t.Errorf("not recorded: %+v, %v", dark, err)
	}
}
