package sourcetest

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"coordtop/sources"
	"coordtop/sources/tape"
)

// CheckReplay applies the Inputs of a live Hub to a new one, in the form in which a file restores them. Each State that
// the live Hub published must equal that of the new Hub at the same Input, including unexported fields, and the events
// that both have kept must be equal. o has the options of the live Hub. Nothing may change the live Hub during the
// call.
func CheckReplay(t testing.TB, live *sources.Hub, o sources.HubOptions, inputs []sources.Input) {
	t.Helper()
	r := sources.NewReplayer(o)
	was := [2]*sources.State{{}, {}}
	var last *sources.State
	for i := range inputs {
		in, published := stored(reflect.ValueOf(inputs[i])).Interface().(sources.Input), inputs[i].State
		in.State = nil
		if err := r.Apply(in); err != nil {
			t.Errorf("replay: %v", err)
			return
		}
		if published == nil {
			continue
		}
		is := [2]*sources.State{published, r.Hub().State()}
		if err := sameState(was, is); err != nil {
			t.Errorf("replay: state %d, after event %d and input %d of %d: %v", published.Rev, published.LastSeq, in.Seq, len(inputs), err)
			return
		}
		was, last = is, published
	}
	if now := live.State(); now != last && now.Rev > 0 {
		t.Errorf("replay: state %d was published and not recorded", now.Rev)
	}
	if err := sameEvents(keptEvents(live), keptEvents(r.Hub())); err != nil {
		t.Errorf("replay: %v", err)
	}
	if err := checkRecording(o, inputs); err != nil {
		t.Errorf("recording: %v", err)
	}
}

// checkRecording encodes the Inputs in two groups, the second of which begins with a Keyframe half-way. Decoding must
// return the Inputs, without guards, and a replay that starts with the second group must end in the same state as one
// that starts with the first.
func checkRecording(o sources.HubOptions, inputs []sources.Input) error {
	whole, half := sources.NewReplayer(o), len(inputs)/2
	first, err := recorded(new(sources.Keyframe), inputs)
	if err != nil {
		return err
	}
	var middle *sources.Replayer
	for i := range first.inputs {
		want := stored(reflect.ValueOf(inputs[i])).Interface().(sources.Input)
		if want.State = nil; !reflect.DeepEqual(first.inputs[i], withoutGuards(want)) {
			return fmt.Errorf("input %d was\n%+v\nand is\n%+v", want.Seq, want, first.inputs[i])
		}
		if i == half {
			second, err := recorded(whole.Hub().Keyframe(), inputs[i:])
			if err != nil {
				return err
			}
			middle = sources.NewReplayerAt(second.keyframe, o)
		}
		for _, r := range []*sources.Replayer{whole, middle} {
			if r == nil {
				continue
			}
			if err := r.Apply(first.inputs[i]); err != nil {
				return err
			}
		}
	}
	if middle == nil {
		return nil
	}
	if was, is := whole.Hub().State(), middle.Hub().State(); !reflect.DeepEqual(was, is) {
		return sameState([2]*sources.State{{}, {}}, [2]*sources.State{was, is})
	}
	return sameEvents(keptEvents(middle.Hub()), keptEvents(whole.Hub()))
}

type recording struct {
	keyframe *sources.Keyframe
	inputs   []sources.Input
}

// recorded returns one group after encoding and decoding.
func recorded(k *sources.Keyframe, inputs []sources.Input) (r recording, err error) {
	e, d := tape.NewEncoder(tape.EncoderOptions{}), tape.NewDecoder()
	if r.keyframe, err = d.Keyframe(e.Keyframe(nil, k)); err != nil {
		return r, err
	}
	for i := range inputs {
		err = errors.Join(err, d.Inputs(e.Input(nil, &inputs[i]), func(in *sources.Input) bool {
			r.inputs = append(r.inputs, *in)
			return true
		}))
	}
	return r, err
}

// withoutGuards returns an Input without its guards. It changes the Input's values, which nobody else uses.
func withoutGuards(in sources.Input) sources.Input {
	for _, p := range in.Change.Set {
		for i := range p.Owners {
			p.Owners[i].Guard = ""
		}
		for _, list := range [][]sources.Waiter{p.Queue.Waiters, p.Candidates} {
			for i := range list {
				list[i].Guard = ""
			}
		}
	}
	return in
}

// sameState compares two states. It skips rows that are the same as in the last two states, because they were compared
// then.
func sameState(was, is [2]*sources.State) error {
	live, again := is[0], is[1]
	for _, part := range [][2]any{
		{[]any{live.Rev, live.At, live.LastSeq, len(live.Rows), live.Thresholds}, []any{again.Rev, again.At, again.LastSeq, len(again.Rows), again.Thresholds}},
		{live.Scopes, again.Scopes},
		{live.Sources, again.Sources},
	} {
		if !reflect.DeepEqual(part[0], part[1]) {
			return fmt.Errorf("it was\n%+v\nand is\n%+v", part[0], part[1])
		}
	}
	for slot, row := range live.Rows {
		compared := slot < len(was[0].Rows) && row == was[0].Rows[slot] && again.Rows[slot] == was[1].Rows[slot]
		if !compared && !reflect.DeepEqual(row, again.Rows[slot]) {
			return fmt.Errorf("row %d was\n%s\nand is\n%s", slot, rowText(row), rowText(again.Rows[slot]))
		}
	}
	return nil
}

func rowText(row *sources.Row) string {
	if row == nil {
		return "free"
	}
	return fmt.Sprintf("%+v\n%+v", *row.Primitive, *row)
}

func keptEvents(h *sources.Hub) []sources.Event {
	s := h.Subscribe(0)
	defer s.Close()
	events, _ := s.Events(0)
	return events
}

// sameEvents compares the events that both have: the live Hub may have dropped more old events, at ticks that are not
// recorded, and each Hub drops what its own subscribers have read.
func sameEvents(live, again []sources.Event) error {
	live, again = withoutRead(live, again), withoutRead(again, live)
	for len(again) > len(live) {
		again = again[1:]
	}
	if len(again) < len(live) {
		return fmt.Errorf("%d events were kept, and are %d", len(live), len(again))
	}
	for i := range live {
		if !reflect.DeepEqual(live[i], again[i]) {
			return fmt.Errorf("event %d was\n%+v\nand is\n%+v", live[i].Seq, live[i], again[i])
		}
	}
	return nil
}

// withoutRead returns the events without each EventPresent that others lacks.
func withoutRead(events, others []sources.Event) []sources.Event {
	has := make(map[uint64]bool, len(others))
	for i := range others {
		has[others[i].Seq] = true
	}
	return slices.DeleteFunc(slices.Clone(events), func(e sources.Event) bool { return e.Kind == sources.EventPresent && !has[e.Seq] })
}

// stored returns a deep copy of v in the form in which a file restores it: a time has no monotonic reading and is
// local, and an error is one that a Hub keeps.
func stored(v reflect.Value) reflect.Value {
	n := reflect.New(v.Type()).Elem()
	n.Set(v)
	if at, ok := v.Interface().(time.Time); ok {
		if !at.IsZero() {
			n.Set(reflect.ValueOf(time.Unix(at.Unix(), int64(at.Nanosecond()))))
		}
		return n
	}
	switch v.Kind() {
	case reflect.Struct:
		for i, field := range n.Fields() {
			if i.IsExported() && i.Name != "State" && refers(field.Kind()) {
				field.Set(stored(field))
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			n.Set(reflect.New(v.Type().Elem()))
			n.Elem().Set(stored(v.Elem()))
		}
	case reflect.Slice:
		if !v.IsNil() {
			n.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			reflect.Copy(n, v)
			for i := 0; i < v.Len() && refers(v.Type().Elem().Kind()); i++ {
				n.Index(i).Set(stored(v.Index(i)))
			}
		}
	case reflect.Interface:
		if p, ok := v.Interface().(*sources.Problem); ok {
			n.Set(stored(reflect.ValueOf(p)))
		} else if err, ok := v.Interface().(error); ok && err != sources.ErrSilent {
			panic(fmt.Sprintf("sourcetest: an input has a %T, which no file gives back: %v", err, err))
		}
	}
	return n
}

// refers reports whether a copy of a value of that kind may share memory, or has a time in it.
func refers(k reflect.Kind) bool {
	return k == reflect.Struct || k == reflect.Pointer || k == reflect.Slice || k == reflect.Interface
}
