package config

import (
	"fmt"
	"regexp"
)

// Bounds of what may be written at legible: each value is searched for each pattern.
const (
	maxLegible        = 20
	longestExpression = 500 // bytes
)

// legible reads the patterns of what may be shown of a value that may prove ownership.
func (v *validator) legible(f *fileSource, typ, path string) []*regexp.Regexp {
	if !v.wrote(path + ".legible") {
		return nil
	}
	if typ != TypeRedis && typ != "" {
		v.at(path+".legible", "only Redis takes this: no other backend has values that prove ownership")
		return nil
	}
	if len(f.Legible) > maxLegible {
		v.at(path+".legible", "more than %d expressions", maxLegible)
		return nil
	}
	var list []*regexp.Regexp
	for i, text := range f.Legible {
		where := fmt.Sprintf("%s.legible[%d]", path, i)
		p, err := regexp.Compile(text)
		switch {
		case text == "":
			v.at(where, "is empty: write a regular expression for what may be shown of a value")
		case len(text) > longestExpression:
			v.at(where, "is longer than %d bytes", longestExpression)
		case err != nil:
			v.at(where, "not a regular expression (RE2)%s", whyNot(err))
		default:
			list = append(list, p)
		}
	}
	return list
}
