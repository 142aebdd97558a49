package pgsource

import (
	"strings"
	"testing"
	"time"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

// turns writes a queue as it is shown: the processes of each turn, with an s behind those
// that share.
func turns(q *sources.Queue) string {
	var list []string
	last := -1
	for _, w := range q.Waiters {
		text := queue([]sources.Waiter{w})
		if w.Turn == last && len(list) > 0 {
			list[len(list)-1] += "+" + text
		} else {
			list = append(list, text)
		}
		last = w.Turn
	}
	return strings.Join(list, " ")
}

// selects puts the cursor on a row.
func (r *rig) selects(name string) {
	ref := sources.Ref{Source: "src", Space: "postgres", Name: name}
	r.Hub.Focus([]sources.Ref{ref}, ref)
}

// ordered waits until the queue of name is shown in the order that the server tells.
func (r *rig) ordered(name, what string, ok func(q *sources.Queue) bool) *sources.Row {
	return r.row("", name, what, func(row *sources.Row, _ *sources.State) bool { return row.Queue.How == sources.Told && ok(&row.Queue) })
}

func TestQueueIsTheServersOnlyWhereTheRowIsSelected(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	for _, key := range []string{"900", "901"} {
		r.session("owner").do("select pg_advisory_lock(" + key + ")")
		for range 2 {
			r.wait(r.session("w"), "select pg_advisory_lock("+key+")")
		}
	}
	r.session("owner").do("select pg_advisory_lock(902)")
	r.wait(r.session("w"), "select pg_advisory_lock(902)")
	r.watch(Options{}).synced()
	inferred := func(row *sources.Row, _ *sources.State) bool {
		return row.Queue.Len == 2 && row.Queue.How == sources.Inferred
	}
	all := func(q *sources.Queue) bool { return q.Len == 2 }
	r.row("", "900", "inferred", inferred)
	r.selects("900")
	r.ordered("900", "told", all)
	r.row("", "901", "inferred", inferred)
	r.selects("901")
	r.ordered("901", "told", all)
	r.row("", "900", "inferred again", inferred)
	r.ordered("902", "one that waits alone is the next for sure", func(q *sources.Queue) bool { return q.Len == 1 })
	r.root.do("select pg_terminate_backend(pid) from pg_stat_activity where application_name = '" + clientName + "'")
	r.Event(sources.EventSourceDown, "")
	r.row("", "901", "told again", func(row *sources.Row, s *sources.State) bool {
		return row.Queue.How == sources.Told && row.Status(s) == sources.StatusHeld
	})
}

// An owner that asks for more goes ahead of those that wait for it, and stays there when they
// have left.
func TestOwnerThatAsksForMoreIsNext(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	a := r.session("a").do("select pg_advisory_lock_shared(900)")
	b := r.session("b").do("select pg_advisory_lock_shared(900)")
	x, s := r.session("x"), r.session("s")
	r.wait(x, "select pg_advisory_lock(900)")
	r.wait(s, "select pg_advisory_lock_shared(900)")
	done := r.wait(a, "select pg_advisory_lock(900)")
	r.watch(Options{}).synced()
	r.selects("900")
	want := pids(a.pid, x.pid, pids(s.pid)+"s")
	row := r.ordered("900", "the owner first", func(q *sources.Queue) bool { return turns(q) == want })
	if got := attr(row.Queue.Waiters[0].Attrs, "blocked by"); got != pids(b.pid) {
		t.Errorf("the first is blocked by %s, want %d", got, b.pid)
	}
	r.root.do("select pg_cancel_backend(" + utoa(x.pid) + ")")
	want = pids(a.pid, pids(s.pid)+"s")
	r.ordered("900", "the owner first, also after the one that it went ahead of has left", func(q *sources.Queue) bool { return turns(q) == want })
	b.do("select pg_advisory_unlock_shared(900)")
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestSharedWaitersThatGoTogetherHaveOneTurn(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	r.session("owner").do("select pg_advisory_lock(900)")
	s1, s2, x1, s3 := r.session("s1"), r.session("s2"), r.session("x1"), r.session("s3")
	r.wait(s1, "select pg_advisory_lock_shared(900)")
	r.wait(s2, "select pg_advisory_lock_shared(900)")
	r.wait(x1, "select pg_advisory_lock(900)")
	r.wait(s3, "select pg_advisory_lock_shared(900)")
	r.watch(Options{}).synced()
	r.selects("900")
	want := pids(pids(s1.pid)+"s+"+pids(s2.pid)+"s", x1.pid, pids(s3.pid)+"s")
	r.ordered("900", want, func(q *sources.Queue) bool { return turns(q) == want })
}

// No second has more calls than the server is to bear, however long the queue is, and the
// order is told all the same.
func TestOrderOfALongQueueIsAskedForLittleByLittle(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.PostgresOptions{Config: []string{"track_functions = none", "max_connections = 80"}})
	r.session("owner").do("select pg_advisory_lock(900)")
	var came []any
	for range 2*blockingMost + 5 {
		w := r.session("w")
		r.wait(w, "select pg_advisory_lock(900)")
		came = append(came, w.pid)
	}
	r.watch(Options{PollMin: 50 * time.Millisecond}).synced()
	began := time.Now()
	r.selects("900")
	r.ordered("900", "told", func(q *sources.Queue) bool { return turns(q) == pids(came...) })
	if d := time.Since(began); d < 2*time.Second {
		t.Errorf("%d calls were made in %v", len(came), d)
	}
}
