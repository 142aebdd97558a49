package config_test

import (
	"cmp"
	"flag"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"coordtop/coord/pgcoord"
	"coordtop/internal/app/backends"
	. "coordtop/internal/config"
	"coordtop/internal/ground/schematest"
	"coordtop/sources/verdict"
	"coordtop/ui/keys"
)

var update = flag.Bool("update", false, "write the golden files anew")

// object is one of JSON.
type object = map[string]any

// TestSchemaIsThatOfTheDecoder compares the file, or writes it anew.
func TestSchemaIsThatOfTheDecoder(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(example)
	if err != nil {
		t.Fatal(err)
	}
	made := schematest.Write(t, makeSchema(string(text)))
	if *update {
		if err := os.WriteFile("schema.json", []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if Schema() != made {
		t.Errorf("schema.json differs (make golden rewrites it; review the diff)\n got:\n%s", made)
	}
}

// makeSchema makes the schema of what Parse decodes. What it refuses Parse refuses too, but for a scheme in
// capitals and an empty text for a word. A key without a value is not there.
func makeSchema(example string) object {
	s := schemaOf(reflect.TypeFor[File]())
	s["$schema"], s["$id"], s["title"] = "https://json-schema.org/draft/2020-12/schema", "coordtop:config", "config file of coordtop"
	describe(s, "(?:# )?", example)
	list := property(s, "sources")
	source := list["items"].(object)
	s["required"], source["required"], list["minItems"] = []string{"sources"}, []string{"url"}, 1
	property(s, "owners")["items"].(object)["required"] = []string{"match", "label"}
	property(s, "keys")["propertyNames"] = object{"enum": keys.ActionNames()}
	oneOf(property(s, "color"), Colors()...)
	oneOf(property(s, "start"), Starts()...)
	oneOf(property(s, "alert"), Alerts()...)
	oneOf(property(property(s, "notify")["items"].(object), "severity"), verdict.Bad.String(), verdict.Warn.String())
	oneOf(property(source, "names"), "off")
	oneOf(property(source, "key_scheme"), pgcoord.SchemeNames()...)
	for _, key := range []string{"url", "direct"} {
		at := property(property(s, "history"), key)
		at["type"], at["pattern"] = []string{"string", "null"}, `^postgres(ql)?://`
	}
	var schemes []string
	var others []object
	for _, b := range backends.Config() {
		var names []string
		for _, scheme := range b.Schemes {
			names = append(names, regexp.QuoteMeta(scheme.Name))
		}
		schemes = append(schemes, names...)
		itsURL := object{"required": []string{"url"}, "properties": object{"url": object{"pattern": begins(names)}}}
		not := notTaken(&b, reflect.TypeFor[FileSource]())
		not["properties"].(object)["watch"] = object{"items": notTaken(&b, reflect.TypeFor[FileWatch]())}
		others = append(others, object{"if": itsURL, "then": not})
	}
	url := property(source, "url")
	url["type"], url["pattern"] = "string", begins(schemes)
	source["allOf"] = others
	return s
}

func property(s object, key string) object { return s["properties"].(object)[key].(object) }

// begins is the beginning of a URL of one of the schemes.
func begins(schemes []string) string { return "^(" + strings.Join(schemes, "|") + ")://" }

func oneOf(s object, words ...string) { s["anyOf"] = []object{{"enum": words}, {"type": "null"}} }

// notTaken has the keys that a backend does not take: nothing may be written there.
func notTaken(b *Backend, t reflect.Type) object {
	properties := object{}
	for i := range t.NumField() {
		key := t.Field(i).Tag.Get("yaml")
		if trait, some := TraitFor(key); some && !b.Has(trait) {
			properties[key] = object{"type": "null", "description": backends.Config().OnlyWith(trait)}
		}
	}
	return object{"properties": properties}
}

func schemaOf(t reflect.Type) object {
	switch t.Kind() {
	case reflect.Struct:
		properties := object{}
		for i := range t.NumField() {
			properties[t.Field(i).Tag.Get("yaml")] = schemaOf(t.Field(i).Type)
		}
		return object{"type": []string{"object", "null"}, "properties": properties, "additionalProperties": false}
	case reflect.Map:
		return object{"type": []string{"object", "null"}, "additionalProperties": schemaOf(t.Elem())}
	case reflect.Slice:
		list := object{"type": []string{"array", "null"}, "items": schemaOf(t.Elem())}
		if t.Elem().Kind() == reflect.Slice { // the only list of a list of lists needs no brackets around it
			return object{"anyOf": []any{list, list["items"]}}
		}
		return list
	}
	return scalarOf(t)
}

// lengthPattern fits each text of which format.ParseLength makes a length, but for a zero with a minus, or without
// a unit behind days. Days behind other units, and lengths that are too long, fit too.
const lengthPattern = `^(\+?0|(\+?([0-9]+\.?[0-9]*|\.[0-9]+)(d|h|m|s|ms|us|µs|μs|ns))+)$`

// scalarOf is what the decoder takes for a value of one line. Numbers are texts too.
func scalarOf(t reflect.Type) object {
	text := func(pattern string) object {
		return object{"type": []string{"string", "null"}, "pattern": pattern}
	}
	switch reflect.Zero(t).Interface().(type) {
	case Duration:
		return object{"anyOf": []object{text(lengthPattern), {"const": 0}}}
	case time.Duration:
		s := text(lengthPattern)
		s["allOf"] = []object{{"pattern": "[1-9]"}}
		return s
	case float64:
		return text(`^\+?0*[1-9][0-9]?%$`)
	case int:
		return object{"type": []string{"integer", "string", "null"}, "minimum": 1, "maximum": 100_000, "pattern": `^\+?0*[1-9][0-9]{0,5}$`}
	case int64:
		return text(`^\+?0*[1-9][0-9]*(MB|GB)$`)
	case bool:
		return object{"type": []string{"boolean", "null"}}
	}
	return object{"type": []string{"string", "number", "boolean", "null"}}
}

// describe gives the keys of a schema the comments of an example: what stands in the lines before a key where
// it first is, or else behind its value. start is what its line may have before a key.
func describe(s object, start, example string) {
	others, marks := regexp.MustCompile(`(?s)^.*# (- )?[a-z_]+:( .*?)?\n`), regexp.MustCompile(`(?m)^[ #-]+|\n`)
	properties, _ := s["properties"].(object)
	for key, below := range properties {
		found := regexp.MustCompile(`(?m)((?:^ *(?:- )?# .*\n)*)^` + start + key + `:(?: [^#\n]*)?(?:# (.*))?$`).FindStringSubmatch(example)
		if found == nil {
			continue
		}
		before := strings.Fields(marks.ReplaceAllString(others.ReplaceAllString(found[1], ""), " "))
		if comment := cmp.Or(strings.Join(before, " "), found[2]); comment != "" {
			below.(object)["description"] = comment
		}
		if items, ok := below.(object)["items"]; ok {
			below = items
		}
		_, rest, _ := strings.Cut(example, found[0])
		describe(below.(object), " [ #-]*", rest)
	}
}
