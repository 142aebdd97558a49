package config

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
)

// legible reads the patterns of what may be shown of a value that may prove ownership.
func (v *validator) legible(f *fileSource, b *Backend, path string) []*regexp.Regexp {
	if !v.takes(b, path, "legible") {
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
