package config

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// Bounds of regular expressions: each value is searched for each at legible, each owner for
// each at owners, and a short one can take 100 kB.
const (
	maxLegible        = 20
	maxExpressions    = 200 // of the whole file
	longestExpression = 500 // bytes
)

// legible reads the patterns of what may be shown of a value that may prove ownership.
func (v *validator) legible(f *fileSource, b *Backend, path string) []*regexp.Regexp {
	if !v.takes(b, path, "legible") {
		return nil
	}
	if len(f.Legible) > maxLegible {
		v.wrong(path+".legible", "more than %d expressions", maxLegible)
		return nil
	}
	var list []*regexp.Regexp
	for i, text := range f.Legible {
		where := fmt.Sprintf("%s.legible[%d]", path, i)
		if text == "" {
			v.wrong(where, "is empty: write a regular expression for what may be shown of a value")
		} else if p := v.expression(where, text); p != nil {
			list = append(list, p)
		}
	}
	return list
}

// expression reads a regular expression; nil: it said what is wrong.
func (v *validator) expression(where, text string) *regexp.Regexp {
	v.expressions++
	switch {
	case len(text) > longestExpression:
		v.wrong(where, "is longer than %d bytes", longestExpression)
		return nil
	case v.expressions == maxExpressions+1:
		v.wrong(where, "more than %d regular expressions: too much for a config", maxExpressions)
		return nil
	case v.expressions > maxExpressions: // which was said
		return nil
	}
	p, err := regexp.Compile(text)
	if err != nil {
		why := "" // without the expression
		if bad, ok := errors.AsType[*syntax.Error](err); ok {
			why = ": " + bad.Code.String()
		}
		v.wrong(where, "not a regular expression (RE2)%s", why)
		return nil
	}
	return p
}
