package metrics

import (
	"context"
	"testing"
	"time"

	"coordtop/internal/objective"
)

// judge adds to o objectives: a pattern and a text each.
func judge(t *testing.T, o *Options, texts ...string) *objective.Keeper {
	t.Helper()
	var list []objective.Objective
	for i := 0; i < len(texts); i += 2 {
		one, err := objective.Parse(texts[i], texts[i+1])
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, one)
	}
	keeper := objective.NewKeeper(list, nil, o.Hub.State)
	o.Objectives = keeper.Results
	return keeper
}

// keep runs a Keeper until the test ends.
func (w *watched) keep(keeper *objective.Keeper) {
	ctx, cancel := context.WithCancel(w.Context())
	done := make(chan error)
	go func() { done <- keeper.Run(ctx) }() // received below
	w.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			w.Error(err)
		}
	})
}

// TestObjectivesHaveTheirNumbersAndWhatIsNotKnownApart has b without a leader for 20 s of the hour that is watched since
// a minute ago.
func TestObjectivesHaveTheirNumbersAndWhatIsNotKnownApart(t *testing.T) {
	t.Parallel()
	var keeper *objective.Keeper
	watch(t, "name=b", func(o *Options) {
		o.Series = 200
		keeper = judge(t, o, "b", "99.9 % led over 1h", "*", "99.9 % led over 1h", "*", "1 % led over 1h", "*", "50 % owned over 1h")
	}, func(w *watched) {
		w.push(true, led("a", "host-1"), led("b", "host-2"))
		w.scrape().wants(t, samples{"objectives missed,99.9 % led over 1h": none})
		w.pass(40 * time.Second)
		w.push(false, led("a", "host-1"), led("b", ""))
		w.pass(20 * time.Second)
		w.push(false, led("a", "host-1"), led("b", "host-3"))
		w.keep(keeper)
		got := w.scrape()
		const b = " 99.9 % led over 1h,b"
		got.wants(t, samples{
			"objectives 99.9 % led over 1h,missed": 2, "objectives 99.9 % led over 1h,not known": 1, "objectives 99.9 % led over 1h,within": 0,
			"objectives 1 % led over 1h,within": 2, "objectives 50 % owned over 1h,not known": 1,
			"objective_vacant_seconds" + b: 20, "objective_budget_seconds" + b: 3.6, "objective_burn" + b: 20 / 3.6,
			"objective_vacant_seconds 99.9 % led over 1h,a": none, "series_dropped": 0,
		})
		// An hour, without the minute in which it was led but for 20 s.
		if unknown := got["objective_unknown_seconds"+b]; unknown < 3500 || unknown > 3540 || got["objective_burn_unknown"+b] < 900 {
			t.Errorf("not known are %v s", unknown)
		}
	})
}

func TestObjectivesAreBoundedLikeAllSeriesWithNames(t *testing.T) {
	t.Parallel()
	var keeper *objective.Keeper
	watch(t, "name~.", func(o *Options) {
		o.Series = 9
		keeper = judge(t, o, "*", "99.9 % led over 1h")
	}, func(w *watched) {
		w.push(true, led("a", "host-1"), led("b\xff\x1b", "host-2"))
		w.scrape().wants(t, samples{"series": 7, "series_dropped": 7}) // room for one row
		w.keep(keeper)
		got := w.scrape()
		got.wants(t, samples{"series": perObjective, "series_dropped": perObjective + 14})
		if all := got.of("objective_"); len(all) != perObjective {
			t.Errorf("%q", all)
		}
	})
}
