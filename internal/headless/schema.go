package headless

import _ "embed"

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
