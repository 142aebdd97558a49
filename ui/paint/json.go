package paint

import (
	"bytes"
	"encoding/json"
	"strings"

	"coordtop/internal/ground/format"
	"coordtop/sources"

	"github.com/charmbracelet/x/ansi"
)

// mostBlobLines bounds how many lines one value takes.
const mostBlobLines = 200

// BlobLines is a value in lines of at most w cells: JSON with its structure, anything else
// as it is.
func BlobLines(b sources.Blob, w int) []string {
	text := b.Head
	if indented, ok := indentJSON(b); ok {
		text = indented
	} else {
		return hardWrap(text, w)
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

// indentJSON indents an object or a list that is whole.
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

// hardWrap cuts text anywhere into lines of at most w cells.
func hardWrap(text string, w int) []string {
	return strings.Split(ansi.Hardwrap(format.Clean(text, 0), max(w, 2), true), "\n")
}
