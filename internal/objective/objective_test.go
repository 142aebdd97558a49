package objective_test

import (
	"strings"
	"testing"
	"time"

	"coordtop/internal/history"
	"coordtop/internal/objective"
	"coordtop/sources"
	"coordtop/sources/lane"
)

func TestObjectivesAreReadAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text   string
		budget time.Duration
		kind   sources.Kind
	}{
		{"99.95 % led over 30 days", 21*time.Minute + 36*time.Second, sources.KindElection},
		{"99.95%   led over 30d", 21*time.Minute + 36*time.Second, sources.KindElection},
		{"99 % owned over 12h", 7*time.Minute + 12*time.Second, sources.KindMutex},
		{"99 % owned over 12 hours", 7*time.Minute + 12*time.Second, sources.KindMutex},
		{"99.999999 % led over 1 day", 864 * time.Microsecond, sources.KindElection},
	} {
		o, err := objective.Parse("app:*", c.text)
		if err != nil || o.Budget() != c.budget || o.Kind != c.kind {
			t.Errorf("%q: %+v with the budget %v, %v", c.text, o, o.Budget(), err)
		}
	}
	for text, want := range map[string]string{
		"": "must be written as", "99.95 led over 30 days": "must be written as", "100 % led over 30 days": "write less", "101 % led over 1h": "write less", "99 % led over 11 years": "with its unit", "-1 % led over 1h": "must be written as",
		"99.95 % held over 30 days": "must be written as", "99,95 % led over 30 days": "must be written as", "99.95 % led over 30 days please": "must be written as",
		"0 % led over 30 days": "always kept", "99 % led over 30": "with its unit", "99 % led over 30m days": "with its unit", "99 % led over 30 m days": "must be written as",
		"99 % led over 10m": "from 1 hour to 366 days", "99 % led over 367 days": "from 1 hour to 366 days",
	} {
		if o, err := objective.Parse("app:*", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want %q", text, o, err, want)
		}
	}
	if _, err := objective.Parse("app:[a", "99 % led over 1h"); err == nil || !strings.Contains(err.Error(), "[") {
		t.Errorf("a pattern without its end: %v", err)
	}
}

func TestAnObjectiveIsForThePrimitivesThatItsPatternFits(t *testing.T) {
	t.Parallel()
	ref := sources.Ref{Source: "leases", Space: "0", Name: "app:leader:billing"}
	for pattern, want := range map[string]bool{
		"app:leader:*": true, "app:leader:billing": true, "leases/app:*": true, "leases/0/app:*": true, "*": true, "other/*": false, "app:leader": false, "leases": false,
	} {
		o, err := objective.Parse(pattern, "99 % led over 1h")
		if err != nil || o.Names(ref) != want {
			t.Errorf("%q fits %v: %v, %v", pattern, ref, !want, err)
		}
	}
}

const day = 24 * time.Hour

// evaluate evaluates "90 % led over 10 days", whose budget is a day.
func evaluate(t *testing.T, totals objective.Totals) []objective.Result {
	t.Helper()
	o, err := objective.Parse("*", "90 % led over 10 days")
	if err != nil {
		t.Fatal(err)
	}
	return objective.Evaluate(&objective.Input{Objectives: []objective.Objective{o}, Now: time.Unix(1e9, 0), Totals: totals})
}

// results does the same over the sums of elections.
func results(t *testing.T, sums ...lane.Sum) []objective.Result {
	t.Helper()
	totals := objective.Totals{10 * day: {}, objective.Hour: {}}
	for i, sum := range sums {
		ref := sources.Ref{Source: "leases", Name: string(rune('a' + i))}
		totals[10*day][ref] = history.Total{Ref: ref, Kind: sources.KindElection, Sum: sum}
	}
	return evaluate(t, totals)
}

// TestTimeThatWasNotObservedCountsForNeitherSide is the promise of the package: it makes an objective neither missed
// nor kept.
func TestTimeThatWasNotObservedCountsForNeitherSide(t *testing.T) {
	t.Parallel()
	exactly := func(d time.Duration) sources.Interval { return sources.Interval{Min: d, Max: d} }
	for name, c := range map[string]struct {
		sum  lane.Sum
		want objective.Verdict
		used objective.Share
	}{
		"led all the time":                   {lane.Sum{}, objective.Within, objective.Share{}},
		"just the budget":                    {lane.Sum{Nobody: exactly(day)}, objective.Within, objective.Share{Min: 1, Max: 1}},
		"more than the budget":               {lane.Sum{Nobody: exactly(2 * day)}, objective.Missed, objective.Share{Min: 2, Max: 2}},
		"in the dark it may be more":         {lane.Sum{Nobody: sources.Interval{Max: 2 * day}, Unseen: 2 * day}, objective.NotKnown, objective.Share{Max: 2}},
		"the same grant in the dark":         {lane.Sum{Unseen: 5 * day}, objective.Within, objective.Share{}},
		"not yet recorded":                   {lane.Sum{Before: sources.Interval{Max: 9 * day}, Unseen: 9 * day}, objective.NotKnown, objective.Share{Max: 9}},
		"seen without a first leader":        {lane.Sum{Before: exactly(3 * day)}, objective.Missed, objective.Share{Min: 3, Max: 3}},
		"bounds that overlap are cut":        {lane.Sum{Before: sources.Interval{Max: 9 * day}, Nobody: sources.Interval{Max: 9 * day}}, objective.NotKnown, objective.Share{Max: 10}},
		"missed, whatever the rest has been": {lane.Sum{Nobody: sources.Interval{Min: 2 * day, Max: 5 * day}, Unseen: 3 * day}, objective.Missed, objective.Share{Min: 2, Max: 5}},
	} {
		r := results(t, c.sum)[0]
		if r.Verdict() != c.want || r.Used() != c.used || r.All.Unseen != c.sum.Unseen {
			t.Errorf("%s: %v, used %v, not observed %v; want %v, %v", name, r.Verdict(), r.Used(), r.All.Unseen, c.want, c.used)
		}
	}
}

func TestTheWorstObjectiveComesFirstAndOneThatFitsNothingIsNotKnown(t *testing.T) {
	t.Parallel()
	all := results(t, lane.Sum{}, lane.Sum{Nobody: sources.Interval{Max: 2 * day}}, lane.Sum{Nobody: sources.Interval{Min: 2 * day, Max: 2 * day}}, lane.Sum{Nobody: sources.Interval{Min: 3 * day, Max: 3 * day}})
	var order string
	for i := range all {
		order += all[i].Ref.Name
	}
	if order != "dcba" {
		t.Errorf("the order is %s", order)
	}
	if none := results(t); len(none) != 1 || none[0].Fits() || none[0].Verdict() != objective.NotKnown || none[0].OtherKind {
		t.Errorf("an objective that fits nothing: %+v", none)
	}
	ref := sources.Ref{Source: "leases", Name: "a"}
	mutex := objective.Totals{10 * day: {ref: {Ref: ref, Kind: sources.KindMutex}}}
	if none := evaluate(t, mutex); len(none) != 1 || none[0].Fits() || none[0].Unfit(strings.ToUpper) != "no election fits *, only another kind" {
		t.Errorf("an objective that fits a mutex: %+v", none)
	}
}

func TestBurnIsOneIfTheBudgetLastsJustAsLongAsTheObjective(t *testing.T) {
	t.Parallel()
	r := results(t, lane.Sum{})[0]
	if got := r.Burn(); got != (objective.Share{Max: 10}) || r.Last.Unseen != time.Hour {
		t.Errorf("an hour of which nothing is recorded burns %v", got)
	}
	r.Last.Vacant = sources.Interval{Min: 6 * time.Minute, Max: 12 * time.Minute}
	if got := r.Burn(); got != (objective.Share{Min: 1, Max: 2}) || got.Text("x") != "1.0x - 2.0x" {
		t.Errorf("6 to 12 minutes of an hour burn %v, %q", got, got.Text("x"))
	}
}

// TestWhatMemoryKnowsOfTheLastHourIsNewerThanTheRecording has a row whose memory begins two hours ago, so that the ten
// days are those of the recording.
func TestWhatMemoryKnowsOfTheLastHourIsNewerThanTheRecording(t *testing.T) {
	t.Parallel()
	now := time.Unix(1e9, 0)
	ago := func(d time.Duration) sources.Stamp { return sources.Stamp{At: now.Add(-d), How: sources.Told} }
	row := &sources.Row{
		Primitive: &sources.Primitive{Ref: sources.Ref{Source: "leases", Name: "a"}, Kind: sources.KindElection, At: now},
		Nobody:    ago(time.Minute),
		Terms:     []sources.Term{{Owner: sources.OwnerRef{ID: "host-1"}, Start: ago(90 * time.Minute), End: ago(time.Minute)}},
	}
	o, err := objective.Parse("*", "90 % led over 10 days")
	if err != nil {
		t.Fatal(err)
	}
	in := objective.Input{
		Objectives: []objective.Objective{o}, Now: now,
		State:  &sources.State{At: now, Rows: []*sources.Row{nil, row}, Scopes: []sources.Scope{{Source: "leases", Since: now.Add(-2 * time.Hour)}}},
		Totals: objective.Totals{10 * day: {}, objective.Hour: {}},
	}
	exactly := func(d time.Duration) sources.Interval { return sources.Interval{Min: d, Max: d} }
	for _, name := range []string{"a", "gone"} {
		ref := sources.Ref{Source: "leases", Name: name}
		in.Totals[10*day][ref] = history.Total{Ref: ref, Kind: sources.KindElection, Sum: lane.Sum{Nobody: exactly(2 * day)}}
		in.Totals[objective.Hour][ref] = history.Total{Ref: ref, Kind: sources.KindElection, Sum: lane.Sum{Nobody: exactly(time.Second)}}
	}
	all := objective.Evaluate(&in)
	if len(all) != 2 || all[0].All.Vacant != exactly(2*day) || all[0].Last.Vacant != exactly(time.Minute) || all[1].Ref.Name != "gone" || all[1].Last.Vacant != exactly(time.Second) {
		t.Errorf("with a recording: %+v", all)
	}
	row.Absent, row.At, row.Nobody = true, now.Add(-30*time.Second), sources.Stamp{}
	if all = objective.Evaluate(&in); all[0].Last.Vacant != exactly(time.Minute) {
		t.Errorf("after it was deleted: %+v", all[0])
	}
	row.Absent, row.At, row.Nobody = false, now, ago(time.Minute)
	in.Totals = nil
	all = objective.Evaluate(&in)
	if len(all) != 1 || all[0].All.Vacant.Min != 31*time.Minute || all[0].All.Vacant.Max != 10*day-89*time.Minute || all[0].All.Unseen != 10*day-2*time.Hour {
		t.Errorf("without one: %+v", all)
	}
}
