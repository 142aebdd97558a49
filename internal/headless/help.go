package headless

import (
	_ "embed"
	"strings"
)

//go:embed doc.go
var doc string

// JSONHelp is the documentation of the JSON for people, the same words as in the
// package's own: two copies would soon differ.
func JSONHelp() string {
	_, text, _ := strings.Cut(doc, "// # JSON\n")
	text, _, _ = strings.Cut(text, "package headless")
	var b strings.Builder
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.TrimPrefix(line, "//"), " ")
		b.WriteString(strings.ReplaceAll(line, "\t", "  "))
	}
	return strings.TrimSpace(b.String()) + "\n"
}
