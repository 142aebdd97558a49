package tape

import (
	"reflect"
	"sync"
	"testing"

	"coordtop/internal/ground/raced"
	"coordtop/sources"
	"coordtop/sources/sourcetest/filled"
)

// eachLeaf calls f with values of which one leaf is zero, or the only one that is not.
func eachLeaf[T any](f func(v *T, name string)) {
	_, all := filled.Value[T](func(int) bool { return true })
	for i, name := range all {
		without, _ := filled.Value[T](func(leaf int) bool { return leaf != i })
		f(without, "all but "+name)
		alone, _ := filled.Value[T](func(leaf int) bool { return leaf == i })
		f(alone, "only "+name)
	}
}

// TestEveryFieldOfAnInputComesBack fails when a type grows by a field that the codec does not
// know, or when a field is left out because it, or another one, is zero.
func TestEveryFieldOfAnInputComesBack(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "it packs and compares in one goroutine, some hundred times")
	full, _ := filled.Value[sources.Input](func(int) bool { return true })
	eachLeaf(func(v *sources.Input, name string) {
		inputs := []sources.Input{*full, *v, *full, {}, *v}
		_, again, err := decoded(pieces(new(sources.Keyframe), inputs, 2, EncoderOptions{}))
		if err != nil {
			t.Fatal(name, err)
		}
		for i := range inputs {
			if !reflect.DeepEqual(again[i], inputs[i]) {
				t.Fatalf("%s: input %d was\n%+v\nand is\n%+v", name, i, inputs[i], again[i])
			}
		}
	})
}

func TestEveryFieldOfAKeyframeComesBack(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "it packs and compares in one goroutine, some hundred times")
	full, _ := filled.Value[sources.Keyframe](func(int) bool { return true })
	check := func(k *sources.Keyframe, name string) {
		var out, in codec
		out.begin()
		out.Write(nil)
		out.whole(k)
		in.begin()
		in.Read(out.Rest())
		again := new(sources.Keyframe)
		if in.whole(again); in.Err() != nil {
			t.Fatal(name, in.Err())
		}
		if !reflect.DeepEqual(again, k) {
			t.Fatalf("%s: it was\n%+v\nand is\n%+v", name, k, again)
		}
	}
	eachLeaf(check)
	nested := *full
	nested.Resume = full
	check(&nested, "nested")
}

// TestEncodingOnlyReads encodes the same values twice at once, as the recorder does with rows that a
// source goes on to read: the race detector finds what is written to them.
func TestEncodingOnlyReads(t *testing.T) {
	t.Parallel()
	k, _ := filled.Value[sources.Keyframe](func(int) bool { return true })
	in, _ := filled.Value[sources.Input](func(int) bool { return true })
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { pieces(k, []sources.Input{*in, {}, *in}, 2, EncoderOptions{}) })
	}
	wg.Wait()
}
