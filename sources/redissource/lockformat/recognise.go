package lockformat

import (
	"slices"

	"coordtop/sources"
)

// Find returns the format of a key with that content, or nil if none is known. kind is the configured kind; if it is
// KindUnknown, the word in the name decides.
func Find(key string, c *Content, kind sources.Kind) *Format {
	value := formOf(c)
	if kind == sources.KindUnknown {
		_, kind = Word(key)
	}
	for i := range table {
		f := &table[i]
		if f.match(key, c, value) && (!f.needsWord || kind != sources.KindUnknown) && (!f.needsSemaphore || kind == sources.KindSemaphore) {
			return f
		}
	}
	return nil
}

// ByValue reports whether the content alone proves a lock, under a name without a word for one. A string without a TTL
// is no lock, unless only one library writes such values or it counts the permits of a semaphore. See Find about kind.
func ByValue(key string, c *Content, kind sources.Kind) bool {
	f := Find(key, c, kind)
	return f != nil && (c.Leased || c.Type != String || f.Certain || f.needsSemaphore)
}

// Suggests reports whether the first bytes of a string, or one field or member, may be a lock's, so that the whole key
// must be read. The field is in Members.
func Suggests(key string, c *Content, kind sources.Kind) bool {
	if c.Type == String {
		return Find(key, c, kind) != nil
	}
	return slices.ContainsFunc(table, func(f Format) bool {
		return f.typ == c.Type && f.name.match(key) && slices.ContainsFunc(c.Members, func(m Member) bool {
			return marks[m.Text] || f.members == 0 || formOfText([]byte(m.Text))&f.members != 0
		})
	})
}

func (f *Format) match(key string, c *Content, value form) bool {
	if f.typ != c.Type || f.values != 0 && f.values&value == 0 || !f.name.match(key) {
		return false
	}
	if f.mark != "" && !c.has(f.mark) {
		return false
	}
	return f.members == 0 || c.consistsOf(f.members)
}

// has reports whether a hash has the field, or a sorted set the member.
func (c *Content) has(mark string) bool {
	_, ok := c.Fields[mark]
	return ok || slices.ContainsFunc(c.Members, func(m Member) bool { return m.Text == mark })
}

// consistsOf reports whether the content has owners, and all of them have one of these forms.
func (c *Content) consistsOf(forms form) bool {
	owners := 0
	one := func(text string) bool {
		if marks[text] {
			return true
		}
		owners++
		return formOfText([]byte(text))&forms != 0
	}
	for field := range c.Fields {
		if !one(field) {
			return false
		}
	}
	return !slices.ContainsFunc(c.Members, func(m Member) bool { return !one(m.Text) }) && owners > 0
}
