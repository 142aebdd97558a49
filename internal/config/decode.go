package config

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"coordtop/internal/ground/address"
	"coordtop/sources"
)

// maxAliases bounds a chain of anchors, aliases and tags on one value.
const maxAliases = 8

// decoder decodes a syntax tree into a struct. It continues after a problem, and stores the position of each value for
// later checks.
type decoder struct {
	problems Problems
	*places
	anchors map[string]ast.Node
	listed  map[string]int // by list of known keys: the line of the problem that has printed the list
}

// decode reads data into a file. The returned decoder has the problems that were found.
func decode(data []byte, path string) (*file, *decoder) {
	d := &decoder{places: &places{at: map[string]position{}, shown: map[string]string{}}, anchors: map[string]ast.Node{}, listed: map[string]int{}}
	d.problems.Path = path
	f := &file{Thresholds: sources.DefaultThresholds()}
	text, line, wrong := PlainText(data)
	if wrong != "" {
		d.problems.List = append(d.problems.List, Problem{Line: line, Column: 1, Text: wrong})
		return f, d
	}
	tree, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		d.syntax(err, text)
		return f, d
	}
	documents := 0
	for _, doc := range tree.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.NullType || doc.Body.Type() == ast.CommentType {
			continue
		}
		if documents++; documents > 1 {
			d.add(doc.Body, "", "a second document: one file is one config")
			break
		}
		d.value(doc.Body, "", reflect.ValueOf(f).Elem())
	}
	return f, d
}

// syntax reports where the parser failed. It names a tab, because a tab is invisible. It uses the parser's message only
// if that quotes nothing of the file.
func (d *decoder) syntax(err error, data []byte) {
	p := Problem{Text: "not YAML: it cannot be read from here on"}
	if e, ok := errors.AsType[yaml.Error](err); ok {
		if said := e.GetMessage(); len(said) < 100 && !strings.ContainsAny(said, "\"`\n") {
			p.Text = "not YAML: " + said
		}
		if t := e.GetToken(); t != nil && t.Position != nil {
			p.Line, p.Column = t.Position.Line, t.Position.Column
			if lines := bytes.Split(data, []byte("\n")); p.Line <= len(lines) && bytes.HasPrefix(bytes.TrimLeft(lines[p.Line-1], " "), []byte("\t")) {
				p.Text = "not YAML: a tab stands before the text: write blanks"
			}
		}
	}
	d.problems.List = append(d.problems.List, p)
}

// add reports a problem at a node.
func (d *decoder) add(n ast.Node, path, format string, args ...any) {
	at := positionOf(n)
	d.problems.List = append(d.problems.List, Problem{Line: at.line, Column: at.column, Path: d.show(path), Text: fmt.Sprintf(format, args...)})
}

// wrong reports a problem with the value of a path.
func (d *decoder) wrong(path, format string, args ...any) {
	d.problems.List = append(d.problems.List, d.problem(path, fmt.Sprintf(format, args...)))
}

// reported reports whether the value at a path has a problem.
func (d *decoder) reported(path string) bool {
	return slices.ContainsFunc(d.problems.List, func(p Problem) bool { return p.Path == d.show(path) })
}

// wrote reports whether the file has a value at a path.
func (d *decoder) wrote(path string) bool {
	_, ok := d.at[path]
	return ok
}

// value decodes n into v and reports values of a wrong type.
func (d *decoder) value(n ast.Node, path string, v reflect.Value) {
	n, ok := d.resolve(n, path)
	if !ok || n.Type() == ast.NullType {
		return
	}
	if !d.wrote(path) {
		d.at[path] = positionOf(n)
	}
	switch v.Kind() {
	case reflect.Struct:
		d.structure(n, path, v)
	case reflect.Map:
		d.dictionary(n, path, v)
	case reflect.Slice:
		d.list(n, path, v)
	default:
		d.scalar(n, path, v)
	}
}

// resolve follows tags, anchors and aliases to the value itself.
func (d *decoder) resolve(n ast.Node, path string) (ast.Node, bool) {
	for range maxAliases {
		switch t := n.(type) {
		case *ast.TagNode:
			n = t.Value
		case *ast.AnchorNode:
			d.anchors[t.Name.GetToken().Value] = t.Value
			n = t.Value
		case *ast.AliasNode:
			to, ok := d.anchors[t.Value.GetToken().Value]
			if !ok {
				d.add(n, path, "no anchor of that name above it")
				return nil, false
			}
			n = to
		default:
			return n, n != nil
		}
		if n == nil {
			return nil, false
		}
	}
	d.add(n, path, "an alias of an alias of an alias: write the value")
	return nil, false
}

// pairs returns the keys of a mapping and their entries. It reports wrong keys and leaves them out. It also reports a
// problem if n is not a mapping.
func (d *decoder) pairs(n ast.Node, path, want string, known ...string) iter.Seq2[string, *ast.MappingValueNode] {
	return func(yield func(string, *ast.MappingValueNode) bool) {
		var entries []*ast.MappingValueNode
		switch t := n.(type) {
		case *ast.MappingNode:
			entries = t.Values
		case *ast.MappingValueNode:
			entries = []*ast.MappingValueNode{t}
		default:
			d.add(n, path, "must be %s", want)
		}
		seen := map[string]bool{}
		for _, e := range entries {
			if key, ok := d.key(e, path, seen, known...); ok && !yield(key, e) {
				return
			}
		}
	}
}

// key returns the text of a mapping's key. It reports a key that was seen before, by name only if the key is a known
// one.
func (d *decoder) key(e *ast.MappingValueNode, path string, seen map[string]bool, known ...string) (string, bool) {
	if e.Key.IsMergeKey() {
		d.add(e.Key, path, "<< is not supported: write the keys out")
		return "", false
	}
	text, ok := scalarText(e.Key)
	if !ok {
		d.add(e.Key, path, "a key must be a plain word")
		return "", false
	}
	if seen[text] {
		if slices.Contains(known, text) {
			path = join(path, text)
		}
		d.add(e.Key, path, "given twice")
		return "", false
	}
	seen[text] = true
	return text, true
}

func (d *decoder) structure(n ast.Node, path string, v reflect.Value) {
	fields, names := fieldsOf(v.Type())
	for key, e := range d.pairs(n, path, "keys with values", names...) {
		if i, known := fields[key]; known {
			d.value(e.Value, join(path, key), v.Field(i))
		} else {
			d.unknown(e.Key, path, key, names)
		}
	}
}

// unknown reports an unknown key. It repeats only a key that resembles a known one: any other may be a secret in the
// wrong place. It lists the known keys only once.
func (d *decoder) unknown(n ast.Node, path, key string, names []string) {
	if near := address.Near(key, names...); near != "" {
		d.add(n, join(path, key), "unknown key: did you mean %s?", near)
		return
	}
	list := strings.Join(names, ", ")
	if line := d.listed[list]; line > 0 {
		d.add(n, path, "unknown key; see line %d for the known ones", line)
		return
	}
	d.listed[list] = positionOf(n).line
	d.add(n, path, "unknown key; known here: %s", list)
}

// fieldsOf returns the index of each field by its key, and the keys in order.
func fieldsOf(t reflect.Type) (map[string]int, []string) {
	index, names := make(map[string]int, t.NumField()), make([]string, t.NumField())
	for i := range t.NumField() {
		names[i] = t.Field(i).Tag.Get("yaml")
		index[names[i]] = i
	}
	return index, names
}

func (d *decoder) dictionary(n ast.Node, path string, v reflect.Value) {
	v.Set(reflect.MakeMap(v.Type()))
	for key, e := range d.pairs(n, path, "names with values") {
		d.shown[join(path, key)] = "an entry of " + strings.TrimPrefix(d.show(path), "an entry of ")
		value := reflect.New(v.Type().Elem()).Elem()
		before := len(d.problems.List)
		d.value(e.Value, join(path, key), value)
		if len(d.problems.List) == before {
			v.SetMapIndex(reflect.ValueOf(key), value)
		}
	}
}

func (d *decoder) list(n ast.Node, path string, v reflect.Value) {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		d.add(n, path, "must be a list, as [a, b] or one a line after a dash")
		return
	}
	items := s.Values
	if v.Type().Elem().Kind() == reflect.Slice && len(items) > 0 && items[0].Type() != ast.SequenceType {
		items = []ast.Node{s} // a list of lists with one entry needs no outer brackets
	}
	v.Set(reflect.MakeSlice(v.Type(), len(items), len(items)))
	for i, item := range items {
		d.value(item, fmt.Sprintf("%s[%d]", path, i), v.Index(i))
	}
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// utf8Mark is the byte-order mark with which some editors begin a file.
const utf8Mark = "\xef\xbb\xbf"

// PlainText returns the text of a file in UTF-8, without a byte-order mark and with the line breaks of this system. If
// data is not text, wrong is the reason, and line the place.
func PlainText(data []byte) (text []byte, line int, wrong string) {
	data = bytes.TrimPrefix(data, []byte(utf8Mark))
	data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return nil, lineOf(data, i), "a zero byte: a config is text in UTF-8"
	}
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return nil, lineOf(data, i), "not UTF-8: save the file in that encoding"
		}
		i += n
	}
	return data, 0, ""
}

// lineOf returns the line of the byte i, from 1.
func lineOf(data []byte, i int) int { return bytes.Count(data[:i], []byte("\n")) + 1 }
