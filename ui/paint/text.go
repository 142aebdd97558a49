package paint

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"coordtop/internal/ground/format"
)

// fit cuts s to w cells, with an ellipsis where something is missing, and returns the
// cells taken.
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

// Cut is fit for text that is put somewhere later.
func (th *Theme) Cut(s string, w int) string {
	s, _ = th.fit(s, w)
	return s
}

// FitWords is Cut for text of several words: it ends with a whole word where one fits, and
// of "pid 30122" both go where the number does.
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

// leastWords is as little of s as FitWords leaves without cutting a word: its first word, and the
// number behind it, which alone tells "conn 17" from "conn 18".
func (th *Theme) leastWords(s string) string {
	words := strings.Fields(s)
	n := min(len(words), 1)
	if len(words) > 1 && words[1][0] >= '0' && words[1][0] <= '9' {
		n = 2
	}
	least := strings.Join(words[:n], " ")
	if n < len(words) {
		least += th.ellipsis
	}
	return least
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

// toASCII puts a question mark in place of each character that an ASCII terminal does
// not have.
func toASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= utf8.RuneSelf {
			return '?'
		}
		return r
	}, s)
}

// cleanLimit is how much of a stranger's text is looked at for one cell.
const cleanLimit = 512

// Clean makes text from outside fit for a cell.
func Clean(s string) string { return format.Clean(s, cleanLimit) }

// CleanLabel is Clean for the name of an owner.
func CleanLabel(s string) string { return format.Label(s, cleanLimit) }

// Wrap cuts clean text at blanks into lines of at most w cells; a word that is longer is cut
// anywhere. None where there is no text.
func Wrap(text string, w int) []string {
	if text == "" {
		return nil
	}
	const hyphen, kept = "-", "\u2011" // ansi.Wrap cuts names at hyphens
	text = ansi.Wrap(strings.ReplaceAll(text, hyphen, kept), max(w, 8), "")
	return strings.Split(strings.ReplaceAll(text, kept, hyphen), "\n")
}
