package headless

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"coordtop/sources"
)

// nasty is what nobody may take for more than text: controls of a terminal, the end of a
// line, of a cell and of a string, text that runs the other way, and what is no text.
const nasty = "=a\x1b[31m\x1b]0;t\a\u009b2J\r\n\x00\x7f\u2028\u202e\u200b|\"},{\"name\":\"forged\",\xff"

// poison makes every text below v nasty.
func poison(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(nasty)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				poison(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Len() == 0 && v.CanSet() {
			v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		}
		for i := range v.Len() {
			poison(v.Index(i))
		}
	case reflect.Map:
		if v.Type().Key().Kind() == reflect.String && v.Type().Elem().Kind() == reflect.String && v.CanSet() {
			v.Set(reflect.MakeMap(v.Type()))
			v.SetMapIndex(reflect.ValueOf(nasty).Convert(v.Type().Key()), reflect.ValueOf(nasty).Convert(v.Type().Elem()))
		}
	case reflect.Pointer:
		if !v.IsNil() {
			poison(v.Elem())
		}
	}
}

func TestNoTextOfAServerIsObeyedInAnExportedFile(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	var p sources.Primitive
	poison(reflect.ValueOf(&p))
	p.Note = "" // which stands in the place of the owners
	noted := p
	noted.Note = nasty
	for i := range p.Owners {
		p.Owners[i].Data = sources.Blob{Head: nasty, Len: len(nasty)}
	}
	p.OwnersHow, p.At, noted.At = sources.Told, now, now
	rows := []*sources.Row{{Primitive: &p}, {Primitive: &noted}}
	s := &sources.State{At: now, Rows: rows, Sources: []sources.SourceStatus{{Name: nasty}}}
	for form, head := range map[Format]int{JSON: 0, CSV: 1, Markdown: 2, Text: 1} {
		var out bytes.Buffer
		if err := Export(&out, form, s, rows, now); err != nil {
			t.Fatal(err)
		}
		text := out.String()
		if got := strings.Count(text, "\n"); got != head+len(rows) {
			t.Errorf("form %v: %d lines, want %d: %q", form, got, head+len(rows), text)
		}
		if !utf8.ValidString(text) {
			t.Errorf("form %v: no UTF-8: %q", form, text)
		}
		for _, r := range text {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.In(r, unicode.Zl, unicode.Zp)) {
				t.Errorf("form %v: %U stands there: %q", form, r, text)
				break
			}
		}
		switch form {
		case JSON:
			for line := range strings.Lines(text) {
				var one struct{ Name, Source string }
				if err := json.Unmarshal([]byte(line), &one); err != nil || !strings.HasPrefix(one.Name, "=a\x1b[31m") {
					t.Errorf("%v, the name is %q", err, one.Name)
				}
			}
		case CSV:
			table, err := csv.NewReader(strings.NewReader(text)).ReadAll()
			if err != nil || len(table) != 1+len(rows) {
				t.Errorf("%v, %d lines", err, len(table))
			}
			for _, line := range table {
				for _, cell := range line {
					if strings.HasPrefix(cell, "=") {
						t.Errorf("a formula: %q", cell)
					}
				}
			}
		case Markdown:
			for line := range strings.Lines(text) {
				if bars := strings.Count(line, "|") - strings.Count(line, `\|`); bars != 10 {
					t.Errorf("%d bars: %q", bars, line)
				}
			}
		}
	}
}
