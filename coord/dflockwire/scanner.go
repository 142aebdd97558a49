package dflockwire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"time"

	"coordtop/internal/ground/failure"
)

// scanner reads JSON from a stream and keeps only one text at a time. After its first error
// it reads nothing more, and returns zero values.
type scanner struct {
	r    *bufio.Reader
	left int // bytes that may still come
	err  error
	text []byte // the last string or word; the next one overwrites it
}

const (
	mostText  = 4 << 10 // bytes of a string or a word; a key has 256 at most
	mostDepth = 32      // nesting of values that are skipped
)

// malformed sets the error that the answer is not the JSON of stats.
func (s *scanner) malformed() { s.fail(unexpected("the object of stats")) }

func (s *scanner) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// spend counts bytes that were read.
func (s *scanner) spend(n int, err error) {
	if err != nil {
		s.fail(failure.With(ErrHungUp, err))
	}
	if s.left -= n; s.left < 0 {
		s.fail(fmt.Errorf("an answer of more than %d MB: %w", mostStats>>20, ErrEndless))
	}
}

// next returns the next byte that is not a blank; 0 after an error.
func (s *scanner) next() byte {
	for s.err == nil {
		b, err := s.r.ReadByte()
		if s.spend(1, err); s.err == nil && b != ' ' && b != '\t' && b != '\r' {
			return b
		}
	}
	return 0
}

func (s *scanner) back() {
	if s.err == nil {
		s.left, s.err = s.left+1, s.r.UnreadByte()
	}
}

func (s *scanner) expect(want byte) {
	if s.next() != want {
		s.malformed()
	}
}

// word reads up to a blank or a delimiter: a number, true, false, null.
func (s *scanner) word() []byte {
	s.text = s.text[:0]
	for b := s.next(); s.err == nil; {
		if b <= ' ' || b == ',' || b == '}' || b == ']' {
			s.back()
			break
		}
		if s.text = append(s.text, b); len(s.text) > mostText {
			s.malformed()
		}
		var err error
		b, err = s.r.ReadByte()
		s.spend(1, err)
	}
	if s.err != nil {
		s.text = s.text[:0]
	}
	return s.text
}

// string reads a text after its first quote.
func (s *scanner) string() []byte {
	s.text = s.text[:0]
	for s.err == nil {
		part, err := s.r.ReadSlice('"')
		if err == bufio.ErrBufferFull || len(s.text)+len(part) > mostText || bytes.IndexByte(part, '\n') >= 0 {
			s.malformed()
		}
		s.spend(len(part), err)
		s.text = append(s.text, part...)
		body := bytes.TrimSuffix(s.text, []byte(`"`))
		if (len(body)-len(bytes.TrimRight(body, `\`)))%2 == 1 {
			continue // the quote belongs to the text
		}
		if bytes.IndexByte(body, '\\') >= 0 {
			var plain string
			if json.Unmarshal(append([]byte{'"'}, s.text...), &plain) != nil {
				s.malformed()
			}
			body = []byte(plain)
		}
		if s.err == nil {
			return body
		}
	}
	return nil
}

// object calls each with the name of each member; each must read the value. The name is valid until each begins to
// read.
func (s *scanner) object(each func(name []byte)) {
	s.expect('{')
	s.elements('}', func(first byte) {
		if first != '"' {
			s.malformed()
		}
		name := s.string()
		s.expect(':')
		if s.err == nil {
			each(name)
		}
	})
}

// list calls each for each element, which it must read. null is an empty list.
func (s *scanner) list(each func()) {
	switch b := s.next(); b {
	case '[':
		s.elements(']', func(byte) {
			s.back()
			each()
		})
	case 'n':
		s.word()
	default:
		s.malformed()
	}
}

// elements calls each with the first byte of each comma-separated element; each must read the rest of the element.
func (s *scanner) elements(end byte, each func(first byte)) {
	b := s.next()
	for b != end && s.err == nil {
		each(b)
		if b = s.next(); b == ',' {
			if b = s.next(); b == end {
				s.malformed()
			}
		} else if b != end {
			s.malformed()
		}
	}
}

// skip reads a value of any type. depth counts the values around it.
func (s *scanner) skip(depth int) {
	if depth > mostDepth {
		s.malformed()
	}
	switch b := s.next(); b {
	case '{':
		s.back()
		s.object(func([]byte) { s.skip(depth + 1) })
	case '[':
		s.back()
		s.list(func() { s.skip(depth + 1) })
	case '"':
		s.string()
	default:
		s.back()
		s.word()
	}
}

// unsigned reads a number; null is 0.
func (s *scanner) unsigned() uint64 {
	text := s.word()
	if string(text) == "null" {
		return 0
	}
	n, err := strconv.ParseUint(string(text), 10, 64)
	if err != nil {
		s.malformed()
	}
	return n
}

// count reads a number that fits into an int.
func (s *scanner) count() int {
	n := s.unsigned()
	if n > math.MaxInt64 {
		s.malformed()
	}
	return int(n & math.MaxInt64)
}

// seconds reads a length of time; 0 if it is negative.
func (s *scanner) seconds() time.Duration {
	n, err := strconv.ParseFloat(string(s.word()), 64)
	if err != nil {
		s.malformed()
	}
	return time.Duration(max(0, min(n*float64(time.Second), math.MaxInt64/2)))
}
