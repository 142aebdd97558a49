package sources_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"coordtop/internal/ground/backoff"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

// wantPause checks how long the source rests now.
func (w *world) wantPause(atLeast, atMost time.Duration) {
	w.t.Helper()
	w.settle()
	if got := time.Until(w.source().Retry); got < atLeast || got > atMost {
		w.t.Errorf("pause = %v, want between %v and %v", got, atLeast, atMost)
	}
}

// restless is a source that tells its whole listing at the beginning of each connection.
type restless struct {
	*sourcetest.Script
	takes time.Duration // to connect and list
	dies  bool          // at once after that
}

func (r *restless) Connect(ctx context.Context) error {
	if err := backoff.Sleep(ctx, r.takes); err != nil {
		return err
	}
	if err := r.Script.Connect(ctx); err != nil {
		return err
	}
	r.Push(sources.Change{Scope: "main", Relists: true, Synced: true, Alive: []string{"main"}})
	if r.dies {
		r.Fail(errors.New("reset"))
	}
	return nil
}

func TestPausesGrowUntilAConnectionHasReadEverything(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.spec.Retry = backoff.Policy{Min: 100 * time.Millisecond, Max: 3200 * time.Millisecond}
		for range 10 {
			w.script.FailConnect(errors.New("no route"))
		}
		w.start()
		w.wantPause(50*time.Millisecond, 100*time.Millisecond)
		for w.script.Record().Connects < 10 {
			time.Sleep(50 * time.Millisecond)
		}
		w.wantPause(1550*time.Millisecond, 3200*time.Millisecond)
		time.Sleep(3200 * time.Millisecond)
		w.tell(sources.Change{Relists: true, Alive: []string{"main"}})
		time.Sleep(20 * time.Second) // it answers, and its listing is never complete
		w.script.Fail(errors.New("reset"))
		w.wantPause(1600*time.Millisecond, 3200*time.Millisecond)
		time.Sleep(3200 * time.Millisecond)
		w.list()
		time.Sleep(2 * time.Second)
		w.script.Fail(errors.New("reset"))
		w.wantPause(50*time.Millisecond, 100*time.Millisecond)
	})
}

func TestConnectionThatIsResetAgainAndAgainIsMadeAtOnce(t *testing.T) {
	t.Parallel()
	for _, every := range []time.Duration{time.Second, 2500 * time.Millisecond, 9 * time.Second} {
		inWorld(t, func(w *world) {
			w.spec.Source = &restless{Script: w.script, takes: 20 * time.Millisecond}
			w.start()
			for range 12 {
				time.Sleep(every)
				w.settle()
				if got := w.source().Health; got != sources.HealthLive {
					t.Fatalf("reset every %v: %v", every, got)
				}
				w.script.Fail(errors.New("reset"))
				w.wantPause(50*time.Millisecond, 100*time.Millisecond)
			}
		})
	}
}

func TestServerThatEndsEachConnectionOnceItIsReadIsNotHammered(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		takes       time.Duration // a listing
		least, most int           // connections in a minute
	}{
		{0, 60, 120},
		{400 * time.Millisecond, 50, 75},
		{3 * time.Second, 9, 11},
		{20 * time.Second, 2, 3},
	} {
		inWorld(t, func(w *world) {
			w.spec.Connect = time.Minute
			w.spec.Source = &restless{Script: w.script, takes: c.takes, dies: true}
			w.start()
			time.Sleep(time.Minute)
			w.settle()
			if n := w.script.Record().Connects; n < c.least || n > c.most {
				t.Errorf("a listing of %v: %d connections in a minute, want %d to %d", c.takes, n, c.least, c.most)
			}
		})
	}
}

func TestRefusalIsRetriedWithinFiveSecondsAndAtOnceWhenAsked(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		for range 8 {
			w.script.FailConnect(fmt.Errorf("signing in: wrong password: %w", sources.ErrRefused))
		}
		w.start()
		for n := 1; n < 6; n++ {
			w.wantPause(2500*time.Millisecond, 5*time.Second)
			if got := w.script.Record().Connects; got != n {
				t.Errorf("%d connects, want %d", got, n)
			}
			time.Sleep(time.Until(w.source().Retry))
		}
		w.settle()
		w.hub.Refresh("another")
		w.settle()
		if n := w.script.Record().Connects; n != 6 {
			t.Error("a refresh of another source connects this one")
		}
		for n, source := range []string{"redis", ""} {
			w.hub.Refresh(source)
			w.settle()
			if r := w.script.Record(); r.Connects != 7+n || r.Refreshes != 1+n {
				t.Errorf("%+v after a refresh of %q", r, source)
			}
		}
		w.wantEvents("source_down  seen") // once, not for every try
	})
}

// reasons are the details of the source_down events since the last call.
func (w *world) reasons() []string {
	w.t.Helper()
	var list []string
	events, _ := w.events.Events(0)
	for _, e := range events {
		if e.Kind == sources.EventSourceDown {
			list = append(list, e.Detail)
		}
	}
	return list
}

// failures makes the next connections fail for these reasons, one after the other.
func (w *world) failures(reasons ...string) {
	for _, r := range reasons {
		w.script.FailConnect(errors.New(r))
	}
}

func TestEveryReasonOfAnOutageIsToldOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ failures, told []string }{
		"one reason":         {[]string{"no route", "no route", "no route"}, []string{"no route"}},
		"it changes":         {[]string{"no route", "starting", "password", "password"}, []string{"no route", "starting", "password"}},
		"it comes and goes":  {[]string{"a", "b", "a", "b", "a", "b", "a", "b"}, []string{"a", "b"}},
		"it comes and stays": {[]string{"a", "b", "a", "a", "a", "a", "b", "c", "c", "a"}, []string{"a", "b", "a", "c"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, seen := range []bool{false, true} { // never answered, and lost
				inWorld(t, func(w *world) {
					want := c.told
					if seen {
						w.start()
						w.list()
						w.failures(c.failures...)
						w.script.Fail(errors.New("reset"))
						want = slices.Concat([]string{"reset"}, want)
					} else {
						w.failures(c.failures...)
						w.start()
					}
					time.Sleep(5 * time.Minute)
					w.settle()
					if got := w.reasons(); !slices.Equal(got, want) {
						t.Errorf("seen before: %v: told %q, want %q", seen, got, want)
					}
					w.list()
					w.failures(c.failures[:1]...)
					w.script.Fail(errors.New("reset"))
					time.Sleep(time.Minute)
					w.settle()
					if got, want := w.reasons(), []string{"reset", c.failures[0]}; !slices.Equal(got, want) {
						t.Errorf("the next outage: told %q, want %q", got, want)
					}
				})
			}
		})
	}
}

func TestServerThatNeverRepeatsItsReasonIsToldSoOften(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		for n := range 100 {
			w.failures(fmt.Sprint("reason ", n))
		}
		w.start()
		time.Sleep(10 * time.Minute)
		w.settle()
		if got := len(w.reasons()); got != 20 {
			t.Errorf("%d reasons are told of 100, want 20", got)
		}
	})
}

func TestSilenceIsOneReasonWhoeverNoticesIt(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		w.start()
		w.list()
		for range 3 {
			w.script.HangConnect()
		}
		w.script.Hang()
		time.Sleep(time.Minute)
		w.settle()
		if got, want := w.reasons(), []string{"no answer for 3s"}; !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
	})
}

func TestAScopeThatIsRefusedIsStaleAtOnceAndSaysWhy(t *testing.T) {
	t.Parallel()
	inWorld(t, func(w *world) {
		refused := fmt.Errorf("no right to use it: %w", sources.ErrRefused)
		health := func(name string) sources.Health {
			for _, c := range w.hub.State().Scopes {
				if c.Name == name {
					return c.Health
				}
			}
			return sources.HealthConnecting
		}
		w.start()
		w.list(election("app", leased("a", time.Hour)))
		w.happened()
		w.tell(sources.Change{Scope: "other", Relists: true})
		w.tell(sources.Change{Scope: "other", Down: refused})
		w.tell(sources.Change{Scope: "other", Down: refused})
		if got := w.source(); health("other") != sources.HealthStale || health("main") != sources.HealthLive || !errors.Is(got.Err, sources.ErrRefused) {
			t.Errorf("%+v, the scope is %v, another %v", got, health("other"), health("main"))
		}
		w.tell(sources.Change{Scope: "other", Down: errors.New("the node is gone")})
		if got, want := w.reasons(), []string{refused.Error(), "the node is gone"}; !slices.Equal(got, want) {
			t.Errorf("told %q, want %q", got, want)
		}
		w.tell(sources.Change{Scope: "other", Relists: true, Synced: true, Alive: []string{"other"}})
		if got := w.source(); health("other") != sources.HealthLive || got.Err != nil {
			t.Errorf("%+v, the scope is %v", got, health("other"))
		}
		w.tell(sources.Change{Scope: "other", Down: refused})
		if got := w.reasons(); len(got) != 1 {
			t.Errorf("refused again: told %q", got)
		}
	})
}
