package headless

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"coordtop/sources"
	"coordtop/sources/verdict"
)

// fill makes every field of v be written.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint64:
		v.SetUint(1)
	case reflect.Float64:
		v.SetFloat(1)
	default:
		v.SetInt(1)
	}
}

// TestSchemaHasEveryFieldThatIsWritten compares it with what encoding/json makes of the same structs.
func TestSchemaHasEveryFieldThatIsWritten(t *testing.T) {
	t.Parallel()
	var compare func(path string, s Object, written any)
	compare = func(path string, s Object, written any) {
		switch written := written.(type) {
		case []any:
			compare(path+"[]", s["items"].(Object), written[0])
		case map[string]any:
			properties, ok := s["properties"].(Object)
			if !ok {
				return // names are other people's
			}
			if got, want := slices.Sorted(maps.Keys(properties)), slices.Sorted(maps.Keys(written)); !slices.Equal(got, want) {
				t.Errorf("%s: the schema has %q, written are %q", path, got, want)
			}
			for key := range written {
				if below, ok := properties[key].(Object); ok {
					compare(path+"."+key, below, written[key])
				}
			}
		}
	}
	for part, v := range map[Part]reflect.Value{OfGet: reflect.ValueOf(new(getJSON)), OfWatch: reflect.ValueOf(new(eventJSON)), OfDrill: reflect.ValueOf(new(drillJSON)), OfSlo: reflect.ValueOf(new(objectivesJSON))} {
		fill(v.Elem())
		text, err := json.Marshal(v.Interface())
		if err != nil {
			t.Fatal(err)
		}
		var written any
		if err := json.Unmarshal(text, &written); err != nil {
			t.Fatal(err)
		}
		compare(string(part), MakeSchema(part), written)
	}
}

func TestEachTagOfAFieldSaysWhatItHolds(t *testing.T) {
	t.Parallel()
	tags := 0
	var walk func(t reflect.Type)
	walk = func(of reflect.Type) {
		switch of.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Map:
			walk(of.Elem())
		case reflect.Struct:
			for i := range of.NumField() {
				if is, ok := of.Field(i).Tag.Lookup("is"); ok {
					if tags++; valuesOf(is) == nil {
						t.Errorf("%s.%s is %q", of, of.Field(i).Name, is)
					}
				}
				walk(of.Field(i).Type)
			}
		}
	}
	walk(reflect.TypeFor[getJSON]())
	walk(reflect.TypeFor[eventJSON]())
	if tags < 30 {
		t.Errorf("only %d tags", tags)
	}
}

// TestSchemaHasEveryWord fails where a word is added behind the last that the schema has.
func TestSchemaHasEveryWord(t *testing.T) {
	t.Parallel()
	for is, next := range map[string]interface{ String() string }{
		"known": sources.Ours + 1, "kind": sources.KindSemaphore + 1, "mode": sources.Shared + 1, "health": sources.HealthStale + 1, "state": sources.StatusAbsent + 1,
		"cause": sources.CauseSession + 1, "event": sources.EventCountChanged + 1, "fault": verdict.Stale + 1, "severity": verdict.Blind + 1,
	} {
		if list, _ := valuesOf(is)["enum"].([]any); len(list) < 2 {
			t.Errorf("%s has the words %q", is, list)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s has the word %q behind its last", is, next)
				}
			}()
			_ = next.String()
		}()
	}
}
