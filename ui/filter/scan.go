package filter

import "strings"

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenWord
	tokenOpen  // (
	tokenClose // )
	tokenNot   // ! before a term
	tokenCompare
)

// token is a piece of the text. A comparison is one token: its field is always a plain word, and
// the syntax of its value depends on the operator.
type token struct {
	kind   tokenKind
	at     int    // where it begins, in bytes
	text   string // of a word; the field of a comparison
	quoted bool   // a word that is never "and" or "or"
	op     string
	value  string
	asIs   bool // the value was quoted: not "?"
	empty  bool // a comparison without a value
	valued int  // where the value begins
}

type scanner struct {
	text string
	at   int
}

func (s *scanner) blanks() {
	for s.at < len(s.text) && blank(s.text[s.at]) {
		s.at++
	}
}

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// next returns the next token.
func (s *scanner) next() token {
	s.blanks()
	t := token{at: s.at}
	if s.at >= len(s.text) {
		return t
	}
	switch c := s.text[s.at]; {
	case c == '(':
		t.kind = tokenOpen
	case c == ')':
		t.kind = tokenClose
	case c == '!' && s.operator(s.at) == "":
		t.kind = tokenNot
	case c == '"':
		t.kind, t.text, t.quoted = tokenWord, s.quotes(), true
		return t
	default:
		t.kind, t.text = tokenWord, s.plain()
		return s.comparison(t)
	}
	s.at++
	return t
}

// plain reads a word without quotes.
func (s *scanner) plain() string {
	from := s.at
	for s.at < len(s.text) && !blank(s.text[s.at]) && s.text[s.at] != '(' && s.text[s.at] != ')' && s.operator(s.at) == "" {
		s.at++
	}
	return s.text[from:s.at]
}

// operator returns the operator at an offset, or "".
func (s *scanner) operator(at int) string {
	rest := s.text[at:]
	for _, op := range [...]string{"!=", "!~", ">=", "<=", "=", "~", ">", "<"} {
		if strings.HasPrefix(rest, op) {
			return op
		}
	}
	return ""
}

// comparison turns a word into a comparison if an operator follows, with blanks or without.
func (s *scanner) comparison(t token) token {
	before := s.at
	s.blanks()
	if s.at >= len(s.text) || s.operator(s.at) == "" {
		s.at = before
		return t
	}
	t.kind, t.op = tokenCompare, s.operator(s.at)
	s.at += len(t.op)
	if s.at > before+len(t.op) { // else written together: then the value is too
		s.blanks()
	}
	t.value, t.asIs = s.value(&t)
	return t
}

// value reads the value after an operator. A regular expression may contain parentheses in pairs.
func (s *scanner) value(t *token) (text string, quoted bool) {
	t.valued = s.at
	if s.at < len(s.text) && s.text[s.at] == '"' {
		return s.quotes(), true
	}
	from, depth := s.at, 0
	for ; s.at < len(s.text) && !blank(s.text[s.at]); s.at++ {
		if s.text[s.at] == '(' {
			depth++
		}
		if s.text[s.at] == ')' {
			if depth == 0 {
				break
			}
			depth--
		}
	}
	t.empty = s.at == from
	return s.text[from:s.at], false
}

// quotes reads a quoted text. The end of the text closes it: it is still being typed.
func (s *scanner) quotes() string {
	var b strings.Builder
	for s.at++; s.at < len(s.text); s.at++ {
		c := s.text[s.at]
		if c == '"' {
			s.at++
			break
		}
		if c == '\\' && s.at+1 < len(s.text) && (s.text[s.at+1] == '"' || s.text[s.at+1] == '\\') {
			s.at++
			c = s.text[s.at]
		}
		b.WriteByte(c)
	}
	return b.String()
}

// Quote writes text as a word or a value that is parsed as the same text.
func Quote(text string) string {
	plain := text != "" && text != "?" && !strings.EqualFold(text, "and") && !strings.EqualFold(text, "or")
	if plain && !strings.ContainsAny(text, " \t\r\n()!=~<>\"\\") {
		return text
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
