// Package filled makes values of which every field is other than zero, so that a test fails if a type has a new field
// that its code does not handle.
//
// It may import sources.
package filled

import (
	"fmt"
	"reflect"
	"time"
	"unsafe"

	"coordtop/sources"
)

// filler sets the fields of a value, each to a different value. A leaf is a value without parts.
type filler struct {
	set    func(leaf int) bool // whether to set this leaf to a value other than zero
	leaves int
	names  []string
}

// omitted has the fields that no recording contains, and fields that are not kept of a scope in a Keyframe or of an
// error in a Hub.
var omitted = map[string]bool{"Owner.Guard": true, "Waiter.Guard": true, "Input.State": true,
	"Problem.Cause": true, "Problem.Failure": true, "Keyframe.Resume": true, "Event.Data": true}

// most has the maximum values of enumerations.
var most = map[reflect.Type]uint64{
	reflect.TypeFor[sources.InputKind](): uint64(sources.InputPublished), reflect.TypeFor[sources.Known](): uint64(sources.Ours),
	reflect.TypeFor[sources.Cause](): uint64(sources.CauseSession), reflect.TypeFor[sources.Kind](): uint64(sources.KindSemaphore),
	reflect.TypeFor[sources.Mode](): uint64(sources.Shared), reflect.TypeFor[sources.Idle](): uint64(sources.IdleInTransaction),
	reflect.TypeFor[sources.Partial]():   uint64(sources.Refused),
	reflect.TypeFor[sources.EventKind](): uint64(sources.EventCountChanged), reflect.TypeFor[sources.Health](): uint64(sources.HealthStale),
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
		v.Set(reflect.ValueOf(&sources.Problem{Text: fmt.Sprintf("text %d.", n), Cause: sources.ErrSilent, Refused: n%2 == 0, Login: n%3 == 0}))
	default:
		panic(fmt.Sprintf("%s is a %v", name, v.Type()))
	}
}

// Value returns a T. Those leaves for which set returns true are other than zero, and all different. names has the
// names of all leaves. A leaf is a value without parts.
func Value[T any](set func(leaf int) bool) (v *T, names []string) {
	f := &filler{set: set}
	v = new(T)
	f.fill(reflect.ValueOf(v).Elem(), "")
	return v, f.names
}
