package config

import (
	"fmt"

	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// The parser takes memory by the square of how deep a text is nested, and of how many keys
// are written below each other: 64 kB of brackets are gigabytes. So its input is bounded
// before.
const (
	maxDepth  = 16     // of a config: 5
	maxTokens = 30_000 // about three a line
)

// tokensOf takes a text apart for the parser, or says why it is too much for it.
func tokensOf(text []byte) (token.Tokens, *Problem) {
	marks := 0
	for _, c := range text {
		switch c {
		case '[', ']', '{', '}', ',', '&', '*', '%', '@', '`', '!', '?':
			marks++
		}
	}
	if marks > 2*maxTokens {
		return nil, &Problem{Text: "too many brackets, commas and other marks: too much for a config"}
	}
	tokens := lexer.Tokenize(string(text))
	if len(tokens) > maxTokens {
		return nil, &Problem{Text: fmt.Sprintf("more than %d words and marks: too much for a config", maxTokens)}
	}
	depth, line, inLine := 0, 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, inLine = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		case token.SequenceEntryType, token.MappingKeyType:
			inLine++
		}
		if depth > maxDepth || inLine > maxDepth || t.Position.IndentNum > 8*maxDepth {
			return nil, &Problem{Line: line, Column: t.Position.Column, Text: fmt.Sprintf("more than %d levels deep: too much for a config", maxDepth)}
		}
	}
	return tokens, nil
}
