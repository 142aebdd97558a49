package verdict

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/sources"
	"coordtop/sources/sourcetest"
	"coordtop/ui/uitest"
)

// observed runs a Hub with one source, which body changes; then judge has its State.
func observed(t *testing.T, body func(hub *sources.Hub, push func(sources.Change)), judge func(st *sources.State)) {
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
		body(hub, func(c sources.Change) {
			script.Push(c)
			synctest.Wait()
		})
		time.Sleep(time.Second)
		synctest.Wait()
		judge(hub.State())
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// leader is an election that is led by the n-th host without a lease that could run out.
func leader(n int) *sources.Primitive {
	p := uitest.Led("a", "host-"+strconv.Itoa(n), time.Now())
	p.Owners[0].NoExpiry, p.Owners[0].Session, p.Owners[0].Expires = true, "s", sources.Stamp{}
	return p
}

func TestMoreThanTwoLossesInTenMinutesAreFlapping(t *testing.T) {
	t.Parallel()
	const m = time.Minute
	for _, c := range []struct {
		name string
		kind sources.Kind
		lost bool
		ends []time.Duration
		want Severity
	}{
		{"two losses", sources.KindElection, true, []time.Duration{1 * m, 2 * m}, Well},
		{"three losses", sources.KindElection, true, []time.Duration{1 * m, 2 * m, 3 * m}, Warn},
		{"three losses in nine minutes", sources.KindElection, true, []time.Duration{1 * m, 5 * m, 10 * m}, Warn},
		{"three losses in twelve minutes", sources.KindElection, true, []time.Duration{1 * m, 7 * m, 13 * m}, Well},
		{"hand-overs in peace", sources.KindElection, false, []time.Duration{1 * m, 2 * m, 3 * m, 4 * m, 5 * m}, Well},
		{"losses of a mutex", sources.KindMutex, true, []time.Duration{1 * m, 2 * m, 3 * m}, Well},
	} {
		observed(t, func(_ *sources.Hub, push func(sources.Change)) {
			first := leader(0)
			first.Kind = c.kind
			push(sources.Change{Relists: true, Synced: true, Alive: []string{""}, Set: []*sources.Primitive{first}})
			began := time.Now()
			for n, at := range c.ends {
				time.Sleep(time.Until(began.Add(at)))
				next := leader(n + 1)
				next.Kind = c.kind
				change := sources.Change{Set: []*sources.Primitive{next}}
				if c.lost {
					change.Ended = []sources.Ending{{Ref: next.Ref, Owner: "host-" + strconv.Itoa(n), Cause: sources.CauseSession, How: sources.Told}}
				}
				push(change)
			}
		}, func(st *sources.State) {
			j := Judge{State: st}
			v, until := j.Weigh(st.Rows[0], time.Now())
			if v.Severity != c.want || v.Faults.Has(Flapping) != (c.want == Warn) || until.IsZero() || until.After(time.Now().Add(m)) {
				t.Errorf("%s: %+v until %v", c.name, v, until)
			}
			if list := j.Problems(st.Rows[0], time.Now()); c.want == Warn && (len(list) != 1 || list[0].Sentence != "flapping: 3 losses in 10m") {
				t.Errorf("%s: %+v", c.name, list)
			}
		})
	}
}

func TestChangesAreForgottenAnHourLater(t *testing.T) {
	t.Parallel()
	observed(t, func(_ *sources.Hub, push func(sources.Change)) {
		push(sources.Change{Relists: true, Synced: true, Alive: []string{""}, Set: []*sources.Primitive{leader(0)}})
		time.Sleep(90 * time.Second)
		push(sources.Change{Set: []*sources.Primitive{leader(1)}})
	}, func(st *sources.State) {
		j, now := Judge{State: st}, st.At.Add(-2*time.Minute)
		v, until := j.Weigh(st.Rows[0], now) // also before the change: clocks differ
		counted := []uint16{v.Changes}
		for range 70 * 6 {
			now = now.Add(10 * time.Second)
			got, next := j.Weigh(st.Rows[0], now)
			if got != v && (until.IsZero() || now.Before(until)) {
				t.Errorf("%+v at %v, although %+v up to %v", got, now, v, until)
			}
			if got.Changes != v.Changes {
				counted = append(counted, got.Changes)
			}
			v, until = got, next
		}
		if !slices.Equal(counted, []uint16{0, 1, 0}) || !until.IsZero() {
			t.Errorf("%v changes were counted; then until %v", counted, until)
		}
	})
}

func TestASemaphoreThatIsFullForLongIsWorthALookWhileSomebodyWaits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name         string
		taken, limit uint64
		waiting      int
		since        time.Duration
		want         Severity
	}{
		{"five minutes", 2, 2, 1, 5 * time.Minute, Well},
		{"longer", 2, 2, 1, 5*time.Minute + 1, Warn},
		{"nobody waits", 2, 2, 0, time.Hour, Well},
		{"a permit is free", 1, 2, 1, time.Hour, Well},
		{"no limit", 2, sources.NoLimit, 1, time.Hour, Well},
		{"a limit of nothing", 2, 0, 1, time.Hour, Well},
	} {
		observed(t, func(_ *sources.Hub, push func(sources.Change)) {
			p := leader(0)
			p.Kind, p.Limit, p.Taken, p.LimitHow = sources.KindSemaphore, c.limit, c.taken, sources.Told
			p.Queue = sources.Queue{How: sources.Told, Len: c.waiting}
			push(sources.Change{Relists: true, Synced: true, Alive: []string{""}, Set: []*sources.Primitive{p}})
		}, func(st *sources.State) {
			j := Judge{State: st}
			at := st.Rows[0].TakenSince().Add(c.since)
			v, _ := j.Weigh(st.Rows[0], at)
			if st.Scopes[0].Alive = at; v.Severity != c.want || v.Faults.Has(Full) != (c.want == Warn) {
				t.Errorf("%s: %+v", c.name, v)
			}
			if list := j.Problems(st.Rows[0], at); c.want == Warn && (len(list) != 1 || list[0].Sentence != "no permit was free for 5m00s" || !list[0].Since.At.Equal(st.Rows[0].TakenSince())) {
				t.Errorf("%s: %+v", c.name, list)
			}
		})
	}
}

// TestARowWhoseLeaseRunsOutIsNeverCalmUntilSomebodyTakesIt has a leader that is killed: it is late, then its lease
// is over, and after a while another one leads.
func TestARowWhoseLeaseRunsOutIsNeverCalmUntilSomebodyTakesIt(t *testing.T) {
	t.Parallel()
	for _, kind := range []sources.Kind{sources.KindElection, sources.KindMutex} {
		observed(t, func(hub *sources.Hub, push func(sources.Change)) {
			set := func(p *sources.Primitive, alive bool) {
				p.Kind, p.Expected = kind, kind == sources.KindMutex
				push(sources.Change{Relists: !alive, Synced: !alive, Alive: []string{""}, Set: []*sources.Primitive{p}})
			}
			set(uitest.Led("a", "host-1", time.Now()), false)
			end := time.Now().Add(15 * time.Second)
			worst := Well
			for n := range 60 { // half a second each
				time.Sleep(500 * time.Millisecond)
				if p := uitest.Led("a", "", time.Now()); n > 0 && !time.Now().Before(end) {
					p.Owners, p.Taken = nil, 0
					set(p, true)
				} else {
					push(sources.Change{Alive: []string{""}})
				}
				j := Judge{State: hub.State()}
				v, _ := j.Weigh(hub.State().Rows[0], time.Now())
				if v.Severity > worst {
					t.Errorf("%v: %v after %v, %v before the end", kind, v.Severity, worst, time.Until(end))
				}
				worst = v.Severity
			}
			if worst != Bad {
				t.Errorf("%v: %v at the end", kind, worst)
			}
			set(uitest.Led("a", "host-2", time.Now()), true)
		}, func(st *sources.State) {
			j := Judge{State: st}
			if v, _ := j.Weigh(st.Rows[0], time.Now()); v.Severity != Well {
				t.Errorf("%v: %v although somebody took it", kind, v.Severity)
			}
		})
	}
}
