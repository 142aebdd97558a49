package pgcoord_test

import (
	"errors"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/coord/pgcoord"
	"coordtop/internal/localserver"
)

func TestKeepalivesAreMadeOfTheTTL(t *testing.T) {
	t.Parallel()
	for ttl, want := range map[float64][3]int{
		0.5: {1, 1, 1}, 2: {1, 1, 1}, 2.1: {1, 1, 2}, 3: {1, 1, 2}, 4: {1, 1, 3}, 5: {2, 1, 3}, 11: {5, 2, 3}, 60: {24, 12, 3}, 32400: {12960, 6480, 3},
	} {
		idle, interval, count := pgcoord.KeepaliveFor(t, ttl)
		if got := [3]int{idle, interval, count}; got != want {
			t.Errorf("a TTL of %v s: %v, want %v", ttl, got, want)
		}
	}
}

func TestSettingsOfALocksConnection(t *testing.T) {
	t.Parallel()
	p := server(t, localserver.PostgresOptions{Setup: []string{
		"alter role postgres set statement_timeout = '1s'", "alter role postgres set lock_timeout = '1s'",
		"alter role postgres set idle_session_timeout = '1s'",
	}})
	s := open(t, closing(t, p.URL(), pgcoord.Options{}), coord.SessionOptions{Description: "me"})
	g := must(t, s, coord.Claim{Kind: coord.KindMutex, Name: "1", Data: []byte("data")})
	for name, want := range map[string]string{
		"tcp_keepalives_idle": "5", "tcp_keepalives_interval": "2", "tcp_keepalives_count": "3", "tcp_user_timeout": "11000",
		"client_connection_check_interval": "1s", "idle_session_timeout": "0", "statement_timeout": "0", "lock_timeout": "0",
		"application_name": "me|data",
	} {
		if got := pgcoord.AskOn(t, g, "select current_setting('"+name+"')"); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if i := g.Info(); i.Valid != 11*time.Second || i.RenewIn >= 5*time.Second {
		t.Errorf("valid for %v, renewed after %v: want 11 s, and less than the server's 5 s of patience", i.Valid, i.RenewIn)
	}
	short := must(t, s, coord.Claim{Kind: coord.KindMutex, Name: "2", TTL: 1500 * time.Millisecond})
	if i := short.Info(); i.Valid != 1500*time.Millisecond || pgcoord.AskOn(t, short, "select current_setting('tcp_user_timeout')") != "2000" {
		t.Errorf("a claim with a TTL of its own is valid for %v", i.Valid)
	}
	_, _, err := s.Acquire(t.Context(), coord.Claim{Kind: coord.KindMutex, Name: "3", TTL: time.Millisecond})
	if !errors.Is(err, coord.ErrInvalid) {
		t.Errorf("a TTL of a millisecond: %v, want ErrInvalid", err)
	}
}
