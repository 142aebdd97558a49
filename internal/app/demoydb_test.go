package app

import (
	"errors"
	"net"
	"regexp"
	"syscall"
	"testing"

	"github.com/ydb-platform/ydb-go-sdk/v3"
	"github.com/ydb-platform/ydb-go-sdk/v3/coordination"
	"github.com/ydb-platform/ydb-go-sdk/v3/coordination/options"

	"coordtop/coord/ydbcoord"
)

// semaphores are those of the demo's coordination node, by name.
func (d *demoRun) semaphores(t *testing.T) map[string]lockJSON {
	t.Helper()
	list := map[string]lockJSON{}
	for _, l := range look(t, newWorld(t), d.views[2]).Primitives {
		list[l.Name] = l
	}
	return list
}

// patterns reports whether the semaphores are those that the demo promises.
func (d *demoRun) patterns(t *testing.T) bool {
	t.Helper()
	all := d.semaphores(t)
	leader, lock, pool, services := all["scheduler"], all["nightly-export"], all["connections"], all["services"]
	return leader.Kind == "election" && len(leader.Owners) == 1 && leader.Queue.Len == 2 &&
		lock.Kind == "mutex" && len(lock.Owners) <= 1 &&
		pool.Limit != nil && *pool.Limit == 10 &&
		len(services.Owners) == 3 && all["settings"].Kind == "semaphore"
}

// busy reports whether more than half of the permits of the pool are taken. Its connections
// rest for up to half a minute before they take their first.
func (d *demoRun) busy(t *testing.T) bool {
	t.Helper()
	return d.semaphores(t)["connections"].Taken > 5
}

// clients are the processes that own or await something in YDB, by what they do.
func (d *demoRun) clients(t *testing.T) map[string]int {
	t.Helper()
	return d.candidates(t, d.semaphores(t), regexp.MustCompile(`^(\S+)`))
}

func (d *demoRun) ydbRefuses(t *testing.T) bool {
	t.Helper()
	o, err := ydbcoord.ParseURL(d.ydb)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := net.Dial("tcp", o.Address)
	if err == nil {
		_ = conn.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}

// servesYDBToAnybody uses the public client of YDB's SDK, as a stranger would.
func (d *demoRun) servesYDBToAnybody(t *testing.T) {
	t.Helper()
	ctx := t.Context()
	db, err := ydb.Open(ctx, d.ydb)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close(ctx)
	if err := db.Coordination().CreateNode(ctx, "/local/mine", coordination.NodeConfig{}); err != nil {
		t.Fatal(err)
	}
	s, err := db.Coordination().Session(ctx, "/local/mine")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close(ctx)
	if err := s.CreateSemaphore(ctx, "first", 2); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AcquireSemaphore(ctx, "first", 1, options.WithAcquireData([]byte("me"))); err != nil {
		t.Fatal(err)
	}
	row := look(t, newWorld(t), d.ydb+"?node=mine&semaphore=first").Primitives
	if len(row) != 1 || len(row[0].Owners) != 1 || row[0].Owners[0].Label != "me" {
		t.Errorf("got %+v", row)
	}
}
