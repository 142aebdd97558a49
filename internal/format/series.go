package format

import (
	"fmt"
	"strings"
)

// Series joins words by commas, and the last by another word.
func Series(words []string, last string) string {
	if n := len(words) - 1; n > 0 {
		return strings.Join(words[:n], ", ") + last + words[n]
	}
	return strings.Join(words, "")
}

// Some joins so many words at most by commas, and says how many more there are: "a, b and 3 more".
func Some(words []string, most int) string { return SomeOf(words, most, len(words)) }

// SomeOf is Some of a list of which only the first words are known: it has all in it.
func SomeOf(words []string, most, all int) string {
	words = words[:min(len(words), most)]
	if more := all - len(words); more > 0 {
		return strings.Join(words, ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(words, ", ")
}
