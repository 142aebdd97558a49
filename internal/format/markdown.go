package format

import "strings"

// markdown escapes what begins or ends markup. A comment parts @ and # from what follows: forges look
// for names and numbers of issues in what is rendered, where a backslash is gone, and notify people.
var markdown = func() *strings.Replacer {
	pairs := []string{"://", `:\//`, "www.", `www\.`, "@", `\@<!-- -->`, "#", `\#<!-- -->`} // the first two would become links
	for _, c := range "\\`*_[]<>|~&" {
		pairs = append(pairs, string(c), `\`+string(c))
	}
	return strings.NewReplacer(pairs...)
}()

// Markdown returns s, which must be clean, as it stands in a line or a cell of a table of Markdown:
// nothing of it means anything there, is a link, or notifies anybody.
func Markdown(s string) string { return markdown.Replace(s) }
