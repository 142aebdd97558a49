package config

import (
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"coordtop/internal/format"
)

// duration is a time.Duration that is written with its unit.
type duration time.Duration

// percent is a part of a whole, written as 33%.
type percent int

// count is a whole number from 1 to 1000.
type count int

// size is a number of bytes, written as 500MB or 2GB.
type size int64

// limit is a length of time that is not nothing.
type limit time.Duration

var (
	durationType = reflect.TypeFor[duration]()
	percentType  = reflect.TypeFor[percent]()
	countType    = reflect.TypeFor[count]()
	sizeType     = reflect.TypeFor[size]()
	limitType    = reflect.TypeFor[limit]()
)

func (d *decoder) scalar(n ast.Node, path string, v reflect.Value) {
	text, ok := scalarText(n)
	switch {
	case v.Type() == durationType || v.Type() == limitType:
		length, read := format.ParseLength(text)
		switch {
		case !ok || !read:
			d.add(n, path, "must be a length of time with its unit, as "+format.LengthForms)
			return
		case length == 0 && v.Type() == limitType:
			d.add(n, path, "must be longer than nothing, as "+format.LengthForms)
			return
		}
		v.SetInt(int64(length))
	case v.Type() == percentType:
		number, found := strings.CutSuffix(text, "%")
		part, err := strconv.Atoi(number)
		if !ok || !found || err != nil || part < 1 || part > 99 {
			d.add(n, path, "must be a part from 1%% to 99%%, as 33%%")
			return
		}
		v.SetInt(int64(part))
	case v.Type() == countType:
		number, err := strconv.Atoi(text)
		if !ok || err != nil || number < 1 || number > 1000 {
			d.add(n, path, "must be a whole number from 1 to 1000")
			return
		}
		v.SetInt(int64(number))
	case v.Type() == sizeType:
		number, giga := strings.CutSuffix(text, "GB")
		number, mega := strings.CutSuffix(number, "MB")
		bytes, err := strconv.Atoi(number)
		if !ok || giga == mega || err != nil || bytes < 1 || bytes > 1<<20 {
			d.add(n, path, "must be a size, as 500MB or 2GB")
			return
		}
		if giga {
			bytes <<= 10
		}
		v.SetInt(int64(bytes) << 20)
	case v.Kind() == reflect.Bool:
		b, ok := n.(*ast.BoolNode)
		if !ok {
			d.add(n, path, "must be true or false")
			return
		}
		v.SetBool(b.Value)
	case !ok:
		d.add(n, path, "must be a text")
	default:
		v.SetString(text)
	}
}

// scalarText returns a scalar as it was written: 4242 and true are texts too where a
// text is asked for.
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
