package pgcoord_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"coordtop/coord"
	"coordtop/coord/pgcoord"
	"coordtop/internal/localserver"
)

func describe(t *testing.T, s coord.DriverSession, name string) coord.Description {
	t.Helper()
	d, err := s.(coord.Describer).Describe(t.Context(), coord.KindMutex, name)
	noError(t, err)
	return d
}

// psql runs a statement on a connection of its own, in the background until it ends.
func psql(t *testing.T, url, name, statement string) *pgx.Conn {
	t.Helper()
	c := sql(t, url+"&application_name="+name)
	done := make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		_, err := c.Exec(ctx, statement)
		if err != nil && ctx.Err() == nil {
			t.Errorf("%s: %v", statement, err)
		}
	}()
	return c
}

func ids(owners []coord.Owner) string {
	var list []string
	for _, o := range owners {
		list = append(list, fmt.Sprintf("%v %v %s", o.Mode, o.Permits, o.Data))
	}
	return strings.Join(list, ", ")
}

func TestDescribeShowsStrangersInTheOrderOfTheQueue(t *testing.T) {
	t.Parallel()
	url := shared(t)
	low := time.Now().UnixNano() % 1e9
	pair := fmt.Sprintf("-17, %d", low)
	s := open(t, closing(t, url, pgcoord.Options{}), coord.SessionOptions{})
	look := sql(t, url)
	queued := func(n int) func() bool {
		return func() bool {
			return one[int](t, look, "select count(*) from pg_locks where locktype = 'advisory' and objid = $1", low) == n
		}
	}
	for i, step := range []struct{ name, statement string }{
		{"o1%7Ca", "select pg_advisory_lock_shared(" + pair + ")"}, {"o2%7Cb", "select pg_advisory_lock_shared(" + pair + ")"},
		{"w1%7Cc", "select pg_advisory_lock(" + pair + ")"}, {"w2%7Cd", "select pg_advisory_lock_shared(" + pair + ")"}, {"w3%7Ce", "select pg_advisory_lock(" + pair + ")"},
	} {
		psql(t, url, step.name, step.statement)
		eventually(t, step.name+" is there", queued(i+1))
	}
	psql(t, url, "elsewhere", fmt.Sprintf("select pg_advisory_lock(-17::bigint << 32 | %d)", low)) // the same numbers as one, which is another lock
	eventually(t, "the other lock is there", queued(6))
	d := describe(t, s, fmt.Sprintf("-17:%d", low))
	if got := ids(d.Owners); got != "shared 1 a, shared 1 b" && got != "shared 1 b, shared 1 a" {
		t.Errorf("owners: %s", got)
	}
	if got := ids(d.Waiters); got != "exclusive 1 c, shared 1 d, exclusive 1 e" || !d.WaitersKnown {
		t.Errorf("waiters: %s (known %v)", got, d.WaitersKnown)
	}
	if d.Limit != 0 || d.Taken != 2 {
		t.Errorf("limit %d, taken %d, want none and 2", d.Limit, d.Taken)
	}
	if d := describe(t, s, fmt.Sprintf("17:%d", low)); len(d.Owners)+len(d.Waiters) != 0 {
		t.Errorf("a key that nobody has: %+v", d)
	}
}

func TestDescribeShowsAPreparedTransaction(t *testing.T) {
	t.Parallel()
	url := server(t, localserver.PostgresOptions{Config: []string{"max_prepared_transactions = 5"}}).URL()
	s := open(t, closing(t, url, pgcoord.Options{}), coord.SessionOptions{})
	if _, err := sql(t, url).Exec(t.Context(), "begin; select pg_advisory_xact_lock(7), pg_current_xact_id(); prepare transaction 'pay 7'"); err != nil {
		t.Fatal(err)
	}
	d := describe(t, s, "7")
	if len(d.Owners) != 1 || d.Owners[0].ID != "prepared pay 7" {
		t.Errorf("owners: %+v, want the prepared transaction by its name", d.Owners)
	}
}

func TestDescribeWithoutRightsShowsThePid(t *testing.T) {
	t.Parallel()
	p := server(t, localserver.PostgresOptions{Setup: []string{"create role plain login"}})
	owner := open(t, closing(t, p.URL(), pgcoord.Options{}), coord.SessionOptions{Description: "boss"})
	g := must(t, owner, coord.Claim{Kind: coord.KindMutex, Name: "7", Data: []byte("d")})
	plain := open(t, closing(t, p.URLFor("plain", "", "postgres"), pgcoord.Options{}), coord.SessionOptions{})
	d := describe(t, plain, "7")
	pid, _, _ := strings.Cut(g.Info().Owner, "@")
	if len(d.Owners) != 1 || d.Owners[0].ID != pid || string(d.Owners[0].Data) != "d" {
		t.Errorf("owners: %+v, want pid %s and its data", d.Owners, pid)
	}
	mine := must(t, plain, coord.Claim{Kind: coord.KindMutex, Name: "8"})
	if d := describe(t, plain, "8"); len(d.Owners) != 1 || d.Owners[0].ID != mine.Info().Owner {
		t.Errorf("owners: %+v, want ourselves as %s", d.Owners, mine.Info().Owner)
	}
}

func TestDescribeGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	p := server(t, localserver.PostgresOptions{})
	s := open(t, closing(t, p.URL(), pgcoord.Options{}), coord.SessionOptions{})
	for range 3 {
		if d := describe(t, s, "7"); len(d.Owners) != 0 {
			t.Errorf("owners: %+v", d.Owners)
		}
		noError(t, p.Restart(t.Context()))
	}
	must(t, s, coord.Claim{Kind: coord.KindMutex, Name: "7"})
	if d := describe(t, s, "7"); len(d.Owners) != 1 {
		t.Errorf("owners: %+v, want us", d.Owners)
	}
}

func TestWhatCannotBeDescribedIsSaid(t *testing.T) {
	t.Parallel()
	s := open(t, closing(t, shared(t), pgcoord.Options{}), coord.SessionOptions{})
	for _, c := range []struct {
		kind coord.Kind
		name string
		want error
	}{{coord.KindSemaphore, "1", coord.ErrUnsupported}, {coord.KindMutex, "99999999999999999999", coord.ErrInvalid}} {
		if _, err := s.(coord.Describer).Describe(t.Context(), c.kind, c.name); !errors.Is(err, c.want) {
			t.Errorf("describing %v %s: %v, want %v", c.kind, c.name, err, c.want)
		}
	}
}

func TestNamesAreHashedByTheServer(t *testing.T) {
	t.Parallel()
	url := shared(t)
	name := "ledger/" + freshKey()
	g := must(t, open(t, closing(t, url, pgcoord.Options{}), coord.SessionOptions{}), coord.Claim{Kind: coord.KindMutex, Name: name})
	look := sql(t, url)
	if n := one[int](t, look, strings.Replace(heldQuery, "$1::bigint", "hashtextextended($1, 0)", 1), name); n != 1 {
		t.Errorf("%d locks on hashtextextended(%q, 0)", n, name)
	}
	s := open(t, closing(t, url, pgcoord.Options{}), coord.SessionOptions{})
	if d := describe(t, s, name); len(d.Owners) != 1 || d.Owners[0].ID != g.Info().Owner || d.Name != name {
		t.Errorf("described as %+v", d)
	}
	if _, ok, err := s.Acquire(t.Context(), coord.Claim{Kind: coord.KindMutex, Name: name}); ok || err != nil {
		t.Errorf("another session: ok %v, %v", ok, err)
	}
}
