package rows

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"coordtop/sources"
	"coordtop/sources/verdict"
	"coordtop/ui/uitest"
)

// waited is a mutex for which somebody has waited for so long.
func waited(name string, d time.Duration) *sources.Primitive {
	p := uitest.Led(name, "o", uitest.Noon())
	p.Kind = sources.KindMutex
	p.Queue = sources.Queue{How: sources.Told, Len: 1, Waiters: []sources.Waiter{{ID: "w", Label: "w", Since: sources.Stamp{At: uitest.Noon().Add(-d), How: sources.Told}}}}
	return p
}

func listed(x *Index) (names []string) {
	for row := range x.Rows {
		names = append(names, row.Name)
	}
	return names
}

func TestElectionsWithoutALeaderStandAboveOtherRedOnesAndThoseLongestFirst(t *testing.T) {
	t.Parallel()
	st := uitest.State(uitest.Noon(), waited("a-20m", 20*time.Minute), waited("b-1h", time.Hour), waited("c-yellow", time.Minute), waited("d-30m", 30*time.Minute),
		uitest.Led("e-well", "o", uitest.Noon()), uitest.Lost("z-lost"), uitest.Lost("y-lost"))
	var x Index
	x.Update(st, uitest.Noon())
	want := []string{"y-lost", "z-lost", "b-1h", "d-30m", "a-20m", "c-yellow", "e-well"}
	if got := listed(&x); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	x.Reverse = true
	x.Rebuild()
	slices.Reverse(want)
	if got := listed(&x); got[0] != want[0] || got[6] != "y-lost" && got[6] != "z-lost" {
		t.Errorf("reversed %v, want %v", got, want)
	}
}

func TestAMutedRowIsCountedApartAndStandsBelowTheOtherProblems(t *testing.T) {
	t.Parallel()
	st := uitest.State(uitest.Noon(), waited("bad", time.Hour), waited("yellow", time.Minute), uitest.Led("well", "o", uitest.Noon()), uitest.Lost("lost"))
	var x Index
	x.Update(st, uitest.Noon())
	isLost := func(ref sources.Ref) bool { return ref.Name == "lost" }
	if !x.Mute(isLost) || x.Mute(isLost) {
		t.Error("the order changes once")
	}
	if got, want := listed(&x), []string{"bad", "yellow", "lost", "well"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	sum := 0
	for _, of := range x.ByFault {
		sum += of[verdict.Bad] + of[verdict.Warn]
	}
	if x.Muted != 1 || x.ProblemRows() != 2 || sum != 2 || x.Total != 4 || x.ListedProblems() != [2]int{1, 1} {
		t.Errorf("%d muted, %d problems, chips of %d, %d in all, listed %v", x.Muted, x.ProblemRows(), sum, x.Total, x.ListedProblems())
	}
	again := *st
	again.Rows = slices.Clone(st.Rows)
	for i, row := range again.Rows { // all are read again, and nothing is new
		r := *row
		again.Rows[i] = &r
	}
	if x.Update(&again, uitest.Noon()); x.Muted != 1 {
		t.Error("a row that was read again stays muted")
	}
	if x.Update(uitest.State(uitest.Noon(), waited("bad", time.Hour), waited("yellow", time.Minute), uitest.Led("well", "o", uitest.Noon()), uitest.Led("lost", "o", uitest.Noon())), uitest.Noon()); x.Muted != 0 || x.ProblemRows() != 2 {
		t.Errorf("%d muted, %d problems, after somebody took it", x.Muted, x.ProblemRows())
	}
	if x.Mute(isLost); x.Muted != 0 {
		t.Error("what is well cannot be muted")
	}
	x.Problems = true
	x.Rebuild()
	if got, want := listed(&x), []string{"bad", "yellow"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestAMatcherReadsTheLanguageOfTheList(t *testing.T) {
	t.Parallel()
	p := uitest.Led("billing", "host-1", uitest.Noon())
	p.Labels = []sources.Attr{{Key: "env", Value: "prod"}}
	st := uitest.State(uitest.Noon(), p)
	silent := &sources.Row{Primitive: &sources.Primitive{Ref: sources.Ref{Source: uitest.Redis}}}
	matches := Matcher(st, uitest.Noon())
	for text, want := range map[string][2]bool{
		"billing": {true, false}, "source=leases": {true, true}, "leases": {true, true}, "env=prod": {true, false}, "kind=election owner~host": {true, false},
		"since>10s": {true, false}, "": {}, "(": {}, "nosuchfield=1 and": {}, "kind=mutex": {}, "gap>1s": {}, "lease<1h": {true, false}, "wait>3": {},
	} {
		if got := [2]bool{matches(text, st.Rows[0], verdict.Verdict{}), matches(text, silent, verdict.Verdict{})}; got != want {
			t.Errorf("%q selects the row and its silent source %v, want %v", text, got, want)
		}
	}
}

func BenchmarkMute(b *testing.B) {
	var prims []*sources.Primitive
	for i := range 1000 {
		prims = append(prims, uitest.Lost(fmt.Sprint("lost ", i)))
	}
	var x Index
	x.Update(uitest.State(uitest.Noon(), prims...), uitest.Noon())
	for b.Loop() {
		x.Mute(func(sources.Ref) bool { return false })
	}
}
