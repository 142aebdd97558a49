package pgsource

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"coordtop/internal/localserver"
	"coordtop/sources"
)

func TestOwnersAndQueueAreShownInOrder(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	a := r.session("owner").do("select pg_advisory_lock(4242)")
	x, s, y, z := r.session("x"), r.session("s"), r.session("y"), r.session("z")
	r.wait(x, "select pg_advisory_lock(4242)")
	r.wait(s, "select pg_advisory_lock_shared(4242)")
	r.wait(y, "select pg_advisory_lock(4242)")
	r.wait(z, "select pg_advisory_lock_shared(4242)")
	r.watch(Options{}).synced()
	r.selects("4242")
	row := r.ordered("4242", "held", func(q *sources.Queue) bool { return q.Len == 4 })
	if got := owners(row.Primitive); got != pids(a.pid) {
		t.Errorf("owners %s, want %d", got, a.pid)
	}
	if got, want := queue(row.Queue.Waiters), pids(x.pid, pids(s.pid)+"s", y.pid, pids(z.pid)+"s"); got != want {
		t.Errorf("queue %s, want %s", got, want)
	}
	waitsFor := []string{pids(a.pid), pids(a.pid, x.pid), pids(a.pid, x.pid, s.pid), pids(a.pid, x.pid, y.pid)}
	for i, w := range row.Queue.Waiters {
		if got := attr(w.Attrs, sources.Vacuum); got != "" && strings.Trim(got, "0123456789") != "" {
			t.Errorf("waiter %d keeps dead rows since %q, which is no number", i, got)
		} else if got == "" {
			t.Errorf("waiter %d has no transaction from which on dead rows are kept", i)
		}
		if got := attr(w.Attrs, "blocked by"); got != waitsFor[i] {
			t.Errorf("waiter %d is blocked by %s, want %s", i, got, waitsFor[i])
		}
		if w.Since.How != sources.Told || time.Since(w.Since.At) > testLimit || time.Since(w.Since.At) < 0 {
			t.Errorf("waiter %d waits since %+v", i, w.Since)
		}
	}
	for i, want := range []string{pids(a.pid), pids(a.pid, x.pid)} { // the server agrees
		if got := one[string](r.root, "select array_to_string(pg_blocking_pids($1), ' ')", []uint32{x.pid, s.pid}[i]); got != want {
			t.Errorf("the server says that waiter %d is blocked by %s, want %s", i, got, want)
		}
	}
}

func TestEveryFormOfAKeyIsShown(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	keys := map[string]string{
		"4242": "4242", "0": "0", "-1": "-1", "-9223372036854775808": "-9223372036854775808", "9223372036854775807": "9223372036854775807",
		"17:-4": "17, -4", "-1:-2": "-1, -2", "0:72707369": "0, 72707369", "72707369": "72707369", "2147483647:-2147483648": "2147483647, -2147483648",
	}
	p := r.session("owner")
	for _, sql := range keys {
		p.do("select pg_advisory_lock(" + sql + ")")
	}
	r.watch(Options{}).synced()
	for name := range keys {
		row := r.row("", name, "held", is(sources.StatusHeld))
		if owners(row.Primitive) != pids(p.pid) || row.Limit != 1 || row.Taken != 1 || row.Kind != sources.KindMutex {
			t.Errorf("%s: %+v", name, *row.Primitive)
		}
	}
	if n := len(r.Hub.State().Rows); n != len(keys) {
		t.Errorf("%d rows, want %d", n, len(keys))
	}
}

func TestTwoOwnersShareALock(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	a := r.session("a").do("select pg_advisory_lock_shared(4242)")
	b := r.session("b").do("select pg_advisory_lock_shared(4242)")
	r.watch(Options{Selections: []Selection{{Pattern: "4242"}}}).synced()
	row := r.row("", "4242", "held", is(sources.StatusHeld))
	if len(row.Owners) != 2 || row.Limit != sources.NoLimit || row.Taken != 2 {
		t.Fatalf("%+v", *row.Primitive)
	}
	for i, p := range []*person{a, b} {
		o := row.Owners[i]
		if o.Mode != sources.Shared || o.Label != p.name+" pid "+pids(p.pid) || o.ID != o.Session || !o.NoExpiry {
			t.Errorf("owner %d: %+v", i, o)
		}
	}
	b.do("select pg_advisory_unlock_shared(4242)")
	if e := r.Event(sources.EventReleased, "4242"); e.Previous.ID != row.Owners[1].ID || e.Cause != sources.CauseReleased || e.How != sources.Inferred {
		t.Errorf("%+v", e)
	}
}

func TestSessionThatOwnsInBothModesOwnsTwiceAndIsNoConflict(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	p := r.session("both").do("select pg_advisory_lock(4242); select pg_advisory_lock_shared(4242)")
	q := r.session("upgrades").do("select pg_advisory_lock_shared(5151)")
	r.watch(Options{}).synced()
	row := r.row("", "4242", "held", is(sources.StatusHeld))
	if got, want := owners(row.Primitive), pids(p.pid, pids(p.pid)+"s"); got != want || row.Limit != 1 || row.Taken != 1 {
		t.Errorf("owners %s, want %s: %+v", got, want, *row.Primitive)
	}
	if o := row.Owners; o[0].Session != o[1].Session || o[0].ID != o[0].Session || o[1].ID != o[1].Session+" shared" {
		t.Errorf("one session, two ownerships: %+v", row.Owners)
	}
	p.do("select pg_advisory_unlock(4242)")
	if e := r.Event(sources.EventReleased, "4242"); e.Previous.ID != row.Owners[0].ID {
		t.Errorf("the exclusive ownership ended: %+v", e)
	}
	q.do("select pg_advisory_lock(5151)")
	e := r.Event(sources.EventAcquired, "5151")
	if !strings.HasSuffix(e.Owner.ID, " exclusive") {
		t.Errorf("the exclusive ownership came second: %+v", e)
	}
	r.row("", "5151", "held", is(sources.StatusHeld))
}

func TestEveryDatabaseOfTheServerIsShown(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.PostgresOptions{Setup: []string{"create database app"}})
	a := r.session("a").do("select pg_advisory_lock(4242)")
	b := r.sessionAt(r.server.URLFor("postgres", "", "app"), "b").do("select pg_advisory_lock(4242)")
	r.watch(Options{Selections: []Selection{{Pattern: "4242", Kind: sources.KindElection, Expected: true}}}).synced()
	for space, p := range map[string]*person{"postgres": a, "app": b} {
		row := r.row(space, "4242", "led", is(sources.StatusLed))
		if owners(row.Primitive) != pids(p.pid) || row.Expected != (space == "postgres") {
			t.Errorf("%s: %+v", space, *row.Primitive)
		}
	}
}

func TestSelectedLocksAreThereFromTheStart(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	r.session("other").do("select pg_advisory_lock(5151)")
	r.watch(Options{Selections: []Selection{{Pattern: "4242", Kind: sources.KindElection, Expected: true}, {Pattern: "ledger/compactor"}}}).synced()
	row := r.row("", "4242", "without a leader", is(sources.StatusNoLeader))
	if row.Kind != sources.KindElection || !row.Expected || row.ForgetAfter != never || row.OwnersHow != sources.Told || row.Queue.How != sources.Told {
		t.Errorf("%+v", *row.Primitive)
	}
	if row := r.row("", "ledger/compactor", "free", is(sources.StatusFree)); row.Alias != "key "+one[string](r.root, "select hashtextextended('ledger/compactor', 0)::text") {
		t.Errorf("its number is told as %q", row.Alias)
	}
	if n := len(r.Hub.State().Rows); n != 2 {
		t.Errorf("%d rows: what was not selected is shown too", n)
	}
	p := r.session("compactor").do("select pg_advisory_lock(hashtextextended('ledger/compactor', 0))")
	if e := r.Event(sources.EventAcquired, "ledger/compactor"); !strings.Contains(e.Owner.Label, pids(p.pid)) {
		t.Errorf("%+v", e)
	}
}

func TestLockThatNobodyOwnsIsForgotten(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	p := r.session("a").do("select pg_advisory_lock(4242), pg_advisory_lock(5151)")
	r.watch(Options{Forget: time.Second, Selections: []Selection{{Pattern: "5151"}, {Pattern: "*"}}}).synced()
	p.do("select pg_advisory_unlock_all()")
	r.row("", "5151", "free", is(sources.StatusFree))
	r.State("4242 to be gone", func(s *sources.State) bool {
		n := 0
		for _, row := range s.Rows {
			if row != nil {
				n++
			}
		}
		return n == 1
	})
	for _, e := range r.Drain() {
		if e.Kind == sources.EventDeleted {
			t.Errorf("an advisory lock is not deleted: %+v", e)
		}
	}
	p.do("select pg_advisory_lock(4242)")
	r.Event(sources.EventAcquired, "4242")
}

func TestNamesStandBesideTheNumbers(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	p := r.session("a").do("select pg_advisory_lock(4242, 17), pg_advisory_lock(72707369), pg_advisory_lock(1), pg_advisory_lock(987654321)")
	r.session("airflow-scheduler").do("select pg_advisory_lock(2)")
	r.watch(Options{Names: map[string]string{"4242:17": "ledger/compactor"}}).synced()
	for name, want := range map[string]struct {
		text string
		how  sources.Known
	}{
		"4242:17":   {"ledger/compactor", sources.Told},
		"72707369":  {"Prisma Migrate", sources.Inferred},
		"2":         {"likely Airflow scheduler", sources.Inferred},
		"1":         {"", sources.Unknown}, // nothing of the session says whose it is
		"987654321": {"", sources.Unknown},
	} {
		if row := r.row("", name, "held", is(sources.StatusHeld)); row.Alias != want.text || row.AliasHow != want.how {
			t.Errorf("%s is called %q, %v; want %q, %v", name, row.Alias, row.AliasHow, want.text, want.how)
		}
	}
	p.do("select pg_advisory_unlock(72707369)")
	if e := r.Event(sources.EventReleased, "72707369"); e.Alias != "Prisma Migrate" || e.AliasHow != sources.Inferred {
		t.Errorf("the event calls it %q, %v", e.Alias, e.AliasHow)
	}
}

func TestBackendsFactsAreShown(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	idle := r.session("idler").do("select pg_advisory_lock(1001)")
	inside := r.session("inside").do("begin; select pg_advisory_xact_lock(1002)")
	r.watch(Options{}).synced()
	row := r.row("", "1001", "held", is(sources.StatusHeld))
	o := row.Owners[0]
	start := one[time.Time](r.root, "select backend_start from pg_stat_activity where pid = $1", idle.pid)
	for key, want := range map[string]string{
		"pid": pids(idle.pid), "application": "idler", "user": "postgres", "state": "idle", "query": "select pg_advisory_lock(1001)", "level": "session",
		"transaction start": "", "waits for": "", "backend type": "",
	} {
		if got := attr(o.Attrs, key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if client := attr(o.Attrs, "client"); !strings.HasPrefix(client, "127.0.0.1:") {
		t.Errorf("client %q", client)
	}
	for _, key := range []string{"backend start", "query start", "state change"} {
		if at, err := time.Parse(time.RFC3339, attr(o.Attrs, key)); err != nil || time.Since(at).Abs() > testLimit {
			t.Errorf("%s: %v, %v", key, at, err)
		}
	}
	if o.Since.How != sources.AtLeast || o.Since.After().Sub(start).Abs() > time.Second {
		t.Errorf("owned since %+v, the backend began at %v", o.Since, start)
	}
	if want := "pid=" + pids(idle.pid) + ",start="; !strings.HasPrefix(o.Guard, want) || !strings.HasSuffix(o.Guard, ",key=1001,mode=exclusive") {
		t.Errorf("guard %q", o.Guard)
	}
	other := r.row("", "1002", "held", is(sources.StatusHeld)).Owners[0]
	if attr(other.Attrs, "pid") != pids(inside.pid) || attr(other.Attrs, "state") != "idle in transaction" || other.Idle != sources.IdleInTransaction ||
		attr(other.Attrs, "transaction start") == "" || attr(other.Attrs, "level") != "" {
		t.Errorf("%+v", other.Attrs)
	}
}

func TestPreparedTransactionIsAnOwner(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.PostgresOptions{Config: []string{"max_prepared_transactions = 5"}})
	r.session("a").do("begin; select pg_advisory_xact_lock(4242); prepare transaction 'order, 77'")
	w := r.session("w")
	done := r.wait(w, "select pg_advisory_lock(4242)")
	r.watch(Options{}).synced()
	row := r.row("", "4242", "held", is(sources.StatusHeld))
	o := row.Owners[0]
	if len(row.Owners) != 1 || o.ID != "prepared order, 77" || o.Label != o.ID || o.Session != "" || attr(o.Attrs, "gid") != "order, 77" {
		t.Errorf("%+v", row.Owners)
	}
	if !strings.HasPrefix(o.Guard, "gid=order%2C%2077,db=") {
		t.Errorf("guard %q", o.Guard)
	}
	if got := attr(row.Queue.Waiters[0].Attrs, "blocked by"); got != "prepared order, 77" {
		t.Errorf("blocked by %q", got)
	}
	r.root.do("rollback prepared 'order, 77'")
	e := r.Event(sources.EventOwnerChanged, "4242")
	if e.Previous.ID != o.ID || e.Cause != sources.CauseReleased || !strings.Contains(e.Owner.Label, pids(w.pid)) {
		t.Errorf("%+v", e)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func TestRoleWithoutRightsSeesWhatItMayAndSaysSo(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.PostgresOptions{Setup: []string{"create role alice login", "create role bob login"}})
	owner := r.session("api").do("select pg_advisory_lock(4242)")
	r.wait(r.session("w"), "select pg_advisory_lock(4242)")
	mine := r.sessionAt(r.server.URLFor("alice", "", "postgres"), "mine").do("select pg_advisory_lock(5151)")
	r.watch(Options{URL: r.server.URLFor("alice", "", "postgres")}).synced()
	row := r.row("", "4242", "held", is(sources.StatusHeld))
	o := row.Owners[0]
	if o.Label != "api pid "+pids(owner.pid) || o.Guard != "" || !strings.HasPrefix(o.ID, pids(owner.pid)+"~") {
		t.Errorf("%+v", o)
	}
	if o.Since.How != sources.AtLeast || !o.Since.After().IsZero() {
		t.Errorf("owned since %+v although the start of the backend is hidden", o.Since)
	}
	for _, key := range []string{"client", "state", "query", "backend start", "level"} {
		if got := attr(o.Attrs, key); got != "" {
			t.Errorf("%s is hidden and told as %q", key, got)
		}
	}
	if attr(o.Attrs, "hidden") == "" || row.Queue.Len != 1 {
		t.Errorf("%+v", *row.Primitive)
	}
	if own := r.row("", "5151", "held", is(sources.StatusHeld)).Owners[0]; own.Guard == "" || attr(own.Attrs, "state") != "idle" || attr(own.Attrs, "pid") != pids(mine.pid) {
		t.Errorf("a session of our own role: %+v", own)
	}
	r.About("", "a warning", func(a sources.About) bool {
		return len(a.Warnings) == 1 && strings.Contains(a.Warnings[0], "alice") && strings.Contains(a.Warnings[0], "pg_monitor")
	})
	r.root.do("grant pg_monitor to alice")
	r.row("", "4242", "known", func(row *sources.Row, _ *sources.State) bool { return attr(row.Owners[0].Attrs, "state") == "idle" })
	for _, e := range r.Drain() {
		if e.Kind.EndsOwner() {
			t.Errorf("the owner is the same when more is known of it: %+v", e)
		}
	}
}

func TestHostileNamesAndQueriesStayText(t *testing.T) {
	t.Parallel()
	r := serve(t, localserver.PostgresOptions{Setup: []string{"create database \"evil\x1b]0;db\""}})
	p := r.session("x|y|z\x1b[31m")
	p.do("select pg_advisory_lock(4242), 1 as \"\x1b]0;owned\x07 \u202e\"" + strings.Repeat(", 1 as long", 300))
	r.sessionAt(r.server.URLFor("postgres", "", "evil\x1b]0;db"), "e").do("select pg_advisory_lock(4242)")
	r.watch(Options{}).synced()
	row := r.row("", "4242", "held", is(sources.StatusHeld))
	query := attr(row.Owners[0].Attrs, "query")
	if strings.ContainsAny(query, "\x1b\x07\u202e\n") || len(query) > 400 || !strings.HasSuffix(query, "…") {
		t.Errorf("query %q", query)
	}
	if o := row.Owners[0]; strings.Contains(o.Label, "\x1b") || !strings.HasPrefix(o.Label, "x pid ") || !strings.HasPrefix(string(o.Data.Head), "y|z") {
		t.Errorf("%+v", o)
	}
	r.row("evil\x1b]0;db", "4242", "held", is(sources.StatusHeld))
}

func TestAllConnectionsOfAProgramHaveOneLetter(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	r.watch(Options{}).synced()
	for i, name := range []string{"worker", "other", "worker|shift 2"} { // each in a connection of its own, with a port of its own
		p := r.session(name).do("select pg_advisory_lock(77)")
		r.Event(sources.EventAcquired, "77")
		p.do("select pg_advisory_unlock(77)")
		r.row("", "77", fmt.Sprint(i, " was here"), func(row *sources.Row, _ *sources.State) bool { return len(row.Terms) == i+1 && len(row.Owners) == 0 })
	}
	terms := r.row("", "77", "free", is(sources.StatusFree)).Terms
	if terms[0].Hue != terms[2].Hue || terms[0].Hue == terms[1].Hue || terms[0].Owner.ID == terms[2].Owner.ID {
		t.Errorf("hues %d, %d, %d of %s, %s, %s", terms[0].Hue, terms[1].Hue, terms[2].Hue, terms[0].Owner.ID, terms[1].Owner.ID, terms[2].Owner.ID)
	}
}

func TestTwoSharedOwnersOfAnElectionAreInConflict(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	a := r.session("a").do("select pg_advisory_lock_shared(4242)")
	r.watch(Options{Selections: election()}).synced()
	r.row("", "4242", "led", is(sources.StatusLed))
	b := r.session("b").do("select pg_advisory_lock_shared(4242)")
	row := r.row("", "4242", "in conflict", is(sources.StatusConflict))
	if got := owners(row.Primitive); got != pids(pids(a.pid)+"s", pids(b.pid)+"s") && got != pids(pids(b.pid)+"s", pids(a.pid)+"s") {
		t.Errorf("owners %s, want both", got)
	}
	for _, o := range row.Owners {
		if o.Since.At.IsZero() {
			t.Errorf("since when %s owns it is not said: nothing can draw when the conflict began", o.Label)
		}
	}
	a.leave()
	row = r.row("", "4242", "led by the one that is left", is(sources.StatusLed))
	if got := owners(row.Primitive); got != pids(b.pid)+"s" {
		t.Errorf("owners %s, want %d alone", got, b.pid)
	}
}
