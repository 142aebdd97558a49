package pgcoord_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"coordtop/coord"
	"coordtop/coord/pgcoord"
)

// contender does what @platformatic/leader 0.2.0 does with one lock number: on one
// connection that it keeps it tries again and again, also while it leads (so that the
// server counts up), listens to its channels once it has won, and hands each notification
// to its handler on the same connection. When it stops, its pool closes the connection.
type contender struct {
	conn *pgx.Conn
	key  int64
	poll time.Duration
	led  chan struct{} // closed when it wins
	said chan string   // what came on its channel
	done chan struct{}
	stop context.CancelFunc
}

func contend(t *testing.T, url string, key int64, channel string, leading *atomic.Int32) *contender {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	noError(t, err)
	c := &contender{conn: conn, key: key, poll: 20 * time.Millisecond,
		led: make(chan struct{}), said: make(chan string, 100), done: make(chan struct{})}
	ctx, stop := context.WithCancel(context.Background())
	c.stop = sync.OnceFunc(func() { stop(); <-c.done })
	t.Cleanup(c.stop)
	go func() {
		defer close(c.done)
		if err := c.run(ctx, channel, leading); err != nil && ctx.Err() == nil {
			t.Errorf("the other program: %v", err)
		}
	}()
	return c
}

func (c *contender) run(ctx context.Context, channel string, leading *atomic.Int32) error {
	defer c.conn.Close(context.Background())
	elected := false
	defer func() {
		if elected {
			leading.Add(-1) // before the connection closes
		}
	}()
	for {
		var leader bool
		if err := c.conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1) AS leader", c.key).Scan(&leader); err != nil {
			return err
		}
		if leader && !elected {
			elected = true
			leading.Add(1)
			if _, err := c.conn.Exec(ctx, `LISTEN "`+channel+`"`); err != nil {
				return err
			}
			close(c.led)
		}
		if elected && !leader {
			return errors.New("it lost the lock on a connection that lives")
		}
		rest, cancel := context.WithTimeout(ctx, c.poll)
		for {
			n, err := c.conn.WaitForNotification(rest)
			if err != nil {
				break
			}
			c.said <- n.Payload
		}
		cancel()
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// theirNotify sends as @platformatic/leader does: it puts the text between quotes.
func theirNotify(t *testing.T, c *pgx.Conn, channel string, payload any) {
	t.Helper()
	text, err := json.Marshal(payload)
	noError(t, err)
	if _, err := c.Exec(context.Background(), `NOTIFY "`+channel+`", '`+string(text)+`'`); err != nil {
		t.Fatal(err)
	}
}

func receive[T any](t *testing.T, what string, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(patience):
		t.Fatalf("waited in vain for %s", what)
		panic("unreachable")
	}
}

func TestContendsWithPlatformaticLeaderOnOneNumber(t *testing.T) {
	t.Parallel()
	url := shared(t)
	const channel = "Trigger/Events"
	key := pgcoord.BigintKey(time.Now().UnixNano())
	number, _ := key.Bigint()
	var leading atomic.Int32
	alone := func(who string) {
		t.Helper()
		if n := leading.Load(); n != 1 {
			t.Fatalf("%d lead while %s does", n, who)
		}
	}
	told := make(chan pgcoord.Notification, 100)
	for _, poll := range []time.Duration{0, 10 * time.Millisecond} {
		d := closing(t, url, pgcoord.Options{Poll: poll, Channels: []pgcoord.Listener{{
			Channel: channel, Handle: func(_ context.Context, n pgcoord.Notification) { told <- n },
		}}})
		s := kept(t, d, 0)
		election := s.Election(key.String(), coord.ElectionOptions{})
		for range 3 {
			theirs := contend(t, url, number, channel, &leading)
			receive(t, "the other program to lead", theirs.led)
			alone("the other program")
			if _, ok, err := election.TryCampaign(t.Context(), nil); ok || err != nil {
				t.Fatalf("a try while the other program leads: ok %v, %v", ok, err)
			}
			noError(t, d.Notify(t.Context(), channel, `{"hello":"it's us"}`))
			if got := receive(t, "our notification at the other program", theirs.said); got != `{"hello":"it's us"}` {
				t.Errorf("the other program got %q", got)
			}

			won := make(chan *coord.Term, 1)
			go func() {
				term, err := election.Campaign(t.Context(), nil)
				if err != nil {
					t.Errorf("campaigning: %v", err)
				}
				won <- term
			}()
			theirs.stop()
			term := receive(t, "us to lead", won)
			if term == nil {
				return
			}
			leading.Add(1)
			next := contend(t, url, number, channel, &leading) // polls while we lead
			theirNotify(t, sql(t, url), channel, map[string]string{"from": "them"})
			if n := receive(t, "their notification with us", told); n.Payload != `{"from":"them"}` || n.Channel != channel {
				t.Errorf("we got %+v", n)
			}
			renewedOnce(t, term.Lease())
			alone("we")
			leading.Add(-1)
			noError(t, term.Resign(t.Context()))
			receive(t, "the other program to lead after us", next.led)
			alone("the other program")
			next.stop()
		}
	}
}
