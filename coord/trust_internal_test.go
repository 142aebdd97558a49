package coord

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/ground/suspend"
)

var t0 = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func at(after, asleep time.Duration) instant { return instant{at: t0.Add(after), asleep: asleep} }

func TestTrustEndsAMarginBeforeTheWindowAndNotAnInstantLater(t *testing.T) {
	t.Parallel()
	tr := trust{asked: at(0, time.Hour), valid: 10 * time.Second, margin: time.Second}
	for _, c := range []struct {
		name string
		now  instant
		over bool
	}{
		{"at once", at(0, time.Hour), false},
		{"just before", at(9*time.Second-1, time.Hour), false},
		{"at the deadline", at(9*time.Second, time.Hour), true},
		{"after it", at(time.Hour, time.Hour), true},
		{"asleep until just before", at(time.Second, time.Hour+8*time.Second-1), false},
		{"asleep until the deadline", at(time.Second, time.Hour+8*time.Second), true},
		{"noise forwards", at(9*time.Second-1, time.Hour+suspend.Noise), false},
		{"noise backwards", at(9*time.Second, time.Hour-suspend.Noise), true},
	} {
		if got := tr.over(c.now); got != c.over {
			t.Errorf("%s: over %v, want %v", c.name, got, c.over)
		}
	}
	if !(trust{}).over(at(0, 0)) {
		t.Error("the zero trust is not over")
	}
}

func TestTrustedUntilMovesNearerBySuspendedTime(t *testing.T) {
	t.Parallel()
	tr := trust{asked: at(0, 0), valid: 10 * time.Second, margin: time.Second}
	if got := tr.until(at(2*time.Second, 0)); !got.Equal(t0.Add(9 * time.Second)) {
		t.Errorf("awake: %v", got.Sub(t0))
	}
	if got := tr.until(at(2*time.Second, 3*time.Second)); !got.Equal(t0.Add(6 * time.Second)) {
		t.Errorf("after 3 s asleep: %v, want 6s", got.Sub(t0))
	}
}

func TestTrustIsCountedFromTheSending(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		time.Sleep(time.Minute)
		now := time.Now()
		before := instant{at: now.Add(-time.Second), asleep: 5 * time.Second}
		former := trust{asked: instant{at: start, asleep: 2 * time.Second}}
		for _, c := range []struct {
			name  string
			asked time.Time
			want  instant
		}{
			{"sent after we looked", now.Add(-time.Millisecond), instant{now.Add(-time.Millisecond), 5 * time.Second}},
			{"sent before we looked: a suspend between may have been missed", now.Add(-2 * time.Second),
				instant{now.Add(-2 * time.Second), 2 * time.Second}},
			{"sent in the future", now.Add(time.Second), before},
		} {
			got, err := trustIn(Window{Asked: c.asked, Valid: 10 * time.Second}, before, former, SessionOptions{})
			if err != nil || got.asked != c.want {
				t.Errorf("%s: %v, %v, want %v", c.name, got.asked, err, c.want)
			}
		}
	})
}

func TestTrustNeedsAWindow(t *testing.T) {
	t.Parallel()
	for _, w := range []Window{{}, {Asked: t0}, {Valid: time.Second}, {Asked: t0, Valid: -1}} {
		if _, err := trustIn(w, at(0, 0), trust{}, SessionOptions{}); !errors.Is(err, ErrRefused) {
			t.Errorf("%+v: %v, want ErrRefused", w, err)
		}
	}
}

func TestRenewalIsDueInTimeForASecondTry(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		o       SessionOptions
		renewIn time.Duration
		want    time.Duration
	}{
		{"a third by default", SessionOptions{}, 0, 4 * time.Second},
		{"as the driver asks", SessionOptions{}, 3 * time.Second, 3 * time.Second},
		{"as the options wish", SessionOptions{RenewEvery: 2 * time.Second}, 0, 2 * time.Second},
		{"not later than the driver asks", SessionOptions{RenewEvery: 5 * time.Second}, 3 * time.Second, 3 * time.Second},
		{"never without room", SessionOptions{Margin: 6 * time.Second}, 0, 3 * time.Second},
		{"never without room, whatever the driver asks", SessionOptions{Margin: 2 * time.Second}, 11 * time.Second, 5 * time.Second},
	} {
		got, err := trustIn(Window{Asked: t0, Valid: 12 * time.Second, RenewIn: c.renewIn}, at(0, 0), trust{}, c.o)
		if err != nil || got.every != c.want {
			t.Errorf("%s: %v, %v, want %v", c.name, got.every, err, c.want)
		}
	}
}

func TestDefaultMarginIsATwentiethWithinItsBounds(t *testing.T) {
	t.Parallel()
	for valid, want := range map[time.Duration]time.Duration{
		time.Minute:            3 * time.Second,
		time.Second:            100 * time.Millisecond,
		200 * time.Millisecond: 50 * time.Millisecond,
	} {
		if got := (SessionOptions{}).marginOf(valid); got != want {
			t.Errorf("window %v: margin %v, want %v", valid, got, want)
		}
	}
}

func TestOptionsWithoutRoomAreInvalid(t *testing.T) {
	t.Parallel()
	const ok, bad = true, false
	for _, c := range []struct {
		name string
		o    SessionOptions
		want bool
	}{
		{"zero", SessionOptions{}, ok},
		{"zero but a TTL", SessionOptions{TTL: time.Second}, ok},
		{"margin of the whole TTL", SessionOptions{TTL: time.Second, Margin: time.Second}, bad},
		{"margin just below", SessionOptions{TTL: time.Second, Margin: time.Second - 1}, ok},
		{"room for exactly two renewals", SessionOptions{TTL: 10 * time.Second, Margin: 2 * time.Second, RenewEvery: 4 * time.Second}, ok},
		{"a little less", SessionOptions{TTL: 10 * time.Second, Margin: 2 * time.Second, RenewEvery: 4*time.Second + 1}, bad},
		{"without a TTL the window is not known yet", SessionOptions{Margin: time.Hour, RenewEvery: time.Hour}, ok},
		{"negative TTL", SessionOptions{TTL: -1}, bad},
		{"negative margin", SessionOptions{Margin: -1}, bad},
		{"negative pause", SessionOptions{RenewEvery: -1}, bad},
		{"negative start", SessionOptions{StartTimeout: -1}, bad},
	} {
		if err := c.o.Check(); (err == nil) != c.want || err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// kept is a keeper that trusts a window of 10 s, asked for just now, with a margin of 1 s.
func kept(t *testing.T) *keeper {
	t.Helper()
	k := &keeper{
		clock: clock{suspend.Slept}, o: SessionOptions{Margin: time.Second}, renewer: struct{ Renewer }{},
		wrap: func(_ string, err error) error { return err }, health: newHealth(&notifier{}),
	}
	k.ctx, k.cancel = context.WithCancelCause(t.Context())
	k.trust = trust{asked: k.clock.now(), valid: 10 * time.Second, margin: time.Second, every: 3 * time.Second}
	return k
}

func TestAnswersAreAcceptedOnlyWhileTrustLastsAndOnlyIfTheyAreNewer(t *testing.T) {
	t.Parallel()
	const window = 10 * time.Second
	for _, c := range []struct {
		name  string
		after time.Duration // the answer arrives
		sent  time.Duration // and was asked for; both since the window that is trusted
		valid time.Duration
		left  time.Duration // of trust; 0: it is over
	}{
		{"in time", 3 * time.Second, 2 * time.Second, window, 8 * time.Second},
		{"at the end", 9 * time.Second, 8 * time.Second, window, 0},
		{"long after it, with good news of now", time.Hour, time.Hour, window, 0},
		{"older than what we know", 3 * time.Second, -time.Second, window, 6 * time.Second},
		{"older, but for longer: the newer word counts", 3 * time.Second, -time.Second, time.Hour, 6 * time.Second},
		{"newer and shorter", 3 * time.Second, 2 * time.Second, 5 * time.Second, 3 * time.Second},
		{"newer and over already", 5 * time.Second, 2 * time.Second, 4 * time.Second, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				k, start := kept(t), time.Now()
				time.Sleep(c.after) // nobody runs the keeper: a starved process
				w := Window{Asked: start.Add(c.sent), Valid: c.valid}
				if err := k.accept(answer{window: w, before: instant{at: w.Asked, asleep: k.trust.asked.asleep}}); err != nil {
					t.Errorf("accept: %v", err)
				}
				if ended := k.ctx.Err() != nil; ended != (c.left == 0) {
					t.Errorf("the context has ended: %v", ended)
				}
				if err := k.check(); (err == nil) != (c.left > 0) || err != nil && !errors.Is(err, ErrExpired) {
					t.Errorf("check: %v", err)
				}
				if got := time.Until(k.trusted().until(k.clock.now())); c.left > 0 && got != c.left {
					t.Errorf("trusted for %v, want %v", got, c.left)
				}
			})
		})
	}
}
