package election

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/pgwire"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/history"
	"coordtop/internal/history/postgres"
	"coordtop/internal/localserver"
)

// recorder is an Elector that runs.
type recorder struct {
	*Elector
	t    *testing.T
	url  string
	stop func()
}

func stands(t *testing.T, direct, name string) *recorder {
	t.Helper()
	e, err := New(Options{Direct: direct, Schema: "coordtop", Name: name, Lease: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	spawn.Go(ctx, &running, func() {
		if err := e.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	r := &recorder{Elector: e, t: t, url: direct, stop: func() { cancel(); running.Wait() }}
	t.Cleanup(r.stop)
	return r
}

// begin waits until the recorder is elected, and begins a run.
func (r *recorder) begin() *postgres.Writer {
	r.t.Helper()
	for {
		if err := r.Await(r.t.Context()); err != nil {
			r.t.Fatal(err)
		}
		now := time.Now()
		w, err := postgres.Begin(r.t.Context(), postgres.Options{Address: r.url, Claim: &postgres.Claim{Lock: r.Lock()}}, history.Run{Span: history.Span{From: now, To: now}, Host: r.o.Name, PID: 1})
		if errors.Is(err, history.ErrBusy) {
			_ = backoff.Sleep(r.t.Context(), 100*time.Millisecond)
			continue
		}
		if err != nil {
			r.t.Fatal(err)
		}
		r.t.Cleanup(func() { _ = w.Close() }) // it may have been superseded
		r.Records(w.Run().ID)
		return w
	}
}

// await waits until what r saw last satisfies is.
func (r *recorder) await(what string, is func(*Present) bool) *Present {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), time.Minute)
	defer cancel()
	for {
		p := r.present.Load()
		if p != nil && is(p) {
			return p
		}
		if backoff.Sleep(ctx, 20*time.Millisecond) != nil {
			r.t.Fatalf("%s: %+v, trouble %v", what, p, r.Trouble())
		}
	}
}

// write writes a keyframe.
func write(w *postgres.Writer) error {
	now := time.Now()
	return w.Write(&history.Batch{Keyframe: []byte("k"), Span: history.Span{From: now, To: now}})
}

func TestTheNextRecorderGoesOnWhenTheElectedOneResigns(t *testing.T) {
	t.Parallel()
	url := localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL()
	first := stands(t, url, "first")
	w := first.begin()
	second := stands(t, url, "second")
	p := second.await("the second stands by", func(p *Present) bool { return len(p.Standby) == 1 && p.Measured && p.Lock != 0 })
	if p.Run != 1 || p.Host != "first" || p.Leader.Name != "first" || p.Leader.Process != p.Lock || p.Standby[0].Name != "second" {
		t.Fatalf("%+v", p)
	}
	if p.Ahead[0] > 0 || p.Ahead[1] < 0 || p.Ahead[1]-p.Ahead[0] > time.Second {
		t.Errorf("one clock is ahead of itself by %v", p.Ahead)
	}
	first.stop()
	if next := second.begin(); next.Run().ID != 2 {
		t.Fatalf("run %d", next.Run().ID)
	}
	if err := write(w); !errors.Is(err, history.ErrSuperseded) {
		t.Fatalf("the first run is written beside the second: %v", err)
	}
}

func TestARecorderThatDoesNotWriteIsReplaced(t *testing.T) {
	t.Parallel()
	url := localserver.PostgresForTest(t, localserver.PostgresOptions{}).URL()
	first := stands(t, url, "first")
	w := first.begin()
	first.await("the row has the lock", func(p *Present) bool { return p.Lock != 0 })
	root, err := pgconn.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close(context.WithoutCancel(t.Context()))
	set := func(text string) {
		t.Helper()
		if _, err := root.Exec(t.Context(), text).ReadAll(); err != nil {
			t.Fatal(err)
		}
	}
	set("alter role postgres set default_transaction_read_only = on")
	second := stands(t, url, "second")
	second.await("the second cannot write either", func(p *Present) bool { return second.Trouble() != nil })
	if reply, is := errors.AsType[*pgwire.Reply](second.Trouble()); !is || reply.Code != "25006" || first.Lock() == 0 {
		t.Fatalf("%v; the lock of the first: %d", second.Trouble(), first.Lock())
	}
	set("alter role postgres reset default_transaction_read_only")
	if second.stop(); first.Lock() == 0 {
		t.Fatal("the first was replaced by one that cannot write")
	}
	second = stands(t, url, "second")
	if next := second.begin(); next.Run().ID != 2 {
		t.Fatalf("run %d", next.Run().ID)
	}
	if err := write(w); !errors.Is(err, history.ErrSuperseded) {
		t.Fatal(err)
	}
	first.Records(0)
	first.Refused(3)
	second.await("the refusal is counted", func(p *Present) bool { return p.Refused == 3 })
}

func TestARecorderOfAnotherRoleIsReplacedByItsLease(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	first := stands(t, server.URL(), "first")
	w := first.begin()
	if err := write(w); err != nil {
		t.Fatal(err)
	}
	root, err := pgconn.Connect(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close(context.WithoutCancel(t.Context()))
	if _, err := root.Exec(t.Context(), "create role other login; grant all on schema coordtop to other; grant all on all tables in schema coordtop to other").ReadAll(); err != nil {
		t.Fatal(err)
	}
	second := stands(t, server.URLFor("other", "", "postgres"), "second")
	next := second.begin()
	if next.Run().ID != 2 || second.Lock() != 0 {
		t.Fatalf("run %d, lock %d", next.Run().ID, second.Lock())
	}
	if err := write(w); !errors.Is(err, history.ErrSuperseded) {
		t.Fatal(err)
	}
}

func TestARoleThatCannotWriteDoesNotStandBy(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	first := stands(t, server.URL(), "first")
	first.begin()
	root, err := pgconn.Connect(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close(context.WithoutCancel(t.Context()))
	if _, err := root.Exec(t.Context(), "create role reader login; grant usage on schema coordtop to reader; grant select on all tables in schema coordtop to reader").ReadAll(); err != nil {
		t.Fatal(err)
	}
	reader := stands(t, server.URLFor("reader", "", "postgres"), "reader")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for reader.Trouble() == nil {
		if backoff.Sleep(ctx, 20*time.Millisecond) != nil {
			t.Fatal("it stands by without the right to write")
		}
	}
	if text := reader.Trouble().Error(); !strings.Contains(text, "this user may not record") {
		t.Error(text)
	}
	first.await("nobody stands by", func(p *Present) bool { return p.Run == 1 && len(p.Standby) == 0 })
}

func TestTheRecorderComesFirstAfterARestart(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	first := stands(t, server.URL(), "first")
	w := first.begin()
	second := stands(t, server.URL(), "second")
	waits := func(p *Present) bool { return p.Leader.Name == "first" && len(p.Standby) == 1 }
	for _, length := range []time.Duration{0, deference + time.Second} {
		second.await("the first leads, the second stands by", waits)
		server.Kill()
		second.present.Store(nil)
		_ = backoff.Sleep(t.Context(), length)
		if err := server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if p := second.await("somebody leads again", func(p *Present) bool { return p.Leader.Process != 0 }); p.Leader.Name != "first" {
			t.Fatalf("after %v without the server: %+v", length, p)
		}
		_ = write(w) // its connection has ended
		if err := write(w); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAPoolerIsNoSession(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	pooler := localserver.PgbouncerForTest(t, localserver.PgbouncerOptions{Server: server, Mode: "transaction"})
	r := stands(t, pooler.URL(), "first")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for r.Trouble() == nil {
		if backoff.Sleep(ctx, 20*time.Millisecond) != nil {
			t.Fatal("it stands behind a pooler")
		}
	}
	if err := r.Trouble(); !strings.Contains(err.Error(), "pooler") {
		t.Error(err)
	}
}
