package glob

import (
	"errors"
	"strings"
)

// Pattern is a pattern of * ? [a-z] [^a], and \ before a literal byte. Like Redis it matches bytes, not characters.
type Pattern string

// Literal returns the bytes before the first wildcard. exact reports that the pattern has no wildcard, so that it is a
// name.
func (g Pattern) Literal() (prefix string, exact bool) {
	var b strings.Builder
	for i := 0; i < len(g); i++ {
		switch g[i] {
		case '*', '?', '[':
			return b.String(), false
		case '\\':
			if i+1 < len(g) {
				i++
			}
		}
		b.WriteByte(g[i])
	}
	return b.String(), true
}

// Check returns an error if Redis reads a pattern differently than a person means it. For Redis, a set that is not
// closed ends with the pattern, and an empty set matches nothing.
func (g Pattern) Check() error {
	for i := 0; i < len(g); i++ {
		switch {
		case g[i] == '\\' && i+1 == len(g):
			return errors.New(`a \ at its end: write \\ for the character`)
		case g[i] == '\\':
			i++
		case g[i] == '[':
			set, width := class(string(g[i+1:]))
			if !set.ended {
				return errors.New(`a [ without its ]: write \[ for the character`)
			}
			if len(set.pairs) == 0 && !set.not {
				return errors.New("[] with nothing in it fits no name")
			}
			i += width
		}
	}
	return nil
}

// Match reports whether Redis would list name for this pattern. It takes time proportional to the product of the
// lengths at worst, which matters because names come from strangers.
func (g Pattern) Match(name string) bool {
	if name == "" {
		return g == "" || g == "*" // the server does not list it for "**"
	}
	p, s := 0, 0
	star, resume := -1, 0
	for s < len(name) {
		if p < len(g) && g[p] == '*' {
			star, resume = p, s
			p++
			continue
		}
		if width, ok := g.one(p, name[s]); ok {
			p += width
			s++
			continue
		}
		if star < 0 {
			return false
		}
		resume++
		p, s = star+1, resume
	}
	for p < len(g) && g[p] == '*' {
		p++
	}
	return p == len(g)
}

// one matches one byte against the element at p and returns the element's width.
func (g Pattern) one(p int, b byte) (width int, ok bool) {
	if p >= len(g) {
		return 0, false
	}
	switch g[p] {
	case '?':
		return 1, true
	case '[':
		c, after := class(string(g[p+1:]))
		return 1 + after, c.has(b)
	case '\\':
		if p+1 < len(g) {
			return 2, g[p+1] == b
		}
	}
	return 1, g[p] == b
}

// set is the content of a pair of brackets.
type set struct {
	not   bool
	ended bool      // a bracket closes it; false: the end of the pattern does
	pairs [][2]byte // first and last byte of each range
}

func (c set) has(b byte) bool {
	for _, p := range c.pairs {
		if p[0] <= b && b <= p[1] {
			return !c.not
		}
	}
	return c.not
}

// class reads the set at the beginning of p, after its opening bracket. width counts its bytes, including the closing
// bracket. A set that is never closed ends with the pattern.
func class(p string) (c set, width int) {
	i := 0
	if i < len(p) && p[i] == '^' {
		c.not = true
		i++
	}
	for i < len(p) && p[i] != ']' {
		switch {
		case p[i] == '\\' && i+1 < len(p):
			c.pairs = append(c.pairs, [2]byte{p[i+1], p[i+1]})
			i += 2
		case i+2 < len(p) && p[i+1] == '-':
			c.pairs = append(c.pairs, [2]byte{min(p[i], p[i+2]), max(p[i], p[i+2])})
			i += 3
		default:
			c.pairs = append(c.pairs, [2]byte{p[i], p[i]})
			i++
		}
	}
	if i < len(p) {
		c.ended = true
		i++
	}
	return c, i
}

// Escape returns the pattern that matches name and nothing else.
func Escape(name string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`).Replace(name)
}
