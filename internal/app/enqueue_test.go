package app

import (
	"strings"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/internal/emulator/dflocktest"
	"coordtop/internal/emulator/ydbtest"
	"coordtop/internal/localserver"
)

// enqueued starts an acquire that takes a place in the queue of what another owns, and one that leaves its place. queue
// and owners count those at the server; release ends what the other owns.
func enqueued(t *testing.T, url string, queue, owners func() int, release func()) {
	t.Helper()
	h := holds(t, "acquire", "--write", "--yes", "--enqueue", url)
	if l := h.line(1, "enqueued"); l.Place != 1 || l.Until != nil || l.Owner != nil || queue() != 1 {
		t.Errorf("it says %+v, and %d wait", l, queue())
	}
	leaves := holds(t, "acquire", "--write", "--yes", "--enqueue", url)
	if l := leaves.line(1, "enqueued"); l.Place != 2 || queue() != 2 {
		t.Errorf("it says %+v, and %d wait", l, queue())
	}
	leaves.types("resign")
	leaves.line(2, "resigned")
	leaves.ends(0)
	eventually(t, "one left the queue", func() bool { return queue() == 1 })
	release()
	eventually(t, "it is granted at the service", func() bool { return owners() == 1 && queue() == 0 })
	h.types("proclaim x") // it is not ours as long as nobody waits for it
	h.line(2, "refused")
	h.types("wait")
	if l := h.line(3, "acquired"); l.Until == nil {
		t.Errorf("it says %+v", l)
	}
	h.types("wait")
	h.line(4, "refused")
	h.types("resign")
	h.line(5, "resigning")
	h.line(6, "resigned")
	h.ends(0)
	if text := h.errs.String(); strings.Contains(text, "did not arrive") { // nobody had asked for it yet
		t.Errorf("it says %s", text)
	}
}

// released returns a function that releases a lease of another.
func released(t *testing.T, l *coord.Lease) func() {
	return func() {
		if err := l.Release(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestAPlaceInAQueueIsTakenFirstAndWaitedForLater(t *testing.T) {
	t.Parallel()
	ydb := ydbForTest(t, ydbtest.Options{})
	another := peer(t, ydb, "another")
	job, err := another.Mutex("job", coord.MutexOptions{}).Lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, lease := range map[string]*coord.Lease{"quota": permits(t, another, "quota", 10, ""), "job": job} {
		t.Run("ydb "+name, func(t *testing.T) {
			t.Parallel()
			selects := map[string]string{"quota": "&semaphore=", "job": "&mutex="}[name] + name
			enqueued(t, ydb.URL(0)+"?node="+ydbNode+selects, func() int { return len(ydb.Waiters(ydbNode, name)) },
				func() int { return len(ydb.Owners(ydbNode, name)) }, released(t, lease))
		})
	}
	t.Run("dflockd", func(t *testing.T) {
		t.Parallel()
		server, url := dflockd(t, dflocktest.Options{})
		if _, err := server.Own("m", 1, time.Hour); err != nil {
			t.Fatal(err)
		}
		look := func() dflocktest.Entry { e, _ := server.Entry("m"); return e }
		enqueued(t, url+"?mutex=m", func() int { return len(look().Waiters) }, func() int { return len(look().Owners) }, func() {
			if err := server.Take("m"); err != nil {
				t.Error(err)
			}
		})
	})
	for name, url := range map[string]string{
		"redis":    localserver.RedisForTest(t, localserver.RedisOptions{}).URL() + "?mutex=m",
		"postgres": localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL() + "&mutex=4242",
	} {
		w := newWorld(t)
		if code := w.main(t.Context(), "acquire", "--write", "--yes", "--enqueue", url); code != exitCannot {
			t.Errorf("%s: exit code %d: %s", name, code, w.stderr)
		}
	}
}
