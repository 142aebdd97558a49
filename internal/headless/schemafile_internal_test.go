package headless

import (
	"maps"
	"reflect"
	"strings"

	"coordtop/sources"
	"coordtop/sources/verdict"
)

// The files in the folder schema are made here, of the structs that are printed.

// Object is an object of JSON.
type Object = map[string]any

// MakeSchema makes the file of a part. As fields may be added to the JSON, it refuses none that it does not know.
func MakeSchema(part Part) Object {
	command, printed := "get", reflect.TypeFor[getJSON]()
	switch part {
	case OfWatch:
		command, printed = "watch", reflect.TypeFor[eventJSON]()
	case OfDrill:
		command, printed = "drill", reflect.TypeFor[drillJSON]()
	case OfSlo:
		command, printed = "slo", reflect.TypeFor[objectivesJSON]()
	}
	s := schemaOf(printed)
	describe(s, part)
	s["$schema"], s["$id"] = "https://json-schema.org/draft/2020-12/schema", "coordtop:"+command
	s["title"], s["description"] = "coordtop "+command+" -o json", "`coordtop "+command+" --help` says what each field means."
	return s
}

func schemaOf(t reflect.Type) Object {
	switch t.Kind() {
	case reflect.Struct:
		properties, required := Object{}, []string{}
		for _, f := range reflect.VisibleFields(t) {
			name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" {
				continue // its fields are among the others
			}
			if options == "" {
				required = append(required, name)
			} else if f.Type.Kind() == reflect.Pointer { // it is left out for nothing, and not null
				f.Type = f.Type.Elem()
			}
			properties[name] = fieldSchema(f)
		}
		return Object{"type": "object", "properties": properties, "required": required}
	case reflect.Slice:
		return Object{"type": "array", "items": schemaOf(t.Elem())}
	case reflect.Map:
		return Object{"type": "object", "additionalProperties": schemaOf(t.Elem())}
	case reflect.Bool:
		return Object{"type": "boolean"}
	case reflect.String:
		return Object{"type": "string"}
	case reflect.Float64:
		return Object{"type": "number"}
	}
	return Object{"type": "integer"}
}

// fieldSchema is what a field holds. A pointer is null for nothing.
func fieldSchema(f reflect.StructField) Object {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s := schemaOf(t)
	maps.Copy(s, valuesOf(f.Tag.Get("is")))
	if t == f.Type {
		return s
	}
	s["type"] = []any{s["type"], "null"}
	if words, ok := s["enum"].([]any); ok {
		s["enum"] = append(words, nil)
	}
	return s
}

// valuesOf is what a tag "is" says of the values of a field; nil: nothing.
func valuesOf(is string) Object {
	return map[string]Object{
		"version": {"const": version}, "time": {"format": "date-time"}, "number": {"pattern": "^[0-9]+$"},
		"known":    words(sources.Known.String, sources.Unknown, sources.Ours),
		"kind":     words(sources.Kind.String, sources.KindElection, sources.KindSemaphore),
		"mode":     words(sources.Mode.String, sources.Exclusive, sources.Shared),
		"health":   words(sources.Health.String, sources.HealthConnecting, sources.HealthStale),
		"state":    words(sources.Status.String, sources.StatusNotObserved, sources.StatusAbsent),
		"cause":    words(sources.Cause.String, sources.CauseUnknown, sources.CauseSession),
		"event":    words(sources.EventKind.String, sources.EventPresent, sources.EventCountChanged, eventMissed),
		"fault":    words(verdict.Fault.String, verdict.TwoOwners, verdict.Stale),
		"result":   {"enum": []any{"missed", "not_known", "within"}},
		"severity": words(verdict.Severity.String, verdict.Bad, verdict.Blind),
	}[is]
}

// words are those from the first to the last, and others.
func words[T ~uint8](word func(T) string, first, last T, others ...any) Object {
	var all []any
	for k := first; k <= last; k++ {
		all = append(all, word(k))
	}
	return Object{"enum": append(all, others...)}
}
