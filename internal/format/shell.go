package format

import "strings"

// plainWord is what no shell does anything with, wherever it stands in a word. Left out are, among
// others, ~ and =, which begin a path and a command in zsh, and %, which begins a job in fish.
const plainWord = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:@"

// ShellWord returns s as one word of a command line, which bash, dash, zsh and fish read as s and as
// nothing else. Each ' and \ stands outside of the quotes: in fish a \ within them quotes the next
// one. No quotes are empty, which zsh may read as a quote (RC_QUOTES). It cannot make a word of all
// bytes: what Clean would change is no text to paste, and a NUL ends an argument.
func ShellWord(s string) string {
	if s == "" {
		return "''"
	}
	if strings.Trim(s, plainWord) == "" {
		return s
	}
	var b strings.Builder
	for s != "" {
		if s[0] == '\'' || s[0] == '\\' {
			b.WriteString(`\` + s[:1])
			s = s[1:]
			continue
		}
		end := strings.IndexAny(s, `'\`)
		if end < 0 {
			end = len(s)
		}
		b.WriteString("'" + s[:end] + "'")
		s = s[end:]
	}
	return b.String()
}
