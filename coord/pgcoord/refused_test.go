package pgcoord_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/coord/pgcoord"
	"coordtop/internal/localserver"
)

func TestWhatCannotWorkIsRefusedWithOneClearMessage(t *testing.T) {
	t.Parallel()
	primary := server(t, localserver.PostgresOptions{})
	standby := server(t, localserver.PostgresOptions{StandbyOf: primary})
	locked := server(t, localserver.PostgresOptions{
		Password: "s3cret-one", TLS: true, Config: []string{"max_connections = 6", "superuser_reserved_connections = 0", "max_wal_senders = 0"},
		Setup: []string{"create role poor login password 's3cret-two'", "revoke execute on function pg_advisory_lock(bigint), pg_try_advisory_lock(bigint) from public"},
	})
	for what, c := range map[string]struct {
		url, text string
		final     bool
	}{
		"a wrong password":      {locked.URLFor("postgres", "s3cret-wrong", "postgres"), "password authentication failed", true},
		"an unknown role":       {primary.URLFor("nobody-here", "", "postgres"), `"nobody-here" does not exist`, true},
		"an unknown database":   {primary.URLFor("postgres", "", "nowhere"), `"nowhere" does not exist`, true},
		"a standby":             {standby.URL(), "standby", true},
		"a certificate":         {"postgres://postgres:s3cret-one@" + locked.Addr() + "/postgres?sslmode=verify-full", "certificate", true},
		"nobody at the address": {"postgres://x:s3cret-x@" + localserver.RefusingForTest(t) + "/postgres?sslmode=disable", "connection refused", false},
	} {
		_, err := closing(t, c.url, pgcoord.Options{}).Open(t.Context(), coord.SessionOptions{})
		if err == nil || errors.Is(err, coord.ErrRefused) != c.final {
			t.Errorf("%s: %v, want it final: %v", what, err, c.final)
			continue
		}
		if text := err.Error(); !strings.Contains(text, c.text) || strings.ContainsAny(text, "\n\t") || strings.Contains(text, "s3cret") {
			t.Errorf("%s: %q, want one line with %q and without a password", what, text, c.text)
		}
	}

	poor := open(t, closing(t, locked.URLFor("poor", "s3cret-two", "postgres"), pgcoord.Options{}), coord.SessionOptions{})
	for _, wait := range []time.Duration{0, coord.Forever} {
		_, _, err := poor.Acquire(t.Context(), coord.Claim{Kind: coord.KindMutex, Name: "1", Wait: wait})
		if !errors.Is(err, coord.ErrRefused) || !strings.Contains(err.Error(), "42501") {
			t.Errorf("without the right to lock: %v, want ErrRefused and the SQLSTATE", err)
		}
	}
	for range 8 { // until all connections are taken
		s, err := closing(t, locked.URL(), pgcoord.Options{}).Open(t.Context(), coord.SessionOptions{})
		if err == nil {
			t.Cleanup(func() { _ = s.Close(context.Background()) })
			continue
		}
		if errors.Is(err, coord.ErrRefused) || !strings.Contains(err.Error(), "53300") {
			t.Errorf("a server that is full: %v, want the SQLSTATE, and no refusal", err)
		}
		return
	}
	t.Error("the server never was full")
}

func TestAddressesThatCannotBeReadGiveNothingAway(t *testing.T) {
	t.Parallel()
	for _, dsn := range []string{
		"postgres://user:hunter2@host:notaport/db",
		"postgres://user:hunter2@host:1/db?sslmode=hunter2",
		"postgres://user:hunter2@host:1/db?connect_timeout=hunter2",
		"postgres://user:hunter2%zz@host/db",
		"host=h password=hunter2 port=x",
		"host=h password='hunter2",
		"user:hunter2@host",
	} {
		_, err := pgcoord.New(dsn, pgcoord.Options{})
		if !errors.Is(err, coord.ErrInvalid) || strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), "hunter2") {
			t.Errorf("%q: %v, want ErrInvalid without the password", dsn, err)
		}
	}
}

func TestOptionsThatContradictAreInvalid(t *testing.T) {
	t.Parallel()
	handle := func(context.Context, pgcoord.Notification) {}
	for what, o := range map[string]pgcoord.Options{
		"a short TTL":       {TTL: 499 * time.Millisecond},
		"a long TTL":        {TTL: 10 * time.Hour},
		"a negative TTL":    {TTL: -1},
		"a negative Poll":   {Poll: -1},
		"an unknown scheme": {Scheme: "md5"},
		"an empty channel":  {Channels: []pgcoord.Listener{{Handle: handle}}},
		"a long channel":    {Channels: []pgcoord.Listener{{Channel: strings.Repeat("x", 64), Handle: handle}}},
		"a broken channel":  {Channels: []pgcoord.Listener{{Channel: "\xff", Handle: handle}}},
		"no handler":        {Channels: []pgcoord.Listener{{Channel: "x"}}},
	} {
		if _, err := pgcoord.New("postgres://127.0.0.1:1/x", o); !errors.Is(err, coord.ErrInvalid) {
			t.Errorf("%s: %v, want ErrInvalid", what, err)
		}
	}
}

func TestClaimsThatALockCannotServeAreToldApart(t *testing.T) {
	t.Parallel()
	s := open(t, closing(t, shared(t), pgcoord.Options{}), coord.SessionOptions{})
	for what, c := range map[string]struct {
		claim coord.Claim
		want  error
	}{
		"a semaphore":          {coord.Claim{Kind: coord.KindSemaphore, Name: "1"}, coord.ErrUnsupported},
		"two permits":          {coord.Claim{Kind: coord.KindMutex, Name: "1", Permits: 2}, coord.ErrUnsupported},
		"an ephemeral lock":    {coord.Claim{Kind: coord.KindMutex, Name: "1", Ephemeral: true}, coord.ErrUnsupported},
		"a key that is none":   {coord.Claim{Kind: coord.KindMutex, Name: "99999999999999999999"}, coord.ErrInvalid},
		"too much data":        {coord.Claim{Kind: coord.KindMutex, Name: "1", Data: make([]byte, 63-len("coordtop|")+1)}, coord.ErrDataTooLong},
		"two lines of data":    {coord.Claim{Kind: coord.KindMutex, Name: "1", Data: []byte("a\nb")}, coord.ErrInvalid},
		"data beyond ASCII":    {coord.Claim{Kind: coord.KindMutex, Name: "1", Data: []byte("für")}, coord.ErrInvalid},
		"a TTL that is no TTL": {coord.Claim{Kind: coord.KindMutex, Name: "1", TTL: time.Nanosecond}, coord.ErrInvalid},
	} {
		if _, ok, err := s.Acquire(t.Context(), c.claim); ok || !errors.Is(err, c.want) {
			t.Errorf("%s: ok %v, %v, want %v", what, ok, err, c.want)
		}
	}
	d, ok := s.(coord.Describer)
	if !ok {
		t.Fatal("the session is no Describer")
	}
	if _, err := d.Describe(t.Context(), coord.KindMutex, "1:99999999999"); !errors.Is(err, coord.ErrInvalid) {
		t.Errorf("describing a key that is none: %v, want ErrInvalid", err)
	}
}

func TestSeveralHostsMeanThePrimaryAmongThem(t *testing.T) {
	t.Parallel()
	primary := server(t, localserver.PostgresOptions{})
	standby := server(t, localserver.PostgresOptions{StandbyOf: primary})
	url := fmt.Sprintf("postgres://postgres@%s,%s/postgres?sslmode=disable", standby.Addr(), primary.Addr())
	d := closing(t, url, pgcoord.Options{})
	s := open(t, d, coord.SessionOptions{TTL: 2 * time.Second})
	key := freshKey()
	g := must(t, s, coord.Claim{Kind: coord.KindElection, Name: key})
	if n := one[int](t, sql(t, primary.URL()), "select count(*) from pg_locks where locktype = 'advisory'"); n != 1 {
		t.Fatalf("%d locks on the primary, want ours", n)
	}

	// The primary is lost, and the standby takes its place: all locks are forgotten.
	primary.Kill()
	if err := ended(t, g); !errors.Is(err, coord.ErrLost) {
		t.Errorf("after the loss of the primary: %v, want ErrLost", err)
	}
	_, _, err := s.Acquire(t.Context(), coord.Claim{Kind: coord.KindElection, Name: key})
	if err == nil || errors.Is(err, coord.ErrRefused) {
		t.Errorf("while there is no primary: %v, want an error that may pass", err)
	}
	one[bool](t, sql(t, standby.URL()), "select pg_promote()")
	next := must(t, s, coord.Claim{Kind: coord.KindElection, Name: key})
	if next.Err() != nil || next.Info().Owner == g.Info().Owner {
		t.Errorf("on the new primary: %v, owner %q after %q", next.Err(), next.Info().Owner, g.Info().Owner)
	}
}
