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
		{"back", -time.Hour, "put back by 1h0m0s", HealthLive},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var drift atomic.Int64
				h := newHub(t.Context(), HubOptions{}, func() time.Duration { return time.Duration(drift.Load()) })
				defer h.Close()
				feeds, err := h.add([]Spec{{Name: "s"}})
				if err != nil {
					t.Fatal(err)
				}
				h.apply(feeds[0], Change{Gap: true, Synced: true, Alive: []string{""}, Set: []*Primitive{prim(time.Now(), owner("a"))}})
				sub := h.Subscribe(h.ring.newest())
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

func TestRealDriftIsSmall(t *testing.T) {
	t.Parallel()
	h := NewHub(t.Context(), HubOptions{})
	defer h.Close()
	if d := h.drift(); d.Abs() > clockStep {
		t.Errorf("wall and monotonic clock part by %v within an instant", d)
	}
}
