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
	if err != nil {
		t.Fatal(err)
	}
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
	s := open(t, closing(t, url, brisk), coord.SessionOptions{})
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
	s := open(t, closing(t, url, brisk), coord.SessionOptions{})
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
	owner := open(t, closing(t, p.URL(), brisk), coord.SessionOptions{Description: "boss"})
	g := must(t, owner, coord.Claim{Kind: coord.KindMutex, Name: "7", Data: []byte("d")})
	plain := open(t, closing(t, p.URLFor("plain", "", "postgres"), brisk), coord.SessionOptions{})
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

func TestForgedAnnouncementDoesNotReplaceWhatTheNameShows(t *testing.T) {
	t.Parallel()
	url := shared(t)
	key := freshKey()
	s := open(t, closing(t, url, brisk), coord.SessionOptions{})
	must(t, s, coord.Claim{Kind: coord.KindElection, Name: key, Data: []byte("true")})
	describe(t, s, key) // connects, so that it receives what the forger sends
	forged := fmt.Sprintf(`{"database":"postgres","key":"%s","event":"proclaimed","data":"forged"}`, key)
	if _, err := sql(t, url).Exec(t.Context(), "select pg_notify($1, $2)", pgcoord.Channel, forged); err != nil {
		t.Fatal(err)
	}
	if d := describe(t, s, key); len(d.Owners) != 1 || string(d.Owners[0].Data) != "true" {
		t.Errorf("owners: %+v", d.Owners)
	}
}

// follow watches in the background and passes on what it sees.
func follow(t *testing.T, s coord.DriverSession, name string) <-chan coord.Description {
	t.Helper()
	seen := make(chan coord.Description, 1000)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		for d, err := range s.(coord.Watcher).Watch(ctx, coord.KindMutex, name) {
			if err != nil {
				t.Errorf("watching: %v", err)
				return
			}
			seen <- d
		}
	}()
	return seen
}

func until(t *testing.T, what string, seen <-chan coord.Description, want func(coord.Description) bool) {
	t.Helper()
	for !want(receive(t, what, seen)) {
	}
}

func TestWatchSeesStrangersAndGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	p := server(t, localserver.PostgresOptions{})
	s := open(t, closing(t, p.URL(), pgcoord.Options{WatchEvery: 50 * time.Millisecond}), coord.SessionOptions{})
	seen := follow(t, s, "7")
	until(t, "nobody", seen, func(d coord.Description) bool { return len(d.Owners) == 0 })
	psql(t, p.URL(), "a%7Cone", "select pg_advisory_lock(7)")
	until(t, "a stranger", seen, func(d coord.Description) bool { return len(d.Owners) == 1 && string(d.Owners[0].Data) == "one" })
	waiter, stop := context.WithCancel(t.Context())
	defer stop()
	done := make(chan struct{})
	other := sql(t, p.URL())
	go func() {
		defer close(done)
		_, _ = other.Exec(waiter, "select pg_advisory_lock(7)") // until the restart
	}()
	until(t, "its waiter", seen, func(d coord.Description) bool { return len(d.Waiters) == 1 })
	if err := p.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-done
	until(t, "nobody again", seen, func(d coord.Description) bool { return len(d.Owners) == 0 })
	must(t, s, coord.Claim{Kind: coord.KindMutex, Name: "7"})
	until(t, "us", seen, func(d coord.Description) bool { return len(d.Owners) == 1 })
}

func TestWatchLooksAgainAtOnceWhenItsConnectionEnds(t *testing.T) {
	t.Parallel()
	p := server(t, localserver.PostgresOptions{})
	seen := follow(t, open(t, closing(t, p.URL(), pgcoord.Options{WatchEvery: time.Hour}), coord.SessionOptions{}), "7")
	until(t, "nobody", seen, func(d coord.Description) bool { return len(d.Owners) == 0 })
	must(t, open(t, closing(t, p.URL(), brisk), coord.SessionOptions{}), coord.Claim{Kind: coord.KindMutex, Name: "7"})
	until(t, "an owner", seen, func(d coord.Description) bool { return len(d.Owners) == 1 })
	if err := p.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, "nobody again", seen, func(d coord.Description) bool { return len(d.Owners) == 0 })
}

func TestAnnouncementWakesAWatch(t *testing.T) {
	t.Parallel()
	url := shared(t)
	key := freshKey()
	watcher := open(t, closing(t, url, pgcoord.Options{WatchEvery: time.Hour}), coord.SessionOptions{})
	seen := follow(t, watcher, key)
	until(t, "nobody", seen, func(d coord.Description) bool { return len(d.Owners) == 0 })
	owner := open(t, closing(t, url, brisk), coord.SessionOptions{})
	for _, data := range []string{"a", "b"} {
		g := must(t, owner, coord.Claim{Kind: coord.KindMutex, Name: key, Data: []byte(data)})
		until(t, "the acquisition", seen, func(d coord.Description) bool { return len(d.Owners) == 1 && string(d.Owners[0].Data) == data })
		if err := g.(coord.Publisher).Publish(t.Context(), []byte("new")); err != nil {
			t.Fatal(err)
		}
		until(t, "the publication", seen, func(d coord.Description) bool { return len(d.Owners) == 1 && string(d.Owners[0].Data) == "new" })
		if err := g.Release(t.Context()); err != nil {
			t.Fatal(err)
		}
		until(t, "the release", seen, func(d coord.Description) bool { return len(d.Owners) == 0 })
	}
}

func TestWatchOfWhatCannotBeWatchedEndsWithTheReason(t *testing.T) {
	t.Parallel()
	s := open(t, closing(t, shared(t), brisk), coord.SessionOptions{})
	for name, kind := range map[string]coord.Kind{"1": coord.KindSemaphore, "99999999999999999999": coord.KindMutex} {
		n := 0
		for _, err := range s.(coord.Watcher).Watch(t.Context(), kind, name) {
			if n++; !errors.Is(err, coord.ErrUnsupported) && !errors.Is(err, coord.ErrInvalid) {
				t.Errorf("watching %v %s: %v", kind, name, err)
			}
		}
		if n != 1 {
			t.Errorf("watching %v %s yielded %d times, want one error", kind, name, n)
		}
	}
}

func TestNamesAreHashedByTheServer(t *testing.T) {
	t.Parallel()
	url := shared(t)
	name := "ledger/" + freshKey()
	g := must(t, open(t, closing(t, url, brisk), coord.SessionOptions{}), coord.Claim{Kind: coord.KindMutex, Name: name})
	look := sql(t, url)
	if n := one[int](t, look, strings.Replace(heldQuery, "$1::bigint", "hashtextextended($1, 0)", 1), name); n != 1 {
		t.Errorf("%d locks on hashtextextended(%q, 0)", n, name)
	}
	s := open(t, closing(t, url, brisk), coord.SessionOptions{})
	if d := describe(t, s, name); len(d.Owners) != 1 || d.Owners[0].ID != g.Info().Owner || d.Name != name {
		t.Errorf("described as %+v", d)
	}
	if _, ok, err := s.Acquire(t.Context(), coord.Claim{Kind: coord.KindMutex, Name: name}); ok || err != nil {
		t.Errorf("another session: ok %v, %v", ok, err)
	}
}
