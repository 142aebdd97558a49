package postgres

import (
	"fmt"
	"testing"
	"time"

	"coordtop/internal/history/storetest"
	"coordtop/internal/localserver"
)

// announced writes until a Listener counts on announcements, or for limit.
func announced(t *testing.T, l *Listener, w *Writer, from *time.Duration, limit time.Duration) bool {
	t.Helper()
	for end := time.Now().Add(limit); time.Now().Before(end); {
		*from += m
		storetest.Write(t, w, batch(*from, fmt.Sprint(*from)))
		select {
		case <-l.Written():
			return true
		case <-time.After(100 * time.Millisecond):
		}
	}
	return false
}

func TestAListenerIsToldOfEachWriteAndConnectsAgain(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	o := stores(server.URL())
	l := Listen(t.Context(), o)
	defer l.Close()
	if l.Written() != nil {
		t.Error("it counts on announcements before the first one")
	}
	w, from := begun(t, o, 0), time.Duration(0)
	if !announced(t, l, w, &from, 20*time.Second) {
		t.Fatal("nothing arrives")
	}
	asked(t, server.URL(), "select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen "+o.Schema+"'")
	l.last.Store(0)
	if !announced(t, l, w, &from, 20*time.Second) {
		t.Error("nothing arrives after the session was ended")
	}
}

func TestThroughAPoolerOfTransactionsAListenerSaysThatNothingArrives(t *testing.T) {
	t.Parallel()
	server := localserver.PostgresForTest(t, localserver.PostgresOptions{})
	pooler := localserver.PgbouncerForTest(t, localserver.PgbouncerOptions{Server: server, Mode: "transaction"})
	o := stores(pooler.URL())
	l := Listen(t.Context(), o)
	defer l.Close()
	w, from := begun(t, o, 0), time.Duration(0)
	if announced(t, l, w, &from, nextWithin) {
		t.Error("it counts on announcements")
	}
}
