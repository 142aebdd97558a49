package filter

import (
	"slices"
	"strings"

	"coordtop/internal/address"
)

// otherWords are what people write who know other programs, by what it is called here.
var otherWords = map[string]map[string]string{
	"": {
		"status": "state", "type": "kind", "leader": "owner", "holder": "owner", "key": "name", "lock": "name", "age": "since",
		"waiters": "wait", "waiting": "wait", "queue": "wait", "ttl": "lease", "expires": "lease", "changes": "chg", "backend": "source",
	},
	"kind": {"leader": "election", "lock": "mutex"},
}

// Meant returns the part of a filter that its writer probably meant otherwise, as it should
// be written; "": nothing is likely. It is for a filter that selects nothing: a value that no
// row has, a colon for an operator, or a word with a typing error. values returns what exists
// of a field or label.
func Meant(text string, labels []string, values func(field string) []string) string {
	s := scanner{text: text}
	for t := s.next(); t.kind != tokenEnd; t = s.next() {
		switch {
		case t.kind == tokenCompare && t.op == "=" && !t.empty:
			if v := meantValue(strings.ToLower(t.text), t.value, values); v != "" {
				return t.text + "=" + Quote(v)
			}
		case t.kind == tokenWord && !t.quoted:
			if m := meantWord(t.text, labels, values); m != "" {
				return m
			}
		}
	}
	return ""
}

// meantWord is what a bare word was probably meant to be.
func meantWord(word string, labels []string, values func(field string) []string) string {
	field, value, colon := strings.Cut(word, ":")
	if colon && value != "" {
		if known := meantField(field, labels); known != "" {
			return comparison(known, value, values)
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
	return quoted(address.Near(word, parts...))
}

// minMeant is how long a word must be: of less, anything may have been meant.
const minMeant = 3

// comparison writes a comparison with the operator that suits the field.
func comparison(field, value string, values func(field string) []string) string {
	if f, ok := FieldOf(field); ok && !f.text() {
		return field + ">" + value
	}
	if v := meantValue(field, value, values); v != "" {
		return field + "=" + Quote(v)
	}
	if slices.ContainsFunc(values(field), func(v string) bool { return strings.EqualFold(v, value) }) {
		return field + "=" + Quote(value)
	}
	return field + "~" + Quote(value)
}

// meantField is the field or label that a word names or was probably meant to name; "": none.
func meantField(word string, labels []string) string {
	word = strings.ToLower(word)
	known := append(Fields(), labels...)
	switch i := slices.IndexFunc(known, func(s string) bool { return strings.EqualFold(s, word) }); {
	case i >= 0:
		return known[i]
	case otherWords[""][word] != "":
		return otherWords[""][word]
	}
	return address.Near(word, known...)
}

// meantValue is the value of a text field or label that was probably meant; "" where the
// value exists, or nothing is likely.
func meantValue(field, value string, values func(field string) []string) string {
	if f, ok := FieldOf(field); ok && !f.text() || value == "?" {
		return ""
	}
	if field == "state" {
		value = stateWord(value)
	}
	known := values(field)
	switch {
	case slices.ContainsFunc(known, func(v string) bool { return strings.EqualFold(v, value) }):
		return ""
	case otherWords[field][strings.ToLower(value)] != "":
		return otherWords[field][strings.ToLower(value)]
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

func quoted(s string) string {
	if s == "" {
		return ""
	}
	return Quote(s)
}
