package headless

import (
	_ "embed"
	"strings"
	"sync"
)

//go:embed doc.go
var doc string

//go:embed jsondrill.go
var drillDoc string

//go:embed jsonobjectives.go
var objectivesDoc string

//go:embed jsonrecorder.go
var recorderDoc string

// Part names a part of the documentation of the JSON by the words that it begins with.
type Part string

// The parts that follow what holds for all of the JSON.
const (
	Rules   Part = "-" // nothing follows
	OfGet   Part = "Get prints "
	OfWatch Part = "Watch prints "
	OfHold  Part = "Acquire and campaign print "

	OfRelease Part = "Release prints "

	OfProvision Part = "Semaphore prints "
	OfHistory   Part = "History prints "
	OfWhy       Part = "Why prints "
	OfOwners    Part = "Owners prints "
	OfDrill     Part = "Drill prints "
	OfNotice    Part = "A notification is "
	OfSlo       Part = "Slo prints "
	OfRecorder  Part = "Recorder prints "
)

// JSONHelp returns the documentation of the JSON for people, from the package's own comments: two copies
// would soon differ. It has the rules for all of the JSON, and of the rest one part; "" is all.
func JSONHelp(part Part) string { return jsonHelp()[part] }

// jsonHelp cuts the documentation into its parts once, because every start of the program asks for most of them. The
// part "" is all of it.
var jsonHelp = sync.OnceValue(func() map[Part]string {
	_, text, _ := strings.Cut(doc, "// # JSON\n")
	text, _, _ = strings.Cut(text, "package headless")
	for _, source := range []string{drillDoc, objectivesDoc, recorderDoc} { // the comment of the first type
		_, table, _ := strings.Cut(source, "\n)\n")
		table, _, _ = strings.Cut(table, "type ")
		text += table
	}
	parts := []Part{OfGet, OfWatch, OfHold, OfRelease, OfProvision, OfHistory, OfWhy, OfOwners, OfDrill, OfSlo, OfRecorder, OfNotice}
	all := append([]Part{"", Rules}, parts...)
	texts, wanted := map[Part][]byte{}, all
	for line := range strings.Lines(text) {
		line = strings.TrimPrefix(strings.TrimPrefix(line, "//"), " ")
		for _, p := range parts {
			if strings.HasPrefix(line, string(p)) {
				wanted = []Part{"", p}
			}
		}
		for _, p := range wanted {
			texts[p] = append(texts[p], strings.ReplaceAll(line, "\t", "  ")...)
		}
	}
	help := map[Part]string{}
	for p, text := range texts {
		help[p] = strings.TrimSpace(string(text)) + "\n"
	}
	return help
})

//go:embed schema/get.json
var getSchema string

//go:embed schema/watch.json
var watchSchema string

//go:embed schema/drill.json
var drillSchema string

//go:embed schema/slo.json
var objectivesSchema string

// Schema returns the JSON Schema of the object that Get, Drill or Slo prints, or of a line of Watch. The tests generate
// it from the printed structs: the tag "is" of a field gives its words, times or numbers, and the tables
// of doc.go its meaning.
func Schema(part Part) string {
	switch part {
	case OfWatch:
		return watchSchema
	case OfDrill:
		return drillSchema
	case OfSlo:
		return objectivesSchema
	}
	return getSchema
}
