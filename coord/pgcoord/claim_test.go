package pgcoord_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/coord/pgcoord"
	"coordtop/internal/localserver"
)

func TestCancelledWaiterIsOutOfTheQueueWhenItReturns(t *testing.T) {
	t.Parallel()
	url, key := shared(t), freshKey()
	look := sql(t, url)
	rows := func() int { return rowsOf(t, look, key) }
	must(t, open(t, closing(t, url, pgcoord.Options{}), coord.SessionOptions{}), coord.Claim{Kind: coord.KindMutex, Name: key})
	claim := coord.Claim{Kind: coord.KindMutex, Name: key, Wait: coord.Forever}
	waiter := open(t, closing(t, url, pgcoord.Options{}), coord.SessionOptions{})
	for range 10 {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, _, err := waiter.Acquire(ctx, claim)
			done <- err
		}()
		eventually(t, "it waits", func() bool { return rows() == 2 })
		cancel()
		if err := receive(t, "the end of the waiting", done); !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled claim: %v", err)
		}
		if n := rows(); n != 1 {
			t.Fatalf("%d rows when it returned, want the owner's alone", n)
		}
	}
	claim.Wait = 50 * time.Millisecond
	if _, ok, err := waiter.Acquire(t.Context(), claim); ok || err != nil || rows() != 1 {
		t.Errorf("a claim whose time ran out: ok %v, %v, %d rows left", ok, err, rows())
	}
	wait(t, waiter, look, claim)
	if err := waiter.Close(t.Context()); err != nil || rows() != 1 {
		t.Errorf("closing a session that waits: %v, %d rows left", err, rows())
	}
}

func TestWaitersAreServedInTheOrderOfTheQueue(t *testing.T) {
	t.Parallel()
	url, claim := shared(t), coord.Claim{Kind: coord.KindMutex, Name: freshKey()}
	d, look := closing(t, url, pgcoord.Options{}), sql(t, url)
	g := must(t, open(t, d, coord.SessionOptions{}), claim)
	var outcomes []<-chan won
	for range 4 {
		outcomes = append(outcomes, wait(t, open(t, d, coord.SessionOptions{}), look, claim))
	}
	for i, outcome := range outcomes {
		noError(t, g.Release(t.Context()))
		w := receive(t, "the next in the queue", outcome)
		if !w.ok || w.err != nil {
			t.Fatalf("waiter %d: ok %v, %v", i, w.ok, w.err)
		}
		g = w.grant
	}
}

func TestClosingEndsClaimsThatWait(t *testing.T) {
	t.Parallel()
	dsn := shared(t)
	key := freshKey()
	must(t, open(t, closing(t, dsn, pgcoord.Options{}), coord.SessionOptions{}), coord.Claim{Kind: coord.KindMutex, Name: key})
	for what, o := range map[string]pgcoord.Options{"queueing": pgcoord.Options{}, "polling": {Poll: time.Hour}} {
		for how, end := range map[string]func(s coord.DriverSession){
			"closed":    func(s coord.DriverSession) { _ = s.Close(context.Background()) },
			"abandoned": coord.DriverSession.Abandon,
		} {
			name := "waits " + freshKey()
			s := open(t, closing(t, dsn, o), coord.SessionOptions{Description: name})
			outcome := make(chan won, 1)
			go func() { // received below
				g, ok, err := s.Acquire(context.Background(), coord.Claim{Kind: coord.KindMutex, Name: key, Wait: coord.Forever})
				outcome <- won{g, ok, err}
			}()
			waits := "wait_event = 'advisory'"
			if what == "polling" { // it pauses after its first try
				waits = "state = 'idle' and query like '%pg_try_advisory_lock%'"
			}
			look := sql(t, dsn)
			eventually(t, "it waits", func() bool {
				return one[bool](t, look, "select exists (select from pg_stat_activity where application_name = $1 and "+waits+")", name)
			})
			end(s)
			if w := receive(t, "the end of the claim", outcome); w.ok || !errors.Is(w.err, coord.ErrClosed) {
				t.Errorf("%s in a session that was %s: ok %v, %v, want ErrClosed", what, how, w.ok, w.err)
			}
		}
	}
}

func TestReleaseOfWhatTheServerSaysIsNotOursIsAnError(t *testing.T) {
	t.Parallel()
	s := open(t, closing(t, shared(t), pgcoord.Options{}), coord.SessionOptions{})
	for _, c := range []coord.Claim{{Name: freshKey()}, {Name: "7:-9"}, {Name: freshKey(), Mode: coord.Shared}} {
		c.Kind = coord.KindMutex
		g := must(t, s, c)
		pgcoord.AskOn(t, g, "select pg_advisory_unlock_all()")
		if err := g.Release(t.Context()); !errors.Is(err, coord.ErrLost) {
			t.Errorf("%v %s: releasing what is not ours: %v, want ErrLost", c.Mode, c.Name, err)
		}
		g = must(t, s, c)
		if err := g.Release(t.Context()); err != nil {
			t.Errorf("%v %s: releasing what is ours: %v", c.Mode, c.Name, err)
		}
	}
}

func TestReleaseIntoABlackHoleIsBoundedAndCutsTheConnection(t *testing.T) {
	t.Parallel()
	dsn, proxy := proxied(t)
	s := open(t, closing(t, dsn, pgcoord.Options{}), coord.SessionOptions{})
	look, key := sql(t, shared(t)), freshKey()
	g := must(t, s, coord.Claim{Kind: coord.KindMutex, Name: key})
	proxy.BlackHole()
	go func() { _, _ = g.(coord.Renewer).Renew(t.Context()) }() // release does not wait for its answer
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := g.Release(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("releasing into a black hole: %v, want the context's error", err)
	}
	if err := g.Release(t.Context()); err != nil || !errors.Is(g.Err(), coord.ErrReleased) {
		t.Errorf("releasing again: %v, the grant ended with %v", err, g.Err())
	}
	proxy.Resume()
	freed(t, look, key)
}

func TestGrantEndsWithItsWindowWhateverIsUnderWay(t *testing.T) {
	t.Parallel()
	dsn, proxy := proxied(t)
	s := open(t, closing(t, dsn, pgcoord.Options{}), coord.SessionOptions{TTL: 500 * time.Millisecond})
	g := must(t, s, coord.Claim{Kind: coord.KindMutex, Name: freshKey()})
	proxy.BlackHole()
	start := time.Now()
	err := g.(coord.Publisher).Publish(t.Context(), []byte("into nothing")) // would wait for 10 s
	if took := time.Since(start); !errors.Is(err, coord.ErrLost) || took > 5*time.Second {
		t.Errorf("publishing beyond the window: %v after %v, want ErrLost when the window ends", err, took)
	}
	if err := ended(t, g); !errors.Is(err, coord.ErrExpired) {
		t.Errorf("the grant ended with %v, want ErrExpired", err)
	}
}

func TestMissedTriesShareOneConnection(t *testing.T) {
	t.Parallel()
	dsn, key, name := shared(t), freshKey(), "tries "+freshKey()
	look := sql(t, dsn)
	must(t, open(t, closing(t, dsn, pgcoord.Options{}), coord.SessionOptions{}), coord.Claim{Kind: coord.KindMutex, Name: key})
	s := open(t, closing(t, dsn, pgcoord.Options{}), coord.SessionOptions{Description: name})
	pids := func() []int64 {
		return one[[]int64](t, look, "select array_agg(pid::bigint) from pg_stat_activity where application_name like $1 || '%'", name)
	}
	first := pids()
	for range 5 {
		if _, ok, err := s.Acquire(t.Context(), coord.Claim{Kind: coord.KindMutex, Name: key, Data: []byte("d")}); ok || err != nil {
			t.Fatalf("a try: ok %v, %v", ok, err)
		}
	}
	if now := pids(); len(now) != 1 || now[0] != first[0] {
		t.Errorf("after five missed tries the connections are %v, they were %v", now, first)
	}
	one[bool](t, look, "select pg_terminate_backend($1)", first[0])
	if _, ok, err := s.Acquire(t.Context(), coord.Claim{Kind: coord.KindMutex, Name: key}); ok || err != nil {
		t.Errorf("a try after the loss of the spare connection: ok %v, %v", ok, err)
	}
}

func TestSharedAndExclusiveClaimsQueueTogether(t *testing.T) {
	t.Parallel()
	url := shared(t)
	d := closing(t, url, pgcoord.Options{})
	key := freshKey()
	shared := coord.Claim{Kind: coord.KindMutex, Name: key, Mode: coord.Shared}
	first, second := must(t, open(t, d, coord.SessionOptions{}), shared), must(t, open(t, d, coord.SessionOptions{}), shared)
	s := open(t, d, coord.SessionOptions{})
	outcome := wait(t, s, sql(t, url), coord.Claim{Kind: coord.KindMutex, Name: key})
	if _, ok, err := open(t, d, coord.SessionOptions{}).Acquire(t.Context(), shared); ok || err != nil {
		t.Errorf("a shared try behind an exclusive waiter: ok %v, %v", ok, err)
	}
	for _, g := range []coord.Grant{first, second} {
		noError(t, g.Release(t.Context()))
	}
	if w := receive(t, "the exclusive waiter", outcome); !w.ok || w.err != nil {
		t.Errorf("the exclusive waiter: ok %v, %v", w.ok, w.err)
	}
}

func TestWorksOverTLSAsARoleThatMayOnlyRead(t *testing.T) {
	t.Parallel()
	p := server(t, localserver.PostgresOptions{TLS: true, Password: "pw", Setup: []string{
		"create role reader login password 'pw'", "alter role reader set default_transaction_read_only = on",
	}})
	got := make(chan pgcoord.Notification, 10)
	d := closing(t, p.URLFor("reader", "pw", "postgres"), pgcoord.Options{Channels: []pgcoord.Listener{
		{Channel: "c", Handle: func(_ context.Context, n pgcoord.Notification) { got <- n }},
	}})
	s := kept(t, d, 2*time.Second)
	term, err := s.Election("7", coord.ElectionOptions{}).Campaign(t.Context(), []byte("first"))
	noError(t, err)
	for range 10 { // the connection is read from and interrupted all the time
		renewedOnce(t, term.Lease())
		noError(t, d.Notify(t.Context(), "c", "x"))
		receive(t, "the notification", got)
	}
	noError(t, term.Proclaim(t.Context(), []byte("second")))
	leader, err := s.Election("7", coord.ElectionOptions{}).Leader(t.Context())
	if err != nil || !leader.IsMe || string(leader.Data) != "second" {
		t.Errorf("the leader is %+v, %v", leader, err)
	}
	waiting, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := kept(t, d, 0).Election("7", coord.ElectionOptions{}).Campaign(waiting, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a second candidate: %v", err)
	}
	noError(t, term.Resign(t.Context()))
}
