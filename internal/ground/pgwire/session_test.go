package pgwire_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"coordtop/internal/ground/pgwire"
	"coordtop/internal/localserver"
)

func TestAPoolWithoutASessionForUsIsSaidSo(t *testing.T) {
	t.Parallel()
	p := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	b := localserver.PgbouncerForTest(t, localserver.PgbouncerOptions{Server: p, Mode: "session", Config: []string{"default_pool_size = 1"}})
	o := pgwire.Options{Config: parse(t, b.URL()), Known: &pgwire.Known{}}
	first, err := pgwire.Open(t.Context(), o)
	if err != nil || first.Pooler() != pgwire.Session {
		t.Fatal(first, err)
	}
	defer first.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err = pgwire.Open(ctx, o)
	if !errors.Is(err, pgwire.ErrNoSession) || !strings.Contains(err.Error(), "needs 4 of them") {
		t.Errorf("with the only session in use: %v, want ErrNoSession", err)
	}
}

func TestALentSessionKeepsNothingOfOurs(t *testing.T) {
	t.Parallel()
	p := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	b := localserver.PgbouncerForTest(t, localserver.PgbouncerOptions{Server: p, Mode: "transaction", Config: []string{"default_pool_size = 1"}})
	other := raw(t, b.URL())
	const all = "select string_agg(name || '=' || setting, ' ' order by name) from pg_settings where source <> 'default' and name <> 'transaction_read_only'"
	before := ask(t, other, all)
	c := open(t, b.URL())
	s := pgwire.Statement{Name: "left", SQL: "select current_setting('transaction_read_only'), current_setting('statement_timeout')", Columns: 2}
	if err := c.Prepare(t.Context(), &s); err != nil {
		t.Fatal(err)
	}
	if err := c.Each(t.Context(), &s, nil, func(r pgwire.Row) error {
		if r.Text(0) != "on" || r.Text(1) != "5s" {
			t.Errorf("a statement of ours runs with %q", r)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Rows(t.Context(), "create table x ()"); err == nil {
		t.Error("it can write")
	}
	if _, err := c.Rows(t.Context(), "select pg_sleep(6)"); err == nil || !strings.Contains(err.Error(), "57014") {
		t.Errorf("a long statement: %v, want the server to end it", err)
	}
	if after := ask(t, other, all); after != before {
		t.Errorf("it has the settings %s, had %s", after, before)
	}
	if n := ask(t, other, "select count(*) from pg_prepared_statements"); n != "0" {
		t.Errorf("%s prepared statements are left", n)
	}
	if n := ask(t, other, "select count(*) from pg_listening_channels()"); n != "0" {
		t.Errorf("it listens to %s channels", n)
	}
}

func TestAPanicWhileReadingLeavesNoStatementUnderWay(t *testing.T) {
	t.Parallel()
	s := strangerAt(t, localserver.PostgresForTest(t, localserver.PostgresOptions{}), "transaction")
	c := open(t, s.pool.URL())
	many := pgwire.Statement{SQL: "select generate_series(1, 100000)", Columns: 1}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("it did not panic")
			}
		}()
		_ = c.Each(t.Context(), &many, nil, func(pgwire.Row) error { panic("boom") })
	}()
	c.Close()
	s.unharmed("a panic")
}

func TestAnAddressThatChangesOnTheWayIsSaid(t *testing.T) {
	t.Parallel()
	p := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	if text := open(t, p.URL()).NAT(); text != "" {
		t.Errorf("without a proxy: %s", text)
	}
	proxy := localserver.ProxyForTest(t, p.Addr())
	if text := open(t, strings.Replace(p.URL(), p.Addr(), proxy.Addr(), 1)).NAT(); !strings.Contains(text, "NAT or a proxy stands between") {
		t.Errorf("through a proxy: %q", text)
	}
}

func TestReadOnlySessionsCannotWrite(t *testing.T) {
	t.Parallel()
	p := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	c := open(t, p.URL())
	if err := c.ReadOnly(t.Context(), "coordtop-test"); err != nil {
		t.Fatal(err)
	}
	const settings = "select current_setting('application_name') || ' ' || current_setting('statement_timeout') || ' ' || current_setting('lock_timeout')"
	if row, err := c.One(t.Context(), settings); err != nil || row.Text(0) != "coordtop-test 5s 1s" {
		t.Errorf("its settings are %q (%v)", row.Text(0), err)
	}
	if _, err := c.Rows(t.Context(), "create table x ()"); err == nil {
		t.Error("it can write")
	}
}
