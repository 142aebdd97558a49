package headless

import (
	_ "embed"
	"strings"
)

//go:embed doc.go
var doc string

// Part is a part of the documentation of the JSON: how it begins.
type Part string

// The parts that follow what holds for all of the JSON.
const (
	Rules   Part = "-" // nothing follows
	OfGet   Part = "Get prints "
	OfWatch Part = "Watch prints "
	OfHold  Part = "Acquire and campaign print "

	OfRelease Part = "Release prints "
	OfHistory Part = "History prints "
)

// JSONHelp is the documentation of the JSON for people, the same words as in the
// package's own: two copies would soon differ. It has what holds for all of it, and of the
// rest the part that is asked for; "" is all.
func JSONHelp(part Part) string {
	_, text, _ := strings.Cut(doc, "// # JSON\n")
	text, _, _ = strings.Cut(text, "package headless")
	var b strings.Builder
	wanted := true
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.TrimPrefix(line, "//"), " ")
		for _, p := range []Part{OfGet, OfWatch, OfHold, OfRelease, OfHistory} {
			if strings.HasPrefix(line, string(p)) {
				wanted = part == "" || part == p
			}
		}
		if wanted {
			b.WriteString(strings.ReplaceAll(line, "\t", "  "))
		}
	}
	return strings.TrimSpace(b.String()) + "\n"
}

//go:embed schema/get.json
var getSchema string

//go:embed schema/watch.json
var watchSchema string

// Schema returns the JSON Schema of what Get prints, or of a line of Watch. The tests generate it from the structs
// that are printed: the tag "is" of a field says which words, times or numbers it holds, the tables of doc.go what it means.
func Schema(part Part) string {
	if part == OfWatch {
		return watchSchema
	}
	return getSchema
}
