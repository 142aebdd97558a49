package headless

import (
	"regexp"
	"strings"
	"testing"
)

// said is the text of the documentation about one field, or several: primitives.owners.since.
type said struct {
	paths []string
	text  string
}

// rowLine is a line of its tables: how deep it is, names, and what is said of them. A line with a larger indent
// goes on with what the line before began.
var rowLine = regexp.MustCompile(`^  ((?:  ){0,3})([a-z0-9_]+(?:, [a-z0-9_]+)*)(?:   *(.*))?$`)

// documented are the rows of the table of a part.
func documented(part Part) (rows []said) {
	_, table, _ := strings.Cut(JSONHelp(part), string(part))
	var above [4]string
	for line := range strings.Lines(table) {
		line = strings.TrimRight(line, "\n")
		if m := rowLine.FindStringSubmatch(line); m != nil {
			depth, path := len(m[1])/2, ""
			for _, name := range above[:depth] {
				path += name + "."
			}
			names := strings.Split(m[2], ", ")
			above[depth] = names[0]
			for i := range names {
				names[i] = path + names[i]
			}
			rows = append(rows, said{names, m[3]})
		} else if strings.HasPrefix(line, "         ") && len(rows) > 0 {
			last := &rows[len(rows)-1]
			last.text = strings.TrimSpace(last.text + " " + strings.TrimSpace(line))
		}
	}
	return rows
}

// field finds a property of a schema; nil: it has none at this path.
func field(s Object, path string) Object {
	for name := range strings.SplitSeq(path, ".") {
		if items, ok := s["items"].(Object); ok {
			s = items
		}
		properties, _ := s["properties"].(Object)
		if s, _ = properties[name].(Object); s == nil {
			return nil
		}
	}
	return s
}

// describe gives the fields of a schema the descriptions that the documentation has. One that is of several
// fields begins with their names.
func describe(s Object, part Part) {
	for _, row := range documented(part) {
		text := strings.TrimSuffix(row.text, ":")
		if len(row.paths) > 1 {
			names := make([]string, len(row.paths))
			for i, path := range row.paths {
				names[i] = path[strings.LastIndex(path, ".")+1:]
			}
			text = strings.Join(names, ", ") + ": " + text
		}
		for _, path := range row.paths {
			if f := field(s, path); f != nil && row.text != "" {
				f["description"] = text
			}
		}
	}
}

func TestTheDocumentationAndTheSchemaHaveTheSameFields(t *testing.T) {
	t.Parallel()
	for part, least := range map[Part]int{OfGet: 60, OfWatch: 19, OfDrill: 28} {
		s, n := MakeSchema(part), 0
		for _, row := range documented(part) {
			for _, path := range row.paths {
				if n++; field(s, path) == nil {
					t.Errorf("%s: %s is in the documentation, and not in the schema", part, path)
				}
			}
		}
		if n < least {
			t.Errorf("%s: only %d fields are found in the documentation", part, n)
		}
		properties, _ := s["properties"].(Object)
		for name, f := range properties {
			if f, _ := f.(Object); f["description"] == nil && name != "missed" && name != "name_b64" { // of these its other paragraphs tell
				t.Errorf("%s: nothing is said of %s", part, name)
			}
		}
	}
}
