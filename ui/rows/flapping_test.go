package rows

import (
	"context"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/sources"
	"coordtop/sources/sourcetest"
	"coordtop/ui/uitest"
)

// flaps reports whether an election is judged to flap, at the end of the times at which its
// leaders' sessions ended, or where they handed over in peace.
func flaps(t *testing.T, lost bool, ends ...time.Duration) (is bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		hub := sources.NewHub(t.Context(), sources.HubOptions{})
		defer hub.Close()
		script := sourcetest.NewScript()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { // received below
			done <- sources.Run(ctx, hub, []sources.Spec{{Name: uitest.Redis, Type: "redis", Source: script}})
		}()
		leader := func(n int) *sources.Primitive {
			p := uitest.Led("a", "host-"+strconv.Itoa(n), time.Now())
			p.Owners[0].NoExpiry, p.Owners[0].Expires = true, sources.Stamp{}
			return p
		}
		script.Push(sources.Change{Relists: true, Synced: true, Alive: []string{""}, Set: []*sources.Primitive{leader(0)}})
		began := time.Now()
		for n, at := range ends {
			time.Sleep(time.Until(began.Add(at)))
			c := sources.Change{Set: []*sources.Primitive{leader(n + 1)}}
			if lost {
				c.Ended = []sources.Ending{{Ref: c.Set[0].Ref, Owner: "host-" + strconv.Itoa(n), Cause: sources.CauseSession, How: sources.Told}}
			}
			script.Push(c)
			synctest.Wait()
		}
		time.Sleep(time.Second)
		synctest.Wait()
		for _, row := range hub.State().Rows {
			if row != nil {
				is = judge(row, hub.State(), time.Now()).Flapping
			}
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return is
}

func TestMoreThanTwoLossesInTenMinutesAreFlapping(t *testing.T) {
	t.Parallel()
	const m = time.Minute
	for _, c := range []struct {
		name string
		lost bool
		ends []time.Duration
		want bool
	}{
		{"two losses", true, []time.Duration{1 * m, 2 * m}, false},
		{"three losses", true, []time.Duration{1 * m, 2 * m, 3 * m}, true},
		{"three losses in nine minutes", true, []time.Duration{1 * m, 5 * m, 10 * m}, true},
		{"three losses in twelve minutes", true, []time.Duration{1 * m, 7 * m, 13 * m}, false},
		{"hand-overs in peace", false, []time.Duration{1 * m, 2 * m, 3 * m, 4 * m, 5 * m}, false},
	} {
		if got := flaps(t, c.lost, c.ends...); got != c.want {
			t.Errorf("%s: flapping %v, want %v", c.name, got, c.want)
		}
	}
}
