package pgcoord_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"coordtop/coord"
	"coordtop/coord/pgcoord"
)

// leader leads an election with one channel.
func leader(t *testing.T, url, channel string, queue int, handle func(context.Context, pgcoord.Notification)) (*pgcoord.Driver, *coord.Term) {
	t.Helper()
	d := closing(t, url, pgcoord.Options{Queue: queue, Channels: []pgcoord.Listener{{Channel: channel, Handle: handle}}})
	term, err := kept(t, d, 0).Election(freshKey(), coord.ElectionOptions{}).Campaign(t.Context(), nil)
	noError(t, err)
	return d, term
}

func TestChannelsAndPayloadsAreQuoted(t *testing.T) {
	t.Parallel()
	url := shared(t)
	channel := `a "B" '; select 1 --` + freshKey()
	got := make(chan pgcoord.Notification, 10)
	d, _ := leader(t, url, channel, 0, func(_ context.Context, n pgcoord.Notification) { got <- n })
	for _, payload := range []string{"", "it's", `"'; drop table x; --`, "grüße\n\t\x01", strings.Repeat("x", 7999)} {
		noError(t, d.Notify(t.Context(), channel, payload))
		if n := receive(t, "the notification", got); n.Payload != payload || n.Channel != channel || n.PID == 0 || n.Missed != 0 {
			t.Errorf("sent %.20q, got %.20q on %q from %d (missed %d)", payload, n.Payload, n.Channel, n.PID, n.Missed)
		}
	}
}

func TestWhatCannotBeSentIsSaidBeforeAnythingIsSent(t *testing.T) {
	t.Parallel()
	d := closing(t, "postgres://127.0.0.1:1/nobody-listens-there", pgcoord.Options{})
	for what, c := range map[string]struct {
		channel, payload string
		want             error
	}{
		"a long payload":        {"c", strings.Repeat("x", 8000), coord.ErrDataTooLong},
		"a payload with a zero": {"c", "\x00", coord.ErrInvalid},
		"a payload not UTF-8":   {"c", "\xff", coord.ErrInvalid},
		"no channel":            {"", "x", coord.ErrInvalid},
		"a long channel":        {strings.Repeat("x", 64), "x", coord.ErrInvalid},
	} {
		if err := d.Notify(t.Context(), c.channel, c.payload); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", what, err, c.want)
		}
	}
	if err := d.Notify(t.Context(), "c", "x"); err == nil || errors.Is(err, coord.ErrInvalid) {
		t.Errorf("to a server that is not there: %v", err)
	}
}

func TestSlowHandlerDelaysNoRenewalAndIsToldWhatItMissed(t *testing.T) {
	t.Parallel()
	channel := "slow-" + freshKey()
	entered, leave := make(chan struct{}, 100), make(chan struct{})
	var got []pgcoord.Notification // of the handler's goroutine, until done
	done := make(chan struct{})
	d := closing(t, shared(t), pgcoord.Options{Queue: 2, TTL: patience, Channels: []pgcoord.Listener{{
		Channel: channel, Handle: func(ctx context.Context, n pgcoord.Notification) {
			got = append(got, n)
			entered <- struct{}{}
			select {
			case <-leave:
			case <-ctx.Done(): // the test has failed
			}
			if n.Payload == "last" {
				close(done)
			}
		},
	}}})
	g := must(t, open(t, d, coord.SessionOptions{}), coord.Claim{Kind: coord.KindElection, Name: freshKey()})
	send := func(payload string) {
		t.Helper()
		noError(t, d.Notify(t.Context(), channel, payload))
	}
	send("first")
	receive(t, "the handler to begin", entered)
	for i := range 5 {
		send(fmt.Sprint(i))
	}
	send("last")
	for range 3 { // each is answered behind what was notified before it, with the handler stuck
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		_, err := g.(coord.Renewer).Renew(ctx)
		cancel()
		if err != nil {
			t.Fatalf("renewing beside a slow handler: %v", err)
		}
	}
	close(leave)
	receive(t, "the last notification", done)
	var payloads []string
	var missed uint64
	for _, n := range got {
		payloads = append(payloads, n.Payload)
		missed += n.Missed
	}
	if fmt.Sprint(payloads) != "[first 4 last]" || got[1].Missed != 4 || missed != 4 {
		t.Errorf("handled %q, %d missed (%+v), want the oldest dropped and counted", payloads, missed, got)
	}
}

func TestHandlersEndWithTheLeadership(t *testing.T) {
	t.Parallel()
	url := shared(t)
	channel := "end-" + freshKey()
	entered, ended := make(chan struct{}, 1), make(chan error, 1)
	d, term := leader(t, url, channel, 0, func(ctx context.Context, _ pgcoord.Notification) {
		entered <- struct{}{}
		<-ctx.Done()
		ended <- ctx.Err()
	})
	noError(t, d.Notify(t.Context(), channel, "x"))
	receive(t, "the handler to begin", entered)
	noError(t, term.Resign(t.Context()))
	receive(t, "the end of the handler", ended)
	noError(t, d.Notify(t.Context(), channel, "nobody listens"))
	select {
	case <-entered:
		t.Error("a handler was called after the end of the leadership")
	default:
	}
}

func TestMutexListensToNothing(t *testing.T) {
	t.Parallel()
	url := shared(t)
	d := closing(t, url, pgcoord.Options{Channels: []pgcoord.Listener{{Channel: "c", Handle: func(context.Context, pgcoord.Notification) {}}}})
	s := open(t, d, coord.SessionOptions{})
	for kind, want := range map[coord.Kind]string{coord.KindMutex: "", coord.KindElection: "c"} {
		g := must(t, s, coord.Claim{Kind: kind, Name: freshKey()})
		if got := pgcoord.AskOn(t, g, "select coalesce(string_agg(c, ','), '') from pg_listening_channels() c"); got != want {
			t.Errorf("a %v listens to %q, want %q", kind, got, want)
		}
	}
}
