package mute_test

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
	"time"

	"coordtop/internal/diagnose"
	"coordtop/internal/mute"
	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/uitest"
)

// resigned is an election whose leader resigned, or lost its lease, that long before noon.
func vacant(name string, ago time.Duration, cause sources.Cause) *sources.Row {
	at := sources.Stamp{At: uitest.Noon().Add(-ago), How: sources.Seen}
	row := uitest.Row(uitest.Leaderless(name, at.At), 0)
	row.Nobody = at
	row.Terms = []sources.Term{{Owner: sources.OwnerRef{ID: "host-1:7", Label: "host-1:7"}, Start: sources.Stamp{At: at.At.Add(-time.Hour), How: sources.Seen}, End: at, Cause: cause, How: sources.Told}}
	return row
}

// waits is a lock for which a waiter has waited for so long, and whose owner has it for an hour.
func waits(name string, wait time.Duration, idle sources.Idle) *sources.Row {
	p := uitest.Led(name, "host-2:9", uitest.Noon())
	p.Kind = sources.KindMutex
	p.Owners[0].Since, p.Owners[0].Idle = sources.Stamp{At: uitest.Noon().Add(-time.Hour), How: sources.Seen}, idle
	p.Queue = sources.Queue{How: sources.Told, Len: 1, Waiters: []sources.Waiter{{ID: "w", Label: "w", Since: sources.Stamp{At: uitest.Noon().Add(-wait), How: sources.Told}}}}
	return uitest.Row(p, 0)
}

// input is what is wrong with rows at noon, and a filter that selects names by their beginning.
func input(now time.Time, rows ...*sources.Row) *mute.Input {
	st := uitest.State(now)
	for i, row := range rows {
		row.Slot = i
		st.Rows = append(st.Rows, row)
	}
	j := &verdict.Judge{State: st}
	in := &mute.Input{Judge: j, Rows: diagnose.ProblemRows(j, now), Now: now, Matches: func(filter string, row *sources.Row, _ verdict.Verdict) bool {
		return strings.HasPrefix(row.Name, filter) || filter == "source="+row.Source
	}}
	in.Findings = diagnose.Find(&diagnose.Input{Judge: j, Rows: in.Rows, Now: now})
	return in
}

// known acknowledges all that is wrong at noon, for two hours.
func known(rows ...*sources.Row) mute.Mute {
	in := input(uitest.Noon(), rows...)
	m := mute.Mute{ID: "1", By: "ana@jump", At: uitest.Noon(), Until: uitest.Noon().Add(2 * time.Hour), Servers: mute.ServersOf(in.Judge.State), Pins: map[string]mute.Pin{}}
	for i := range in.Findings {
		maps.Copy(m.Pins, mute.PinsOf(in.Judge, &in.Findings[i], in.Now))
	}
	return m
}

func TestAnAcknowledgementHoldsUntilItEndsGetsWorseOrHasAnotherCause(t *testing.T) {
	t.Parallel()
	elsewhere := known(vacant("a", time.Minute, sources.CauseReleased))
	elsewhere.Servers = map[string]string{uitest.Redis: "another:6379"}
	idle := waits("a", 2*time.Minute, sources.IdleSession)
	owned := waits("a", time.Minute, sources.NotIdle)
	owned.Owners[0].Since.At = uitest.Noon().Add(5 * time.Minute)
	owned.Queue.Waiters[0].Since.At = uitest.Noon().Add(5 * time.Minute)
	for _, c := range []struct {
		name  string
		m     mute.Mute
		after time.Duration
		row   *sources.Row
		want  bool
	}{
		{"the same", known(vacant("a", time.Minute, sources.CauseReleased)), 0, vacant("a", time.Minute, sources.CauseReleased), true},
		{"an hour later", known(vacant("a", time.Minute, sources.CauseReleased)), time.Hour, vacant("a", time.Minute, sources.CauseReleased), true},
		{"after its end", known(vacant("a", time.Minute, sources.CauseReleased)), 2 * time.Hour, vacant("a", time.Minute, sources.CauseReleased), false},
		{"long before it began, in a replay", known(vacant("a", 3*time.Minute, sources.CauseReleased)), -2 * time.Minute, vacant("a", 3*time.Minute, sources.CauseReleased), false},
		{"just before it began, by a clock that was set back", known(vacant("a", time.Minute, sources.CauseReleased)), -time.Second, vacant("a", time.Minute, sources.CauseReleased), true},
		{"another row", known(vacant("a", time.Minute, sources.CauseReleased)), 0, vacant("b", time.Minute, sources.CauseReleased), false},
		{"of another environment", elsewhere, 0, vacant("a", time.Minute, sources.CauseReleased), false},
		{"another cause", known(vacant("a", time.Minute, sources.CauseReleased)), 0, vacant("a", time.Minute, sources.CauseExpired), false},
		{"another fault", known(waits("a", time.Minute, sources.NotIdle)), 0, vacant("a", time.Minute, sources.CauseReleased), false},
		{"over, and again", known(vacant("a", time.Minute, sources.CauseReleased)), 10 * time.Minute, vacant("a", -time.Minute, sources.CauseReleased), false},
		{"worse: the wait needs a person", known(waits("a", 9*time.Minute, sources.NotIdle)), 2 * time.Minute, waits("a", 9*time.Minute, sources.NotIdle), false},
		{"worse and idle", known(waits("a", time.Minute, sources.NotIdle)), 0, idle, false},
		{"it needed a person then", known(waits("a", time.Hour, sources.NotIdle)), time.Minute, waits("a", time.Hour, sources.NotIdle), true},
		{"another waiter for the same owner", known(waits("a", 5*time.Minute, sources.NotIdle)), 2 * time.Minute, waits("a", -time.Minute, sources.NotIdle), true},
		{"a wait for another owner", known(waits("a", time.Minute, sources.NotIdle)), 6 * time.Minute, owned, false},
	} {
		in := input(uitest.Noon().Add(c.after), c.row)
		in.Mutes = []mute.Mute{c.m}
		got := mute.Decide(in)
		if m := got.Rows[c.row.Ref]; (m != nil) != c.want {
			t.Errorf("%s: muted %v, want %v (problems %v)", c.name, m != nil, c.want, in.Findings)
		}
		if len(in.Findings) == 1 && (got.Findings[0] != nil) != c.want {
			t.Errorf("%s: its finding is as the row", c.name)
		}
	}
}

func TestAFindingIsAcknowledgedWhileAllOfItsRowsAre(t *testing.T) {
	t.Parallel()
	lost := func(name string) *sources.Row { return vacant(name, time.Minute, sources.CauseExpired) }
	m := known(lost("a"), lost("b"))
	for _, c := range []struct {
		rows []*sources.Row
		want bool
	}{{[]*sources.Row{lost("a"), lost("b")}, true}, {[]*sources.Row{lost("a"), lost("b"), lost("c")}, false}, {[]*sources.Row{lost("a")}, true}} {
		in := input(uitest.Noon(), c.rows...)
		in.Mutes = []mute.Mute{m}
		if got := mute.Decide(in); len(got.Findings) != 1 || (got.Findings[0] != nil) != c.want {
			t.Errorf("%d rows at once: acknowledged %v, want %v", len(c.rows), got.Findings, c.want)
		}
	}
}

func TestAFilterMutesWhatItSelectsLaterTooUntilThatGetsWorse(t *testing.T) {
	t.Parallel()
	m := mute.Mute{ID: "1", At: uitest.Noon().Add(-time.Minute), Until: uitest.Noon().Add(time.Hour), Filter: "a", Servers: map[string]string{uitest.Redis: "redis-leases:6379/0"}}
	in := input(uitest.Noon(), waits("a1", time.Minute, sources.NotIdle), waits("b", time.Minute, sources.NotIdle))
	in.Mutes = []mute.Mute{m}
	got := mute.Decide(in)
	if len(got.Rows) != 1 || !got.Fresh || len(got.Mutes[0].Pins) != 1 || got.Rows[in.Rows[0].Ref] == nil {
		t.Fatalf("%v muted, pins %v, want a1 alone", got.Rows, got.Mutes)
	}
	list := mute.Pinned(in.Mutes, got.Mutes)
	if list = mute.Pinned(list, got.Mutes); len(list[0].Pins) != 1 || len(m.Pins) != 0 {
		t.Errorf("pins %v, want one, and none of the mute before", list[0].Pins)
	}
	for _, c := range []struct {
		after time.Duration
		idle  sources.Idle
		want  bool
	}{{5 * time.Minute, sources.NotIdle, true}, {10 * time.Minute, sources.NotIdle, false}, {0, sources.IdleSession, false}} {
		in := input(uitest.Noon().Add(c.after), waits("a1", time.Minute, c.idle))
		if in.Mutes = list; len(in.Rows) != 1 {
			t.Fatal("it is no problem any more")
		}
		if got := mute.Decide(in); (len(got.Rows) == 1) != c.want || got.Fresh {
			t.Errorf("after %v, %v: muted %v, want %v", c.after, c.idle, got.Rows, c.want)
		}
	}
}

func TestASourceThatDoesNotAnswerCanBeAcknowledgedAndMuted(t *testing.T) {
	t.Parallel()
	silent := func(after time.Duration) *mute.Input {
		row := vacant("a", time.Minute, sources.CauseReleased)
		in := input(uitest.Noon().Add(after), row)
		st := in.Judge.State
		st.Sources[0].Health, st.Scopes[0].Health, st.Scopes[0].Alive = sources.HealthStale, sources.HealthStale, uitest.Noon()
		in.Rows = diagnose.ProblemRows(in.Judge, in.Now)
		in.Findings = diagnose.Find(&diagnose.Input{Judge: in.Judge, Rows: in.Rows, Now: in.Now})
		return in
	}
	in := silent(10 * time.Second)
	if len(in.Findings) != 1 || len(in.Findings[0].Rows) != 0 || len(in.Rows) != 1 {
		t.Fatalf("%+v, want one finding about the source, which hides a row", in.Findings)
	}
	m := mute.Mute{ID: "1", At: in.Now, Until: in.Now.Add(time.Hour), Servers: mute.ServersOf(in.Judge.State), Pins: mute.PinsOf(in.Judge, &in.Findings[0], in.Now)}
	for after, want := range map[time.Duration]bool{20 * time.Second: true, 2 * time.Minute: false} { // then it needs a person
		in := silent(after)
		in.Mutes = []mute.Mute{m}
		if got := mute.Decide(in); (got.Findings[0] != nil) != want || len(got.Rows) != 0 {
			t.Errorf("after %v: %v, rows %v, want %v and none", after, got.Findings, got.Rows, want)
		}
	}
	m.Pins, m.Filter = nil, "source=leases"
	in.Mutes = []mute.Mute{m}
	if got := mute.Decide(in); got.Findings[0] == nil || len(got.Rows) != 1 || len(got.Mutes[0].Pins) != 2 {
		t.Errorf("by a filter: %v, rows %v", got.Findings, got.Rows)
	}
	known := known(vacant("a", time.Minute, sources.CauseReleased)) // while the source answered
	in.Mutes = []mute.Mute{known}
	if got := mute.Decide(in); len(got.Rows) != 1 || got.Findings[0] != nil {
		t.Errorf("a row that is known stays known when its server falls silent, which is not: %v, %v", got.Rows, got.Findings)
	}
}

func TestAPinSurvivesJSONWhateverTheNameOfItsRow(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"a", "a\xff\x00b", "quo\"te\\", "zwölf\u202e"} {
		row := vacant(name, time.Minute, sources.CauseReleased)
		text, err := json.Marshal(known(row))
		var got mute.Mute
		if err == nil {
			err = json.Unmarshal(text, &got)
		}
		in := input(uitest.Noon(), row)
		in.Mutes = []mute.Mute{got}
		if d := mute.Decide(in); err != nil || d.Rows[row.Ref] == nil {
			t.Errorf("%q: %v, %+v does not cover it", name, err, got)
		}
	}
}

func BenchmarkDecide(b *testing.B) {
	var rows []*sources.Row
	for i := range 1000 {
		rows = append(rows, vacant(strings.Repeat("x", i%7)+string(rune('a'+i%26))+time.Duration(i).String(), time.Minute, sources.CauseExpired))
	}
	in := input(uitest.Noon(), rows...)
	in.Mutes = []mute.Mute{known(rows[:500]...), {At: uitest.Noon(), Until: uitest.Noon().Add(time.Hour), Filter: "z"}}
	for b.Loop() {
		mute.Decide(in)
	}
}
