package headless_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"coordtop/internal/headless"
	"coordtop/internal/history"
	"coordtop/internal/objective"
	"coordtop/sources"
)

func TestObjectivesArePrintedAsDocumented(t *testing.T) {
	t.Parallel()
	hour, parse := time.Hour, func(pattern, text string) *objective.Objective {
		o, err := objective.Parse(pattern, text)
		if err != nil {
			t.Fatal(err)
		}
		return &o
	}
	leader := parse("app:leader:*", "99.95 % led over 30 days")
	results := []objective.Result{
		{Objective: leader, Ref: sources.Ref{Source: "leases", Space: "0", Name: "app:leader:\x1b[31m\xff"}, Kind: sources.KindElection,
			All:  objective.Vacancy{Vacant: sources.Interval{Min: hour, Max: 2 * hour, Every: time.Second}, Unseen: 3 * hour},
			Last: objective.Vacancy{Vacant: sources.Interval{Min: time.Minute, Max: time.Minute}}},
		{Objective: leader, Ref: sources.Ref{Source: "ledger", Space: "app", Name: "4242"}, Kind: sources.KindElection,
			All: objective.Vacancy{Vacant: sources.Interval{Min: time.Second, Max: 700 * hour}, Unseen: 700 * hour}},
		{Objective: parse("none\x1b", "99 % owned over 12h"), Kind: sources.KindMutex},
		{Objective: leader, Ref: sources.Ref{Source: "leases", Space: "0", Name: "app:leader:mail"}, Kind: sources.KindElection},
	}
	o := headless.ObjectivesOptions{At: time.Unix(1e9, 0), Aliases: map[sources.Ref]history.Alias{results[1].Ref: {Text: "ledger/compactor", How: sources.Told}}}
	for file, format := range map[string]headless.Format{"slo.txt": headless.Text, "slo.json": headless.JSON} {
		var out bytes.Buffer
		o.Format = format
		if err := headless.Objectives(&out, results, o); !errors.Is(err, headless.ErrMissed) || err.Error() != "objectives are missed: 1 of 4" {
			t.Errorf("%s: %v", file, err)
		}
		golden(t, file, out.Bytes())
		safe(t, out.String())
	}
	if err := headless.Objectives(&bytes.Buffer{}, results[1:], o); !errors.Is(err, headless.ErrNotKnown) {
		t.Errorf("not known: %v", err)
	}
	if err := headless.Objectives(&bytes.Buffer{}, results[3:], o); err != nil {
		t.Errorf("all within: %v", err)
	}
}
