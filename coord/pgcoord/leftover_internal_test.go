package pgcoord

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"coordtop/coord"
	"coordtop/internal/ground/pgwire"
)

func TestAProcessIsEndedOnlyWhereNoPoolerCanHaveLentIt(t *testing.T) {
	t.Parallel()
	const ends = "pg_catalog.pg_terminate_backend(pid)"
	for _, c := range []struct {
		pooled bool
		over   pgwire.Pooler
		call   string
	}{
		{false, pgwire.None, ends}, {true, pgwire.None, "false"}, {false, pgwire.Session, "false"}, {false, pgwire.Lent, "false"}, {true, pgwire.Session, "false"},
	} {
		if call, remains := (facts{pooled: c.pooled}).end(c.over); call != c.call || errors.Is(remains, errPooled) != (c.call != ends) {
			t.Errorf("pooled %v, over a pooler of sort %v: %s, %v", c.pooled, c.over, call, remains)
		}
	}
}

func TestASessionIsLeftBehindWhereTheServerMayNotKnowThatItIsOver(t *testing.T) {
	t.Parallel()
	ended := fmt.Errorf("lost: %w", &pgwire.Reply{PgError: &pgconn.PgError{Code: "57P01"}})
	for name, c := range map[string]struct {
		err    error
		polite bool
		want   bool
	}{
		"a goodbye":                      {nil, true, false},
		"cut by us":                      {nil, false, true},
		"ended by the server":            {ended, false, false},
		"ended by the server, a goodbye": {ended, true, false},
		"reset":                          {io.EOF, false, true},
		"reset before the goodbye":       {io.EOF, true, true},
	} {
		if got := leavesBehind(c.err, c.polite); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestASessionThatCouldNotBeEndedIsNamed(t *testing.T) {
	t.Parallel()
	f := facts{pid: 4711, window: 11 * time.Second}
	noRight := &pgwire.Reply{PgError: &pgconn.PgError{Code: stateNoRight, Message: "no"}}
	for _, owned := range []bool{true, false} {
		for cause, want := range map[error]string{
			errPooled: "process 4711, could not be ended: a pooler stands between, which may have given that session to another client; the server ends it within 12s, ",
			noRight:   "process 4711, could not be ended: our role may not: grant execute on function pg_terminate_backend to it; ",
		} {
			err := leftover{facts: f, owned: owned}.error(cause, io.EOF)
			if text := err.Error(); !strings.Contains(text, want) || !strings.HasSuffix(text, "select pg_terminate_backend(4711) ends it at once") ||
				strings.HasPrefix(text, "it may be owned still") != owned {
				t.Errorf("owned %v: %s, want %s", owned, text, want)
			}
			if !errors.Is(err, coord.ErrUncertain) || !errors.Is(err, io.EOF) {
				t.Errorf("owned %v: %v wraps neither what is uncertain nor why", owned, err)
			}
		}
	}
}

func TestAProcessWhoseBeginningIsNotKnownIsNotEnded(t *testing.T) {
	t.Parallel()
	dials := 0
	d, err := New("postgres://127.0.0.1:1/x", Options{Dial: func(context.Context, string, string) (net.Conn, error) {
		dials++
		return nil, io.EOF
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.endProcess(t.Context(), facts{pid: 4711}); err == nil || dials != 0 {
		t.Errorf("%v, after %d connections", err, dials)
	}
}

func TestTheWindowIsTheShortestThatTheServerWaits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		keep              keepalive
		userTimeout, want time.Duration
	}{
		{keepalive{Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3}, 11 * time.Second, 11 * time.Second},
		{keepalive{Idle: 5 * time.Second, Interval: time.Second, Count: 3}, 0, 8 * time.Second},
		{keepalive{Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3}, 9 * time.Second, 9 * time.Second},
		{keepalive{Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3}, time.Hour, 11 * time.Second},
		{keepalive{}, 0, 11 * time.Second},
	} {
		if got := c.keep.window(11*time.Second, c.userTimeout); got != c.want {
			t.Errorf("%+v with a time-out of %v: %v, want %v", c.keep, c.userTimeout, got, c.want)
		}
	}
}
