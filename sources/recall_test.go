package sources_test

import (
	"testing"
	"time"

	"coordtop/sources"
)

// TestOneLookRecallsWhatARunBeforeItKnew looks at minute 10 at what a run knew that began at minute 0
// and was last answered at minute 5.
func TestOneLookRecallsWhatARunBeforeItKnew(t *testing.T) {
	t.Parallel()
	minute := func(m int) time.Time { return time.Date(2026, 11, 22, 3, m, 0, 0, time.UTC) }
	owned := func(m int, name, id string) *sources.Primitive {
		p := &sources.Primitive{Ref: sources.Ref{Source: "s", Name: name}, Kind: sources.KindMutex, Limit: 1, LimitHow: sources.Told, OwnersHow: sources.Told, At: minute(m)}
		if id != "" {
			p.Owners, p.Taken = []sources.Owner{{ID: id, NoExpiry: true}}, 1
		}
		return p
	}
	hub := func(address string, looks ...[]*sources.Primitive) *sources.Hub {
		r := sources.NewReplayer(sources.HubOptions{})
		seq := uint64(0)
		apply := func(m int, in sources.Input) {
			seq++
			in.Seq, in.At = seq, sources.Instant{Wall: minute(m), Mono: time.Duration(m) * time.Minute}
			if err := r.Apply(in); err != nil {
				t.Fatal(err)
			}
		}
		limits := sources.DefaultThresholds()
		first := int(looks[0][0].At.Sub(minute(0)) / time.Minute)
		apply(first, sources.Input{Kind: sources.InputStarted, Thresholds: &limits})
		apply(first, sources.Input{Kind: sources.InputSources, Added: []sources.AddedSource{{Name: "s", Type: "redis", Address: address}}})
		for i, set := range looks {
			m := int(set[0].At.Sub(minute(0)) / time.Minute)
			c := sources.Change{At: minute(m), Set: set, Synced: i == 0, Relists: i == 0, Alive: []string{""}}
			if i > 0 {
				c.After = minute(m - 1)
			}
			apply(m, sources.Input{Kind: sources.InputChange, Source: "s", Change: c})
		}
		apply(10, sources.Input{Kind: sources.InputPublished})
		return r.Hub()
	}
	end := hub("a", []*sources.Primitive{owned(0, "same", ""), owned(0, "other", "x"), owned(0, "freed", "x")},
		[]*sources.Primitive{owned(3, "same", "x"), owned(3, "freed", ""), owned(3, "gone", "x")}, []*sources.Primitive{owned(5, "late", "x")}).Keyframe()
	look := hub("a", []*sources.Primitive{owned(10, "same", "x"), owned(10, "other", "y"), owned(10, "freed", ""), owned(10, "new", "z")})
	recalled := map[string]*sources.Row{}
	for _, row := range end.Recall(look.State()).Rows {
		recalled[row.Name] = row
	}
	if len(recalled) != 4 {
		t.Errorf("%d rows, want those of the look", len(recalled))
	}
	if s, terms := recalled["same"].Owners[0].Since, recalled["same"].Terms; s.How != sources.AtLeast || !s.At.Equal(minute(10)) || !s.After().Equal(minute(2)) || len(terms) != 1 || !terms[0].Sure.Equal(minute(10)) {
		t.Errorf("who may have gone on owns since %+v, in %+v", s, terms)
	}
	if s := recalled["other"].Owners[0].Since; s.How != sources.Seen || !s.At.Equal(minute(10)) || !s.After().Equal(minute(5)) {
		t.Errorf("another one owns since %+v", s)
	}
	if terms := recalled["other"].Terms; len(terms) != 2 || terms[0].Owner.ID != "x" || !terms[0].End.At.Equal(minute(10)) || terms[1].Owner.ID != "y" {
		t.Errorf("it was owned in %+v", terms)
	}
	if r := recalled["freed"]; r.Nobody.How != sources.Seen || !r.Nobody.At.Equal(minute(3)) || len(r.Terms) != 1 {
		t.Errorf("it is free since %+v, after %d terms", r.Nobody, len(r.Terms))
	}
	if s := recalled["new"].Owners[0].Since; s.How != sources.AtLeast || !s.At.Equal(minute(10)) {
		t.Errorf("what was not recorded is owned since %+v", s)
	}
	if other := hub("b", []*sources.Primitive{owned(10, "same", "x")}).State(); end.Recall(other).Rows[0].Owners[0].Since.How != sources.AtLeast {
		t.Error("what was recorded of one server is taken for that of another")
	}
	if s := look.State().Rows[0].Owners[0].Since; s.How != sources.AtLeast {
		t.Errorf("the state itself is changed: %+v", s)
	}
}
