package uitest

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"
)

func TestAPictureHasWhatTheCellsHold(t *testing.T) {
	t.Parallel()
	s := NewScreen(t, 40, 3)
	if _, err := io.WriteString(s, "plain \x1b[1;31m<b&d>\x1b[0m\n\x1b[7mreversed\x1b[0m ━━━ ▄\n\x1b[48;5;2m  \x1b[0m"); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := s.SVG(&b, Light()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`>plain</text>`, `fill="#` + Light().Sixteen[1] + `" textLength="40" lengthAdjust="spacingAndGlyphs" font-weight="bold">&lt;b&amp;d&gt;</text>`,
		`<rect x="10" y="27" width="64" height="17" fill="#` + Light().Ink + `"/>`, `fill="#` + Light().Ground + `" textLength="64"`,
		`<path d="M82 35H106"`, `<path d="M114 44v-8.5h8V44z"`,
		`<rect x="10" y="44" width="16" height="17" fill="#` + Light().Sixteen[2] + `"/>`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
	if err := xml.Unmarshal([]byte(b.String()), new(struct{})); err != nil {
		t.Error(err)
	}
}
