package ydbtest_test

import (
	"context"
	"testing"
	"time"

	"github.com/ydb-platform/ydb-go-sdk/v3"
	"github.com/ydb-platform/ydb-go-sdk/v3/coordination"
	"github.com/ydb-platform/ydb-go-sdk/v3/coordination/options"

	"coordtop/internal/emulator/ydbtest"
)

func setup(t *testing.T) (context.Context, *ydbtest.Server, *ydb.Driver) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	server, err := ydbtest.Start(ydbtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	db, err := ydb.Open(ctx, server.URL(0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close(context.WithoutCancel(ctx)) })
	return ctx, server, db
}

func TestPublicClientAcquiresReleasesAndDescribes(t *testing.T) {
	t.Parallel()
	ctx, _, db := setup(t)
	c := db.Coordination()
	if err := c.CreateNode(ctx, "/local/dir/node", coordination.NodeConfig{}); err != nil {
		t.Fatal(err)
	}
	session, err := c.Session(ctx, "/local/dir/node")
	if err != nil {
		t.Fatal(err)
	}
	if err := session.CreateSemaphore(ctx, "s", 2, options.WithCreateData([]byte("about"))); err != nil {
		t.Fatal(err)
	}
	lease, err := session.AcquireSemaphore(ctx, "s", 1, options.WithAcquireData([]byte("me")))
	if err != nil {
		t.Fatal(err)
	}
	d, err := session.DescribeSemaphore(ctx, "s", options.WithDescribeOwners(true))
	if err != nil {
		t.Fatal(err)
	}
	if d.Limit != 2 || d.Count != 1 || len(d.Owners) != 1 || string(d.Owners[0].Data) != "me" || string(d.Data) != "about" {
		t.Errorf("described %+v", d)
	}
	if err := lease.Release(); err != nil {
		t.Fatal(err)
	}
	if err := session.DeleteSemaphore(ctx, "s"); err != nil {
		t.Fatal(err)
	}
	if err := session.Close(ctx); err != nil {
		t.Fatal(err)
	}
	list, err := db.Scheme().ListDirectory(ctx, "/local/dir")
	if err != nil {
		t.Fatal(err)
	}
	if len(list.Children) != 1 || !list.Children[0].IsCoordinationNode() {
		t.Errorf("listed %+v", list.Children)
	}
	if err := c.DropNode(ctx, "/local/dir/node"); err != nil {
		t.Fatal(err)
	}
}
