package headless

import (
	"reflect"
	"strings"

	"coordtop/internal/verdict"
	"coordtop/sources"
)

// Object is an object of JSON.
type Object = map[string]any

// Schema is the JSON Schema of what Get prints, or of a line of Watch. It is made of the structs
// that are printed. As fields may be added to the JSON, it refuses none that it does not know.
func Schema(part Part) Object {
	command, printed := "get", reflect.TypeFor[getJSON]()
	if part == OfWatch {
		command, printed = "watch", reflect.TypeFor[eventJSON]()
	}
	s := schemaOf(printed)
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
			if f.Anonymous {
				continue // its fields are among the others
			}
			properties[name] = fieldSchema(f, options == "")
			if options == "" {
				required = append(required, name)
			}
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
	}
	return Object{"type": "integer"}
}

// fieldSchema is what a field holds. A pointer that is always written is null for nothing.
func fieldSchema(f reflect.StructField, always bool) Object {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s := schemaOf(t)
	narrow(s, f.Tag.Get("is"))
	if t == f.Type || !always {
		return s
	}
	s["type"] = []any{s["type"], "null"}
	if words, ok := s["enum"].([]any); ok {
		s["enum"] = append(words, nil)
	}
	return s
}

// narrow adds to a schema what the tag "is" says of its values.
func narrow(s Object, is string) {
	switch is {
	case "":
	case "version":
		s["const"] = version
	case "time":
		s["format"] = "date-time"
	case "number":
		s["pattern"] = "^[0-9]+$"
	case "known":
		s["enum"] = words(sources.Unknown, sources.Ours)
	case "kind":
		s["enum"] = words(sources.KindElection, sources.KindSemaphore)
	case "mode":
		s["enum"] = words(sources.Exclusive, sources.Shared)
	case "health":
		s["enum"] = words(sources.HealthConnecting, sources.HealthStale)
	case "state":
		s["enum"] = words(sources.StatusNotObserved, sources.StatusAbsent)
	case "cause":
		s["enum"] = words(sources.CauseUnknown, sources.CauseSession)
	case "event":
		s["enum"] = append(words(sources.EventPresent, sources.EventCountChanged), eventMissed)
	case "fault":
		s["enum"] = words(verdict.TwoOwners, verdict.Stale)
	case "severity":
		s["enum"] = words(verdict.Bad, verdict.Blind)
	default:
		panic("headless: no schema of the tag " + is)
	}
}

// words are what String returns from the first to the last.
func words[T interface {
	~uint8
	String() string
}](first, last T) []any {
	var all []any
	for k := first; k <= last; k++ {
		all = append(all, k.String())
	}
	return all
}
