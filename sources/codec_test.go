package sources

import (
	"errors"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// pieces encodes a keyframe and the Inputs behind it, cut after every n of them.
func pieces(k *Keyframe, inputs []Input, n int, o EncoderOptions) [][]byte {
	e := NewEncoder(o)
	list := [][]byte{e.Keyframe(nil, k)}
	for i := range inputs {
		if i%n == 0 {
			list = append(list, nil)
		}
		list[len(list)-1] = e.Input(list[len(list)-1], &inputs[i])
	}
	return list
}

// decoded is what pieces give back.
func decoded(list [][]byte) (*Keyframe, []Input, error) {
	d := NewDecoder()
	k, err := d.Keyframe(list[0])
	if err != nil {
		return nil, nil, err
	}
	var inputs []Input
	for _, piece := range list[1:] {
		if err := d.Inputs(piece, func(in *Input) bool { inputs = append(inputs, *in); return true }); err != nil {
			return nil, nil, err
		}
	}
	return k, inputs, nil
}

// replayed is a Replayer to which all of inputs happened.
func replayed(r *Replayer, inputs []Input) (*Replayer, error) {
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
		o := HubOptions{Recorder: NewInputBuffer(0, 0)}
		m := newMachineOf(t.Context(), o)
		m.hub.model.ring.mu.Lock()
		m.hub.model.ring.lean = false // all events are compared
		m.hub.model.ring.mu.Unlock()
		var taken []*Keyframe
		actions := m.actions()
		actions["keyframe"] = func(*rapid.T) { taken = append(taken, m.hub.Keyframe()) }
		t.Repeat(actions)
		taken = append(taken, new(Keyframe), m.hub.Keyframe())
		m.hub.Close()
		inputs, _ := o.Recorder.Take()
		want := m.hub.State()
		for _, k := range taken {
			rest := inputs[k.Seq():]
			back, again, err := decoded(pieces(k, rest, rapid.IntRange(1, 9).Draw(t, "piece"), EncoderOptions{}))
			if err != nil {
				t.Fatal(err)
			}
			before := NewReplayerAt(k, o)
			for _, r := range []*Replayer{NewReplayerAt(back, o), before} {
				if got := r.Hub().State(); !reflect.DeepEqual(got, NewReplayerAt(k, o).Hub().State()) {
					t.Fatalf("behind input %d the state is\n%+v", k.Seq(), got)
				}
				r, err := replayed(r, again)
				if err != nil {
					t.Fatal(err)
				}
				if got := r.Hub().State(); !reflect.DeepEqual(got, want) {
					t.Fatalf("from input %d on the state is\n%+v\nnot\n%+v", k.Seq(), got, want)
				}
				if got, all := eventsFrom(r.Hub(), k.lastEvent), eventsFrom(m.hub, k.lastEvent); !reflect.DeepEqual(got, all) {
					t.Fatalf("from input %d on the events are\n%+v\nnot\n%+v", k.Seq(), got, all)
				}
			}
		}
	})
}

func eventsFrom(h *Hub, seq uint64) []Event {
	s := h.Subscribe(seq)
	defer s.Close()
	events, _ := s.Events(0)
	return events
}

func TestADecoderWantsAKeyframeFirst(t *testing.T) {
	t.Parallel()
	list := pieces(new(Keyframe), []Input{{Seq: 1, Kind: InputStarted, Thresholds: &Thresholds{}}}, 1, EncoderOptions{})
	if err := NewDecoder().Inputs(list[1], func(*Input) bool { return true }); !errors.Is(err, ErrRecording) {
		t.Error(err)
	}
}
