package schematest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"coordtop/internal/ground/lazy"
)

// Schema is a compiled JSON Schema.
type Schema struct{ compiled *jsonschema.Schema }

var (
	lineBreak   = lazy.Regexp(`\n *`) // a string of JSON has none
	plainList   = lazy.Regexp(`\[[^][{}]*\]`)
	shortObject = lazy.Regexp(`\{[^{}]{0,90}\}`)
)

// Write returns a schema as indented JSON for people, with short values on one line.
func Write(t testing.TB, schema any) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(schema); err != nil {
		t.Fatal(err)
	}
	onOneLine := func(text string) string {
		inner := lineBreak().ReplaceAllString(text[1:len(text)-1], " ")
		return text[:1] + strings.TrimSpace(inner) + text[len(text)-1:]
	}
	return shortObject().ReplaceAllStringFunc(plainList().ReplaceAllStringFunc(b.String(), onOneLine), onOneLine)
}

// Compile reads a schema, which must name its draft and must not refer to other files.
func Compile(t testing.TB, schema string) Schema {
	t.Helper()
	read, err := jsonschema.UnmarshalJSON(strings.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.UseLoader(jsonschema.SchemeURLLoader{})
	if err := c.AddResource("coordtop:schema", read); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("coordtop:schema")
	if err != nil {
		t.Fatal(err)
	}
	if compiled.DraftVersion != 2020 {
		t.Errorf("it is of draft %d", compiled.DraftVersion)
	}
	return Schema{compiled}
}

// Check returns an error if a value, in the form in which encoding/json reads it, does not fit the schema.
func (s Schema) Check(value any) error { return s.compiled.Validate(value) }

// CheckText calls Check with a value that is written in JSON.
func (s Schema) CheckText(text []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return s.Check(value)
}
