package paint

import (
	"bytes"
	"encoding/json"
	"strings"

	"coordtop/internal/ground/format"
	"coordtop/sources"

	"github.com/charmbracelet/x/ansi"
)

// mostBlobLines bounds the lines of one value.
const mostBlobLines = 200

// BlobLines writes a value in lines of at most w cells. JSON is indented.
func BlobLines(b sources.Blob, w int) []string {
	text, ok := indentJSON(b)
	if !ok {
		return hardWrap(b.Head, w)
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, hardWrap(line, w)...)
		if len(lines) > mostBlobLines {
			return append(lines[:mostBlobLines], "...")
		}
	}
	return lines
}

// indentJSON indents a complete JSON object or list; false: b is not one.
func indentJSON(b sources.Blob) (string, bool) {
	head := strings.TrimSpace(b.Head)
	if b.Len > len(b.Head) || len(head) == 0 || head[0] != '{' && head[0] != '[' {
		return "", false
	}
	var out bytes.Buffer
	if json.Indent(&out, []byte(head), "", "  ") != nil {
		return "", false
	}
	return out.String(), true
}

// hardWrap cuts text into lines of at most w cells, also within words.
func hardWrap(text string, w int) []string {
	return strings.Split(ansi.Hardwrap(format.Clean(text, 0), max(w, 2), true), "\n")
}
