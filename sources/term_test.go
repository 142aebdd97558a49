package sources

import (
	"fmt"
	"testing"
	"time"
)

func at(seconds float64) time.Time { return t0.Add(time.Duration(seconds * float64(time.Second))) }

// seen is a stamp in (after, at] seconds after t0.
func seen(after, end float64) Stamp { return StampBetween(at(after), at(end), Seen) }

func exactly(s float64) Stamp { return Stamp{At: at(s), How: Seen} }

func who(id string) OwnerRef { return OwnerRef{ID: id} }

// reign lets owners follow each other, a second each and a second apart.
func reign(ids ...string) []Term {
	var owners []OwnerRef
	for _, id := range ids {
		owners = append(owners, who(id))
	}
	return reignOf(owners...)
}

func reignOf(owners ...OwnerRef) []Term {
	var list []Term
	for i, owner := range owners {
		list = then(list, func(t *terms) { t.begin(owner, 0, exactly(float64(2*i))) })
		list = then(list, func(t *terms) { t.end(owner, exactly(float64(2*i+1)), CauseReleased, Inferred) })
	}
	return list
}

// then returns the published list brought up to date.
func then(list []Term, change func(*terms)) []Term {
	t := terms{list: list}
	change(&t)
	return t.list
}

func TestOwnersKeepTheirHueAndNeighboursDiffer(t *testing.T) {
	t.Parallel()
	var hues []uint8
	for _, term := range reign("a", "b", "a", "c", "b", "d", "a") {
		hues = append(hues, term.Hue)
	}
	if got, want := fmt.Sprint(hues), "[0 1 0 2 1 3 0]"; got != want {
		t.Errorf("hues = %s, want %s", got, want)
	}
}

func TestAProgramThatComesBackUnderItsNameKeepsItsHue(t *testing.T) {
	t.Parallel()
	var hues []uint8
	for _, term := range reignOf(
		OwnerRef{ID: "#1", Label: "host-1"}, OwnerRef{ID: "#2", Label: "host-2"}, OwnerRef{ID: "#3", Label: "host-1"},
		OwnerRef{ID: "#4", Label: "host-1"}, OwnerRef{ID: "#5"}, OwnerRef{ID: "#6"}, OwnerRef{ID: "#5"},
	) {
		hues = append(hues, term.Hue)
	}
	if got, want := fmt.Sprint(hues), "[0 1 0 0 2 3 2]"; got != want {
		t.Errorf("hues = %s, want %s", got, want)
	}
}

func TestHuesOfTheForgottenAreGivenAgain(t *testing.T) {
	t.Parallel()
	var ids []string
	for i := range 10 * MaxTerms {
		ids = append(ids, fmt.Sprint(i))
	}
	history := reign(ids...)
	if len(history) != MaxTerms {
		t.Fatalf("%d terms are kept, want %d", len(history), MaxTerms)
	}
	taken := map[uint8]bool{}
	for _, term := range history {
		if term.Hue >= MaxTerms || taken[term.Hue] {
			t.Fatalf("hue %d is given twice or too high", term.Hue)
		}
		taken[term.Hue] = true
	}
}

func TestTermsAreForgottenADayAfterTheirEnd(t *testing.T) {
	t.Parallel()
	next := func(t *terms) { t.begin(who("d"), 0, Stamp{At: at(4).Add(24 * time.Hour), How: Seen}) }
	history := then(reign("a", "b", "c"), next)
	if len(history) != 2 || history[0].Owner.ID != "c" || history[1].Owner.ID != "d" {
		t.Errorf("kept %+v, want what ended within a day and the new one", history)
	}
	if alone := then(reign("a"), next); len(alone) != 2 {
		t.Error("the term before the new one is forgotten, and with it the gap between them")
	}
}

func TestTermsMeetWithoutOverlap(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name               string
		end, start         Stamp
		wantEnd, wantStart Stamp
	}{
		{"within one look", seen(1, 2), seen(1, 2), seen(1, 2), seen(1, 2)},
		{"with a gap", seen(1, 2), seen(3, 4), seen(1, 2), seen(3, 4)},
		{"a told start within the doubt ends the one before", seen(1, 2), exactly(1.5), seen(1, 1.5), exactly(1.5)},
		{"a start that cannot be is moved", seen(1, 2), exactly(0.5), seen(1, 2), exactly(2)},
		{"a start before an exact end is moved", exactly(2), exactly(1), exactly(2), exactly(2)},
		{"a start that may be earlier than the end can is narrowed", seen(1, 2), seen(0, 3), seen(1, 2), seen(1, 3)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			first := then(one(), func(t *terms) { t.end(who("a"), tt.end, CauseUnknown, Seen) })
			both := then(first, func(t *terms) { t.begin(who("b"), 0, tt.start) })
			if both[0].End != tt.wantEnd || both[1].Start != tt.wantStart {
				t.Errorf("end %v, start %v, want %v, %v", both[0].End, both[1].Start, tt.wantEnd, tt.wantStart)
			}
			if first[0].End != tt.end {
				t.Error("the history that is published was changed")
			}
		})
	}
}

// one is a history of one term, which runs.
func one() []Term {
	return then(nil, func(t *terms) { t.begin(who("a"), 0, exactly(0)) })
}

func TestRunningTermStaysWithTheFirstOfTwo(t *testing.T) {
	t.Parallel()
	if two := then(one(), func(t *terms) { t.begin(who("b"), 0, exactly(1)) }); len(two) != 1 {
		t.Error("a second term begins while the first runs")
	}
	if same := then(one(), func(t *terms) { t.end(who("b"), exactly(1), CauseReleased, Told) }); same[0].End != (Stamp{}) {
		t.Error("the end of the other owner ends the term")
	}
	if early := then(one(), func(t *terms) { t.end(who("a"), exactly(-5), CauseReleased, Told) }); early[0].End.At != early[0].Start.At {
		t.Errorf("term %+v ends before it starts", early[0])
	}
}

func TestRunningTermLearnsItsOwnersFence(t *testing.T) {
	t.Parallel()
	published := one()
	list := then(published, func(t *terms) { t.rename([]Owner{{ID: "b"}, {ID: "a", Fence: 7}}) })
	if list[0].Owner.Fence != 7 || published[0].Owner.Fence != 0 {
		t.Errorf("owner is %+v, the published one %+v", list[0].Owner, published[0].Owner)
	}
}

func TestAProgramKeepsItsHueAcrossItsSessions(t *testing.T) {
	t.Parallel()
	worker, other := ProgramOf("worker", "10.0.0.1"), ProgramOf("worker", "10.0.0.2")
	var list []Term
	for i, owner := range []struct {
		ref     OwnerRef
		program Program
	}{
		{OwnerRef{ID: "1", Label: "pid 1"}, worker}, {OwnerRef{ID: "2", Label: "pid 2"}, other},
		{OwnerRef{ID: "3", Label: "pid 3"}, worker}, {OwnerRef{ID: "4", Label: "pid 1"}, 0},
	} {
		list = then(list, func(t *terms) { t.begin(owner.ref, owner.program, exactly(float64(2*i))) })
		list = then(list, func(t *terms) { t.end(owner.ref, exactly(float64(2*i+1)), CauseReleased, Inferred) })
	}
	if got := [...]uint8{list[0].Hue, list[1].Hue, list[2].Hue, list[3].Hue}; got != [...]uint8{0, 1, 0, 0} {
		t.Errorf("hues %v, want one for each program, and by label where it is not known", got)
	}
	if ProgramOf("", "") != 0 || ProgramOf("a", "b") == ProgramOf("ab", "") {
		t.Error("nothing is a program, or two are the same")
	}
}
