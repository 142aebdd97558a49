package dflocktest_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"coordtop/internal/emulator/dflocktest"
)

// TestPlaceInTheQueueOutlivesAClaimOfTheSameConnection has a connection that stands in the queue ask
// for the same key in one phase, on a socket.
func TestPlaceInTheQueueOutlivesAClaimOfTheSameConnection(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ enqueue, limit, claim, wait string }{
		{"e", "", "l", "w"}, {"se", "1 ", "sl", "sw"}, {"se", "2 ", "sl", "sw"},
	} {
		s := start(t, dflocktest.Options{})
		a, b := dial(t, s), dial(t, s)
		var nonces []string
		for range max(1, strings.Count(tt.limit, "2")*2) {
			nonces = append(nonces, strings.Fields(a.ask(tt.claim, "k", "0 "+tt.limit+"60"))[1])
		}
		b.want("queued", tt.enqueue, "k", tt.limit)
		for range 2 {
			b.want("timeout", tt.claim, "k", "0 "+tt.limit)
			b.want("error_already_enqueued", tt.enqueue, "k", tt.limit)
		}
		if e, err := s.Entry("k"); err != nil || len(e.Waiters) != 1 {
			t.Errorf("%s: in the queue stand %v: %v", tt.enqueue, e.Waiters, err)
		}
		a.want("ok", "r", "k", nonces[0])
		if got := b.ask(tt.wait, "k", "5"); !strings.HasPrefix(got, "ok ") {
			t.Errorf("%s: its turn came, and it was answered %q", tt.wait, got)
		}
	}
}

// TestGrantInTwoPhasesOutlivesAClaimThatIsServed has a connection with a permit of which it was not
// told yet wait for a second one.
func TestGrantInTwoPhasesOutlivesAClaimThatIsServed(t *testing.T) {
	t.Parallel()
	s := start(t, dflocktest.Options{})
	a, b := dial(t, s), dial(t, s)
	permit := strings.Fields(a.ask("sl", "k", "0 2 60"))[1]
	first := strings.Fields(b.ask("se", "k", "2 60"))[1]
	b.send("sl\nk\n20 2 60\n")
	if err := s.Await(t.Context(), func() bool { e, err := s.Entry("k"); return err == nil && len(e.Waiters) == 1 }); err != nil {
		t.Fatal(err)
	}
	a.want("ok", "sr", "k", permit)
	if got := b.read(); !strings.HasPrefix(got, "ok ") || strings.Contains(got, first) {
		t.Errorf("the second permit was answered %q", got)
	}
	b.want("ok "+first+" 60", "sw", "k", "0")
}

// TestSecondsOverflowAsOnTheServer is of numbers that are too large for nanoseconds in 64 bits, which
// servers before 2.0 multiply all the same.
func TestSecondsOverflowAsOnTheServer(t *testing.T) {
	t.Parallel()
	nonce := regexp.MustCompile(`[0-9a-f]{32}`)
	for _, tt := range []struct{ command, argument, want, bounded string }{
		{"l", "0 99999999999", "ok _ 7766279630", "error"},
		{"e", "99999999999", "acquired _ 7766279630", "error"},
		{"sl", "0 3 99999999999", "ok _ 7766279630", "error"},
		{"se", "3 99999999999", "acquired _ 7766279630", "error"},
		{"l", "0 9223372036", "ok _ 9223372036", "ok _ 9223372036"},
		{"l", "0 10000000000", "error", "error"}, // less than nothing
		{"e", "10000000000", "acquired _ -8446744073", "error"},
		{"se", "3 10000000000", "error", "error"},
		{"l", "0 18446744074", "ok _ 33", "error"}, // 0.29 s
		{"l", "10000000000 5", "ok _ 5", "error"},
		{"l", "0 99999999999999999999", "error", "error"},
		{"sl", "0 3000000000 5", "ok _ 5", "error"},
	} {
		for newer, want := range map[dflocktest.Newer]string{{}: tt.want, dflocktest.Since2_1(): tt.bounded} {
			c := dial(t, start(t, dflocktest.Options{Newer: newer}))
			if got := nonce.ReplaceAllString(c.ask(tt.command, "k", tt.argument), "_"); got != want {
				t.Errorf("bounds %t: %s %s: got %q, want %q", newer.Bounds, tt.command, tt.argument, got, want)
			}
		}
	}
}

// TestLeaseThatOverflowsIsKeptOrSwept has one grow on renewal to centuries, and one begin as over.
func TestLeaseThatOverflowsIsKeptOrSwept(t *testing.T) {
	t.Parallel()
	s := start(t, dflocktest.Options{SweepEvery: time.Hour})
	c := dial(t, s)
	nonce := c.acquire("k", "60")
	c.want("ok 7766279630", "n", "k", nonce+" 99999999999")
	if e, err := s.Entry("k"); err != nil || len(e.Owners) != 1 || e.Owners[0].Left.Hours() < 200*365*24 {
		t.Errorf("renewed: %+v and %v", e, err)
	}
	c.want("error", "n", "k", nonce+" 10000000000")
	c.ask("e", "over", "10000000000")
	c.want("error_lease_expired", "w", "over", "0")
	other := dial(t, s)
	other.acquire("over", "60")
	waiter := dial(t, s)
	waiter.want("timeout", "l", "over", "10000000000 5") // a patience of less than nothing
}
