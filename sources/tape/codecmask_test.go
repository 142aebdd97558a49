package tape

import (
	"bytes"
	"fmt"
	"regexp"
	"testing"

	"coordtop/sources"
	"coordtop/sources/sourcetest/filled"
)

// TestAMaskedRecordingHoldsNoText fills every field. What is not masked is what coordtop itself
// calls something: types and modes, versions and roles, the keys of attributes.
func TestAMaskedRecordingHoldsNoText(t *testing.T) {
	t.Parallel()
	in, inputFields := filled.Value[sources.Input](func(int) bool { return true })
	k, keyframeFields := filled.Value[sources.Keyframe](func(int) bool { return true })
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
	check(keyframeFields)
	e.begin()
	e.Write(nil)
	e.next(in)
	check(inputFields)
}

func TestDataIsLeftOutOfTheSourcesThatAreNamed(t *testing.T) {
	t.Parallel()
	data := sources.NewBlob([]byte("shard 4"), 7)
	set := func(source string) *sources.Primitive {
		return &sources.Primitive{Ref: sources.Ref{Source: source}, Data: data, Owners: []sources.Owner{{ID: "a", Data: data}}, Queue: sources.Queue{Waiters: []sources.Waiter{{Data: data}}}}
	}
	inputs := []sources.Input{{Seq: 1, Kind: sources.InputChange, Change: sources.Change{Set: []*sources.Primitive{set("one"), set("two"), set("one")}}}}
	_, again, err := decoded(pieces(new(sources.Keyframe), inputs, 1, EncoderOptions{WithoutData: func(source string) bool { return source == "one" }}))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range again[0].Change.Set {
		for _, b := range []sources.Blob{p.Data, p.Owners[0].Data, p.Queue.Waiters[0].Data} {
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
	data := sources.NewBlob([]byte("shard 4"), 7)
	k := new(sources.Keyframe)
	for slot, source := range []string{"one", "two", "two", "one", "one"} {
		k.Rows = append(k.Rows, &sources.Row{Slot: slot, Primitive: &sources.Primitive{Ref: sources.Ref{Source: source}, Data: data, Owners: []sources.Owner{{ID: "a", Data: data}}}})
	}
	e := NewEncoder(EncoderOptions{WithoutData: func(source string) bool { return source == "one" }})
	e.begin()
	e.Write(nil)
	e.whole(k)
	d := NewDecoder()
	d.begin()
	d.Read(e.Rest())
	again := new(sources.Keyframe)
	if d.whole(again); d.Err() != nil {
		t.Fatal(d.Err())
	}
	hidden := sources.Blob{Len: 7, Sum: e.digestOfSum(data.Sum)}
	for slot, row := range again.Rows {
		want := map[string]sources.Blob{"one": hidden, "two": data}[row.Source]
		if row.Data != want || row.Owners[0].Data != want {
			t.Errorf("row %d of %s has %+v and %+v, want %+v", slot, row.Source, row.Data, row.Owners[0].Data, want)
		}
	}
}
