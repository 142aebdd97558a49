package config

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"coordtop/internal/ground/format"
)

// duration is a time.Duration that may be 0.
type duration time.Duration

// scalar reads a value of one line by the type of its field: a time.Duration above 0, a float64 as a percentage, an int
// as a small count, an int64 as a size in bytes.
func (d *decoder) scalar(n ast.Node, path string, v reflect.Value) {
	text, ok := scalarText(n)
	value, want := any(text), "a text"
	switch v.Interface().(type) {
	case duration, time.Duration:
		length, read := format.ParseLength(text)
		value, ok, want = length, ok && read, "a length of time with its unit, as "+format.LengthForms
		if _, maybeNothing := v.Interface().(duration); ok && length == 0 && !maybeNothing {
			ok, want = false, "longer than nothing, as "+format.LengthForms
		}
	case float64:
		number, found := strings.CutSuffix(text, "%")
		part, err := strconv.Atoi(number)
		value, ok, want = float64(part)/100, ok && found && err == nil && part >= 1 && part <= 99, "a part from 1% to 99%, as 33%"
	case int:
		number, err := strconv.Atoi(text)
		value, ok, want = number, ok && err == nil && number >= 1 && number <= 100_000, "a whole number from 1 to 100000"
	case int64:
		value, ok = sizeOf(text)
		want = "a size, as 500MB or 2GB"
	case bool:
		b, isBool := n.(*ast.BoolNode)
		value, ok, want = isBool && b.Value, isBool, "true or false"
	}
	if !ok {
		d.add(n, path, "must be %s", want)
		return
	}
	v.Set(reflect.ValueOf(value).Convert(v.Type()))
}

// sizeOf reads a number of bytes, such as 500MB or 2GB.
func sizeOf(text string) (bytes int64, ok bool) {
	number, giga := strings.CutSuffix(text, "GB")
	number, mega := strings.CutSuffix(number, "MB")
	n, err := strconv.Atoi(number)
	if giga {
		return int64(n) << 30, err == nil && !mega && n >= 1 && n <= 1<<20
	}
	return int64(n) << 20, err == nil && mega && n >= 1 && n <= 1<<20
}

// scalarText returns a scalar as it was written, because 4242 and true are also valid texts.
func scalarText(n ast.Node) (string, bool) {
	switch t := n.(type) {
	case *ast.StringNode:
		return t.Value, true
	case *ast.LiteralNode:
		return t.Value.Value, true
	case *ast.MappingKeyNode:
		return scalarText(t.Value)
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return t.GetToken().Value, true
	}
	return "", false
}
