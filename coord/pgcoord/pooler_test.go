package pgcoord_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/coord/coordtest"
	"coordtop/coord/pgcoord"
	"coordtop/internal/localserver"
)

func TestTransactionPoolerIsRefused(t *testing.T) {
	t.Parallel()
	p := server(t, localserver.PostgresOptions{})
	for what, config := range map[string][]string{
		"the last used session first":  nil,
		"the longest idle one first":   {"server_round_robin = 1"},
		"one session for everybody":    {"default_pool_size = 1"},
		"statements, not transactions": {"pool_mode = statement"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			b := localserver.PgbouncerForTest(t, localserver.PgbouncerOptions{Server: p, Mode: "transaction", Config: config})
			for _, idle := range []int{1, 2, 3, 5} {
				warm(t, b.URL(), idle)
				_, err := closing(t, b.URL(), pgcoord.Options{}).Open(t.Context(), coord.SessionOptions{})
				if !errors.Is(err, coord.ErrRefused) {
					t.Fatalf("with %d sessions in the pool: %v, want ErrRefused", idle, err)
				}
			}
			if n := one[int](t, sql(t, p.URL()), "select count(*) from pg_locks where locktype = 'advisory'"); n != 0 {
				t.Errorf("finding out left %d locks", n)
			}
		})
	}
}

// warm makes the pool have so many idle server sessions, where it may.
func warm(t *testing.T, url string, n int) {
	t.Helper()
	var wg sync.WaitGroup
	for range n {
		c := sql(t, url)
		wg.Go(func() {
			_ = c.PgConn().Exec(t.Context(), "select pg_sleep(0.05)").Close() // a pool of one serves them in turn
		})
	}
	wg.Wait()
}

func TestSessionPoolerWillDo(t *testing.T) {
	t.Parallel()
	p := server(t, localserver.PostgresOptions{})
	b := localserver.PgbouncerForTest(t, localserver.PgbouncerOptions{
		Server: p, Config: []string{"default_pool_size = 150", "max_client_conn = 500"},
	})
	coordtest.Run(t, func(testing.TB) coordtest.Harness {
		return coordtest.Harness{
			NewDriver: func(t testing.TB) coord.Driver { return driver(t, b.URL(), pgcoord.Options{}) },
			TTL:       time.Second,
			Name:      func(testing.TB, coord.Kind) string { return freshKey() },
		}
	})
}

func TestSessionThatWasTakenAwayByAPoolerIsLost(t *testing.T) {
	t.Parallel()
	s := open(t, closing(t, shared(t), pgcoord.Options{}), coord.SessionOptions{})
	g := must(t, s, coord.Claim{Kind: coord.KindMutex, Name: freshKey()})
	pgcoord.Move(t, g)
	_, err := g.(coord.Renewer).Renew(context.Background())
	if !errors.Is(err, coord.ErrLost) || !errors.Is(ended(t, g), coord.ErrLost) {
		t.Errorf("answered by another session: %v, then %v, want ErrLost", err, g.Err())
	}
}
