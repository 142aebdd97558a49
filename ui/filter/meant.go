package filter

import (
	"slices"
	"strings"

	"coordtop/internal/address"
)

// Meant returns the part of a filter that its writer probably meant otherwise, as it should
// be written; "": nothing is likely. It is for a filter that selects nothing: a value that no
// row has, a colon for an operator, or a word with a typing error. values returns what exists
// of a field or label.
func (fs Fields) Meant(text string, labels []string, values func(field string) []string) string {
	s := scanner{text: text}
	for t := s.next(); t.kind != tokenEnd; t = s.next() {
		switch {
		case t.kind == tokenCompare && t.op == "=" && !t.empty:
			if v := fs.meantValue(strings.ToLower(t.text), t.value, values); v != "" {
				return t.text + "=" + Quote(v)
			}
		case t.kind == tokenWord && !t.quoted:
			if m := fs.meantWord(t.text, labels, values); m != "" {
				return m
			}
		}
	}
	return ""
}

// meantWord is what a bare word was probably meant to be.
func (fs Fields) meantWord(word string, labels []string, values func(field string) []string) string {
	field, value, colon := strings.Cut(word, ":")
	if colon && value != "" {
		if known := fs.meant(field, labels); known != "" {
			return fs.comparison(known, value, values)
		}
	}
	var parts []string
	for _, name := range values("name") {
		name = strings.ToLower(name)
		if strings.Contains(name, strings.ToLower(word)) {
			return "" // it is not this word that selects nothing
		}
		parts = append(parts, name)
		parts = append(parts, strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(":/-_.", r) })...)
	}
	if len(word) < minMeant {
		return ""
	}
	if near := address.Near(word, parts...); near != "" {
		return Quote(near)
	}
	return ""
}

// minMeant is how long a word must be: of less, anything may have been meant.
const minMeant = 3

// comparison writes a comparison with the operator that suits the field.
func (fs Fields) comparison(field, value string, values func(field string) []string) string {
	if i := fs.Find(field); i >= 0 && fs[i].Is != Text {
		return field + ">" + value
	}
	if v := fs.meantValue(field, value, values); v != "" {
		return field + "=" + Quote(v)
	}
	if slices.ContainsFunc(values(field), func(v string) bool { return strings.EqualFold(v, value) }) {
		return field + "=" + Quote(value)
	}
	return field + "~" + Quote(value)
}

// meant is the field or label that a word names, or probably should name; "": none.
func (fs Fields) meant(word string, labels []string) string {
	word = strings.ToLower(word)
	known := make([]string, 0, len(fs)+len(labels))
	for _, f := range fs {
		if f.Name == word || slices.Contains(f.Also, word) {
			return f.Name
		}
		known = append(known, f.Name)
	}
	if i := slices.IndexFunc(labels, func(s string) bool { return strings.EqualFold(s, word) }); i >= 0 {
		return labels[i]
	}
	return address.Near(word, append(known, labels...)...)
}

// meantValue is the value of a text field or label that was probably meant; "" where the
// value exists, or nothing is likely.
func (fs Fields) meantValue(field, value string, values func(field string) []string) string {
	var f Field
	if i := fs.Find(field); i >= 0 {
		f = fs[i]
	}
	if f.Is != Text || value == "?" {
		return ""
	}
	if f.Value != nil {
		value = f.Value(value)
	}
	known := values(field)
	switch other := f.Means[strings.ToLower(value)]; {
	case slices.ContainsFunc(known, func(v string) bool { return strings.EqualFold(v, value) }):
		return ""
	case other != "":
		return other
	}
	if near := address.Near(value, known...); near != "" {
		return near
	}
	for _, v := range known {
		if len(value) >= minMeant && strings.Contains(strings.ToLower(v), strings.ToLower(value)) {
			return v
		}
	}
	return ""
}
