package pgsource

import (
	"fmt"
	"strings"
	"testing"

	"coordtop/sources"
)

// TestQueriesAndDataShowNoSecret has owners and waiters whose last query, name and
// data hold a secret, as a superuser sees them.
func TestQueriesAndDataShowNoSecret(t *testing.T) {
	t.Parallel()
	r := borrow(t)
	queries := map[string]string{
		"1": "create user zz password 'TOPSECRET99'",
		"2": "select 1 /* postgres://app:TOPSECRET99@db/x */",
		"3": "select $$TOPSECRET99$$, E'\\'TOPSECRET99', 17",
		"4": "select 1 -- TOPSECRET99",
		"5": "select '" + strings.Repeat("long ", 300) + "TOPSECRET99'",
		"6": "select 1 as \"postgres://app:TOPSECRET99@db/x\"",
	}
	for key, query := range queries {
		r.session("billing|postgres://app:TOPSECRET99@db").do("select pg_advisory_lock(" + key + ")").do(query)
		r.session("password=TOPSECRET99").begin("select pg_advisory_lock(" + key + ") /* TOPSECRET99 */")
	}
	r.watch(Options{}).synced()
	for key := range queries {
		row := r.row("", key, "queued for", func(row *sources.Row, _ *sources.State) bool {
			return len(row.Owners) == 1 && len(row.Queue.Waiters) == 1 && attr(row.Queue.Waiters[0].Attrs, "query") != ""
		})
		if text := fmt.Sprintf("%+v", row.Primitive); strings.Contains(text, "SECRET99") {
			t.Errorf("lock %s: %s", key, text)
		}
		if o := row.Owners[0]; !strings.HasPrefix(o.Label, "billing pid ") || !o.Data.Masked() || attr(o.Attrs, "query") == "" {
			t.Errorf("lock %s: %+v", key, o)
		}
	}
	if got, want := attr(r.row("", "1", "there", is(sources.StatusHeld)).Owners[0].Attrs, "query"), "create user zz password ?"; got != want {
		t.Errorf("query %q, want %q", got, want)
	}
}
