package headless_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"coordtop/internal/ground/schematest"
	"coordtop/internal/headless"
)

func TestSchemasAreThoseOfTheStructsThatArePrinted(t *testing.T) {
	t.Parallel()
	for name, part := range map[string]headless.Part{"get": headless.OfGet, "watch": headless.OfWatch, "drill": headless.OfDrill, "slo": headless.OfSlo} {
		made := schematest.Write(t, headless.MakeSchema(part))
		golden(t, "../schema/"+name+".json", []byte(made))
		if !*update && headless.Schema(part) != made {
			t.Errorf("%s has another schema in it", name)
		}
	}
}

// strict refuses fields that a schema does not have.
func strict(v any) any {
	switch v := v.(type) {
	case headless.Object:
		made := headless.Object{}
		for key, below := range v {
			made[key] = strict(below)
		}
		if made["properties"] != nil {
			made["additionalProperties"] = false
		}
		return made
	}
	return v
}

// printed are the objects that the golden files of Get and Watch hold.
func printed(t *testing.T) map[headless.Part][]any {
	t.Helper()
	all := map[headless.Part][]any{}
	for name, part := range map[string]headless.Part{"get.json": headless.OfGet, "watch.jsonl": headless.OfWatch, "missed.jsonl": headless.OfWatch, "drill.json": headless.OfDrill, "slo.json": headless.OfSlo} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for d := json.NewDecoder(bytes.NewReader(data)); d.More(); {
			var one any
			if err := d.Decode(&one); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			all[part] = append(all[part], one)
		}
	}
	return all
}

func TestWhatIsPrintedFitsItsSchema(t *testing.T) {
	t.Parallel()
	for part, values := range printed(t) {
		s := schematest.Compile(t, schematest.Write(t, strict(headless.MakeSchema(part))))
		for _, v := range values {
			if err := s.Check(v); err != nil {
				t.Errorf("%s%v: %v", part, v, err)
			}
		}
	}
}

// everywhere calls do with each value in v, its path, and what puts another in its place or leaves it out.
func everywhere(v any, path string, do func(path string, v any, put func(any), leaveOut func())) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			do(path+"."+key, v[key], func(other any) { v[key] = other }, func() { delete(v, key) })
			everywhere(v[key], path+"."+key, do)
		}
	case []any:
		for i := range v {
			do(path+"[]", v[i], func(other any) { v[i] = other }, nil)
			everywhere(v[i], path+"[]", do)
		}
	}
}

// TestSchemaRefusesWhatIsNotPrinted changes each value of what is printed in turn.
func TestSchemaRefusesWhatIsNotPrinted(t *testing.T) {
	t.Parallel()
	optional := regexp.MustCompile(`\.(guess|name_b64|note|actions|release|counts|missed|how|every_ms|data\.text|data\.base64)$`)
	fraction := regexp.MustCompile(`\.(percent|(used|burn)\.(min|max))$`)
	narrow := regexp.MustCompile(`(since|since_after|until|expires|at|known|kind|fence|order)$`)
	for part, values := range printed(t) {
		s, seen := schematest.Compile(t, headless.Schema(part)), map[string]bool{}
		for _, whole := range values {
			everywhere(whole, "", func(path string, v any, put func(any), leaveOut func()) {
				kind := fmt.Sprintf("%s %T", path, v)
				if seen[kind] || strings.Contains(path, ".attrs.") || strings.Contains(path, ".settings.") {
					return
				}
				seen[kind] = true
				wrong := []any{[]any{1.5}, 1.5, map[string]any{"x": 1.5}}
				if fraction.MatchString(path) {
					wrong[1] = "1.5"
				}
				if narrow.MatchString(path) {
					wrong = append(wrong, "no such thing")
				}
				for _, other := range wrong {
					if put(other); s.Check(whole) == nil {
						t.Errorf("%s%s may be %v", part, path, other)
					}
				}
				if leaveOut != nil {
					if leaveOut(); (s.Check(whole) == nil) != optional.MatchString(path) {
						t.Errorf("%s%s is left out: %v", part, path, s.Check(whole))
					}
				}
				put(v)
			})
		}
		if len(seen) < 20 {
			t.Errorf("%s: only %d fields", part, len(seen))
		}
	}
}
