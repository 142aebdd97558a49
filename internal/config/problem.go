package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// Problem is one thing that is wrong with a config.
type Problem struct {
	Line, Column int    // from 1; 0: the problem has no position in a file
	Path         string // path of the key, such as "sources[1].url"; "": the whole file
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

// maxShown is the most problems that are shown. A file with more is probably not a config.
const maxShown = 100

// Error returns a line for each problem, at most maxShown, with the file's path before it.
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

// Err sorts the problems and returns them. It returns nil for an empty list.
func (p *Problems) Err() error {
	if len(p.List) == 0 {
		return nil
	}
	slices.SortStableFunc(p.List, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return p
}

// places has the position in the file of the value at each path.
type places struct {
	at    map[string]position
	shown map[string]string // form in problems of paths that end in a key of the person's own
}

// position is the beginning of a value, counted from 1. The zero position is not known.
type position struct{ line, column int }

func positionOf(n ast.Node) position {
	if t := firstToken(n); t != nil && t.Position != nil {
		return position{t.Position.Line, t.Position.Column}
	}
	return position{}
}

// firstToken returns the token with which a value begins. The parser itself gives a block of keys the position of its
// first colon.
func firstToken(n ast.Node) *token.Token {
	switch t := n.(type) {
	case *ast.MappingNode:
		if !t.IsFlowStyle && len(t.Values) > 0 {
			return t.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return t.Key.GetToken()
	}
	return n.GetToken()
}

// problem returns a Problem about the value at a path. If the file does not have the path, the position is that of the
// mapping that lacks it.
func (p *places) problem(path, text string) Problem {
	near := path
	for near != "" && p.at[near] == (position{}) {
		near = near[:max(strings.LastIndexAny(near, ".["), 0)]
	}
	return Problem{Line: p.at[near].line, Column: p.at[near].column, Path: p.show(path), Text: text}
}

// show returns a path for a problem. It replaces a key of the person's own, for example a label's, with words, because
// such a key may be a secret in the wrong place; only its line is reported.
func (p *places) show(path string) string {
	if s, ok := p.shown[path]; ok {
		return s
	}
	i := strings.LastIndexAny(path, ".[")
	if i < 0 {
		return path
	}
	return p.show(path[:i]) + path[i:]
}
