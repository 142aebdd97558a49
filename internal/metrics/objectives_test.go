package metrics

import (
	"context"
	"testing"
	"time"

	"coordtop/internal/objective"
)

// TestObjectivesHaveTheirNumbersAndWhatIsNotKnownApart has b without a leader for 20 s of the hour that is watched since
// a minute ago.
func TestObjectivesHaveTheirNumbersAndWhatIsNotKnownApart(t *testing.T) {
	t.Parallel()
	keeper := &objective.Keeper{}
	for _, text := range [][2]string{{"b", "99.9 % led over 1h"}, {"*", "99.9 % led over 1h"}, {"*", "1 % led over 1h"}, {"*", "50 % owned over 1h"}} {
		o, err := objective.Parse(text[0], text[1])
		if err != nil {
			t.Fatal(err)
		}
		keeper.Objectives = append(keeper.Objectives, o)
	}
	watch(t, "name=b", func(o *Options) { o.Objectives, o.Series = keeper.Results, 200 }, func(w *watched) {
		keeper.State = w.hub.State
		w.push(true, led("a", "host-1"), led("b", "host-2"))
		w.scrape().wants(t, samples{"objectives missed,99.9 % led over 1h": none})
		w.pass(40 * time.Second)
		w.push(false, led("a", "host-1"), led("b", ""))
		w.pass(20 * time.Second)
		w.push(false, led("a", "host-1"), led("b", "host-3"))
		ctx, cancel := context.WithCancel(w.Context())
		done := make(chan error)
		go func() { done <- keeper.Run(ctx) }() // received below
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
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

func TestObjectivesAreBoundedLikeAllSeriesWithNames(t *testing.T) {
	t.Parallel()
	o, err := objective.Parse("*", "99.9 % led over 1h")
	if err != nil {
		t.Fatal(err)
	}
	keeper := &objective.Keeper{Objectives: []objective.Objective{o}}
	watch(t, "name~.", func(o *Options) { o.Objectives, o.Series = keeper.Results, 20 }, func(w *watched) {
		keeper.State = w.hub.State
		w.push(true, led("a", "host-1"), led("b\xff\x1b", "host-2"))
		before := w.scrape()
		ctx, cancel := context.WithCancel(w.Context())
		done := make(chan error)
		go func() { done <- keeper.Run(ctx) }() // received below
		got := w.scrape()
		if n := before["series"] + perObjective; got["series"] != n || got["series_dropped"] != before["series_dropped"]+perObjective || len(got.of("objective_")) != perObjective {
			t.Errorf("%v series of %v, %v are left out: %q", got["series"], n, got["series_dropped"], got.of("objective_"))
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
