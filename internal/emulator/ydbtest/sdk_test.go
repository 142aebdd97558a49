package ydbtest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ydb-platform/ydb-go-sdk/v3"
	"github.com/ydb-platform/ydb-go-sdk/v3/config"
	"github.com/ydb-platform/ydb-go-sdk/v3/coordination"
	"github.com/ydb-platform/ydb-go-sdk/v3/coordination/options"
	"google.golang.org/grpc"

	"coordtop/internal/emulator/ydbtest"
)

// The tests here use the emulator as a stranger would: with the public client of
// ydb-go-sdk, over sockets and over bufconn.

func openDriver(t *testing.T, url string, o ...ydb.Option) *ydb.Driver {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	db, err := ydb.Open(ctx, url, o...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(context.WithoutCancel(t.Context())) })
	return db
}

func session(t *testing.T, db *ydb.Driver, o ...options.SessionOption) coordination.Session {
	t.Helper()
	s, err := db.Coordination().Session(t.Context(), node, o...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.WithoutCancel(t.Context())) })
	return s
}

func TestPublicClientAcquiresReleasesAndDescribes(t *testing.T) {
	t.Parallel()
	b := start(t, ydbtest.Options{})
	db := openDriver(t, b.URL(0))
	s := session(t, db)
	ctx := t.Context()
	if err := s.CreateSemaphore(ctx, "s", 2, options.WithCreateData([]byte("about"))); err != nil {
		t.Fatal(err)
	}
	lease, err := s.AcquireSemaphore(ctx, "s", 1, options.WithAcquireData([]byte("me")))
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.DescribeSemaphore(ctx, "s", options.WithDescribeOwners(true))
	if err != nil {
		t.Fatal(err)
	}
	if d.Limit != 2 || d.Count != 1 || len(d.Owners) != 1 || string(d.Owners[0].Data) != "me" || string(d.Data) != "about" {
		t.Errorf("described %+v", d)
	}
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	if err := b.Await(ctx, func() bool { return len(b.Owners(node, "s")) == 0 }); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteSemaphore(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	if left := b.Semaphores(node); len(left) != 0 {
		t.Errorf("%+v is left", left)
	}
}

func TestPublicClientManagesNodesAndDirectories(t *testing.T) {
	t.Parallel()
	b := start(t, ydbtest.Options{})
	db := openDriver(t, b.URL(0))
	ctx := t.Context()
	c := db.Coordination()
	set := coordination.NodeConfig{SelfCheckPeriodMillis: 2000, ReadConsistencyMode: coordination.ConsistencyModeStrict}
	if err := c.CreateNode(ctx, "/local/deep/er/n", set); err != nil {
		t.Fatal(err)
	}
	if err := c.CreateNode(ctx, "/local/deep/er/n", coordination.NodeConfig{SelfCheckPeriodMillis: 9000}); err != nil {
		t.Errorf("creating an existing node: %v", err)
	}
	if err := c.AlterNode(ctx, "/local/deep/er/n", coordination.NodeConfig{SessionGracePeriodMillis: 3000}); err != nil {
		t.Fatal(err)
	}
	entry, got, err := c.DescribeNode(ctx, "/local/deep/er/n")
	if err != nil {
		t.Fatal(err)
	}
	set.SessionGracePeriodMillis = 3000
	if *got != set || entry.Name != "n" || !entry.IsCoordinationNode() || entry.Owner == "" {
		t.Errorf("described %+v and %+v", entry, got)
	}
	list, err := db.Scheme().ListDirectory(ctx, "/local")
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Children) != 2 || !list.Children[0].IsDirectory() || list.Children[0].Name != "deep" || !list.Children[1].IsCoordinationNode() {
		t.Errorf("listed %+v", list.Children)
	}
	if err := c.DropNode(ctx, "/local/deep/er/n"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.DescribeNode(ctx, "/local/deep/er/n"); !ydb.IsOperationErrorSchemeError(err) {
		t.Errorf("describing a dropped node: %v", err)
	}
}

func TestPublicClientBlocksAndTakesOver(t *testing.T) {
	t.Parallel()
	b := start(t, ydbtest.Options{})
	ctx := t.Context()
	first, second := session(t, openDriver(t, b.URL(0))), session(t, openDriver(t, b.URL(1)))
	lease, err := first.AcquireSemaphore(ctx, "e", coordination.Exclusive, options.WithEphemeral(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := second.AcquireSemaphore(ctx, "e", coordination.Exclusive, options.WithEphemeral(true), options.WithAcquireTimeout(0)); !errors.Is(err, coordination.ErrAcquireTimeout) {
		t.Errorf("a try on an owned semaphore: %v", err)
	}
	got := make(chan error, 1)
	go func() {
		next, err := second.AcquireSemaphore(ctx, "e", coordination.Exclusive, options.WithEphemeral(true), options.WithAcquireInfiniteTimeout())
		if err == nil {
			err = next.Release()
		}
		got <- err
	}()
	if err := b.Await(ctx, func() bool { return len(b.Waiters(node, "e")) == 1 }); err != nil {
		t.Fatal(err)
	}
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	if err := <-got; err != nil {
		t.Fatal(err)
	}
	if err := b.Await(ctx, func() bool { return len(b.Semaphores(node)) == 0 }); err != nil {
		t.Errorf("the ephemeral semaphore is left: %v", err)
	}
}

func TestPublicClientWatches(t *testing.T) {
	t.Parallel()
	b := start(t, ydbtest.Options{})
	s := session(t, openDriver(t, b.URL(0)))
	ctx := t.Context()
	if err := s.CreateSemaphore(ctx, "s", 1); err != nil {
		t.Fatal(err)
	}
	events := make(chan options.SemaphoreWatchEvent, 9)
	watch := func() {
		t.Helper()
		_, err := s.DescribeSemaphore(ctx, "s", options.WithSemaphoreWatch(
			options.WatchData|options.WatchOwners, func(e options.SemaphoreWatchEvent) { events <- e }))
		if err != nil {
			t.Fatal(err)
		}
	}
	watch()
	if err := s.UpdateSemaphore(ctx, "s", options.WithUpdateData([]byte("new"))); err != nil {
		t.Fatal(err)
	}
	if e := <-events; !e.DataChanged || e.OwnersChanged || e.Lost {
		t.Errorf("after an update: %+v", e)
	}
	watch()
	if _, err := s.AcquireSemaphore(ctx, "s", 1); err != nil {
		t.Fatal(err)
	}
	if e := <-events; e.DataChanged || !e.OwnersChanged || e.Lost {
		t.Errorf("after an acquire: %+v", e)
	}
	watch()
	b.CutStreams()
	if e := <-events; !e.Lost {
		t.Errorf("after a cut: %+v", e)
	}
}

func TestPublicClientComesBackAfterEveryFault(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(*bench) error{
		"cut streams":       func(b *bench) error { b.CutStreams(); return nil },
		"cut connections":   func(b *bench) error { b.CutConnections(0); return nil },
		"tablet restart":    func(b *bench) error { return b.RestartTablet(node) },
		"lost registration": func(b *bench) error { return b.LoseRegistration(0, node) },
	} {
		bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
			db := openDriver(t, b.URL(0), ydb.With(config.WithGrpcOptions(grpc.WithContextDialer(b.Dial))))
			s := session(t, db)
			lease, err := s.AcquireSemaphore(t.Context(), "e", 1, options.WithEphemeral(true))
			if err != nil {
				t.Fatal(err)
			}
			if err := fault(b); err != nil {
				t.Fatal(err)
			}
			time.Sleep(3 * time.Second)
			if got := b.Sessions(node); len(got) != 1 || !got[0].Attached || got[0].Owns != 1 || lease.Context().Err() != nil {
				t.Errorf("%s: %+v, lease %v", name, got, lease.Context().Err())
			}
			closeInBubble(t, db, s)
		})
	}
}

func TestPublicClientIsNotSentAwayForItsPings(t *testing.T) {
	t.Parallel()
	bubble(t, ydbtest.Options{}, func(t *testing.T, b *bench) {
		db := openDriver(t, b.URL(0), ydb.With(config.WithGrpcOptions(grpc.WithContextDialer(b.Dial))))
		s := session(t, db)
		time.Sleep(10 * time.Minute)
		if got := b.Sessions(node); len(got) != 1 || got[0].SeqNo > 1 {
			t.Errorf("sessions are %+v, want one that never had to come back", got)
		}
		closeInBubble(t, db, s)
	})
}

// closeInBubble ends what the driver has started before the bubble ends.
func closeInBubble(t *testing.T, db *ydb.Driver, s coordination.Session) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_ = s.Close(ctx)
	if err := db.Close(ctx); err != nil {
		t.Error(err)
	}
	synctest.Wait()
}
