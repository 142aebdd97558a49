package ui

import (
	"strings"

	"coordtop/sources"
)

// filter is words that must all occur in a row's name, space, source, kind or owners,
// in any case. The zero filter lets everything pass.
type filter struct {
	text  string
	words []string
}

func newFilter(text string) filter {
	return filter{text: text, words: strings.Fields(strings.ToLower(text))}
}

func (f filter) empty() bool { return len(f.words) == 0 }

func (f filter) row(r *sources.Row) bool {
	for _, w := range f.words {
		if !rowHas(r, w) {
			return false
		}
	}
	return true
}

func rowHas(r *sources.Row, word string) bool {
	if has(r.Name, word) || has(r.Source, word) || has(r.Space, word) || has(r.Kind.String(), word) {
		return true
	}
	for i := range r.Owners {
		if has(r.Owners[i].Label, word) || has(r.Owners[i].ID, word) {
			return true
		}
	}
	return false
}

func (f filter) event(e *sources.Event) bool {
	for _, w := range f.words {
		if !has(e.Ref.Name, w) && !has(e.Ref.Source, w) && !has(e.Ref.Space, w) && !has(e.Prim.String(), w) &&
			!has(e.Owner.Label, w) && !has(e.Previous.Label, w) {
			return false
		}
	}
	return true
}

// has says whether s holds word, which is in lower case. It allocates nothing for
// ASCII: it runs over every row as somebody types.
func has(s, word string) bool {
	if !ascii(s) || !ascii(word) {
		return strings.Contains(strings.ToLower(s), word)
	}
	for i := 0; i+len(word) <= len(s); i++ {
		if equalFold(s[i:i+len(word)], word) {
			return true
		}
	}
	return false
}

// equalFold compares ASCII of equal length; b is in lower case.
func equalFold(a, b string) bool {
	for i := range len(a) {
		c := a[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != b[i] {
			return false
		}
	}
	return true
}
