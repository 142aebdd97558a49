package schematest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a JSON Schema that was read.
type Schema struct{ compiled *jsonschema.Schema }

// Compile reads a schema. It must name its draft, and no other file.
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

// Check reports what is wrong with a value, as encoding/json reads it.
func (s Schema) Check(value any) error { return s.compiled.Validate(value) }

// CheckText is Check of a value that is written in JSON.
func (s Schema) CheckText(text []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return s.Check(value)
}
