package rediscoord

import "bytes"

// shortestRandom is the length in characters from which hex or base64 can be random.
const shortestRandom = 16

// opaque reports whether b is random by its looks: a UUID, 16 or more hex digits, or 16
// or more characters of base64 in either alphabet. Host names are written in the same
// characters, so base64 must also look drawn by lot: padding, both cases, or digits and
// letters that change places often.
func opaque(b []byte) bool {
	if isUUID(b) {
		return true
	}
	if len(b) < shortestRandom || len(b) > longestLegible {
		return false
	}
	body := bytes.TrimRight(b, "=")
	padding := len(b) - len(body)
	if padding > 2 {
		return false
	}
	shape := shapeOf(body)
	if shape.hex && padding == 0 {
		return true
	}
	return shape.base64 && (padding > 0 || shape.lower && shape.upper || !shape.marks && shape.changes >= 4)
}

// isUUID reports whether b is a UUID with dashes, of any version and case.
func isUUID(b []byte) bool {
	if len(b) != 36 {
		return false
	}
	for i, c := range b {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if c != '-' {
				return false
			}
		} else if !isHex(c) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// shape is what a text is made of.
type shape struct {
	hex, base64  bool // all characters belong to it
	lower, upper bool // has such letters
	marks        bool // has the two characters of base64 that are neither letter nor digit
	changes      int  // from digit to letter and back
}

func shapeOf(b []byte) shape {
	s := shape{hex: true, base64: true}
	for i, c := range b {
		s.hex = s.hex && isHex(c)
		switch {
		case 'a' <= c && c <= 'z':
			s.lower = true
		case 'A' <= c && c <= 'Z':
			s.upper = true
		case c == '+', c == '/', c == '-', c == '_':
			s.marks = true
		case !isDigit(c):
			s.base64 = false
		}
		if i > 0 && isDigit(c) != isDigit(b[i-1]) {
			s.changes++
		}
	}
	return s
}
