package pgcoord

import (
	"context"
	"testing"
	"time"

	"coordtop/coord"
	"coordtop/internal/ground/pgwire"
)

// KeepaliveFor tells what keepalives of a TTL are made of, in seconds.
func KeepaliveFor(t *testing.T, ttlSeconds float64) (idle, interval, count int) {
	ttl := time.Duration(ttlSeconds * float64(time.Second))
	k := keepaliveFor(ttl)
	if k.budget() < ttl {
		t.Errorf("keepalives of %v for a TTL of %v s", k.budget(), ttlSeconds)
	}
	return int(k.Idle.Seconds()), int(k.Interval.Seconds()), k.Count
}

// AskOn asks one question on a lock's own connection.
func AskOn(t testing.TB, g coord.Grant, sql string) string {
	t.Helper()
	var answer string
	err := g.(*grant).connection.do(context.Background(), func(ctx context.Context, conn *pgwire.Conn) error {
		rows, err := query(ctx, conn, sql)
		if err == nil {
			answer = rows[0].Text(0)
		}
		return err
	})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return answer
}

// Move makes it seem that another process of the server gave us the lock.
func Move(t testing.TB, g coord.Grant) {
	t.Helper()
	l := g.(*grant).connection
	err := l.do(context.Background(), func(context.Context, *pgwire.Conn) error {
		l.facts.pid++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
