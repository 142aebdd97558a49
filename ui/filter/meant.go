package filter

import (
	"slices"
	"strings"

	"coordtop/internal/ground/address"
)

// Meant returns the comparison that was probably meant by a word with a colon, such as "state:led";
// "": none. It is for a filter that selects nothing.
func (fs Fields) Meant(text string, labels []string) string {
	s := scanner{text: text}
	for t := s.next(); t.kind != tokenEnd; t = s.next() {
		field, value, _ := strings.Cut(t.text, ":")
		if t.kind != tokenWord || t.quoted || value == "" {
			continue
		}
		if known := fs.meant(field, labels); known != "" {
			op := "="
			if i := fs.Find(known); i >= 0 {
				op = fs[i].Op
			}
			return known + op + Quote(value)
		}
	}
	return ""
}

// meant returns the field or label that a word names or almost names; "": none.
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
