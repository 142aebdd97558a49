package relayed_test

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"coordtop/coord"
	"coordtop/coord/rediscoord"
	"coordtop/internal/action"
	"coordtop/internal/app/relayed"
	"coordtop/internal/history/follow"
	"coordtop/internal/history/recordtest"
	"coordtop/internal/history/sqlite"
	"coordtop/internal/localserver"
	"coordtop/internal/operate"
	"coordtop/sources"
	"coordtop/sources/redissource"
)

const patience = 30 * time.Second

var (
	election = sources.Ref{Source: "leases", Space: "0", Name: "app:leader:x"}
	hidden   = sources.Ref{Source: "leases", Space: "0", Name: "app:leader:hidden"} // the config of the board does not select it
)

// counted counts the connections of a Source.
type counted struct {
	sources.Source
	n atomic.Int64
}

func (c *counted) Connect(ctx context.Context) error {
	c.n.Add(1)
	return c.Source.Connect(ctx)
}

// board is a board over a recorder of one election on a Redis.
type board struct {
	*relayed.Operator
	t         *testing.T
	feed      *relayed.Feed
	client    *redis.Client
	connected *atomic.Int64
	stop      func() // ends the recorder
}

// watch runs a source under a Hub until the test ends, or the returned function is called.
func watch(t *testing.T, hub *sources.Hub, spec sources.Spec) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := sources.Run(ctx, hub, []sources.Spec{spec}); err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("running the source: %v", err)
		}
	})
	stop = func() { cancel(); running.Wait(); hub.Close() }
	t.Cleanup(stop)
	return stop
}

// newBoard returns a board whose own config has the server at address.
func newBoard(t *testing.T, address string) *board {
	t.Helper()
	server := localserver.RedisForTest(t, localserver.RedisOptions{})
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	t.Cleanup(func() { _ = client.Close() })
	options, err := rediscoord.ParseURL(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	source := func() *redissource.Source {
		return redissource.New(redissource.Options{Name: election.Source, Client: options, Selections: []redissource.Selection{{Pattern: "app:leader:*", Kind: sources.KindElection}}})
	}
	record := &recordtest.Recorder{Path: filepath.Join(t.TempDir(), "history.db")}
	o, err := record.Begin()
	if err != nil {
		t.Fatal(err)
	}
	hub := sources.NewHub(t.Context(), o)
	end := record.Record(hub)
	stopped := watch(t, hub, sources.Spec{Name: election.Source, Type: "redis", Address: "leases:6379", Source: source()})

	log := sqlite.NewReader(record.Path)
	t.Cleanup(func() { _ = log.Close() })
	var f *follow.Follower
	for f == nil {
		f = follow.New(t.Context(), follow.Options{Log: log})
		if err := f.Ready(t.Context()); err != nil { // the recorder has not begun
			f.Close()
			f = nil
		}
	}
	t.Cleanup(f.Close)
	own, connections := sources.NewHub(t.Context(), sources.HubOptions{}), &counted{Source: source()}
	sleeper := &relayed.Sleeper{Source: connections}
	watch(t, own, sources.Spec{Name: election.Source, Type: "redis", Address: address, Source: sleeper})
	added := own.Subscribe(0)
	for len(own.State().Sources) == 0 {
		<-added.Wake()
	}
	feed := relayed.NewFeed(t.Context(), f, log, own, func(p *sources.Primitive) bool { return p.Name != hidden.Name })
	t.Cleanup(feed.Close)
	acts := operate.New(t.Context(), operate.Options{View: feed.View(), Always: true, Audit: operate.NewAuditLog(filepath.Join(t.TempDir(), "state", "audit.jsonl"), operate.Actor{User: "ana", Host: "desk"}), Backends: map[string]operate.Backend{election.Source: {
		Type: "redis", Identity: "ana@desk:1", Demo: true, Nameless: true, RunsOut: true, Lease: 30 * time.Second, Caps: coord.Caps{Election: true, MaxData: 4096},
		Open: func(context.Context, string) (coord.Driver, error) {
			return rediscoord.New(options, rediscoord.Options{})
		},
	}}})
	t.Cleanup(func() { _ = acts.Close() })
	return &board{
		Operator: relayed.NewOperator(acts, feed, map[string]*relayed.Sleeper{election.Source: sleeper}), t: t, feed: feed, client: client, connected: &connections.n,
		stop: func() { stopped(); _ = end() },
	}
}

func (b *board) set(owner string) {
	b.t.Helper()
	if err := b.client.Set(b.t.Context(), election.Name, owner, time.Hour).Err(); err != nil {
		b.t.Fatal(err)
	}
}

// await waits until ok, for which something must change.
func (b *board) await(what string, ok func() bool) {
	b.t.Helper()
	limit := time.After(patience)
	for !ok() {
		select {
		case <-b.feed.Wake():
		case <-time.After(50 * time.Millisecond):
		case <-limit:
			b.t.Fatalf("%s: it never is", what)
		}
	}
}

// row returns the row as the recorder sees it.
func (b *board) row() *sources.Row { return b.feed.Row(b.feed.State(), election) }

func (b *board) choice(v action.Verb) (not string) {
	for _, c := range b.Choices(b.row()) {
		if c.Verb == v {
			return c.Not
		}
	}
	return "no such choice"
}

func owner(row *sources.Row) string {
	if row == nil || len(row.Owners) == 0 {
		return ""
	}
	return cmp.Or(row.Owners[0].Label, row.Owners[0].ID)
}

func TestABoardLooksAtTheServerItselfBeforeItActs(t *testing.T) {
	t.Parallel()
	b := newBoard(t, "leases:6379")
	b.set("host-1")
	b.await("the recorder's view", func() bool { return owner(b.row()) == "host-1" })
	if n := b.connected.Load(); n != 0 {
		t.Fatalf("%d connections of a board that only shows", n)
	}
	decided := action.TargetOf(b.row(), nil)
	if not := b.choice(action.Campaign); !strings.Contains(not, "looks at the server itself") {
		t.Errorf("before its own look a campaign is not possible: %q", not)
	}
	b.await("a campaign", func() bool { return b.choice(action.Campaign) == "" })
	if n := b.connected.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}

	b.stop() // from now on the recorder's view is old
	b.set("host-2")
	own := b.feed.Own()
	b.await("the own view", func() bool { return owner(own.Row(own.State(), election)) == "host-2" })
	if was := owner(b.row()); was != "host-1" {
		t.Fatalf("the recorder shows %q", was)
	}
	if _, err := b.Start(action.Request{Verb: action.Try, Target: decided}); !errors.Is(err, operate.ErrChanged) || !strings.Contains(err.Error(), "host-2") {
		t.Errorf("a try of what host-2 owns: %v", err)
	}
	if err := b.client.Del(t.Context(), election.Name).Err(); err != nil {
		t.Fatal(err)
	}
	b.await("a free election", func() bool { return owner(own.Row(own.State(), election)) == "" })
	if _, err := b.Start(action.Request{Verb: action.Try, Target: decided}); err != nil {
		t.Errorf("a try: %v", err)
	}
	b.await("our lease", func() bool {
		return slices.ContainsFunc(b.Status().Holdings, func(h action.Holding) bool { return h.Ref == election && !h.Waiting })
	})
	b.await("its event", func() bool {
		events, _ := b.feed.Events(0)
		return slices.ContainsFunc(events, func(e sources.Event) bool { return e.Kind == sources.EventAction })
	})
}

func TestABoardDoesNotActOnAnotherServerOfThatName(t *testing.T) {
	t.Parallel()
	b := newBoard(t, "elsewhere:6379")
	b.set("host-1")
	b.await("the recorder's view", func() bool { return owner(b.row()) == "host-1" })
	for _, c := range b.Choices(b.row()) {
		if c.Not == "" || !action.Of(c.Verb).GivesUp && !strings.Contains(c.Not, "elsewhere:6379") {
			t.Errorf("%v: %q", c.Verb, c.Not)
		}
	}
	if _, err := b.Start(action.Request{Verb: action.Campaign, Target: action.TargetOf(b.row(), nil)}); !errors.Is(err, operate.ErrNotPossible) || !strings.Contains(err.Error(), "elsewhere:6379") {
		t.Errorf("a campaign: %v", err)
	}
	if n := b.connected.Load(); n != 0 {
		t.Errorf("%d connections to another server", n)
	}
}

// TestABoardTakesWhatNobodyOwns has an election that was deleted before the board looked at the server itself.
func TestABoardTakesWhatNobodyOwns(t *testing.T) {
	t.Parallel()
	b := newBoard(t, "leases:6379")
	b.set("host-1")
	if err := b.client.Set(t.Context(), hidden.Name, "host-1", time.Hour).Err(); err != nil {
		t.Fatal(err)
	}
	b.await("the recorder's view", func() bool {
		return owner(b.row()) == "host-1" && owner(b.feed.Row(b.feed.State(), hidden)) == "host-1"
	})
	if err := b.client.Del(t.Context(), election.Name, hidden.Name).Err(); err != nil {
		t.Fatal(err)
	}
	b.await("the recorder's view of its end", func() bool {
		return owner(b.row()) == "" && owner(b.feed.Row(b.feed.State(), hidden)) == ""
	})
	decided := action.TargetOf(b.row(), nil)
	b.await("a campaign", func() bool { return b.choice(action.Campaign) == "" })
	for _, c := range b.Choices(b.feed.Row(b.feed.State(), hidden)) {
		if !action.Of(c.Verb).GivesUp && !strings.Contains(c.Not, "leaves this out") {
			t.Errorf("%v of what the config leaves out: %q", c.Verb, c.Not)
		}
	}
	if _, err := b.Start(action.Request{Verb: action.Try, Target: decided}); err != nil {
		t.Fatalf("a try: %v", err)
	}
	b.await("our lease", func() bool {
		return slices.ContainsFunc(b.Status().Holdings, func(h action.Holding) bool { return h.Ref == election && !h.Waiting })
	})
}
