package sources

import (
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestClockThatIsSetIsTold(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		step   time.Duration
		detail string
		health Health
	}{
		{"a little", 2 * time.Second, "", HealthLive},
		{"forward, or the machine slept", time.Hour, "put forward by 1h0m0s, or this machine slept", HealthStale},
		{"back", -time.Hour, "put back by 1h0m0s", HealthStale},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var drift atomic.Int64
				h := NewHub(t.Context(), HubOptions{Clock: ClockThatDrifts(func() time.Duration { return time.Duration(drift.Load()) })})
				defer h.Close()
				feeds, err := h.add([]Spec{{Name: "s"}})
				if err != nil {
					t.Fatal(err)
				}
				h.apply(feeds[0], Change{Relists: true, Synced: true, Alive: []string{""}, Set: []*Primitive{prim(time.Now(), owner("a"))}})
				sub := h.Subscribe(h.model.ring.newest())
				drift.Store(int64(tt.step))
				time.Sleep(tick + time.Millisecond)
				synctest.Wait()
				events, _ := sub.Events(0)
				var steps []string
				for _, e := range events {
					if e.Kind == EventClockStep {
						steps = append(steps, e.Detail)
					}
				}
				if tt.detail == "" && len(steps) > 0 || tt.detail != "" && (len(steps) != 1 || !strings.HasSuffix(steps[0], tt.detail)) {
					t.Errorf("steps told: %q, want %q once", steps, tt.detail)
				}
				if got := h.State().Scopes[0].Health; got != tt.health {
					t.Errorf("health = %v, want %v", got, tt.health)
				}
				h.apply(feeds[0], Change{Alive: []string{""}})
				time.Sleep(tick)
				synctest.Wait()
				if got := h.State().Scopes[0].Health; got != HealthLive {
					t.Errorf("health = %v after an answer", got)
				}
			})
		})
	}
}

func TestWhatWasNotObservedStaysSoWhenTheClockIsPutBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var drift atomic.Int64
		h := NewHub(t.Context(), HubOptions{Clock: ClockThatDrifts(func() time.Duration { return time.Duration(drift.Load()) })})
		defer h.Close()
		feeds, err := h.add([]Spec{{Name: "s"}})
		if err != nil {
			t.Fatal(err)
		}
		list := Change{Relists: true, Synced: true, Alive: []string{""}}
		h.apply(feeds[0], list)
		time.Sleep(10 * time.Second) // it is dark after 3 s
		drift.Store(int64(-time.Hour))
		time.Sleep(time.Second)
		h.apply(feeds[0], list)
		h.PublishNow()
		dark := h.State().Scopes[0].Dark
		if len(dark) != 1 || dark[0].To.Sub(dark[0].From) != 11*time.Second {
			t.Errorf("not observed: %v, want one stretch of 11s", dark)
		}
	})
}

func TestTheClocksOfThisMachinePartByLittle(t *testing.T) {
	t.Parallel()
	clock := SystemClock()
	first := clock.Now()
	second := clock.Now()
	if d := second.Wall.Sub(first.Wall) - (second.Mono - first.Mono); d.Abs() > clockStep {
		t.Errorf("wall and monotonic clock part by %v within an instant", d)
	}
}
