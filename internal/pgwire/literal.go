package pgwire

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"coordtop/internal/format"
)

// Literal is a text as a statement names it, of characters that can be printed and pasted: as E'...',
// with escapes, where it has others or a backslash, which some settings of a server take for one.
func Literal(s string) string {
	if format.Clean(s, 0) == s && !strings.Contains(s, `\`) {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	var b strings.Builder
	for i, n := 0, 0; i < len(s); i += n {
		var r rune
		r, n = utf8.DecodeRuneInString(s[i:])
		switch c := s[i : i+n]; {
		case c == "'" || c == `\`:
			b.WriteString(c + c)
		case r < utf8.RuneSelf || r == utf8.RuneError && n == 1:
			if format.Clean(c, 0) == c {
				b.WriteString(c)
			} else {
				fmt.Fprintf(&b, `\x%02x`, c[0])
			}
		case format.Clean(c, 0) == c:
			b.WriteString(c)
		default:
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return "E'" + b.String() + "'"
}
