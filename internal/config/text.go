package config

import (
	"bytes"
	"unicode/utf8"
)

// utf8Mark is the byte-order mark with which editors of other systems begin a file.
const utf8Mark = "\xef\xbb\xbf"

// PlainText is the text of a file in UTF-8, without a byte-order mark and with the line
// breaks of this system. Where it is no text, wrong says why, and line where.
func PlainText(data []byte) (text []byte, line int, wrong string) {
	data = bytes.TrimPrefix(data, []byte(utf8Mark))
	data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	if i := bytes.IndexByte(data, 0); i >= 0 {
		return nil, lineOf(data, i), "a zero byte: a config is text in UTF-8"
	}
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && n == 1 {
			return nil, lineOf(data, i), "not UTF-8: save the file in that encoding"
		}
		i += n
	}
	return data, 0, ""
}

func lineOf(data []byte, i int) int { return bytes.Count(data[:i], []byte("\n")) + 1 }
