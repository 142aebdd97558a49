package format_test

import (
	"regexp"
	"strings"
	"testing"

	"coordtop/internal/ground/format"
)

func TestNothingOfATextIsMarkupOrNotifiesAnybody(t *testing.T) {
	t.Parallel()
	comment := "<!-- -->"
	rendered := func(s string) string { // without escapes and comments
		return regexp.MustCompile(`\\([^A-Za-z0-9\s])`).ReplaceAllString(strings.ReplaceAll(s, comment, ""), "$1")
	}
	for _, text := range []string{
		"", "app:leader:x", "@team", "a@team", "@org/team", "ops@example.org", "#1", "owner/repo#12", "GH-1", "[x](y)", "![x](y)", "<img>", "<!-- a", "-->", "|", `\|`, `\`, `\\|`, "`", "``a`", `a\`,
		"*a*", "_a_", "~~a~~", "&lt;", "&#64;team", "https://a.example", "www.a.example", "+ a", "{a}", "@@a", "##1", "a|b|c", "日本@team",
	} {
		got := format.Markdown(text)
		if rendered(got) != text {
			t.Errorf("%q is %q, which is rendered as %q", text, got, rendered(got))
		}
		bare := strings.ReplaceAll(got, comment, "\x00")
		if regexp.MustCompile(`[@#][\w/]`).MatchString(bare) {
			t.Errorf("%q notifies somebody: %q", text, got)
		}
		if regexp.MustCompile(`://|www\.\w`).MatchString(got) {
			t.Errorf("%q is a link: %q", text, got)
		}
		for i := 0; i < len(bare); i++ {
			if bare[i] == '\\' {
				i++ // and what it escapes
			} else if strings.ContainsRune("`*_[]<>|~&#@", rune(bare[i])) {
				t.Errorf("%q is markup: %q", text, got)
			}
		}
	}
}
