package filter

import (
	"slices"
	"strings"
)

// Completion lists replacements for the end of a text.
type Completion struct {
	From int      // the part from here on is replaced
	List []string // in order; empty: nothing fits
}

// Complete offers fields and labels for the word at the end of text, or, behind an
// operator, the existing values. values returns those of a field or label in the order in
// which they are offered; nil: any.
func (fs Fields) Complete(text string, labels []string, values func(field string) []string) Completion {
	s := scanner{text: text}
	var last token
	for t := s.next(); t.kind != tokenEnd; t = s.next() {
		last = t
	}
	typed := len(text) > 0 && !blank(text[len(text)-1])
	switch {
	case last.kind == tokenCompare && (typed || last.empty) && strings.ContainsAny(last.op, "=~"):
		return completeValue(text, last, values(strings.ToLower(last.text)))
	case !typed || last.kind == tokenOpen || last.kind == tokenNot:
		return Completion{len(text), fs.names(labels, "")}
	case last.kind == tokenWord && !last.quoted:
		return Completion{last.at, fs.names(labels, last.text)}
	}
	return Completion{From: len(text)}
}

func completeValue(text string, t token, values []string) Completion {
	c := Completion{From: t.valued}
	for _, v := range values {
		if hasPrefixFold(v, t.value) {
			c.List = append(c.List, Quote(v))
		}
	}
	if len(c.List) == 1 && c.List[0] == text[t.valued:] {
		c.List = nil
	}
	return c
}

// names lists the fields and labels that begin with prefix, each with its usual operator.
func (fs Fields) names(labels []string, prefix string) []string {
	var list []string
	for _, f := range fs {
		if hasPrefixFold(f.Name, prefix) {
			list = append(list, f.Name+f.Op)
		}
	}
	for _, l := range slices.Sorted(slices.Values(labels)) {
		if hasPrefixFold(l, prefix) {
			list = append(list, l+"=")
		}
	}
	return list
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}
