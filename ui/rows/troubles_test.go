package rows

import (
	"testing"
	"time"

	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/uitest"
)

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
	keys := map[string]int64{"late": staleKey + 1, "a": staleKey + 2} // before those worth a look
	for _, row := range st.Rows {
		if _, v := x.At(HandleOf(row)); v.Severity != verdict.Blind || troubleKey(row, &v) != keys[row.Name] {
			t.Errorf("%s: severity %v, key %d, want right after what needs a person, what was late first", row.Name, v.Severity, troubleKey(row, &v))
		}
	}
}

func TestASweepReachesEveryRowThatIsLate(t *testing.T) {
	t.Parallel()
	var x Index
	prims := uitest.Many(3*sweepRows, uitest.Noon())
	for _, p := range prims[:len(prims)-1] {
		p.Owners[0].NoExpiry = true
	}
	x.Update(uitest.State(uitest.Noon(), prims...), uitest.Noon())
	if x.Sweep(uitest.Noon().Add(time.Minute), nil); x.ByFault[verdict.Late][verdict.Warn] != 1 {
		t.Errorf("%v rows are late, not the last one", x.ByFault[verdict.Late])
	}
}

func TestCountsByFaultDoNotFallWhenASourceDies(t *testing.T) {
	t.Parallel()
	two := uitest.Led("two", "o", uitest.Noon())
	two.Owners = append(two.Owners, sources.Owner{ID: "p", Session: "p"})
	st := uitest.State(uitest.Noon(), uitest.Lost("lost"), two, uitest.Led("late", "o", uitest.Noon().Add(-12*time.Second)))
	st.Scopes[0].Health = sources.HealthStale
	var x Index
	x.Update(st, uitest.Noon().Add(time.Hour))
	for fault, severity := range map[verdict.Fault]verdict.Severity{verdict.NoLeader: verdict.Bad, verdict.TwoOwners: verdict.Bad, verdict.Late: verdict.Warn} {
		if x.ByFault[fault][severity] != 1 {
			t.Errorf("%v rows were last known as %v, want 1", x.ByFault[fault], fault)
		}
	}
	if x.Stale != 3 || x.Total != 3 || x.ProblemRows() != 3 {
		t.Errorf("%d problems, %d stale of %d", x.ProblemRows(), x.Stale, x.Total)
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
	overdue := uitest.Noon().Add(10 * time.Second)
	var x Index
	x.Update(st, uitest.Noon())
	if x.Sweep(overdue, nil); x.BySeverity[verdict.Warn] != 1 {
		t.Fatal("it is overdue before its time was over")
	}
	if x.Sweep(overdue.Add(time.Second), nil); x.BySeverity[verdict.Bad] != 1 {
		t.Error("it is not overdue a second later, because nothing happened at the exact instant")
	}
}
