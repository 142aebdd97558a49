package sources_test

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"coordtop/sources"
	"coordtop/sources/tape"
)

// recorded is what an Encoder and a Decoder make of a keyframe and the Inputs behind it, in pieces of n.
func recorded(k *sources.Keyframe, inputs []sources.Input, n int, o tape.EncoderOptions) (back *sources.Keyframe, again []sources.Input, err error) {
	e, d := tape.NewEncoder(o), tape.NewDecoder()
	if back, err = d.Keyframe(e.Keyframe(nil, k)); err != nil {
		return nil, nil, err
	}
	var piece []byte
	for i := range inputs {
		if piece = e.Input(piece, &inputs[i]); (i+1)%n == 0 || i+1 == len(inputs) {
			if err := d.Inputs(piece, func(in *sources.Input) bool { again = append(again, *in); return true }); err != nil {
				return nil, nil, err
			}
			piece = nil
		}
	}
	return back, again, nil
}

// replayed is a Replayer to which all of inputs happened.
func replayed(r *sources.Replayer, inputs []sources.Input) (*sources.Replayer, error) {
	for i := range inputs {
		if err := r.Apply(inputs[i]); err != nil {
			return nil, err
		}
	}
	return r, nil
}

func TestARunGoesOnFromAnyKeyframeAsItDid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := sources.HubOptions{Recorder: sources.NewInputBuffer(0, 0)}
		m := sources.NewMachine(t.Context(), o)
		m.Hub().KeepAllEvents() // they are compared
		var taken []*sources.Keyframe
		actions := m.Actions()
		actions["keyframe"] = func(*rapid.T) { taken = append(taken, m.Hub().Keyframe()) }
		t.Repeat(actions)
		taken = append(taken, new(sources.Keyframe), m.Hub().Keyframe())
		m.Hub().Close()
		inputs, _ := o.Recorder.Take()
		want := m.Hub().State()
		for _, k := range taken {
			rest := inputs[k.Seq:]
			back, again, err := recorded(k, rest, rapid.IntRange(1, 9).Draw(t, "piece"), tape.EncoderOptions{})
			if err != nil {
				t.Fatal(err)
			}
			shownLate(t, k, o, again, want)
			before := sources.NewReplayerAt(k, o)
			for _, r := range []*sources.Replayer{sources.NewReplayerAt(back, o), before} {
				if got := r.Hub().State(); !reflect.DeepEqual(got, sources.NewReplayerAt(k, o).Hub().State()) {
					t.Fatalf("behind input %d the state is\n%+v", k.Seq, got)
				}
				r, err := replayed(r, again)
				if err != nil {
					t.Fatal(err)
				}
				if got := r.Hub().State(); !reflect.DeepEqual(got, want) {
					t.Fatalf("from input %d on the state is\n%+v\nnot\n%+v", k.Seq, got, want)
				}
				if got, all := eventsFrom(r.Hub(), k.LastEvent), eventsFrom(m.Hub(), k.LastEvent); !reflect.DeepEqual(got, all) {
					t.Fatalf("from input %d on the events are\n%+v\nnot\n%+v", k.Seq, got, all)
				}
			}
		}
	})
}

// shownLate replays inputs after a Keyframe, and asks for the State for the first time after some of them.
func shownLate(t *rapid.T, k *sources.Keyframe, o sources.HubOptions, inputs []sources.Input, want *sources.State) {
	n := rapid.IntRange(0, len(inputs)).Draw(t, "first shown")
	late, err := replayed(sources.NewReplayerAt(k, o), inputs[:n])
	if err != nil {
		t.Fatal(err)
	}
	shown := late.Hub().State()
	if late, err = replayed(late, inputs[n:]); err != nil {
		t.Fatal(err)
	}
	if got := late.Hub().State(); !reflect.DeepEqual(got, want) {
		t.Fatalf("shown after %d inputs the state is at the end\n%+v\nnot\n%+v", n, got, want)
	}
	always := sources.NewReplayerAt(k, o)
	first := always.Hub().State()
	for i := range inputs[:n] {
		if err := always.Apply(inputs[i]); err != nil {
			t.Fatal(err)
		}
		first = always.Hub().State()
	}
	if !reflect.DeepEqual(shown, first) {
		t.Fatalf("the state after %d inputs became\n%+v\nand was\n%+v", n, shown, first)
	}
}

func eventsFrom(h *sources.Hub, seq uint64) []sources.Event {
	s := h.Subscribe(seq)
	defer s.Close()
	events, _ := s.Events(0)
	return events
}

func TestAMaskedRunHasTheSameStory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := sources.HubOptions{Recorder: sources.NewInputBuffer(0, 0)}
		m := sources.NewMachine(t.Context(), o)
		t.Repeat(m.Actions())
		m.Hub().Close()
		inputs, _ := o.Recorder.Take()
		half := rapid.IntRange(0, len(inputs)).Draw(t, "half")
		live, err := replayed(sources.NewReplayer(o), inputs[:half])
		if err != nil {
			t.Fatal(err)
		}
		k, again, err := recorded(live.Hub().Keyframe(), inputs[half:], 5, tape.EncoderOptions{Disguised: true})
		if err != nil {
			t.Fatal(err)
		}
		masked, err := replayed(sources.NewReplayerAt(k, o), again)
		if err != nil {
			t.Fatal(err)
		}
		if live, err = replayed(live, inputs[half:]); err != nil {
			t.Fatal(err)
		}
		was, is := eventsFrom(live.Hub(), k.LastEvent), eventsFrom(masked.Hub(), k.LastEvent)
		names := map[any]any{} // what stands for what
		same := func(a, b any) {
			if names[a] == nil {
				names[a] = b
			}
			if names[a] != b {
				t.Fatalf("%v is %v and %v", a, names[a], b)
			}
		}
		for i := range was {
			same(was[i].Ref, is[i].Ref)
			same(was[i].Owner.ID, is[i].Owner.ID)
			was[i].Ref, was[i].Scope, was[i].Detail = is[i].Ref, is[i].Scope, is[i].Detail
			was[i].Owner, was[i].Previous, was[i].Last, was[i].LastSeen = is[i].Owner, is[i].Previous, is[i].Last, is[i].LastSeen
		}
		if !reflect.DeepEqual(was, is) {
			t.Fatalf("the events were\n%+v\nand are\n%+v", was, is)
		}
	})
}

// TestARunThatResumesIsLikeAnOutage cuts a run in two. That its second part knows what the first
// one did must show the same as if all servers had been away for that time.
func TestARunThatResumesIsLikeAnOutage(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := sources.HubOptions{Recorder: sources.NewInputBuffer(0, 0)}
		m := sources.NewMachine(t.Context(), o)
		var end *sources.Keyframe
		actions := m.Actions()
		actions["end"] = func(t *rapid.T) {
			if end != nil {
				t.Skip("it has ended")
			}
			end = m.Hub().Keyframe()
			actions["disconnect"](t)
		}
		t.Repeat(actions)
		if end == nil {
			actions["end"](t)
		}
		m.Hub().Close()
		inputs, _ := o.Recorder.Take()
		end, _, err := recorded(end, nil, 1, tape.EncoderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		now := inputs[end.Seq].At // of the disconnecting
		again := []sources.Input{{At: now, Kind: sources.InputStarted, Thresholds: inputs[0].Thresholds, Resume: end},
			{At: now, Kind: sources.InputSources, Added: inputs[1].Added}}
		again = append(again, inputs[end.Seq+1:]...)
		for i := range again {
			again[i].Seq = uint64(i) + 1
		}
		whole, err := replayed(sources.NewReplayer(o), inputs)
		if err != nil {
			t.Fatal(err)
		}
		second, err := replayed(sources.NewReplayer(o), again)
		if err != nil {
			t.Fatal(err)
		}
		sameMemory(t, whole.Hub(), second.Hub())
	})
}

// sameMemory compares what two Hubs know of owners and of the past.
func sameMemory(t *rapid.T, whole, second *sources.Hub) {
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
