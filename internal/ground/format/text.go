package format

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// Clean returns s as one line that is safe to write to a terminal. Whatever cannot be printed is shown as an escape
// (`\x1b`, `\n`, `\u202e`, `\xff`). It reads at most limit bytes of s; if there are more, the result ends in an
// ellipsis. A limit of 0 means no limit. Text that is already clean is returned unchanged.
func Clean(s string, limit int) string {
	cut := limit > 0 && len(s) > limit
	if cut {
		s = s[:runeBoundary(s, limit)]
	}
	if i := firstUnsafe(s); i >= 0 {
		s = s[:i] + escape(s[i:], safe)
	}
	if cut {
		return s + "…"
	}
	return s
}

// JSON returns v as one line of JSON, with each character escaped for which plain returns false, because some
// characters that JSON leaves unescaped control a terminal.
func JSON(v any, plain func(rune) bool) ([]byte, error) {
	var encoded, out bytes.Buffer
	e := json.NewEncoder(&encoded)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	for _, r := range encoded.String() { // JSON is always UTF-8
		switch {
		case r < 0x7f || plain(r):
			out.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&out, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		}
	}
	return out.Bytes(), nil
}

// runeBoundary returns the last index, limit at most, that does not cut a character in two. limit must be below len(s).
func runeBoundary(s string, limit int) int {
	for i := limit; i > max(limit-utf8.UTFMax, 0); i-- {
		if utf8.RuneStart(s[i]) {
			return i
		}
	}
	return limit // no UTF-8 here: any byte will do
}

// firstUnsafe returns the index of the first thing in s that must be escaped, or -1.
func firstUnsafe(s string) int {
	for i, r := range s {
		if r >= ' ' && r < 0x7f {
			continue
		}
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(s[i:]); n == 1 {
				return i
			}
		}
		if !safe(r) {
			return i
		}
	}
	return -1
}

// safe reports whether r is visible, occupies cells of its own and changes nothing around it. Terminals disagree about
// the width of joined and combined characters, so marks and other characters that join their neighbours are also shown
// as escapes. Precomposed letters stay.
func safe(r rune) bool {
	return unicode.IsPrint(r) && !unicode.In(r, unicode.M, unicode.Other_Default_Ignorable_Code_Point, unicode.Regional_Indicator) &&
		!joins(r) && r != blankBraille
}

// blankBraille is a symbol by its Unicode category, but is invisible.
const blankBraille = '\u2800'

// joins reports whether r becomes part of one character with its neighbours, although it is not a mark: the loose parts
// of Korean syllables, the am of Thai and Lao, the voicing of narrow kana, skin colours.
func joins(r rune) bool {
	return r >= 0x1100 && r <= 0x11ff || r >= 0xa960 && r <= 0xa97f || r >= 0xd7b0 && r <= 0xd7ff ||
		r == 0x0e33 || r == 0x0eb3 || r == 0xff9e || r == 0xff9f || r >= 0x1f3fb && r <= 0x1f3ff
}

// escape returns s with each byte that is not part of valid UTF-8 as \xNN, and each other character for which plain
// returns false as a Go escape.
func escape(s string, plain func(rune) bool) string {
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case plain(r):
			b.WriteRune(r)
		default:
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
		}
		s = s[n:]
	}
	return b.String()
}

// UTF8 returns b as a string, with each byte that is not part of valid UTF-8 as \xNN. exact is false if there was such
// a byte. Then other bytes can have the same string, and the caller should also return b itself.
func UTF8(b []byte) (s string, exact bool) {
	if utf8.Valid(b) {
		return string(b), true
	}
	return escape(string(b), func(rune) bool { return true }), false
}

// Width returns the number of terminal cells that s takes. s may carry styles.
func Width(s string) int {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return ansi.StringWidth(s)
		}
	}
	return len(s) // the common case
}

// Fit returns s cut or padded on the right to exactly width cells; a cut is marked
// with an ellipsis. s must be clean but may carry styles. Width 0 or less gives "".
func Fit(s string, width int) string {
	if width <= 0 {
		return ""
	}
	w := Width(s)
	if w > width {
		s = ansi.Truncate(s, width, "…")
		w = Width(s)
	}
	return s + strings.Repeat(" ", max(width-w, 0))
}

// Label calls Clean for the name of an owner. A name of blanks alone, which would look like no name, is put in quotes.
func Label(s string, limit int) string {
	if s != "" && strings.TrimSpace(s) == "" {
		return `"` + Clean(s, limit) + `"`
	}
	return Clean(s, limit)
}

// markdown escapes markup. A comment separates @ and # from the text after them. A backslash would not be enough:
// GitHub and others search the rendered text for names and issue numbers, and notify people.
var markdown = func() *strings.Replacer {
	pairs := []string{"://", `:\//`, "www.", `www\.`, "@", `\@<!-- -->`, "#", `\#<!-- -->`} // the first two would become links
	for _, c := range "\\`*_[]<>|~&" {
		pairs = append(pairs, string(c), `\`+string(c))
	}
	return strings.NewReplacer(pairs...)
}()

// Markdown returns s, which must be clean, escaped for a line or a table cell of Markdown: no part of it is markup or a
// link, or notifies anybody.
func Markdown(s string) string { return markdown.Replace(s) }

// Series joins words with commas, and the last one with the separator last, such as " and ".
func Series(words []string, last string) string {
	if n := len(words) - 1; n > 0 {
		return strings.Join(words[:n], ", ") + last + words[n]
	}
	return strings.Join(words, "")
}

// Some joins at most so many words with commas, and says how many more there are: "a, b and 3 more".
func Some(words []string, most int) string { return SomeOf(words, most, len(words)) }

// SomeOf does the same as Some for a list of all elements, of which only the first words are given.
func SomeOf(words []string, most, all int) string {
	words = words[:min(len(words), most)]
	if more := all - len(words); more > 0 {
		return strings.Join(words, ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(words, ", ")
}

// plainWord lists characters that no shell interprets, wherever they stand in a word. It leaves out ~ and =, which
// begin a path and a command in zsh, % (a job in fish), and others.
const plainWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@"

// ShellWord returns s as one word of a command line, which bash, dash, zsh and fish read as s and as nothing else. It
// puts each ' and \ outside the quotes, because in fish a \ within quotes escapes these two. It writes no empty quotes
// inside a word, which zsh may read as a quote (RC_QUOTES). The result is no text to paste if Clean would change s, and
// no argument if s has a NUL.
func ShellWord(s string) string {
	if s == "" {
		return "''"
	}
	if strings.Trim(s, plainWord) == "" {
		return s
	}
	var b strings.Builder
	for s != "" {
		if s[0] == '\'' || s[0] == '\\' {
			b.WriteString(`\` + s[:1])
			s = s[1:]
			continue
		}
		end := strings.IndexAny(s, `'\`)
		if end < 0 {
			end = len(s)
		}
		b.WriteString("'" + s[:end] + "'")
		s = s[end:]
	}
	return b.String()
}
