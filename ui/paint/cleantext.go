package paint

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"coordtop/internal/ground/format"
)

// fit cuts s to w cells, with an ellipsis if it cuts something, and returns the number of cells.
func (th *Theme) fit(s string, w int) (string, int) {
	if w <= 0 {
		return "", 0
	}
	if ascii(s) {
		if len(s) <= w {
			return s, len(s)
		}
		if th.Glyphs.ASCII {
			return s[:w-1] + th.ellipsis, w
		}
	} else if th.Glyphs.ASCII {
		return th.fit(toASCII(s), w)
	}
	n := format.Width(s)
	if n > w {
		s = strings.TrimRight(format.Fit(s, w), " ")
		n = format.Width(s)
	}
	return s, n
}

// Cut cuts s to w cells, with an ellipsis if it cuts something.
func (th *Theme) Cut(s string, w int) string {
	s, _ = th.fit(s, w)
	return s
}

// FitWords is Cut for text of several words: the text ends with a whole word if one fits, and the
// words of "pid 30122" are cut together.
func (th *Theme) FitWords(s string, w int) string {
	if format.Width(s) <= w {
		return s
	}
	words := strings.Fields(s)
	n := len(words) - 1
	for n > 0 && format.Width(strings.Join(words[:n], " "))+1 > w {
		n--
	}
	if n > 1 && words[n][0] >= '0' && words[n][0] <= '9' {
		n--
	}
	if n < 1 {
		return th.Cut(s, w)
	}
	return strings.Join(words[:n], " ") + th.ellipsis
}

// leastWords returns the shortest text that FitWords returns without cutting a word: the first word
// and the number behind it, which alone tells "conn 17" from "conn 18".
func (th *Theme) leastWords(s string) string {
	words := strings.Fields(s)
	n := min(len(words), 1)
	if len(words) > 1 && words[1][0] >= '0' && words[1][0] <= '9' {
		n = 2
	}
	return strings.Join(words[:n], " ") + When(n < len(words), th.ellipsis)
}

// FitName cuts s in the middle: the ends of a long name tell it from its neighbours.
func (th *Theme) FitName(s string, w int) string {
	if len(s) <= w || w < 8 || !ascii(s) {
		return s
	}
	head := (w - 1) / 3
	return s[:head] + th.ellipsis + s[len(s)-(w-1-head):]
}

func ascii(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// toASCII replaces each character that is not ASCII by a question mark.
func toASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return '?'
		}
		return r
	}, s)
}

// cleanLimit bounds the text from outside that is cleaned for one cell, in bytes.
const cleanLimit = 512

// Clean makes text from outside safe and short enough for a cell.
func Clean(s string) string { return format.Clean(s, cleanLimit) }

// CleanLabel is Clean for the name of an owner.
func CleanLabel(s string) string { return format.Label(s, cleanLimit) }

// Wrap cuts clean text at blanks into lines of at most w cells; longer words are cut anywhere. It
// returns no line for an empty text.
func Wrap(text string, w int) []string {
	if text == "" {
		return nil
	}
	const hyphen, kept = "-", "\u2011" // ansi.Wrap cuts names at hyphens
	text = ansi.Wrap(strings.ReplaceAll(text, hyphen, kept), max(w, 8), "")
	return strings.Split(strings.ReplaceAll(text, kept, hyphen), "\n")
}
