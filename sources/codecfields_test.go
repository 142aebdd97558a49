package sources

import (
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"
	"unsafe"

	"coordtop/internal/raced"
)

// filler sets the fields of a value, each to another one. A leaf is what has no parts.
type filler struct {
	set    func(leaf int) bool // whether this one is to be other than zero
	leaves int
	names  []string
}

// omitted are the fields that no recording has; what a Keyframe has of a scope and what a Hub
// keeps of an error have none of the others either.
var omitted = map[string]bool{"Owner.Guard": true, "Waiter.Guard": true, "Input.State": true,
	"scope.source": true, "Problem.Cause": true, "Problem.Failure": true, "Keyframe.resume": true}

// most are the last values of what is counted up.
var most = map[reflect.Type]uint64{
	reflect.TypeFor[InputKind](): uint64(InputPublished), reflect.TypeFor[Known](): uint64(Ours),
	reflect.TypeFor[Cause](): uint64(CauseSession), reflect.TypeFor[Kind](): uint64(KindSemaphore),
	reflect.TypeFor[Mode](): uint64(Shared), reflect.TypeFor[Idle](): uint64(IdleInTransaction),
	reflect.TypeFor[Partial]():   uint64(Refused),
	reflect.TypeFor[EventKind](): uint64(EventCountChanged), reflect.TypeFor[Health](): uint64(HealthStale),
}

func (f *filler) fill(v reflect.Value, name string) {
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), name)
		return
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		f.fill(v.Index(0), name+"[0]")
		return
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		p := reflect.New(v.Type().Elem().Elem())
		f.fill(p.Elem(), name+"[7]")
		v.SetMapIndex(reflect.ValueOf(7), p)
		return
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			break
		}
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if !omitted[v.Type().Name()+"."+field.Name] {
				at := v.Field(i)
				f.fill(reflect.NewAt(at.Type(), unsafe.Pointer(at.UnsafeAddr())).Elem(), name+"."+field.Name)
			}
		}
		return
	}
	f.leaf(v, name)
}

func (f *filler) leaf(v reflect.Value, name string) {
	n := uint64(f.leaves)
	f.leaves++
	f.names = append(f.names, name)
	if !f.set(int(n)) {
		return
	}
	last, counted := most[v.Type()]
	switch v.Kind() {
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d.", n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if counted {
			n %= last
		}
		v.SetUint(n%200 + 1)
	case reflect.Int, reflect.Int32, reflect.Int64:
		v.SetInt(int64(n) + 1)
	case reflect.Float64:
		v.SetFloat(float64(n) + 0.5)
	case reflect.Array:
		for i := range v.Len() {
			v.Index(i).SetUint((n+uint64(i))%200 + 1)
		}
	case reflect.Struct:
		v.Set(reflect.ValueOf(time.Unix(1_700_000_000+int64(n), int64(n))))
	case reflect.Interface: // an error
		v.Set(reflect.ValueOf(&Problem{Text: fmt.Sprintf("text %d.", n), Cause: ErrSilent, Refused: n%2 == 0, Login: n%3 == 0}))
	default:
		panic(fmt.Sprintf("%s is a %v", name, v.Type()))
	}
}

// filled is a T with those leaves that set names.
func filled[T any](set func(leaf int) bool) (*T, *filler) {
	f := &filler{set: set}
	v := new(T)
	f.fill(reflect.ValueOf(v).Elem(), "")
	return v, f
}

// eachLeaf calls f with values of which one leaf is zero, or the only one that is not.
func eachLeaf[T any](f func(v *T, name string)) {
	_, all := filled[T](func(int) bool { return true })
	for i, name := range all.names {
		without, _ := filled[T](func(leaf int) bool { return leaf != i })
		f(without, "all but "+name)
		alone, _ := filled[T](func(leaf int) bool { return leaf == i })
		f(alone, "only "+name)
	}
}

// TestEveryFieldOfAnInputComesBack fails when a type grows by a field that the codec does not
// know, or when a field is left out because it, or another one, is zero.
func TestEveryFieldOfAnInputComesBack(t *testing.T) {
	t.Parallel()
	if raced.Enabled {
		t.Skip("it packs and compares in one goroutine, some hundred times")
	}
	full, _ := filled[Input](func(int) bool { return true })
	eachLeaf(func(v *Input, name string) {
		inputs := []Input{*full, *v, *full, {}, *v}
		_, again, err := decoded(pieces(new(Keyframe), inputs, 2, EncoderOptions{}))
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
	if raced.Enabled {
		t.Skip("it packs and compares in one goroutine, some hundred times")
	}
	full, _ := filled[Keyframe](func(int) bool { return true })
	check := func(k *Keyframe, name string) {
		var out, in codec
		out.begin()
		out.Write(nil)
		out.whole(k)
		in.begin()
		in.Read(out.Rest())
		again := new(Keyframe)
		if in.whole(again); in.Err() != nil {
			t.Fatal(name, in.Err())
		}
		if !reflect.DeepEqual(again, k) {
			t.Fatalf("%s: it was\n%+v\nand is\n%+v", name, k, again)
		}
	}
	eachLeaf(check)
	nested := *full
	nested.resume = full
	check(&nested, "nested")
}

// TestEncodingOnlyReads encodes the same values twice at once, as the recorder does with rows that a
// source goes on to read: the race detector finds what is written to them.
func TestEncodingOnlyReads(t *testing.T) {
	t.Parallel()
	k, _ := filled[Keyframe](func(int) bool { return true })
	in, _ := filled[Input](func(int) bool { return true })
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { pieces(k, []Input{*in, {}, *in}, 2, EncoderOptions{}) })
	}
	wg.Wait()
}
