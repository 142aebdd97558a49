package sources

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// TestARunThatResumesIsLikeAnOutage cuts a run in two. That its second part knows what the first
// one did must show the same as if all servers had been away for that time.
func TestARunThatResumesIsLikeAnOutage(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := HubOptions{Recorder: NewInputBuffer(0, 0)}
		m := newMachineOf(t.Context(), o)
		var end *Keyframe
		actions := m.actions()
		actions["end"] = func(t *rapid.T) {
			if end != nil {
				t.Skip("it has ended")
			}
			end = m.hub.Keyframe()
			actions["disconnect"](t)
		}
		t.Repeat(actions)
		if end == nil {
			actions["end"](t)
		}
		m.hub.Close()
		inputs, _ := o.Recorder.Take()
		end, _, err := decoded(pieces(end, nil, 1, EncoderOptions{}))
		if err != nil {
			t.Fatal(err)
		}
		now := inputs[end.Seq()].At // of the disconnecting
		again := []Input{{At: now, Kind: InputStarted, Thresholds: inputs[0].Thresholds, Resume: end},
			{At: now, Kind: InputSources, Added: inputs[1].Added}}
		again = append(again, inputs[end.Seq()+1:]...)
		for i := range again {
			again[i].Seq = uint64(i) + 1
		}
		whole, err := replayed(NewReplayer(o), inputs)
		if err != nil {
			t.Fatal(err)
		}
		second, err := replayed(NewReplayer(o), again)
		if err != nil {
			t.Fatal(err)
		}
		sameMemory(t, whole.Hub(), second.Hub())
	})
}

// sameMemory compares what two Hubs know of owners and of the past.
func sameMemory(t *rapid.T, whole, second *Hub) {
	a, b := whole.State(), second.State()
	rows := 0
	for _, row := range b.Rows {
		if row != nil {
			rows++
		}
	}
	for _, was := range a.Rows {
		if was == nil {
			continue
		}
		rows--
		is := second.Row(b, was.Ref)
		if is == nil {
			t.Fatalf("%v is gone", was.Ref)
		}
		same := *is
		same.Slot, same.Gen, same.Rev, same.Scope = was.Slot, was.Gen, was.Rev, was.Scope
		if !reflect.DeepEqual(was, &same) {
			t.Fatalf("the row was\n%+v\n%+v\nand is\n%+v\n%+v", was, was.Primitive, is, is.Primitive)
		}
		if x, y := was.Unobserved(a), is.Unobserved(b); !reflect.DeepEqual(x, y) {
			t.Fatalf("unobserved was %v and is %v", x, y)
		}
		if x, y := was.RecordedSince(a), is.RecordedSince(b); x != y {
			t.Fatalf("recorded since %v and %v", x, y)
		}
	}
	if rows != 0 {
		t.Fatalf("%d rows more than there were", rows)
	}
}
