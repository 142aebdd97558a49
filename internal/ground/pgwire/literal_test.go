package pgwire_test

import (
	"testing"

	"coordtop/internal/ground/pgwire"
)

func TestALiteralNamesItsTextWhateverIsInIt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "''", "tx 1": "'tx 1'", "it's": "'it''s'", "''": "''''''", `a\b`: `E'a\\b'`, "a\nb'c": `E'a\x0ab''c'`, "\x1b[2J": `E'\x1b[2J'`, "\x7f1": `E'\x7f1'`,
		"日本": "'日本'", "日\t本": `E'日\x09本'`, "\u202ea\u0085": `E'\xe2\x80\xaea\xc2\x85'`, "a\xffb": `E'a\xffb'`,
	} {
		if got := pgwire.Literal(text); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestAnIdentifierIsQuoted(t *testing.T) {
	for name, want := range map[string]string{
		"jobs":        `"jobs"`,
		`say "x"; --`: `"say ""x""; --"`,
		"a\x00b":      `"ab"`,
	} {
		if got := pgwire.Identifier(name); got != want {
			t.Errorf("Identifier(%q) = %s, want %s", name, got, want)
		}
	}
}
