package rows

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/uitest"
)

func TestJudgement(t *testing.T) {
	t.Parallel()
	late := uitest.Led("a", "o", uitest.Noon().Add(-12*time.Second)) // 3 s of 15 left
	free := uitest.Leaderless("a", uitest.Noon().Add(-time.Minute))
	free.Kind, free.Expected = sources.KindMutex, false
	expected := *free
	expected.Expected = true
	waits := func(d time.Duration) *sources.Primitive {
		p := uitest.Led("a", "o", uitest.Noon())
		p.Kind = sources.KindMutex
		p.Queue = sources.Queue{How: sources.Told, Len: 1, Waiters: []sources.Waiter{{Since: sources.Stamp{At: uitest.Noon().Add(-d), How: sources.Told}}}}
		return p
	}
	candidate := *waits(time.Hour)
	candidate.Kind = sources.KindElection
	idle := waits(40 * time.Second)
	idle.Owners[0].Idle = sources.IdleInTransaction
	endless := func(guessed bool) *sources.Primitive {
		p := uitest.Led("a", "o", uitest.Noon())
		p.Kind = sources.KindMutex
		if guessed {
			p.LimitHow = sources.Inferred
		}
		p.Owners[0].NoExpiry, p.Owners[0].Session = true, ""
		return p
	}
	wanted := endless(false)
	wanted.Queue = sources.Queue{How: sources.Told, Len: 1}
	absent := func(expected bool) *sources.Primitive {
		p := uitest.Leaderless("a", uitest.Noon())
		p.Absent, p.Expected = true, expected
		return p
	}
	unread := *uitest.Led("a", "o", time.Time{})
	for _, c := range []struct {
		name string
		p    *sources.Primitive
		sev  paint.Severity
		rank uint8
	}{
		{"led", uitest.Led("a", "o", uitest.Noon()), paint.Well, 5},
		{"renewed late", late, paint.Warn, 4},
		{"free", free, paint.Free, 5},
		{"free and expected to be owned", &expected, paint.Bad, 0},
		{"a long wait for a mutex", waits(40 * time.Second), paint.Warn, 4},
		{"a very long wait", waits(11 * time.Minute), paint.Bad, 0},
		{"a long wait for an owner that is idle", idle, paint.Bad, 0},
		{"a candidate waits as long as it takes", &candidate, paint.Well, 5},
		{"not read yet", &unread, paint.Blind, 5},
		{"without any end", endless(false), paint.Warn, 4},
		{"without any end, and somebody waits", wanted, paint.Bad, 0},
		{"without any end, if it is a lock", endless(true), paint.Well, 5},
		{"absent", absent(false), paint.Warn, 4},
		{"absent and expected", absent(true), paint.Bad, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st := uitest.State(uitest.Noon(), c.p)
			if v := judge(st.Rows[0], st, uitest.Noon()); v.Severity != c.sev || v.rank != c.rank {
				t.Errorf("severity %d, rank %d, not %d and %d (%v)", v.Severity, v.rank, c.sev, c.rank, v.Status)
			}
		})
	}
}

func TestALeaderIsMissedWhereThereWasOneOrShouldBe(t *testing.T) {
	t.Parallel()
	had := []sources.Term{{Owner: sources.OwnerRef{ID: "o"}, Start: sources.Stamp{At: uitest.Noon().Add(-time.Hour), How: sources.Seen}}}
	for _, c := range []struct {
		name     string
		how      sources.Known
		ago      time.Duration
		expected bool
		terms    []sources.Term
		want     paint.Severity
	}{
		{"a hand-over", sources.Seen, 4 * time.Second, false, had, paint.Free},
		{"nobody followed", sources.Seen, 5 * time.Second, false, had, paint.Bad},
		{"it should always have one", sources.Seen, 5 * time.Second, true, nil, paint.Bad},
		{"it should, and had none when we came", sources.AtLeast, 0, true, nil, paint.Bad},
		{"whether it had one is not known", sources.AtLeast, 0, false, nil, paint.Warn},
		{"it was made a moment ago", sources.Seen, 4 * time.Second, false, nil, paint.Free},
		{"it was made, and never had one", sources.Seen, time.Minute, false, nil, paint.Warn},
	} {
		p := uitest.Leaderless("a", uitest.Noon())
		p.Expected = c.expected
		st := uitest.State(uitest.Noon(), p)
		st.Rows[0].Nobody, st.Rows[0].Terms = sources.Stamp{At: uitest.Noon().Add(-c.ago), How: c.how}, c.terms
		if v := judge(st.Rows[0], st, uitest.Noon()); v.Severity != c.want {
			t.Errorf("%s: severity %d, want %d", c.name, v.Severity, c.want)
		}
	}
}

func TestProblemsOfASourceThatDiedAreStillCounted(t *testing.T) {
	t.Parallel()
	st := uitest.State(uitest.Noon(), uitest.Led("a", "o", uitest.Noon()), uitest.Led("late", "o", uitest.Noon().Add(-12*time.Second)))
	st.Scopes[0].Health = sources.HealthStale
	var x Index
	x.Update(st, uitest.Noon().Add(time.Hour))
	if x.StaleProblems != 1 {
		t.Errorf("%d stale rows were problems, want the one that was late", x.StaleProblems)
	}
	if x.ProblemRows() != 1 || x.Blind != 2 {
		t.Errorf("%d problems and %d rows that cannot be judged, want the one that was late, and both", x.ProblemRows(), x.Blind)
	}
	ranks := map[string]uint8{"late": 2, "a": 3} // 0 needs a person, 4 is worth a look
	for _, row := range st.Rows {
		if v := judge(row, st, uitest.Noon().Add(time.Hour)); v.Severity != paint.Blind || v.rank != ranks[row.Name] {
			t.Errorf("%s: severity %d, rank %d, want right after what needs a person, what was late first", row.Name, v.Severity, v.rank)
		}
	}
}

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
		p.Expected = rapid.Bool().Draw(t, "expected")
		for i := range p.Owners {
			p.Owners[i].Expires = sources.StampBetween(ago("end").Add(25*time.Second), ago("end").Add(30*time.Second), sources.Told)
			p.Owners[i].Rhythm = sources.RhythmOf(time.Duration(rapid.IntRange(0, 20).Draw(t, "renewed every"))*time.Second, rapid.IntRange(0, 5).Draw(t, "renewals"))
			p.Owners[i].Renewed = sources.Stamp{At: ago("renewed"), How: rapid.SampledFrom([]sources.Known{sources.Unknown, sources.Seen}).Draw(t, "told")}
		}
		for range rapid.IntRange(0, 2).Draw(t, "waiters") {
			p.Queue.Waiters = append(p.Queue.Waiters, sources.Waiter{Since: sources.Stamp{At: ago("waits"), How: sources.Told}})
		}
		if len(p.Owners) > 0 && rapid.Bool().Draw(t, "endless") {
			p.Owners[0].NoExpiry, p.Owners[0].Session = true, ""
		}
		st := uitest.State(now, p)
		st.Thresholds.WaitPerson = 50 * time.Second
		row := st.Rows[0]
		if start := ago("began"); len(row.Terms) > 0 {
			row.Terms[len(row.Terms)-1].Start = sources.Stamp{At: start, How: sources.Seen}
			before := sources.Term{Start: sources.Stamp{At: start.Add(-40 * time.Second), How: sources.Seen}, End: sources.Stamp{At: start, How: sources.Seen}}
			row.Terms = append([]sources.Term{before}, row.Terms...)
		}
		st.Scopes[0].Alive = ago("alive")
		v := judge(row, st, now)
		until := v.until(row, st, now)
		for range 50 {
			now = now.Add(time.Duration(rapid.IntRange(0, 2000).Draw(t, "pass")) * time.Millisecond)
			if rapid.Bool().Draw(t, "answers") {
				st.Scopes[0].Alive = now
			}
			got := judge(row, st, now)
			if got != v && (until.IsZero() || now.Before(until)) {
				t.Fatalf("%+v at %v, before %v; it was %+v", got, now.Sub(uitest.Noon()), until.Sub(uitest.Noon()), v)
			}
			v, until = got, got.until(row, st, now)
		}
	})
}

func TestASweepReachesEveryRowThatIsLate(t *testing.T) {
	t.Parallel()
	var x Index
	prims := uitest.Many(3*sweepRows, uitest.Noon())
	for _, p := range prims[:len(prims)-1] {
		p.Owners[0].NoExpiry = true
	}
	x.Update(uitest.State(uitest.Noon(), prims...), uitest.Noon())
	if x.Sweep(uitest.Noon().Add(time.Minute), nil); x.ByStatus[sources.StatusLedLate] != 1 {
		t.Errorf("%d rows are late, not the last one", x.ByStatus[sources.StatusLedLate])
	}
}

func TestCountsByStateDoNotFallWhenASourceDies(t *testing.T) {
	t.Parallel()
	two := uitest.Led("two", "o", uitest.Noon())
	two.Owners = append(two.Owners, sources.Owner{ID: "p", Session: "p"})
	st := uitest.State(uitest.Noon(), uitest.Lost("lost"), two, uitest.Led("late", "o", uitest.Noon().Add(-12*time.Second)))
	st.Scopes[0].Health = sources.HealthStale
	var x Index
	x.Update(st, uitest.Noon().Add(time.Hour))
	for _, status := range []sources.Status{sources.StatusNoLeader, sources.StatusConflict, sources.StatusLedLate} {
		if x.ByStatus[status] != 1 {
			t.Errorf("%d rows were last known as %v, want 1", x.ByStatus[status], status)
		}
	}
	if x.Vacant[paint.Bad] != 1 || x.ByStatus[sources.StatusStale] != 3 || x.Total != 3 {
		t.Errorf("%d without a leader, %d stale of %d", x.Vacant[paint.Bad], x.ByStatus[sources.StatusStale], x.Total)
	}
}

func TestALockWithoutAnEndIsOverdueAlsoAfterALookAtTheExactInstant(t *testing.T) {
	t.Parallel()
	p := uitest.Led("a", "o", uitest.Noon())
	p.Kind = sources.KindMutex
	p.Owners[0].NoExpiry, p.Owners[0].Session = true, ""
	st := uitest.State(uitest.Noon(), p)
	st.Rows[0].Terms = []sources.Term{
		{Start: sources.Stamp{At: uitest.Noon().Add(-20 * time.Second), How: sources.Seen}, End: sources.Stamp{At: uitest.Noon().Add(-10 * time.Second), How: sources.Seen}},
		{Start: sources.Stamp{At: uitest.Noon(), How: sources.Seen}},
	}
	overdue := overdueAt(st.Rows[0])
	var x Index
	x.Update(st, uitest.Noon())
	if x.Sweep(overdue, nil); x.BySeverity[paint.Warn] != 1 {
		t.Fatal("it is overdue before its time was over")
	}
	if x.Sweep(overdue.Add(time.Second), nil); x.BySeverity[paint.Bad] != 1 {
		t.Error("it is not overdue a second later, because nothing happened at the exact instant")
	}
}

func TestALowerBoundMakesNoUsualHoldTime(t *testing.T) {
	t.Parallel()
	lock := func(start sources.Stamp) *sources.Row {
		row := endedRow(start).Rows[0]
		row.Terms = append(row.Terms, sources.Term{Owner: sources.OwnerRef{ID: "b"}, Start: sources.Stamp{At: uitest.Noon(), How: sources.Seen}})
		return row
	}
	began := uitest.Noon().Add(-20 * time.Second)
	if got, want := overdueAt(lock(sources.Stamp{At: began, How: sources.Seen})), uitest.Noon().Add(12*time.Second); !got.Equal(want) {
		t.Errorf("overdue at %v, want %v", got, want)
	}
	if got := overdueAt(lock(sources.Stamp{At: began, How: sources.AtLeast})); !got.IsZero() {
		t.Errorf("overdue at %v after a term of which nobody knows how long it was", got)
	}
}

// endedRow is an election without a leader whose only term ended 8 s before noon.
func endedRow(start sources.Stamp) *sources.State {
	p := uitest.Led("app", "host-1", uitest.Noon())
	p.Owners = nil
	st := uitest.State(uitest.Noon(), p)
	row := st.Rows[0]
	row.Nobody = sources.Stamp{At: uitest.Noon().Add(-8 * time.Second), How: sources.Seen}
	row.Terms = []sources.Term{{Owner: sources.OwnerRef{ID: "host-1", Label: "host-1"}, Start: start, End: row.Nobody, Cause: sources.CauseReleased, How: sources.Inferred}}
	return st
}
