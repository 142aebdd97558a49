package pgsource

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"coordtop/coord/pgcoord"
	"coordtop/sources"
	"coordtop/sources/kit"
)

// bench is a table that is compared with looks made by hand. A look takes a millisecond; the
// server's clock is an hour ahead of ours.
type bench struct {
	*lockTable
	t     *testing.T
	now   time.Time
	focus kit.OnScreen

	evicted map[evictedKey]eviction // announced before the next look
}

const ahead = time.Hour

func setupTable(t *testing.T) *bench {
	o := Options{Name: "src"}.withDefaults()
	table := (&lockTable{o: &o}).connected(&server{oid: 5, database: "db", started: 1, major: 15}, nil)
	return &bench{lockTable: table, t: t, now: time.Date(2026, 9, 5, 12, 0, 0, 0, time.UTC)}
}

// look compares a look a second after the last one. It checks that a comparison changes
// nothing: a second one of the same says the same.
func (b *bench) look(locks []lockRow, list ...activity) lookResult {
	b.now = b.now.Add(time.Second)
	s := &snapshot{sent: b.now, got: b.now.Add(time.Millisecond), locks: locks, rows: len(locks), sessions: list, evicted: b.evicted}
	s.clock = clock{asked: s.got, got: s.got.Add(time.Millisecond), server: b.theirs(s.got)}
	table, result := b.compare(s, b.focus)
	if table2, result2 := b.compare(s, b.focus); !reflect.DeepEqual(result, result2) || !reflect.DeepEqual(table, table2) {
		b.t.Errorf("a second comparison says %+v, the first %+v", result2, result)
	}
	b.lockTable = table
	return result
}

// theirs is the server's time of an instant of ours.
func (b *bench) theirs(at time.Time) int64 { return at.Add(ahead).UnixMicro() }

func (b *bench) at(n uint32, start time.Time) activity {
	return activity{pid: n, who: identity{db: 5, database: "db", user: "u", application: fmt.Sprint("app", n), kind: "client backend", start: b.theirs(start)},
		does: doings{state: "idle"}}
}

func owns(n int64, pid uint32, m mode) lockRow {
	return lockRow{ident: ident{key: pgcoord.BigintKey(n)}, oid: 5, pid: pid, mode: m, granted: true}
}

func awaits(n int64, pid uint32, m mode, since int64) lockRow {
	return lockRow{ident: ident{key: pgcoord.BigintKey(n)}, oid: 5, pid: pid, mode: m, wait: since}
}

// published are the locks of a look's changes by name.
func published(n lookResult) map[string]*sources.Primitive {
	list := map[string]*sources.Primitive{}
	for _, c := range n.changes {
		for _, p := range c.Set {
			list[p.Name] = p
		}
	}
	return list
}

// resultText writes what a look brought: of each lock "name: owners, queue", and how owners
// ended.
func resultText(r lookResult) string {
	var list []string
	for _, c := range r.changes {
		for _, p := range c.Set {
			list = append(list, strings.TrimRight(p.Name+": "+owners(p)+", "+queue(p.Queue.Waiters), ", "))
		}
		for _, e := range c.Ended {
			list = append(list, e.Owner[:1]+" of "+e.Ref.Name+" "+e.Cause.String())
		}
	}
	if r.again {
		list = append(list, "look again")
	}
	return strings.Join(list, "; ")
}

func TestWhatTwoLooksDifferIn(t *testing.T) {
	t.Parallel()
	rows := func(list ...lockRow) []lockRow { return list }
	asleep := func(b *bench, list ...uint32) (all []activity) {
		for _, pid := range list {
			all = append(all, b.at(pid, time.Unix(0, 0)))
		}
		return all
	}
	for name, c := range map[string]struct {
		before, now         []lockRow
		livedThen, livesNow []uint32
		want                string
	}{
		"nothing":                  {before: rows(owns(7, 1, exclusive)), now: rows(owns(7, 1, exclusive)), livedThen: []uint32{1}, livesNow: []uint32{1}},
		"somebody acquires":        {now: rows(owns(7, 1, exclusive)), livesNow: []uint32{1}, want: "7: 1"},
		"the owner gives it up":    {before: rows(owns(7, 1, exclusive)), livedThen: []uint32{1}, livesNow: []uint32{1}, want: "7:; 1 of 7 released"},
		"the owner's session ends": {before: rows(owns(7, 1, exclusive)), livedThen: []uint32{1}, want: "7:; 1 of 7 session_ended"},
		"one comes and one goes": {before: rows(owns(7, 1, exclusive)), now: rows(owns(9, 1, exclusive), owns(8, 1, exclusive)), livedThen: []uint32{1}, livesNow: []uint32{1},
			want: "7:; 8: 1; 9: 1; 1 of 7 released"},
		"a waiter comes": {before: rows(owns(7, 1, exclusive)), now: rows(owns(7, 1, exclusive), awaits(7, 2, exclusive, 10)),
			livedThen: []uint32{1}, livesNow: []uint32{1, 2}, want: "7: 1, 2"},
		"the waiter gets it": {before: rows(owns(7, 1, exclusive), awaits(7, 2, exclusive, 10)), now: rows(owns(7, 2, exclusive)),
			livedThen: []uint32{1, 2}, livesNow: []uint32{1, 2}, want: "7: 2; 1 of 7 released"},
		"one of two gives it up": {before: rows(owns(7, 1, share), owns(7, 2, share)), now: rows(owns(7, 2, share)),
			livedThen: []uint32{1, 2}, livesNow: []uint32{1, 2}, want: "7: 2s; 1 of 7 released"},
		"the same in another order": {before: rows(owns(7, 1, share), owns(7, 2, share), owns(3, 1, share)), now: rows(owns(3, 1, share), owns(7, 2, share), owns(7, 1, share)),
			livedThen: []uint32{1, 2}, livesNow: []uint32{1, 2}},
		"an owner without a session": {before: rows(owns(7, 1, exclusive)), now: rows(owns(7, 3, exclusive)), livedThen: []uint32{1}, livesNow: []uint32{1}, want: "look again"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupTable(t)
			b.look(c.before, asleep(b, c.livedThen...)...)
			if got := resultText(b.look(c.now, asleep(b, c.livesNow...)...)); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestSessionThatVanishesWithinALookIsLookedForAgain(t *testing.T) {
	t.Parallel()
	b := setupTable(t)
	a, c := b.at(1, b.now), b.at(2, b.now)
	b.look([]lockRow{owns(7, 1, exclusive)}, a)
	lastGood := b.sent
	for i := range unsteadyMost {
		n := b.look([]lockRow{owns(7, 3, exclusive)}, c) // 3 took it from 1 and ended before we could ask for its name
		if len(n.changes) != 0 || !n.again {
			t.Fatalf("look %d: %+v", i, n)
		}
	}
	n := b.look([]lockRow{owns(7, 2, exclusive)}, c)
	p := published(n)["7"]
	if p == nil || owners(p) != "2" || n.again || len(n.changes) != 1 || !n.changes[0].After.Equal(lastGood) {
		t.Errorf("%+v", n)
	}
	if e := n.changes[0].Ended; len(e) != 1 || e[0].Cause != sources.CauseSession || e[0].How != sources.Inferred {
		t.Errorf("%+v", e)
	}
}

func TestAnOwnerThatGaveUpALockIsStillAskedForWhenItIsLookedForAgain(t *testing.T) {
	t.Parallel()
	b := setupTable(t)
	a, c := b.at(1, b.now), b.at(2, b.now)
	b.look([]lockRow{owns(7, 1, exclusive)}, a)
	b.look([]lockRow{owns(7, 3, exclusive)}, a, c) // 3 cannot be named yet, and 1 owns nothing any more
	if !slices.Contains(b.pids, 1) {
		t.Fatal("the next look does not ask whether 1 lives")
	}
	n := b.look([]lockRow{owns(7, 2, exclusive)}, a, c)
	if len(n.changes) != 1 || len(n.changes[0].Ended) != 1 || n.changes[0].Ended[0].Cause != sources.CauseReleased {
		t.Errorf("%+v, want a release: its session lives", n)
	}
	if slices.Contains(b.pids, 1) {
		t.Error("1 is asked for for ever")
	}
}

func TestLockWhoseOwnersNeverCanBeNamedIsToldWithoutThem(t *testing.T) {
	t.Parallel()
	b := setupTable(t)
	b.look([]lockRow{owns(7, 1, exclusive)}, b.at(1, b.now))
	var n lookResult
	for range unsteadyMost + 1 {
		n = b.look([]lockRow{owns(7, 3, exclusive)})
	}
	if p := published(n)["7"]; p == nil || len(p.Owners) != 0 {
		t.Errorf("%+v", n)
	}
}

func TestProcessNumberThatIsGivenAgainWithinALookIsNotTakenForTheOld(t *testing.T) {
	t.Parallel()
	b := setupTable(t)
	old := b.at(1, b.now)
	b.look([]lockRow{owns(7, 1, exclusive)}, old)
	began := b.now.Add(time.Second + 500*time.Microsecond) // in the midst of the next look
	if n := b.look([]lockRow{owns(7, 1, exclusive)}, b.at(1, began)); len(n.changes) != 0 || !n.again {
		t.Errorf("%+v", n)
	}
	n := b.look([]lockRow{owns(7, 1, exclusive)}, b.at(1, began))
	if p := published(n)["7"]; p == nil || p.Owners[0].ID != pgcoord.OwnerID(1, time.UnixMicro(b.theirs(began))) {
		t.Errorf("%+v", n)
	}
}

func TestOwnerWithAHiddenStartIsTheSameWhileItIsSeen(t *testing.T) {
	t.Parallel()
	b := setupTable(t)
	hidden := activity{pid: 1, who: identity{db: 5, database: "db", user: "u", application: "a", hidden: true}}
	id := published(b.look([]lockRow{owns(7, 1, exclusive)}, hidden))["7"].Owners[0].ID
	b.look(nil)
	n := b.look([]lockRow{owns(7, 1, exclusive)}, hidden)
	if again := published(n)["7"].Owners[0].ID; again == id {
		t.Errorf("%s was gone for a look and comes back as the same", id)
	}
	other := hidden
	other.who.user = "v"
	n = b.look([]lockRow{owns(7, 1, exclusive)}, other)
	if p := published(n)["7"]; p == nil || len(n.changes[0].Ended) != 1 {
		t.Errorf("another user's session is taken for the same: %+v", n)
	}
}

func TestReleaseByAHiddenSessionHasNoCause(t *testing.T) {
	t.Parallel()
	b := setupTable(t)
	hidden := activity{pid: 1, who: identity{db: 5, database: "db", user: "u", application: "a", hidden: true}}
	b.look([]lockRow{owns(7, 1, exclusive), owns(8, 1, exclusive)}, hidden)
	if n := b.look([]lockRow{owns(8, 1, exclusive)}, hidden); len(n.changes) != 1 || len(n.changes[0].Ended) != 0 {
		t.Errorf("%+v", n)
	}
	if n := b.look(nil); len(n.changes) != 1 || len(n.changes[0].Ended) != 1 || n.changes[0].Ended[0].Cause != sources.CauseSession {
		t.Errorf("%+v", n)
	}
}

func TestLookThatShowsTheSameTellsNothing(t *testing.T) {
	t.Parallel()
	b := setupTable(t)
	a := b.at(1, b.now)
	rows := func() []lockRow { return []lockRow{owns(7, 1, exclusive), owns(8, 1, share)} }
	if n := b.look(rows(), a); len(published(n)) != 2 {
		t.Fatalf("%+v", n)
	}
	if n := b.look(rows(), a); len(n.changes) != 0 || n.moved {
		t.Errorf("%+v", n)
	}
	a.does.query = "select 1"
	if n := b.look(rows(), a); len(n.changes) != 0 {
		t.Errorf("what sessions do is not told at each look: %+v", n)
	}
	b.focus.Visible = []sources.Ref{{Source: "src", Space: "db", Name: "8"}}
	if n := b.look(rows(), a); len(published(n)) != 1 || attr(published(n)["8"].Owners[0].Attrs, "query") != "select 1" || n.moved {
		t.Errorf("it is where it is on screen: %+v", n)
	}
	b.now = b.now.Add(doingsEvery)
	if n := b.look(rows(), a); published(n)["7"] == nil || n.moved {
		t.Errorf("it is in time: %+v", n)
	}
}

func TestStandingQueueIsToldAgainSoThatItsAgeIsTrue(t *testing.T) {
	t.Parallel()
	b := setupTable(t)
	rows := func() []lockRow {
		return []lockRow{owns(7, 1, exclusive), awaits(7, 2, exclusive, b.theirs(b.now))}
	}
	since := rows()[1].wait
	look := func() lookResult {
		r := rows()
		r[1].wait = since
		return b.look(r, b.at(1, time.Unix(0, 0)), b.at(2, time.Unix(0, 0)))
	}
	first := published(look())["7"]
	if n := look(); len(n.changes) != 0 {
		t.Errorf("%+v", n)
	}
	again := published(look())["7"]
	if again == nil || !again.Queue.At.After(first.Queue.At) {
		t.Fatalf("%+v", again)
	}
	if w, v := first.Queue.Waiters[0], again.Queue.Waiters[0]; w.Since != v.Since || w.ID != v.ID || w.Since.How != sources.Told {
		t.Errorf("%+v, then %+v", w, v)
	}
}

func TestTimesOfTheServerAreTranslated(t *testing.T) {
	t.Parallel()
	b := setupTable(t)
	start := b.now.Add(-time.Minute)
	p := published(b.look([]lockRow{owns(7, 1, exclusive), awaits(7, 2, exclusive, b.theirs(b.now.Add(-30*time.Second)))}, b.at(1, start), b.at(2, start)))["7"]
	if d := p.Owners[0].Since.After().Sub(start); d < 0 || d > 2*time.Millisecond {
		t.Errorf("owned since %+v, not before %v", p.Owners[0].Since, start)
	}
	w := p.Queue.Waiters[0].Since
	want := b.now.Add(-time.Second).Add(-30 * time.Second)
	if w.At.Before(want) || w.After().After(want) {
		t.Errorf("waits since %+v, truly %v", w, want)
	}
}

func TestWaiterWhoseBeginningIsNotToldIsTheLast(t *testing.T) {
	t.Parallel()
	b := setupTable(t)
	list := []activity{b.at(1, b.now.Add(-time.Hour)), b.at(2, b.now.Add(-time.Hour)), b.at(3, b.now.Add(-time.Hour))}
	list[1].does.queried = b.theirs(b.now)
	p := published(b.look([]lockRow{awaits(7, 2, exclusive, 0), awaits(7, 3, exclusive, 5), owns(7, 1, exclusive)}, list...))["7"]
	if got := queue(p.Queue.Waiters); got != "3 2" {
		t.Errorf("queue %s", got)
	}
	if w := p.Queue.Waiters[1].Since; w.How != sources.Bound {
		t.Errorf("it waits since %+v: no earlier than its statement is all that is known", w)
	}
}

func TestTooManyLocksThatNobodyOwnsAreGivenUp(t *testing.T) {
	t.Parallel()
	b := setupTable(t)
	a := b.at(1, b.now)
	rows := make([]lockRow, freeKept+7)
	for i := range rows {
		rows[i] = owns(int64(i), 1, exclusive)
	}
	b.look(rows[:7], a)
	b.look(rows[7:], a) // the first seven are free for longer
	b.swept = time.Time{}
	n := b.look(nil, a)
	gone := n.changes[len(n.changes)-1].Gone
	if len(gone) != 7 || !b.dropped || len(b.locks) != freeKept {
		t.Fatalf("%d are gone, %d kept", len(gone), len(b.locks))
	}
	for _, ref := range gone {
		if len(ref.Name) != 1 || ref.Name > "6" {
			t.Errorf("%v is gone although others were free for longer", ref)
		}
	}
	b.now = b.now.Add(2 * time.Hour)
	b.look(nil, a)
	if len(b.locks) != 0 || b.dropped {
		t.Errorf("%d are kept for ever", len(b.locks))
	}
}

func TestWaitersOfAnOlderServerStandInTheOrderOfTheirStatements(t *testing.T) {
	t.Parallel()
	b := setupTable(t)
	b.server.major = 13
	began := b.now.Add(-time.Hour)
	list := []activity{b.at(1, began), b.at(2, began), b.at(3, began)}
	list[1].does.queried, list[2].does.queried = b.theirs(b.now.Add(-10*time.Second)), b.theirs(b.now.Add(-20*time.Second))
	p := published(b.look([]lockRow{owns(7, 1, exclusive), awaits(7, 2, exclusive, 0), awaits(7, 3, exclusive, 0)}, list...))["7"]
	if got := queue(p.Queue.Waiters); got != "3 2" {
		t.Errorf("queue %s", got)
	}
	if w := p.Queue.Waiters[0].Since; w.How != sources.Bound || b.now.Sub(w.At) < 20*time.Second {
		t.Errorf("it waits since %+v: no earlier than its statement is all that is known", w)
	}
}

func TestKeyOfAnExtensionHasANameOfItsOwn(t *testing.T) {
	t.Parallel()
	b := setupTable(t)
	row := lockRow{ident: ident{key: pgcoord.Key{Class: 4294967295, Object: 7, Sub: 9}}, oid: 5, pid: 1, mode: rowExclusive, granted: true}
	p := published(b.look([]lockRow{row}, b.at(1, b.now.Add(-time.Hour))))["4294967295:7/9"]
	if p == nil || p.Alias != "likely Citus" || p.Owners[0].Mode != sources.Shared || attr(p.Owners[0].Attrs, "mode") != "RowExclusiveLock" {
		t.Errorf("%+v", p)
	}
}

func TestLookIsWholeIfItShowsEverySession(t *testing.T) {
	t.Parallel()
	s := snapshot{locks: []lockRow{owns(7, 1, share), {virtual: "3/44", granted: true}}, sessions: []activity{{pid: 1}}, prepared: map[string]prepared{"3/44": {}}}
	if !s.whole() {
		t.Error("it is whole")
	}
	for _, r := range []lockRow{owns(7, 2, share), {virtual: "3/45"}} {
		some := s
		some.locks = append([]lockRow{r}, s.locks...)
		if some.whole() {
			t.Errorf("nobody knows whose row this is: %+v", r)
		}
	}
}
