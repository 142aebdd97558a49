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
	end := hub("a", []*sources.Primitive{owned(0, "same", ""), owned(0, "other", "x"), owned(0, "freed", "x"), owned(0, "left", "x")},
		[]*sources.Primitive{owned(3, "same", "x"), owned(3, "freed", ""), owned(3, "gone", "x")}, []*sources.Primitive{owned(5, "late", "x")}).Keyframe()
	look := hub("a", []*sources.Primitive{owned(10, "same", "x"), owned(10, "other", "y"), owned(10, "freed", ""), owned(10, "left", ""), owned(10, "new", "z")})
	recalled := map[string]*sources.Row{}
	for _, row := range end.Recall(look.State()).Rows {
		recalled[row.Name] = row
	}
	if len(recalled) != 5 { // a mutex that is free is no row
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
	if n := recalled["left"].Nobody; n.How != sources.Seen || !n.At.Equal(minute(10)) || !n.After().Equal(minute(5)) {
		t.Errorf("what was left while nobody looked is free since %+v", n)
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

// TestWhatANewStartDoesNotFindIsFree ends a run in minute 5, and begins another in minute 10 whose server lists nothing
// of what that one knew: a Hub that resumes it, and one look that recalls what should be owned.
func TestWhatANewStartDoesNotFindIsFree(t *testing.T) {
	t.Parallel()
	minute := func(m float64) time.Time {
		return time.Date(2026, 11, 22, 3, 0, 0, 0, time.UTC).Add(time.Duration(m * float64(time.Minute)))
	}
	row := func(at float64, name string, kind sources.Kind, expected bool, forget time.Duration, id string) *sources.Primitive {
		p := &sources.Primitive{Ref: sources.Ref{Source: "s", Name: name}, Kind: kind, Expected: expected, ForgetAfter: forget, Limit: 1, LimitHow: sources.Told, OwnersHow: sources.Told, At: minute(at)}
		if id != "" {
			p.Owners, p.Taken = []sources.Owner{{ID: id, Lease: 3 * time.Second, Expires: sources.Stamp{At: minute(at).Add(3 * time.Second), How: sources.Told}}}, 1
		}
		return p
	}
	run := func(o sources.HubOptions, resume *sources.Keyframe, changes ...sources.Change) *sources.Hub {
		r := sources.NewReplayer(o)
		seq, limits := uint64(0), sources.DefaultThresholds()
		apply := func(at time.Time, in sources.Input) {
			seq++
			in.Seq, in.At = seq, sources.Instant{Wall: at, Mono: at.Sub(minute(0))}
			if err := r.Apply(in); err != nil {
				t.Fatal(err)
			}
		}
		first := changes[0].At
		apply(first, sources.Input{Kind: sources.InputStarted, Thresholds: &limits, Resume: resume})
		apply(first, sources.Input{Kind: sources.InputSources, Added: []sources.AddedSource{{Name: "s", Type: "redis", Address: "a"}}})
		for _, c := range changes {
			c.Alive = []string{""}
			apply(c.At, sources.Input{Kind: sources.InputChange, Source: "s", Change: c})
		}
		apply(changes[len(changes)-1].At, sources.Input{Kind: sources.InputPublished})
		return r.Hub()
	}
	const hour, never = time.Hour, time.Duration(1<<63 - 1)
	election, mutex := sources.KindElection, sources.KindMutex
	end := run(sources.HubOptions{}, nil,
		sources.Change{Relists: true, Synced: true, At: minute(0), Set: []*sources.Primitive{
			row(0, "ended", election, false, hour, "x"), row(0, "expected", mutex, true, never, "x"), row(0, "lock", mutex, false, hour, "x"),
			row(0, "exists by itself", election, false, 0, "x"), row(0, "forgotten", election, false, 4*time.Minute, "x"),
		}},
		sources.Change{At: minute(1), After: minute(0.9), Set: []*sources.Primitive{row(1, "ended", election, false, hour, ""), row(1, "forgotten", election, false, 4*time.Minute, "")}},
		sources.Change{At: minute(5), Set: []*sources.Primitive{row(5, "owned", election, false, hour, "x"), row(5, "owned, forgotten", election, false, 4*time.Minute, "x")}},
	).Keyframe()
	listing := sources.Change{Relists: true, Synced: true, At: minute(10), Set: []*sources.Primitive{row(10, "other", election, false, hour, "y")}}
	for how, s := range map[string]*sources.State{
		"resumed": run(sources.HubOptions{}, end, listing).State(), "recalled": end.Recall(run(sources.HubOptions{}, nil, listing).State()),
	} {
		rows := map[string]*sources.Row{}
		for _, r := range s.Rows {
			if r != nil {
				rows[r.Name] = r
			}
		}
		if lock := rows["lock"]; (lock != nil) != (how == "resumed") {
			t.Errorf("%s: the lock is %v", how, lock)
		} else if lock != nil && (len(lock.Owners) > 0 || !lock.Nobody.At.Equal(minute(10)) || lock.Terms[0].End != lock.Nobody) {
			t.Errorf("%s: the lock is %v, free since %+v, after %+v", how, lock.Owners, lock.Nobody, lock.Terms)
		}
		for _, name := range []string{"exists by itself", "forgotten", "owned, forgotten"} {
			if rows[name] != nil {
				t.Errorf("%s: %s is a row", how, name)
			}
		}
		for name, since := range map[string][2]float64{"ended": {0.9, 1}, "expected": {5, 10}, "owned": {5, 10}} {
			r := rows[name]
			if r == nil {
				t.Errorf("%s: %s is no row", how, name)
				continue
			}
			if n := r.Nobody; n.How != sources.Seen || !n.At.Equal(minute(since[1])) || !n.Earliest().Equal(minute(since[0])) {
				t.Errorf("%s: nobody owns %s since %+v", how, name, n)
			}
			if !r.Fresh(s) || len(r.Owners) != 0 || len(r.Terms) != 1 || r.Terms[0].Owner.ID != "x" || r.Terms[0].End != r.Nobody {
				t.Errorf("%s: %s is fresh %v, owned by %v, was owned in %+v", how, name, r.Fresh(s), r.Owners, r.Terms)
			}
		}
		if c := rows["ended"].Terms[0].Cause; c != sources.CauseExpired {
			t.Errorf("%s: what expired ended by %v", how, c)
		}
	}
	refused := run(sources.HubOptions{}, nil, listing, sources.Change{At: minute(10), About: &sources.About{Partial: sources.Refused}})
	if n := len(end.Recall(refused.State()).Rows); n != 1 {
		t.Errorf("%d rows where a listing leaves something out: it may have been that", n)
	}
}

// TestNothingIsRecalledOfWhatIsNewerThanTheRow has looks at a polled server of which a recorder knows second 1: one
// that listed before that and one that listed after.
func TestNothingIsRecalledOfWhatIsNewerThanTheRow(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 11, 22, 3, 0, 0, 0, time.UTC)
	sec := func(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }
	row := func(at float64, name, id string) *sources.Primitive {
		p := &sources.Primitive{Ref: sources.Ref{Source: "s", Name: name}, Kind: sources.KindElection, Limit: 1, ForgetAfter: time.Hour, LimitHow: sources.Told, OwnersHow: sources.Told, At: sec(at)}
		if id != "" {
			p.Owners, p.Taken = []sources.Owner{{ID: id, Label: id, NoExpiry: true}}, 1
		}
		return p
	}
	run := func(began float64, changes ...sources.Change) *sources.Hub {
		r := sources.NewReplayer(sources.HubOptions{})
		seq, limits := uint64(0), sources.DefaultThresholds()
		apply := func(at time.Time, in sources.Input) {
			seq++
			in.Seq, in.At = seq, sources.Instant{Wall: at, Mono: at.Sub(sec(-1000))}
			if err := r.Apply(in); err != nil {
				t.Fatal(err)
			}
		}
		apply(sec(began), sources.Input{Kind: sources.InputStarted, Thresholds: &limits})
		apply(sec(began), sources.Input{Kind: sources.InputSources, Added: []sources.AddedSource{{Name: "s", Type: "redis", Address: "a"}}})
		for _, c := range changes {
			c.Alive = []string{""}
			apply(c.At, sources.Input{Kind: sources.InputChange, Source: "s", Change: c})
		}
		apply(changes[len(changes)-1].At, sources.Input{Kind: sources.InputPublished})
		return r.Hub()
	}
	polled := &sources.About{Mode: "polling", Sampling: 5 * time.Second}
	end := run(-100,
		sources.Change{Relists: true, Synced: true, About: polled, At: sec(-100), Set: []*sources.Primitive{row(-100, "changed", "a"), row(-100, "stays", "x")}},
		sources.Change{At: sec(1), After: sec(-4), Set: []*sources.Primitive{row(1, "changed", "b"), row(1, "new", "c")}},
	).Keyframe()
	s := run(0,
		sources.Change{Relists: true, Synced: true, About: polled, At: sec(0), Set: []*sources.Primitive{row(0, "changed", "a"), row(0, "stays", "x")}},
		sources.Change{At: sec(2)}, // a ping was answered
	).State()
	for _, r := range end.Recall(s).Rows {
		if r.Name == "changed" && len(r.Terms) > 2 {
			t.Error("it says that b came before a, and that is the other way round")
		}
		if r.Name == "new" {
			t.Errorf("it says that nobody leads new since %v: c does", r.Nobody.At.Sub(start))
		}
	}
	later := map[string]*sources.Row{}
	for _, r := range end.Recall(run(3, sources.Change{Relists: true, Synced: true, About: polled, At: sec(3), Set: []*sources.Primitive{row(3, "stays", "y")}}).State()).Rows {
		later[r.Name] = r
	}
	if r := later["new"]; r == nil || len(r.Owners) > 0 || len(r.Terms) != 1 {
		t.Errorf("new was read a second before it is missed, and is shown as %+v", r)
	}
	terms := later["stays"].Terms
	if from := terms[0].End.After(); from.After(sec(-4)) { // the recorder looked last 5 s before its last answer at the latest
		t.Errorf("it says that x led until %v after the beginning at least", from.Sub(start))
	}
}
