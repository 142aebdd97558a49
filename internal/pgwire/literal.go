package pgwire

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"coordtop/internal/format"
)

// Literal is a text as a statement names it, of characters that can be printed and pasted: as E'...',
// with escapes, where it has others or a backslash, which some settings of a server take for one. The
// escapes are bytes: a database in SQL_ASCII takes none of a character.
func Literal(s string) string {
	if format.Clean(s, 0) == s && !strings.Contains(s, `\`) {
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	var b strings.Builder
	for n := 0; s != ""; s = s[n:] {
		_, n = utf8.DecodeRuneInString(s)
		switch c := s[:n]; {
		case c == "'" || c == `\`:
			b.WriteString(c + c)
		case format.Clean(c, 0) == c:
			b.WriteString(c)
		default:
			for _, x := range []byte(c) {
				fmt.Fprintf(&b, `\x%02x`, x)
			}
		}
	}
	return "E'" + b.String() + "'"
}

// Identifier is a name as a statement quotes it. A NUL, which none can have, is left out.
func Identifier(s string) string {
	return `"` + strings.NewReplacer(`"`, `""`, "\x00", "").Replace(s) + `"`
}
