package config

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// places say where in a file the value of each path stands.
type places struct {
	at    map[string]position
	shown map[string]string // paths as problems show them, where they end in a key that the person made up
}

// position is the beginning of a value, from 1; zero: it is not known.
type position struct{ line, column int }

func positionOf(n ast.Node) position {
	if t := firstToken(n); t != nil && t.Position != nil {
		return position{t.Position.Line, t.Position.Column}
	}
	return position{}
}

// firstToken is where a value begins. The parser gives a block of keys the place of
// its first colon.
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

// problem is one with the value of a path, at the nearest place that was written: a key that
// is missing is reported at the mapping that lacks it.
func (p *places) problem(path, text string) Problem {
	near := path
	for near != "" && p.at[near] == (position{}) {
		near = near[:max(strings.LastIndexAny(near, ".["), 0)]
	}
	return Problem{Line: p.at[near].line, Column: p.at[near].column, Path: p.show(path), Text: text}
}

// show returns a path with words in the place of a key that the person made up, as those of labels. Such a key
// may be a secret in the wrong place, so a problem with it is reported by its line only.
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
