package verdict

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"coordtop/sources"
	"coordtop/ui/uitest"
)

func TestAVerdictHoldsAsLongAsItSays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := uitest.Noon()
		ago := func(name string) time.Time {
			return now.Add(-time.Duration(rapid.IntRange(0, 60_000).Draw(t, name)) * time.Millisecond)
		}
		p := uitest.Led("a", "host", ago("since"))
		if rapid.Bool().Draw(t, "leaderless") {
			p = uitest.Leaderless("a", ago("since"))
		}
		p.Kind = rapid.SampledFrom([]sources.Kind{sources.KindElection, sources.KindMutex, sources.KindSemaphore}).Draw(t, "kind")
		p.Expected, p.Absent = rapid.Bool().Draw(t, "expected"), len(p.Owners) == 0 && rapid.IntRange(0, 9).Draw(t, "absent") == 0
		if rapid.Bool().Draw(t, "by design") {
			byDesign(&sources.Row{Primitive: p})
		}
		for i := range p.Owners {
			p.Owners[i].Expires = sources.StampBetween(ago("end").Add(25*time.Second), ago("end").Add(30*time.Second), sources.Told)
			p.Owners[i].Rhythm = sources.RhythmOf(time.Duration(rapid.IntRange(0, 20).Draw(t, "renewed every"))*time.Second, rapid.IntRange(0, 5).Draw(t, "renewals"))
			p.Owners[i].Renewed = sources.Stamp{At: ago("renewed"), How: rapid.SampledFrom([]sources.Known{sources.Unknown, sources.Seen}).Draw(t, "told")}
			p.Owners[i].Idle = rapid.SampledFrom([]sources.Idle{sources.NotIdle, sources.IdleSession}).Draw(t, "idle")
		}
		for range rapid.IntRange(0, 2).Draw(t, "waiters") {
			p.Queue.Waiters = append(p.Queue.Waiters, sources.Waiter{Since: sources.Stamp{At: ago("waits"), How: sources.Told}})
		}
		if len(p.Owners) > 0 && rapid.Bool().Draw(t, "endless") {
			p.Owners[0].NoExpiry = true
		}
		st := uitest.State(now, p)
		st.Thresholds.WaitPerson = 50 * time.Second
		row := st.Rows[0]
		start := ago("began")
		before := sources.Term{Start: sources.Stamp{At: start.Add(-40 * time.Second), How: sources.Seen}, End: sources.Stamp{At: start, How: sources.Seen},
			Cause: rapid.SampledFrom([]sources.Cause{sources.CauseUnknown, sources.CauseReleased, sources.CauseExpired}).Draw(t, "cause")}
		if len(row.Terms) > 0 {
			row.Terms[0].Start = sources.Stamp{At: start, How: sources.Seen}
		}
		if rapid.Bool().Draw(t, "owned before") {
			row.Terms = append([]sources.Term{before}, row.Terms...)
		}
		st.Scopes[0].Alive = ago("alive")
		j := Judge{State: st}
		v, until := j.Weigh(row, now)
		for range 50 {
			now = now.Add(time.Duration(rapid.IntRange(0, 2000).Draw(t, "pass")) * time.Millisecond)
			if rapid.Bool().Draw(t, "answers") {
				st.Scopes[0].Alive = now
			}
			got, next := j.Weigh(row, now)
			if got != v && (until.IsZero() || now.Before(until)) {
				t.Fatalf("%+v at %v, before %v; it was %+v", got, now.Sub(uitest.Noon()), until.Sub(uitest.Noon()), v)
			}
			if row.Expected && len(p.Owners) == 0 && got.Severity > v.Severity && v.Severity.Problem() {
				t.Fatalf("it became calmer although nobody took it: %+v, was %+v", got, v)
			}
			v, until = got, next
		}
	})
}

func TestAServerThatFallsSilentExcusesALateRenewal(t *testing.T) {
	t.Parallel()
	for _, kind := range []sources.Kind{sources.KindElection, sources.KindMutex} {
		st := lock(kind, true, left(4*time.Second), func(r *sources.Row) { r.Owners[0].Rhythm = sources.RhythmOf(2*time.Second, 5) })
		j := Judge{State: st}
		if v, until := j.Weigh(st.Rows[0], uitest.Noon()); v.Lead != Late || until.IsZero() || until.After(uitest.Noon()) {
			t.Errorf("%v: %+v until %v, want to be asked again at once", kind, v, until)
		}
		st.Scopes[0].Alive = uitest.Noon().Add(-5 * time.Second)
		if v, _ := j.Weigh(st.Rows[0], uitest.Noon()); v.Lead != None {
			t.Errorf("%v: late by a server that is silent: %+v", kind, v)
		}
	}
	st := lock(sources.KindElection, true, left(4*time.Second))
	j := Judge{State: st}
	if v, until := j.Weigh(st.Rows[0], uitest.Noon()); v.Lead != Late || !until.IsZero() {
		t.Errorf("%+v until %v: nothing that passes excuses whoever has no rhythm", v, until)
	}
}

func TestAVerdictHoldsUntilTheFirstOfWhatMayChangeIt(t *testing.T) {
	t.Parallel()
	for wait, want := range map[time.Duration]time.Duration{28 * time.Second: 2 * time.Second, 15 * time.Second: 10 * time.Second} {
		st := lock(sources.KindMutex, true, waits(wait), func(r *sources.Row) { r.Owners[0].Rhythm = sources.RhythmOf(5*time.Second, 1) })
		j := Judge{State: st} // late after 10 s of its lease of 15 s
		if v, until := j.Weigh(st.Rows[0], uitest.Noon()); v.Severity != Well || until.Sub(uitest.Noon()).Truncate(time.Second) != want {
			t.Errorf("after a wait of %v: %+v for %v, want %v", wait, v, until.Sub(uitest.Noon()), want)
		}
	}
}
