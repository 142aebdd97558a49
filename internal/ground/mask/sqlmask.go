package mask

import (
	"strings"

	"coordtop/internal/ground/lazy"
)

// Query returns a statement of Postgres's SQL with a ? in place of each literal ('..', E'..', $tag$..$tag$), each
// comment, and the text after the word password. Passwords in addresses become Sign. The text may be cut anywhere.
func Query(sql string) string {
	q := query{in: sql}
	for q.at < len(sql) {
		q.token()
	}
	return forms().ReplaceAllString(logins(addresses(q.out.String())), Sign)
}

// query reads a statement token by token, as Postgres's scan.l does.
type query struct {
	in     string
	at     int
	number bool // the next number may be a secret
	out    strings.Builder
}

func (q *query) token() {
	rest := q.in[q.at:]
	switch c := rest[0]; {
	case c == '\'':
		q.hide("?", literal(rest, false))
	case c == '$':
		q.dollar(rest)
	case strings.HasPrefix(rest, "--"):
		q.hide("--?", until(rest, "\n"))
	case strings.HasPrefix(rest, "/*"):
		q.hide("/*?*/", comment(rest))
	case c == '"':
		name := quotedName().FindString(rest)
		q.keep(len(name))
		if proof().MatchString(name) {
			q.statementEnd()
		}
	case isLetter(c):
		q.word(rest)
	case '0' <= c && c <= '9':
		n := len(rest) - len(strings.TrimLeft(rest, "0123456789"))
		if !q.number {
			q.keep(n)
			return
		}
		q.hide("?", n)
	default:
		q.keep(1)
	}
}

// quotedName matches a name in double quotes; without a closing quote, it matches up to the end of the text.
var quotedName = lazy.Regexp(`^"(?:[^"]|"")*"?`)

func (q *query) keep(n int) {
	q.out.WriteString(q.in[q.at : q.at+n])
	q.at += n
}

func (q *query) hide(sign string, n int) {
	q.out.WriteString(sign)
	q.at += n
}

// After a word that matches proof, the rest of the statement is hidden; after one that matches key, the next number.
var (
	proof = lazy.Regexp(`(?i)passw(?:or[dt]|d)|passphrase|pwd|secret|credential`)
	key   = lazy.Regexp(`(?i)token|api_?key|access_?key|private_?key|\bpin\b`)
)

// word keeps a name or key word. A lone e before a quote begins a literal with backslash escapes.
func (q *query) word(rest string) {
	n := 1
	for n < len(rest) && (isLetter(rest[n]) || rest[n] == '$' || '0' <= rest[n] && rest[n] <= '9') {
		n++
	}
	escapes := n == 1 && (rest[0] == 'e' || rest[0] == 'E') && n < len(rest) && rest[n] == '\''
	if escapes {
		q.hide("?", n+literal(rest[n:], true))
		return
	}
	q.keep(n)
	q.number = key().MatchString(rest[:n])
	if q.number {
		q.setting()
	}
	if proof().MatchString(rest[:n]) {
		q.statementEnd()
	}
}

// assigned matches the text between a setting and its value, and a value without quotes, which must have the form of a
// name.
var assigned = lazy.Regexp(`(?i)^\s*(?:=|to\s)\s*([a-z_\x80-\x{10ffff}][a-z0-9_$\x80-\x{10ffff}]*)`)

// setting hides the value of a setting whose name matches key, if the value is a word.
func (q *query) setting() {
	m := assigned().FindStringSubmatchIndex(q.in[q.at:])
	if m == nil {
		return
	}
	q.keep(m[2])
	q.hide("?", m[3]-m[2])
}

// statementEnd hides the rest of the statement, up to a semicolon. If there is a quote before the semicolon, it hides
// the rest of the text, because the semicolon may be inside the quotes.
func (q *query) statementEnd() {
	rest := q.in[q.at:]
	if strings.TrimSpace(rest) == "" {
		return
	}
	end := strings.IndexByte(rest, ';')
	if end < 0 || strings.ContainsAny(rest[:end], `'"$\`) {
		end = len(rest)
	}
	q.hide(" ?", end)
}

var tag = lazy.Regexp(`^\$(?:[A-Za-z_\x80-\x{10ffff}][A-Za-z0-9_\x80-\x{10ffff}]*)?\$`)

// dollar hides a literal in dollar quotes; a parameter such as $1 stays.
func (q *query) dollar(rest string) {
	open := tag().FindString(rest)
	if open == "" {
		if len(rest) > 1 && isLetter(rest[1]) && strings.IndexByte(rest[1:], '$') < 0 {
			q.hide("?", len(rest)) // a tag that was cut
			return
		}
		q.keep(1)
		return
	}
	q.hide("?", len(open)+until(rest[len(open):], open))
}

// until returns the length of rest through end, or of all of rest if end is missing. It does not include an end that is
// a line break.
func until(rest, end string) int {
	if i := strings.Index(rest, end); i >= 0 {
		if end == "\n" {
			return i
		}
		return i + len(end)
	}
	return len(rest)
}

// literal returns the length of a literal. A setting of the session (standard_conforming_strings) decides whether a
// backslash escapes a quote; if that matters, the rest of the text counts as the literal.
func literal(rest string, escapes bool) int {
	for i := 1; i < len(rest); i++ {
		switch {
		case rest[i] == '\\' && escapes:
			i++
		case rest[i] == '\'' && i+1 < len(rest) && rest[i+1] == '\'':
			i++
		case rest[i] == '\'' && !escapes && rest[i-1] == '\\':
			return len(rest)
		case rest[i] == '\'':
			return i + 1
		}
	}
	return len(rest)
}

// comment returns the length of a comment; comments nest.
func comment(rest string) int {
	depth := 0
	for i := 0; i+1 < len(rest); i++ {
		switch rest[i : i+2] {
		case "/*":
			depth++
			i++
		case "*/":
			depth--
			i++
		}
		if depth == 0 {
			return i + 1
		}
	}
	return len(rest)
}

func isLetter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c >= 0x80
}
