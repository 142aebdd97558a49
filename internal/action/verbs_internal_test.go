package action

import (
	"testing"

	"coordtop/sources"
)

// What a new verb is must be decided here, before anything does it.
func TestEachVerbIsInTheTableWithWhatItDemands(t *testing.T) {
	t.Parallel()
	type demands struct {
		group   Group
		pin     Pin
		named   bool
		givesUp bool
	}
	want := map[Verb]demands{
		Acquire: {Claims, PinName, true, false}, Campaign: {Claims, PinName, true, false}, Try: {Claims, PinOwner, true, false},
		Proclaim: {OwnLease, PinLease, false, false}, Resign: {OwnLease, PinLease, false, true},
		Release: {Ends, PinGuard, true, false}, CancelWait: {Ends, PinGuard, true, false},
		Crash:  {Ends, PinGuard, false, false},
		Create: {Provisions, PinOwner, false, false}, Update: {Provisions, PinData, true, false},
		Delete: {Provisions, PinOwner, true, false}, CreateNode: {Provisions, PinName, false, false},
		AlterNode: {Provisions, PinName, true, false}, DropNode: {Provisions, PinUse, true, false},
	}
	names := map[string]Verb{}
	for v := Acquire; v < afterLast; v++ {
		d := Of(v)
		if got, ok := want[v]; !ok || got != (demands{d.Group, d.Pin, d.Named, d.GivesUp}) {
			t.Errorf("%v is %+v, want %+v", v, d, got)
		}
		if d.Changes == "" {
			t.Errorf("it is not said what %v changes", v)
		}
		if d.Group == Ends && d.Pin != PinGuard {
			t.Errorf("%v ends what others own, and needs no guard", v)
		}
		if other, twice := names[v.String()]; twice || v.String() == "none" {
			t.Errorf("verb %d is called %v, as %d", v, v, other)
		}
		names[v.String()] = v
	}
	if len(Verbs()) != int(afterLast)-1 {
		t.Errorf("the table has %d verbs of %d", len(Verbs()), afterLast-1)
	}
	for _, v := range []Verb{0, afterLast} {
		if d := Of(v); d.Group != 0 || d.Pin != 0 || v.String() != "none" {
			t.Errorf("verb %d is %+v, %v", v, d, v)
		}
	}
}

func TestPermitsAreTriedForWhoeverOwnsOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind  sources.Kind
		limit uint64
		want  Pin
	}{
		{sources.KindMutex, 1, PinOwner}, {sources.KindElection, 1, PinOwner}, {sources.KindMutex, 0, PinOwner},
		{sources.KindSemaphore, 1, PinOwner}, {sources.KindSemaphore, 3, PinName}, {sources.KindSemaphore, 0, PinName},
	} {
		r := Request{Verb: Try, Target: Target{Kind: c.kind}}
		if got := r.Pin(c.limit); got != c.want {
			t.Errorf("%v of %d: %d, want %d", c.kind, c.limit, got, c.want)
		}
	}
}
