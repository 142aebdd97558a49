package diagnose

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/action"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
	"coordtop/sources/verdict"
	"coordtop/ui/uitest"
)

// observed runs a Hub with one source, which body changes; then judge has its State.
func observed(t *testing.T, body func(push func(sources.Change)), judge func(st *sources.State, now time.Time)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		hub := sources.NewHub(t.Context(), sources.HubOptions{Thresholds: sources.DefaultThresholds()})
		defer hub.Close()
		script := sourcetest.NewScript()
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { // received below
			done <- sources.Run(ctx, hub, []sources.Spec{{Name: uitest.Redis, Type: "redis", Source: script}})
		}()
		body(func(c sources.Change) {
			script.Push(c)
			synctest.Wait()
		})
		time.Sleep(time.Second)
		synctest.Wait()
		judge(hub.State(), time.Now())
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// changes lets an election be lost and taken again four times, each time after a pause, by the owner that next names.
func changes(push func(sources.Change), lease, gap time.Duration, next func(n int) string) {
	set := func(owner string, listing bool) {
		p := uitest.Led("a", owner, time.Now())
		if owner == "" {
			p.Owners, p.Taken = nil, 0
		} else {
			p.Owners[0].Since, p.Owners[0].Lease, p.Owners[0].Expires.At = sources.Stamp{}, lease, time.Now().Add(lease)
		}
		push(sources.Change{Relists: listing, Synced: listing, Alive: []string{""}, Set: []*sources.Primitive{p}})
	}
	set(next(0), true)
	for n := range 4 {
		time.Sleep(lease + time.Millisecond)
		set("", false)
		time.Sleep(gap)
		set(next(n+1), false)
	}
}

func TestFlappingNamesItsPeriodAndLikelyReasons(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		next func(n int) string
		has  []string
		not  string
	}{
		{"one process comes back", func(int) string { return "host-1:1" },
			[]string{"4 losses in 10m, one about every 15 s", "its TTL is shorter than the pauses"}, "restarts again"},
		{"another process each time", func(n int) string { return "host-1:" + strconv.Itoa(n) },
			[]string{"4 losses in 10m", "its TTL is shorter than the pauses", "a program restarts again and again"}, "leaves little room"},
	} {
		observed(t, func(push func(sources.Change)) { changes(push, 10*time.Second, 5*time.Second, c.next) }, func(st *sources.State, now time.Time) {
			j := &verdict.Judge{State: st}
			f := only(t, &Input{Judge: j, Rows: ProblemRows(j, now), Now: now})
			if has(t, f, append(c.has, "flapping a\n")...); strings.Contains(text(f), c.not) {
				t.Errorf("%s:\n%s", c.name, text(f))
			}
		})
	}
}

func TestAPersonThatEndedItByForceIsNamed(t *testing.T) {
	t.Parallel()
	row := lost("a", "host-1:1", time.Minute, released, inferred)
	act := sources.Event{Kind: sources.EventAction, Ref: row.Ref, At: uitest.Noon().Add(-time.Minute), Cause: sources.CauseEvicted, Previous: row.Terms[0].Owner,
		Detail: action.Account{Who: "ana@laptop", Verb: action.Release.String(), Reason: "INC-7", Result: "done"}.String()}
	in := input(state(row))
	in.Acts = []sources.Event{act}
	has(t, only(t, in), "ended-by-force a", `host-1:1 was ended by force by ana@laptop ("INC-7") at 11:59:00`)
	in.Acts[0].At = uitest.Noon().Add(-10 * time.Minute) // of an earlier end
	has(t, only(t, in), "leader-gone a")
}

func TestWhatOnlyARecordingKnows(t *testing.T) {
	t.Parallel()
	in := input(state(lost("a", "", time.Minute, 0, 0)))
	in.Past = func(sources.Ref) []sources.Term {
		return []sources.Term{{Owner: sources.OwnerRef{ID: "x", Label: "host-1:1"}, Start: ago(time.Hour), End: ago(time.Minute), Cause: expired, How: inferred}}
	}
	has(t, only(t, in), "owner-gone a", "host-1:1 owned it until 11:59:00: its lease ran out")
}
