package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"coordtop/internal/history"
	"coordtop/internal/history/storetest"
	"coordtop/internal/localserver"
	"coordtop/sources"
)

const h, m, sec = time.Hour, time.Minute, time.Second

func begun(t *testing.T, o Options, began time.Duration) *Writer {
	t.Helper()
	w, err := Begin(t.Context(), o, history.Run{Span: history.Span{From: storetest.After(began)}, Host: "here", PID: 1, Version: "v"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// batch is a Batch of a minute in which an owner had x.
func batch(from time.Duration, owner string) *history.Batch {
	b := storetest.BatchOf(from, from+m, history.LaneChange{Ref: storetest.Ref("x"), Kind: sources.KindElection, Scope: "s", Terms: []sources.Term{storetest.Term(owner, from, from+m/2)}})
	e := storetest.Event(from, "x")
	e.Seq = uint64(from / m)
	b.Events = []sources.Event{e}
	return b
}

// query asks the server as a role.
func query(t *testing.T, url, text string) ([]string, error) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	results, err := conn.PgConn().Exec(t.Context(), text).ReadAll()
	var lines []string
	if err == nil {
		for _, row := range results[len(results)-1].Rows {
			var words []string
			for _, v := range row {
				words = append(words, string(v))
			}
			lines = append(lines, strings.Join(words, " "))
		}
	}
	return lines, err
}

func asked(t *testing.T, url, text string) string {
	t.Helper()
	lines, err := query(t, url, text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return strings.Join(lines, "; ")
}

func TestAnOlderRunWritesNothingMore(t *testing.T) {
	t.Parallel()
	o := stores(localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL())
	o.Claim = &Claim{Lock: 1}
	first := begun(t, o, 0)
	storetest.Write(t, first, batch(0, "a"))
	o.Claim = &Claim{Lock: 2}
	second := begun(t, o, m)
	storetest.Write(t, second, batch(m, "b"))
	if err := first.Write(batch(2*m, "c")); !errors.Is(err, history.ErrSuperseded) {
		t.Errorf("the first run writes: %v", err)
	}
	if _, err := first.Tidy(storetest.After(100 * day)); !errors.Is(err, history.ErrSuperseded) {
		t.Errorf("the first run drops: %v", err)
	}
	o.Claim = &Claim{Lock: 1, Own: first.Run().ID}
	if _, err := Begin(t.Context(), o, history.Run{}); !errors.Is(err, history.ErrSuperseded) {
		t.Errorf("the first recorder begins again: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	storetest.Write(t, second, batch(3*m, "d"))
	if l := storetest.LaneOf(t, NewReader(o), "x", storetest.Span(0, h)); len(l.Terms) != 3 {
		t.Errorf("terms %+v, want those of a, b and d", l.Terms)
	}
}

// TestAWriteThatIsRepeatedHasNoEffect loses the answer to a commit.
func TestAWriteThatIsRepeatedHasNoEffect(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	o := stores(server.URL())
	w := begun(t, o, 0)
	for i := range 5 {
		b := batch(time.Duration(i)*m, "a")
		if i > 0 {
			b.Keyframe = nil
		}
		storetest.Write(t, w, b)
		w.writes-- // as if its answer were lost
		storetest.Write(t, w, b)
	}
	b := batch(5*m, "a")
	b.Keyframe = nil
	storetest.Write(t, w, b)
	got := asked(t, o.Address, fmt.Sprintf("set search_path = %s; select (select count(*) from events), (select count(*) from terms), (select count(*) from tail) + (select coalesce(sum(size), 0)::bigint from chunk) / 6, (select writes from run)", o.Schema))
	if got != "6 6 6 6" {
		t.Errorf("events, terms, pieces and writes are %s, want 6 of each", got)
	}
	events, err := NewReader(o).Events(t.Context(), storetest.After(h), 100, 0, history.EventFilter{})
	if err != nil || len(events) != 6 {
		t.Errorf("%d events, %v", len(events), err)
	}
}

// TestAWriteWaitsForItsFirstAttemptThatIsNotOver repeats a write while the server still commits its first attempt.
func TestAWriteWaitsForItsFirstAttemptThatIsNotOver(t *testing.T) {
	t.Parallel()
	o := stores(localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL())
	w := begun(t, o, 0)
	storetest.Write(t, w, batch(0, "a"))
	attempt, err := pgx.Connect(t.Context(), o.Address)
	if err != nil {
		t.Fatal(err)
	}
	defer attempt.Close(context.WithoutCancel(t.Context()))
	if _, err := attempt.Exec(t.Context(), fmt.Sprintf("begin; update %s.run set writes = writes + 1", o.Schema)); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		b := batch(m, "a")
		b.Keyframe = nil
		done <- w.Write(b)
	}()
	for asked(t, o.Address, "select count(*) from pg_stat_activity where wait_event_type = 'Lock'") == "0" {
		if t.Context().Err() != nil {
			t.Fatal("it does not wait")
		}
	}
	if _, err := attempt.Exec(t.Context(), "commit"); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got := asked(t, o.Address, fmt.Sprintf("select (select count(*) from %s.tail) + (select count(*) from %[1]s.chunk), (select writes from %[1]s.run)", o.Schema)); got != "1 2" {
		t.Errorf("pieces and writes are %s, want 1 2: the first attempt has written the second piece", got)
	}
}

func TestTheViewsTellWhatThePublicSees(t *testing.T) {
	t.Parallel()
	o := stores(localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL())
	w := begun(t, o, 0)
	now := time.Now().Truncate(time.Second)
	ref := sources.Ref{Source: "leases", Space: "0", Name: "a\\b\x00\xff'"}
	stamp := func(d time.Duration) sources.Stamp { return sources.Stamp{At: now.Add(d), How: sources.Seen} }
	b := storetest.BatchOf(0, m)
	b.Span = history.Span{From: now, To: now.Add(m)}
	b.Lanes = []history.LaneChange{{Ref: ref, Kind: sources.KindMutex, Scope: "s", Terms: []sources.Term{
		{Owner: sources.OwnerRef{ID: `"a",{}\`, Fence: 1 << 63}, Start: stamp(0), End: stamp(10 * sec), Cause: sources.CauseReleased},
		{Owner: sources.OwnerRef{ID: "b"}, Start: stamp(13 * sec)},
	}}}
	b.Events = []sources.Event{{Seq: 1, At: now, Kind: sources.EventAction, Ref: ref, Detail: "released"}}
	storetest.Write(t, w, b)
	set := "set timezone = 'UTC'; set search_path = " + o.Schema + "; "
	for text, want := range map[string]string{
		"select name, kind, owner, fence, until - start from terms order by start":                                           `a\\b\x00\xff' mutex "a",{}\\ 9223372036854775808 00:00:10; a\\b\x00\xff' mutex b 0 `,
		"select after_owner, next_owner, lasted, partly_unobserved from gaps":                                                `"a",{}\\ b 00:00:03 f`,
		"select kind, detail, source from actions":                                                                           "action released leases",
		"select host, pid, version, ended is null from runs":                                                                 "here 1 v t",
		"select start_known, until_known, cause from terms where owner = 'b'":                                                "seen  ",
		"select kind from primitives":                                                                                        "mutex",
		"select count(*) from unobserved":                                                                                    "0",
		"insert into audit(said, who, source, action, outcome) values('ann', 'somebody', 's', 'note', 'done') returning who": "postgres",
		"select bool_and(relname like '%_' || to_char(now(), 'YYYYMMDD')) from pg_inherits i join pg_class c on c.oid = inhrelid where relnamespace = '" + o.Schema + "'::regnamespace and relkind = 'r'": "t",
	} {
		if got := asked(t, o.Address, set+text); got != want {
			t.Errorf("%s\nis %s\nwant %s", text, got, want)
		}
	}
	lanes, err := NewReader(o).Lanes(t.Context(), []sources.Ref{ref}, history.Span{From: now.Add(-h), To: now.Add(h)})
	if err != nil || len(lanes[0].Terms) != 2 || lanes[0].Terms[0].Owner.ID != `"a",{}\` {
		t.Errorf("%+v, %v", lanes, err)
	}
	for kind := range sources.KindSemaphore + 1 {
		if got := asked(t, o.Address, set+fmt.Sprintf("update lane set kind = %d; select kind from primitives", kind)); got != kind.String() {
			t.Errorf("the kind %v is %s in the view", kind, got)
		}
	}
}

func TestANewerStoreIsRefused(t *testing.T) {
	t.Parallel()
	o := stores(localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL())
	if err := begun(t, o, 0).Close(); err != nil {
		t.Fatal(err)
	}
	r := NewReader(o)
	asked(t, o.Address, fmt.Sprintf("update %s.store set version = 99", o.Schema))
	if _, err := Begin(t.Context(), o, history.Run{}); !errors.Is(err, history.ErrNewer) || !strings.Contains(err.Error(), "update this one") {
		t.Errorf("writing: %v", err)
	}
	if runs, err := r.Runs(t.Context()); err != nil || len(runs) != 1 {
		t.Errorf("reading what a newer one wrote for us too: %v, %v", runs, err)
	}
	asked(t, o.Address, fmt.Sprintf("update %s.store set readers = 99", o.Schema))
	if _, err := r.Runs(t.Context()); !errors.Is(err, history.ErrNewer) {
		t.Errorf("reading: %v", err)
	}
}

// TestAServerThatFailsTakesTheSameWriteLater restarts it, makes it read-only, and lets a trigger stand for a full disk.
func TestAServerThatFailsTakesTheSameWriteLater(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	o := stores(server.URL())
	w, r := begun(t, o, 0), NewReader(o)
	storetest.Write(t, w, batch(0, "a"))
	if _, err := r.Runs(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := batch(m, "a")
	if err := w.Write(b); err == nil {
		t.Error("a connection that was cut is in use")
	}
	storetest.Write(t, w, b)
	if _, err := r.Runs(t.Context()); err != nil {
		t.Errorf("reading after a restart: %v", err)
	}
	const cut = "; select count(pg_terminate_backend(pid)) from pg_stat_activity where pid <> pg_backend_pid() and application_name = 'coordtop history'"
	for name, c := range map[string]struct {
		spoil, mend, sentence string
		is                    error
	}{
		"read-only": {"alter role postgres set default_transaction_read_only = on" + cut, "begin read write; alter role postgres reset default_transaction_read_only; commit" + cut, "the server is read-only", syscall.EACCES},
		"full": {fmt.Sprintf("create function fill() returns trigger language plpgsql as $$ begin raise sqlstate '53100'; end $$; create trigger fills before insert on %s.recent execute procedure fill()", o.Schema),
			fmt.Sprintf("drop trigger fills on %s.recent; drop function fill", o.Schema), "disk of the server is full", syscall.ENOSPC},
	} {
		asked(t, o.Address, c.spoil)
		b := batch(2*m, "b")
		err := w.Write(b)
		if name == "read-only" && !errors.Is(err, c.is) { // its session was cut; a new one is read-only
			err = w.Write(b)
		}
		if !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.sentence) {
			t.Errorf("%s: %v", name, err)
		}
		asked(t, o.Address, c.mend)
		if err := w.Write(b); err != nil && name == "full" {
			t.Error(err)
		} else if err != nil { // its session was cut
			storetest.Write(t, w, b)
		}
	}
	if l := storetest.LaneOf(t, r, "x", storetest.Span(0, h)); len(l.Terms) != 3 {
		t.Errorf("terms %+v, want three", l.Terms)
	}
}

func TestDaysAreDroppedWithTheirPartitions(t *testing.T) {
	t.Parallel()
	o := stores(localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL())
	o.Keep, o.Full = 3*day, 2*day
	w := begun(t, o, 0)
	storetest.Write(t, w, storetest.BatchOf(0, m, history.LaneChange{Ref: storetest.Ref("long"), Kind: sources.KindMutex, Scope: "s", Terms: []sources.Term{storetest.Term("z", sec, 0)}}))
	for n := range 8 {
		storetest.Write(t, w, batch(time.Duration(n)*day+sec, "a"))
	}
	days := func() string {
		return asked(t, o.Address, fmt.Sprintf("set search_path = %s; select count(*) from event; select string_agg(right(relname, 2), ',' order by relname) from pg_class where relname like 'term\\_2026110%%' and relkind = 'r' and relnamespace = '%[1]s'::regnamespace", o.Schema))
	}
	if got := days(); got != "01,02,03,04,05,06,07,08" {
		t.Errorf("the days are %s", got)
	}
	storetest.Tidied(t, w, storetest.After(8*day))
	if got := days(); got != "01,05,06,07,08" {
		t.Errorf("after Tidy the days are %s, want the last ones, and the one of the term that runs", got)
	}
	if got := asked(t, o.Address, fmt.Sprintf("select count(*) from %s.gop", o.Schema)); got != "2" {
		t.Errorf("%s groups of inputs are left, want those of two days", got)
	}
	if got := asked(t, o.Address, fmt.Sprintf("select count(*) from %s.terms where until is null", o.Schema)); got != "1" {
		t.Errorf("%s terms run", got)
	}
	for _, r := range []struct {
		name string
		n    int
	}{{"long", 1}, {"x", 3}} {
		if l := storetest.LaneOf(t, NewReader(o), r.name, storetest.Span(0, 9*day)); len(l.Terms) != r.n {
			t.Errorf("%s has %d terms, want %d", r.name, len(l.Terms), r.n)
		}
	}
}

func TestARestoredStoreHasAnotherIncarnationAndLaterRuns(t *testing.T) {
	t.Parallel()
	o := stores(localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL())
	begun(t, o, 0)
	was := asked(t, o.Address, "select incarnation from "+o.Schema+".store")
	o.Claim = &Claim{Own: 7, Seen: 7}
	if _, err := Begin(t.Context(), o, history.Run{}); !errors.Is(err, history.ErrBusy) {
		t.Errorf("a run begins beside one that has begun since: %v", err)
	}
	o.Claim.Lock = 1
	asked(t, o.Address, "update "+o.Schema+".run set lock = 2 returning 1")
	w := begun(t, o, m)
	if w.Run().ID != 8 || !strings.Contains(w.Note(), "restored from an older copy") || asked(t, o.Address, "select incarnation from "+o.Schema+".store") == was {
		t.Errorf("run %d, note %q", w.Run().ID, w.Note())
	}
}

func TestAFenceEndsTheRunBeforeItAndIsTheNumberOfTheNext(t *testing.T) {
	t.Parallel()
	o := stores(localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL())
	o.Claim = &Claim{Lock: 1}
	first := begun(t, o, 0)
	storetest.Write(t, first, batch(0, "a"))
	o.Claim = &Claim{Lock: 2}
	run, _, err := Fence(t.Context(), o)
	if err != nil || run != 2 {
		t.Fatal(run, err)
	}
	if err := first.Write(batch(m, "b")); !errors.Is(err, history.ErrSuperseded) {
		t.Errorf("behind the fence: %v", err)
	}
	o.Claim.Own = run
	if second := begun(t, o, m); second.Run().ID != run {
		t.Errorf("run %d", second.Run().ID)
	}
	if third := begun(t, o, m); third.Run().ID != run+1 {
		t.Errorf("run %d", third.Run().ID)
	}
}

func TestTablesAreMadeOnceByManyAtOnce(t *testing.T) {
	t.Parallel()
	o := stores(localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL())
	begun := make(chan error)
	const many = 6
	for i := range uint32(many) {
		go func() {
			o := o
			o.Claim = &Claim{Lock: i + 1}
			w, err := Begin(t.Context(), o, history.Run{Span: storetest.Span(0, 0)})
			if err == nil {
				err = w.Close()
			}
			begun <- err
		}()
	}
	could := 0
	for range many {
		switch err := <-begun; {
		case err == nil:
			could++
		case !errors.Is(err, history.ErrBusy):
			t.Error(err)
		}
	}
	if runs, err := NewReader(o).Runs(t.Context()); err != nil || could == 0 || len(runs) != could {
		t.Errorf("%d could begin: runs %+v, %v", could, runs, err)
	}
}

// TestAHalfMadeSchemaIsNone lets the last statement of the schema fail.
func TestAHalfMadeSchemaIsNone(t *testing.T) {
	t.Parallel()
	o := stores(localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL())
	asked(t, o.Address, fmt.Sprintf("create schema %s; create view %[1]s.actions as select 1", o.Schema))
	if _, err := Begin(t.Context(), o, history.Run{Span: storetest.Span(0, 0)}); err == nil {
		t.Error("a schema with a foreign view is used")
	}
	if got := asked(t, o.Address, fmt.Sprintf("select count(*) from pg_class where relnamespace = '%s'::regnamespace", o.Schema)); got != "1" {
		t.Errorf("%s objects are left, want the one of somebody else", got)
	}
	asked(t, o.Address, fmt.Sprintf("drop view %s.actions", o.Schema))
	begun(t, o, 0)
}
