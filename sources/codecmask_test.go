package sources

import (
	"bytes"
	"fmt"
	"reflect"
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// TestAMaskedRecordingHoldsNoText fills every field. What is not masked is what coordtop itself
// calls something: types and modes, versions and roles, the keys of attributes.
func TestAMaskedRecordingHoldsNoText(t *testing.T) {
	t.Parallel()
	in, inputFields := filled[Input](func(int) bool { return true })
	k, keyframeFields := filled[Keyframe](func(int) bool { return true })
	e := NewEncoder(EncoderOptions{Disguised: true})
	e.begin()
	own := regexp.MustCompile(`\.(Mode|Version|Role|Type|Key)$`)
	check := func(names []string) {
		for leaf, name := range names {
			if text := fmt.Appendf(nil, "text %d.", leaf); !own.MatchString(name) && bytes.Contains(e.Rest(), text) {
				t.Errorf("%s is there: %q", name, text)
			}
		}
	}
	e.Write(nil)
	e.whole(k)
	check(keyframeFields.names)
	e.begin()
	e.Write(nil)
	e.next(in)
	check(inputFields.names)
}

func TestAMaskedRunHasTheSameStory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		o := HubOptions{Recorder: NewInputBuffer(0, 0)}
		m := newMachineOf(t.Context(), o)
		t.Repeat(m.actions())
		m.hub.Close()
		inputs, _ := o.Recorder.Take()
		half := rapid.IntRange(0, len(inputs)).Draw(t, "half")
		live, err := replayed(NewReplayer(o), inputs[:half])
		if err != nil {
			t.Fatal(err)
		}
		k, again, err := decoded(pieces(live.Hub().Keyframe(), inputs[half:], 5, EncoderOptions{Disguised: true}))
		if err != nil {
			t.Fatal(err)
		}
		masked, err := replayed(NewReplayerAt(k, o), again)
		if err != nil {
			t.Fatal(err)
		}
		if live, err = replayed(live, inputs[half:]); err != nil {
			t.Fatal(err)
		}
		was, is := eventsFrom(live.Hub(), k.lastEvent), eventsFrom(masked.Hub(), k.lastEvent)
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

func TestDataIsLeftOutOfTheSourcesThatAreNamed(t *testing.T) {
	t.Parallel()
	data := NewBlob([]byte("shard 4"), 7)
	set := func(source string) *Primitive {
		return &Primitive{Ref: Ref{Source: source}, Data: data, Owners: []Owner{{ID: "a", Data: data}}, Queue: Queue{Waiters: []Waiter{{Data: data}}}}
	}
	inputs := []Input{{Seq: 1, Kind: InputChange, Change: Change{Set: []*Primitive{set("one"), set("two"), set("one")}}}}
	_, again, err := decoded(pieces(new(Keyframe), inputs, 1, EncoderOptions{WithoutData: func(source string) bool { return source == "one" }}))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range again[0].Change.Set {
		for _, b := range []Blob{p.Data, p.Owners[0].Data, p.Queue.Waiters[0].Data} {
			switch {
			case p.Source == "two" && b != data:
				t.Errorf("%d: %+v", i, b)
			case p.Source == "one" && (b.Head != "" || b.Sum == data.Sum || b.Sum == 0 || b.Len != 7):
				t.Errorf("%d: %+v", i, b)
			case p.Source == "one" && b != again[0].Change.Set[0].Data:
				t.Errorf("%d: the same data is %+v and %+v", i, b, again[0].Change.Set[0].Data)
			}
		}
	}
}

// TestEachRowOfAKeyframeHasTheDataOfItsSource has the same data in all rows, each of which is
// written as what differs from the one before.
func TestEachRowOfAKeyframeHasTheDataOfItsSource(t *testing.T) {
	t.Parallel()
	data := NewBlob([]byte("shard 4"), 7)
	k := new(Keyframe)
	for slot, source := range []string{"one", "two", "two", "one", "one"} {
		k.rows = append(k.rows, &Row{Slot: slot, Primitive: &Primitive{Ref: Ref{Source: source}, Data: data, Owners: []Owner{{ID: "a", Data: data}}}})
	}
	e := NewEncoder(EncoderOptions{WithoutData: func(source string) bool { return source == "one" }})
	e.begin()
	e.Write(nil)
	e.whole(k)
	d := NewDecoder()
	d.begin()
	d.Read(e.Rest())
	again := new(Keyframe)
	if d.whole(again); d.Err() != nil {
		t.Fatal(d.Err())
	}
	hidden := Blob{Len: 7, Sum: e.digestOfSum(data.Sum)}
	for slot, row := range again.rows {
		want := map[string]Blob{"one": hidden, "two": data}[row.Source]
		if row.Data != want || row.Owners[0].Data != want {
			t.Errorf("row %d of %s has %+v and %+v, want %+v", slot, row.Source, row.Data, row.Owners[0].Data, want)
		}
	}
}
