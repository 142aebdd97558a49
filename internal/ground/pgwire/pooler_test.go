package pgwire_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"coordtop/internal/ground/pgwire"
	"coordtop/internal/localserver"
)

// poolers is the table of what may stand between.
func poolers() map[string]struct {
	mode   string
	config []string
	want   pgwire.Pooler
} {
	return map[string]struct {
		mode   string
		config []string
		want   pgwire.Pooler
	}{
		"the last used session first":        {"transaction", nil, pgwire.Lent},
		"the longest idle one first":         {"transaction", []string{"server_round_robin = 1"}, pgwire.Lent},
		"one session for everybody":          {"transaction", []string{"default_pool_size = 1"}, pgwire.Lent},
		"three sessions in turn":             {"transaction", []string{"default_pool_size = 3", "server_round_robin = 1"}, pgwire.Lent},
		"statements, not transactions":       {"statement", nil, pgwire.Lent},
		"statements in turn":                 {"statement", []string{"server_round_robin = 1"}, pgwire.Lent},
		"one session for all statements":     {"statement", []string{"default_pool_size = 1"}, pgwire.Lent},
		"a session for each":                 {"session", []string{"default_pool_size = 50"}, pgwire.Session},
		"a session for each, in turn":        {"session", []string{"default_pool_size = 50", "server_round_robin = 1"}, pgwire.Session},
		"the only session, and no other one": {"session", []string{"default_pool_size = 1"}, pgwire.Session},
	}
}

func TestPoolersAreToldApart(t *testing.T) {
	t.Parallel()
	p := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	if c := open(t, p.URL()); c.Pooler() != pgwire.None {
		t.Errorf("without a pooler it says %d", c.Pooler())
	}
	for what, c := range poolers() {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			b := localserver.PgbouncerForTest(t, localserver.PgbouncerOptions{Server: p, Mode: c.mode, Config: c.config})
			for _, idle := range []int{1, 2, 3, 5} {
				if c.want == pgwire.Lent {
					warm(t, b.URL(), idle)
				}
				got := open(t, b.URL())
				if got.Pooler() != c.want {
					t.Fatalf("with %d sessions in the pool it says %d, want %d", idle, got.Pooler(), c.want)
				}
				got.Close()
			}
		})
	}
}

func TestAStrangersLockOutlivesTheProbe(t *testing.T) {
	t.Parallel()
	p := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	for what, c := range poolers() {
		if c.want != pgwire.Lent {
			continue
		}
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := strangerAt(t, p, c.mode, c.config...)
			for range 100 {
				open(t, s.pool.URL()).Close()
			}
			s.unharmed("100 looks")
		})
	}
}

func TestAStrangersLockOutlivesWhatIsInterrupted(t *testing.T) {
	t.Parallel()
	p := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	for _, mode := range []string{"transaction", "statement"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := strangerAt(t, p, mode)
			cut := 0
			for range 100 {
				ctx, cancel := context.WithTimeout(t.Context(), rand.N(10*time.Millisecond))
				c, err := pgwire.Open(ctx, pgwire.Options{Config: parse(t, s.pool.URL())})
				if err == nil {
					_, err = c.Rows(ctx, "select pg_sleep(0.02)")
					c.Close()
				}
				if err != nil {
					cut++
				}
				cancel()
			}
			if cut == 0 {
				t.Error("nothing was interrupted")
			}
			s.unharmed("100 interrupted looks")
		})
	}
}
