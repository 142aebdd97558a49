package recordtest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/ground/raced"
	"coordtop/internal/history"
	"coordtop/internal/history/record"
	"coordtop/internal/history/sqlite"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

// fallible is an Output whose disk is full now and then, or that loses what is written from now on, as if the
// process had been killed.
type fallible struct {
	record.Output
	*world
}

func (f fallible) Write(b *history.Batch) error {
	switch {
	case f.killed.Load():
		return nil
	case f.full.Load():
		return syscall.ENOSPC
	}
	return f.Output.Write(b)
}

// world is a server with some primitives, which are changed at random.
type world struct {
	*rand.Rand
	full, killed atomic.Bool
	script       *sourcetest.Script
	fence        uint64

	mu   sync.Mutex
	rows map[string]*sources.Primitive
}

// primitives are the names of the world's: two in each scope.
func primitives() []string { return []string{"one/leader", "one/pool", "two/mutex", "two/election"} }

func scopeOf(name string) string { return name[:3] }

// change draws another state of a primitive; nil: it is gone.
func (w *world) change(name string) *sources.Primitive {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.IntN(12) == 0 {
		delete(w.rows, name)
		return nil
	}
	p := &sources.Primitive{Ref: sources.Ref{Source: "s", Name: name}, Kind: sources.KindElection, Limit: 1, LimitHow: sources.Told, OwnersHow: sources.Told}
	most := 1
	if name == "one/pool" {
		p.Kind, p.Limit, most = sources.KindSemaphore, 3, 3
	}
	for range w.IntN(most + 1) {
		w.fence++
		if o := (sources.Owner{ID: fmt.Sprint("host-", w.IntN(4))}); !slices.ContainsFunc(p.Owners, func(p sources.Owner) bool { return p.ID == o.ID }) {
			if p.Owners = append(p.Owners, o); most == 1 {
				p.Owners[0].Fence = w.fence
			}
		}
	}
	if old := w.rows[name]; old != nil && len(old.Owners) == 1 && w.IntN(3) == 0 {
		p.Owners = old.Owners // who is there already, perhaps with a renewed lease
	}
	p.Taken = uint64(len(p.Owners))
	w.rows[name] = p
	return p
}

// now is a primitive as it is read now.
func now(p *sources.Primitive) *sources.Primitive {
	is := *p
	is.At, is.Owners = sources.Wall(), slices.Clone(p.Owners)
	for i := range is.Owners {
		is.Owners[i].Lease, is.Owners[i].Expires = 15*time.Second, sources.Stamp{At: is.At.Add(15 * time.Second), How: sources.Told}
	}
	return &is
}

// listing is what a connection begins with.
func (w *world) listing() (list []sources.Change) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, scope := range []string{"one", "two"} {
		c := sources.Change{Scope: scope, Relists: true, Synced: true, Alive: []string{scope}, At: sources.Wall()}
		for _, name := range primitives() {
			if p := w.rows[name]; p != nil && scopeOf(name) == scope {
				c.Set = append(c.Set, now(p))
			}
		}
		list = append(list, c)
	}
	return list
}

// step lets something happen, and the source say so where it is read.
func (w *world) step(read bool) {
	name := primitives()[w.IntN(4)]
	p := w.change(name)
	if !read {
		return
	}
	c := sources.Change{Scope: scopeOf(name), At: sources.Wall(), Alive: []string{scopeOf(name)}}
	if w.IntN(3) == 0 {
		c.After = c.At.Add(-time.Duration(w.IntN(500)) * time.Millisecond)
	}
	if p == nil {
		c.Gone = []sources.Ref{{Source: "s", Name: name}}
	} else {
		c.Set = []*sources.Primitive{now(p)}
	}
	switch w.IntN(12) {
	case 0:
		w.script.Fail(errors.New("reset")) // and what changed is not told
		return
	case 1:
		w.script.Silence(true)
	case 2, 3, 4:
		w.script.Silence(false)
	}
	w.script.Push(c)
}

// lived is what a Hub told.
type lived struct {
	run    int64
	events []sources.Event
	killed bool
}

// TestWhatIsStoredIsWhatHappened drives Hubs with random changes, outages, full disks, restarts and kills
// over one file, and compares what the file answers with what they told and with what a replay makes of it.
func TestWhatIsStoredIsWhatHappened(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "it computes and compares in one goroutine")
	seeds := []uint64{0, 1, 2, 25, 28, 103} // the last ones found a mistake once
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "history.db")
			synctest.Test(t, func(t *testing.T) {
				w := &world{Rand: rand.New(rand.NewPCG(seed, 7)), rows: map[string]*sources.Primitive{}}
				store := sqlite.NewReader(path)
				var all []lived
				for run := range 4 {
					all = append(all, w.run(t, store, path, int64(run+1)))
					for range w.IntN(5) { // nobody looks meanwhile
						w.step(false)
					}
					time.Sleep(time.Duration(w.IntN(100)+1) * time.Second)
				}
				sameEvents(t, store, all)
				if err := store.Close(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// run runs a Hub and a recorder for some minutes.
func (w *world) run(t *testing.T, store *sqlite.Reader, path string, id int64) lived {
	t.Helper()
	w.full.Store(false)
	w.killed.Store(false)
	w.script = sourcetest.NewScript("one", "two")
	w.script.OnConnect(w.listing)
	r := &Recorder{Path: path, Wrap: func(s record.Output) record.Output { return fallible{s, w} }}
	o, err := r.Begin()
	if err != nil {
		t.Fatal(err)
	}
	hub := sources.NewHub(t.Context(), o)
	sub := hub.Subscribe(0)
	stop := r.Record(hub)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		done <- sources.Run(ctx, hub, []sources.Spec{{Name: "s", Type: "redis", Address: "a:1", Source: w.script, Silence: 5 * time.Second}})
	}() // received below
	for range 30 + w.IntN(60) {
		time.Sleep(time.Duration(w.IntN(4000)) * time.Millisecond)
		w.step(true)
		w.full.Store(w.IntN(15) == 0)
	}
	w.full.Store(false)
	w.script.Silence(false)
	time.Sleep(15 * time.Second) // all is written by now
	sameState(t, store, hub, id)
	w.sameTotals(t, store)
	sameDark(t, store)
	w.killed.Store(w.IntN(3) == 0)
	for range 3 {
		w.step(true)
		time.Sleep(time.Second)
	}
	cancel()
	if err := errors.Join(<-done, stop()); err != nil {
		t.Error(err)
	}
	hub.Close()
	events, missed := sub.Events(0)
	if missed > 0 {
		t.Errorf("%d events are missed", missed)
	}
	return lived{id, slices.DeleteFunc(events, func(e sources.Event) bool { return e.Kind == sources.EventRenewed }), w.killed.Load()}
}

// sameEvents compares the events that were told with those that are stored.
func sameEvents(t *testing.T, store *sqlite.Reader, all []lived) {
	t.Helper()
	events, err := store.Events(t.Context(), time.Now(), 100_000, 0, history.EventFilter{})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range all {
		var stored []sources.Event
		for _, e := range events {
			if e.Run == l.run {
				stored = append(stored, e.Event)
			}
		}
		slices.SortFunc(stored, func(a, b sources.Event) int { return int(a.Seq) - int(b.Seq) })
		if n := len(stored); l.killed {
			l.events = l.events[:min(n, len(l.events))]
		}
		if len(stored) != len(l.events) {
			t.Errorf("run %d has stored %d events, of %d that happened", l.run, len(stored), len(l.events))
			continue
		}
		for i := range stored {
			l.events[i].Mono = 0                        // it is not stored
			if e := &l.events[i]; e.After.Equal(e.At) { // it is stored as the instant before
				e.After = stored[i].After
			}
			if a, b := fmt.Sprintf("%+v", stored[i]), fmt.Sprintf("%+v", l.events[i]); a != b {
				t.Errorf("run %d: stored is\n%s, and what happened is\n%s", l.run, a, b)
			}
		}
	}
}

// sameState compares what the file says of the rows with what the Hub that is recorded says, and with what a
// replay makes of it.
func sameState(t *testing.T, store *sqlite.Reader, hub *sources.Hub, run int64) {
	t.Helper()
	end, err := history.LastKnown(t.Context(), store, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	live, again := hub.State(), sources.NewReplayerAt(end, sources.HubOptions{}).Hub()
	replayed := again.State()
	for _, row := range live.Rows {
		if row == nil {
			continue
		}
		other := again.Row(replayed, row.Ref)
		if other == nil || !reflect.DeepEqual(row.Owners, other.Owners) || !reflect.DeepEqual(row.Terms, other.Terms) {
			t.Errorf("run %d: %v is replayed as\n%+v, not\n%+v", run, row.Ref, other, row)
			continue
		}
		sameTerms(t, store, row)
	}
}

// sameTerms compares the terms of a row with those that are stored, which may be more.
func sameTerms(t *testing.T, store *sqlite.Reader, row *sources.Row) {
	t.Helper()
	lanes, err := store.Lanes(t.Context(), []sources.Ref{row.Ref}, history.Span{From: time.Unix(0, 0), To: time.Now().Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	said, l := row.Terms, &lanes[0]
	if row.Kind == sources.KindSemaphore {
		said = row.OwnerTerms()
	}
	stored := l.Terms[max(len(l.Terms)-len(said), 0):]
	if a, b := termsText(stored), termsText(said); a != b {
		t.Errorf("%v: stored\n%s\nsaid\n%s", row.Ref, a, b)
	}
}

// termsText has a line for each term, in the order of their starts.
func termsText(list []sources.Term) string {
	var lines []string
	for _, t := range list {
		t.Hue = 0 // which is of what is listed
		lines = append(lines, fmt.Sprintf("%v %+v", t.Start.At.Format("15:04:05.000000000"), t))
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}
