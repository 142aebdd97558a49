package tape

import (
	"coordtop/sources"
	"errors"
	"testing"
)

// pieces encodes a keyframe and the Inputs behind it, cut after every n of them.
func pieces(k *sources.Keyframe, inputs []sources.Input, n int, o EncoderOptions) [][]byte {
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
func decoded(list [][]byte) (*sources.Keyframe, []sources.Input, error) {
	d := NewDecoder()
	k, err := d.Keyframe(list[0])
	if err != nil {
		return nil, nil, err
	}
	var inputs []sources.Input
	for _, piece := range list[1:] {
		if err := d.Inputs(piece, func(in *sources.Input) bool { inputs = append(inputs, *in); return true }); err != nil {
			return nil, nil, err
		}
	}
	return k, inputs, nil
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

func TestADecoderWantsAKeyframeFirst(t *testing.T) {
	t.Parallel()
	list := pieces(new(sources.Keyframe), []sources.Input{{Seq: 1, Kind: sources.InputStarted, Thresholds: &sources.Thresholds{}}}, 1, EncoderOptions{})
	if err := NewDecoder().Inputs(list[1], func(*sources.Input) bool { return true }); !errors.Is(err, sources.ErrRecording) {
		t.Error(err)
	}
}
