package respwire

import (
	"bytes"
	"strconv"

	"coordtop/internal/ground/format"
)

// Limits bound the replies that are passed on, see Defaults.
type Limits struct {
	Bytes      int // of a reply, and of all replies between two writes
	Values     int // of a reply, and of all replies between two writes
	Depth      int // of nested values; a value that is in no other is at depth 1
	Line       int // bytes of a line, without its end
	Attributes int // of a reply
	List       int // elements of a pushed list; a longer list is passed on as an empty one; 0: any number
}

// Defaults returns the limits that the package's documentation explains.
func Defaults() Limits {
	return Limits{Bytes: 16 << 20, Values: 1 << 18, Depth: 16, Line: 64 << 10, Attributes: 16, List: 50_000}
}

// longestNumber is the number of bytes in the longest header of a length: a sign and 19 digits.
const longestNumber = 20

// scanner checks a stream of replies. The zero value with limits is ready.
type scanner struct {
	limits Limits

	line    []byte // of the current header or simple value, as far as it has arrived
	payload int    // bytes still to come of a string, including its end
	open    []int  // values still to come of each aggregate that is open, the outermost first
	stream  bool   // the server only pushes: each message counts by itself
	held    bool   // line was not passed on yet
	skip    int    // elements of a list that are not passed on

	reply  tally // of the current reply
	answer tally // of all since the client last wrote
}

// tally counts the announced parts of a reply.
type tally struct{ bytes, values, attributes int }

// asked is called when the client has written. It resets the count of the replies between two writes.
func (s *scanner) asked() { s.answer = tally{} }

// scan reads p. It returns the bytes that may be passed on, which may lie in p. wrong describes what is wrong with the
// byte after them; "" if nothing is wrong.
func (s *scanner) scan(p []byte) (good []byte, wrong string) {
	good = p[:0]
	if s.held { // the bytes to pass on may not fit into p
		good = make([]byte, 0, len(s.line)+len(p))
	}
	for n := 0; n < len(p); {
		if s.payload > 0 {
			took := min(s.payload, len(p)-n)
			s.payload -= took
			if s.skip == 0 {
				good = append(good, p[n:n+took]...)
			}
			n += took
			if s.payload == 0 {
				s.ended()
			}
			continue
		}
		rest := p[n:]
		end := bytes.IndexByte(rest, '\n')
		if end < 0 {
			first := rest[0]
			if len(s.line) > 0 {
				first = s.line[0]
			}
			if wrong := s.lineOK(first, len(s.line)+len(rest)-1); wrong != "" {
				return good, wrong
			}
			if len(s.line) == 0 {
				s.held = s.listComes() && rest[0] == '*'
			}
			s.line = append(s.line, rest...)
			if s.skip == 0 && !s.held {
				good = append(good, rest...)
			}
			return good, ""
		}
		line, pass := rest[:end+1], rest[:end+1]
		if len(s.line) > 0 {
			s.line = append(s.line, line...)
			line = s.line
			if s.held {
				pass = line
			}
		}
		if pass, wrong = s.take(line, pass); wrong != "" {
			return good, wrong
		}
		good = append(good, pass...)
		s.line, s.held = s.line[:0], false
		n += end + 1
	}
	return good, ""
}

// take reads a whole line with its end. unsent is the part of the line that was not passed on yet; take returns the
// bytes to pass on instead of unsent.
func (s *scanner) take(line, unsent []byte) ([]byte, string) {
	if s.skip > 0 {
		return nil, s.header(line)
	}
	if size := s.longList(line); size > 0 {
		s.skip = size
		return []byte("*0\r\n"), s.count(len(line), 0)
	}
	return unsent, s.header(line)
}

// listComes reports whether the next value is the last one of a message that is pushed,
// which in an invalidation has the names of keys.
func (s *scanner) listComes() bool {
	return s.stream && s.limits.List > 0 && s.skip == 0 && len(s.open) == 1 && s.open[0] == 1
}

// longList returns the number of elements of a list that is too long to be passed on; 0 for any other line.
func (s *scanner) longList(line []byte) int {
	if !s.listComes() || line[0] != '*' || len(line) > longestNumber || len(line) < 3 || line[len(line)-2] != '\r' {
		return 0
	}
	if size, wrong := length('*', line[1:len(line)-2]); wrong == "" && size > s.limits.List && size <= mostSkipped {
		return size
	}
	return 0
}

// mostSkipped bounds a list that is not passed on: no server has more keys in one command.
const mostSkipped = 100_000_000

// ended counts the end of a string.
func (s *scanner) ended() {
	if s.skip > 1 {
		s.skip--
		s.reply, s.answer = tally{}, tally{}
		return
	}
	s.skip = 0
	s.complete()
}

// lineOK returns what is wrong with the first byte of a line or the number of bytes after it; "" if nothing is wrong.
func (s *scanner) lineOK(first byte, rest int) string {
	switch first {
	case '+', '-', ':', '_', ',', '#', '(':
		if rest > s.limits.Line+len("\r\n") {
			return "a line of more than " + format.Count(s.limits.Line) + " bytes"
		}
	case '$', '=', '!', '*', '~', '>', '%', '|':
		if rest > longestNumber+len("\r\n") {
			return "a length of more than " + strconv.Itoa(longestNumber) + " digits"
		}
	default:
		return "a line that begins with " + strconv.QuoteRuneToASCII(rune(first))
	}
	return ""
}

// header reads a whole line with its end, and returns what is wrong with it; "" if nothing is wrong.
func (s *scanner) header(line []byte) string {
	if wrong := s.lineOK(line[0], len(line)-1); wrong != "" {
		return wrong
	}
	if len(line) < 3 || line[len(line)-2] != '\r' {
		return "a line that does not end as Redis ends lines"
	}
	if wrong := s.count(len(line), 0); wrong != "" {
		return wrong
	}
	kind, text := line[0], line[1:len(line)-2]
	if s.skip > 0 && (kind != '$' || bytes.HasPrefix(text, []byte("-"))) {
		return "a list of keys with something else in it"
	}
	switch kind {
	case '$', '=', '!':
		return s.beginString(kind, text)
	case '*', '~', '>', '%', '|':
		return s.beginAggregate(kind, text)
	}
	s.complete()
	return ""
}

func (s *scanner) beginString(kind byte, text []byte) string {
	size, wrong := length(kind, text)
	if wrong != "" {
		return wrong
	}
	if size < 0 {
		s.complete()
		return ""
	}
	if size > s.limits.Bytes {
		return "a text of " + format.Count(size) + " bytes"
	}
	if wrong := s.count(size+2, 0); wrong != "" {
		return wrong
	}
	s.payload = size + 2
	return ""
}

func (s *scanner) beginAggregate(kind byte, text []byte) string {
	size, wrong := length(kind, text)
	if wrong != "" {
		return wrong
	}
	if size > s.limits.Values || kind == '>' && size < 1 { // a push has at least a name
		return kindNames[kind] + " of " + format.Count(size) + " elements"
	}
	if kind == '%' || kind == '|' {
		size *= 2
	}
	if wrong := s.count(0, max(size, 0)); wrong != "" {
		return wrong
	}
	if len(s.open) >= s.limits.Depth {
		return "values nested more than " + strconv.Itoa(s.limits.Depth) + " deep"
	}
	if kind == '|' { // an attribute stands before a value and is not a value
		s.reply.attributes++
		if s.reply.attributes > s.limits.Attributes {
			return "more than " + strconv.Itoa(s.limits.Attributes) + " attributes of one reply"
		}
		if size > 0 {
			s.open = append(s.open, size+1) // the attribute ends with the value after it
		}
		return ""
	}
	if size > 0 {
		s.open = append(s.open, size)
		return ""
	}
	s.complete()
	return ""
}

// count adds announced bytes and values, and returns the limit that the sums break; "" if they break no limit.
func (s *scanner) count(size, values int) string {
	for _, t := range []*tally{&s.reply, &s.answer} {
		t.bytes += size
		t.values += values
		switch {
		case t.bytes > s.limits.Bytes:
			return "an answer of more than " + format.Count(s.limits.Bytes) + " bytes"
		case t.values > s.limits.Values:
			return "an answer of more than " + format.Count(s.limits.Values) + " values"
		}
	}
	return ""
}

// complete ends a value, and the aggregates that end with it.
func (s *scanner) complete() {
	for i := len(s.open) - 1; i >= 0; i-- {
		s.open[i]--
		if s.open[i] > 0 {
			return
		}
		s.open = s.open[:i]
	}
	s.reply = tally{}
}

// length reads the number in a header; -1 stands for nil.
func length(kind byte, text []byte) (n int, wrong string) {
	n, err := strconv.Atoi(string(text))
	if err != nil || n < -1 || text[0] == '+' || text[0] == '-' && n != -1 {
		return 0, kindNames[kind] + " of the length " + strconv.QuoteToASCII(string(text))
	}
	return n, ""
}

// kindNames are names of values by the first byte of their header (constants).
var kindNames = map[byte]string{
	'*': "an array", '$': "a text", '=': "a text", '!': "a text", '~': "a set", '>': "a push", '%': "a map", '|': "an attribute",
}
