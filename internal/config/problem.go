package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a config.
type Problem struct {
	Line, Column int    // from 1; 0: the problem has no place in a file
	Path         string // of the key, as "sources[1].url"; "": the whole file
	Text         string // what is wrong and what to do
}

// String returns "line:column: path: text", without the parts that are not known.
func (p Problem) String() string {
	var b strings.Builder
	if p.Line > 0 {
		fmt.Fprintf(&b, "%d:%d: ", p.Line, p.Column)
	}
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Text)
	return b.String()
}

// Problems is every problem of one config, in the order of the file.
type Problems struct {
	Path string // of the file
	List []Problem
}

// maxShown is how many problems are shown: who has more has another file in mind.
const maxShown = 100

// Error returns one line a problem, each with the file's path before it; of very many the
// first.
func (p *Problems) Error() string {
	lines := make([]string, min(len(p.List), maxShown))
	for i, one := range p.List[:len(lines)] {
		lines[i] = one.String()
		if p.Path != "" {
			lines[i] = p.Path + ":" + lines[i]
			if one.Line == 0 {
				lines[i] = p.Path + ": " + one.String()
			}
		}
	}
	if more := len(p.List) - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d problems more", more))
	}
	return strings.Join(lines, "\n")
}

// Err sorts the problems and returns them, or nil if there are none.
func (p *Problems) Err() error {
	if len(p.List) == 0 {
		return nil
	}
	slices.SortStableFunc(p.List, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return p
}
