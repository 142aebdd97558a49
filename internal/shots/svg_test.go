package shots

import (
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"

	"coordtop/ui/uitest"
)

// The measures of a cell in the units of a picture, and the font: the first of the list
// that the reader has.
const (
	cellWide  = 8
	cellHigh  = 17
	baseline  = 13
	margin    = 10
	typeSize  = 13.3 // at which a cell of the second font is as wide as ours
	typeFaces = "ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,'Liberation Mono',monospace"
)

// look is all of a cell but its text.
type look struct {
	ink, ground             string
	bold, underline, italic bool
}

// run is cells in a row that look alike.
type run struct {
	look
	x, cells int
	text     strings.Builder
}

// writeSVG draws a screen as it is now. Text stays text; what looks alike is one run, whose
// width is fixed, so that cells stay in their columns in any font.
func writeSVG(w io.Writer, s *uitest.Screen, p palette) error {
	var b strings.Builder
	s.Drawn(func(em *vt.Emulator) { draw(&b, em, p) })
	_, err := io.WriteString(w, b.String())
	return err
}

func draw(b *strings.Builder, em *vt.Emulator, p palette) {
	wide, high := em.Width(), em.Height()
	fmt.Fprintf(b, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d"`+
		` font-family="%[3]s" font-size="%[4]v" xml:space="preserve">`+"\n",
		wide*cellWide+2*margin, high*cellHigh+2*margin, typeFaces, typeSize)
	fmt.Fprintf(b, `<rect width="100%%" height="100%%" rx="6" fill="#%s"/>`+"\n", p.Ground)
	for y := range high {
		runs := runsOf(em, y, wide, p)
		for _, r := range joined(runs, func(a, b *run) bool { return a.ground == b.ground }) {
			if r.ground != p.Ground {
				fmt.Fprintf(b, `<rect x="%d" y="%d" width="%d" height="%d" fill="#%s"/>`+"\n",
					margin+r.x*cellWide, margin+y*cellHigh, r.cells*cellWide, cellHigh, r.ground)
			}
		}
		for _, r := range runs {
			r.draw(b, margin+y*cellHigh)
		}
	}
	b.WriteString("</svg>\n")
}

// draw writes the run's text, if it has any, into the line whose top is at y.
func (r *run) draw(b *strings.Builder, y int) {
	if d := r.drawing(y); d != "" {
		fmt.Fprintf(b, `<path d="%s" %s/>`+"\n", d, r.pen())
		return
	}
	text := strings.TrimRight(r.text.String(), " ")
	bare := strings.TrimLeft(text, " ")
	if bare == "" {
		return
	}
	lead := len(text) - len(bare)
	cells := r.cells - lead - (r.text.Len() - len(text))
	fmt.Fprintf(b, `<text x="%d" y="%d" fill="#%s"`, margin+(r.x+lead)*cellWide, y+baseline, r.ink)
	if cells > 1 {
		fmt.Fprintf(b, ` textLength="%d" lengthAdjust="spacingAndGlyphs"`, cells*cellWide)
	}
	for _, a := range []struct {
		on   bool
		attr string
	}{{r.bold, ` font-weight="bold"`}, {r.italic, ` font-style="italic"`}, {r.underline, ` text-decoration="underline"`}} {
		if a.on {
			b.WriteString(a.attr)
		}
	}
	b.WriteByte('>')
	_ = xml.EscapeText(b, []byte(bare)) // a Builder takes everything
	b.WriteString("</text>\n")
}

// first is what the run is made of, where it is no letters.
func (r *run) first() rune {
	c, _ := utf8.DecodeRuneInString(r.text.String())
	return c
}

// eighth is how many eighths of its height a block fills; 0: it is none.
func eighth(c rune) int {
	if c >= '▁' && c <= '█' {
		return int(c-'▁') + 1
	}
	return 0
}

// drawing is the path of a run of lines or blocks, which no font is trusted to join; "":
// it is something else.
func (r *run) drawing(top int) string {
	text := r.text.String()
	cells := r.cells - (len(text) - len(strings.TrimRight(text, " ")))
	left, wide := margin+r.x*cellWide, cells*cellWide
	right, middle, bottom := left+wide, top+cellHigh/2, top+cellHigh
	across := left + cellWide/2
	switch c := r.first(); {
	case eighth(c) > 0:
		return fmt.Sprintf("M%d %dv-%.1fh%dV%dz", left, bottom, float64(cellHigh*eighth(c))/8, wide, bottom)
	case strings.ContainsRune("─━┄", c):
		return fmt.Sprintf("M%d %dH%d", left, middle, right)
	case c == '│':
		return fmt.Sprintf("M%d %dV%d", across, top, bottom)
	case c == '┬':
		return fmt.Sprintf("M%d %dH%dM%d %dV%d", left, middle, right, across, middle, bottom)
	case c == '╭':
		return fmt.Sprintf("M%d %dQ%[1]d %[3]d %[4]d %[3]d", across, bottom, middle, right)
	case c == '╮':
		return fmt.Sprintf("M%d %dQ%[1]d %[3]d %[4]d %[3]d", across, bottom, middle, left)
	case c == '╰':
		return fmt.Sprintf("M%d %dQ%[1]d %[3]d %[4]d %[3]d", across, top, middle, right)
	case c == '╯':
		return fmt.Sprintf("M%d %dQ%[1]d %[3]d %[4]d %[3]d", across, top, middle, left)
	}
	return ""
}

// pen is how the run's path is drawn.
func (r *run) pen() string {
	switch c := r.first(); {
	case eighth(c) > 0:
		return `fill="#` + r.ink + `"`
	case c == '━':
		return `stroke="#` + r.ink + `" stroke-width="2.4"`
	case c == '┄':
		return `stroke="#` + r.ink + `" stroke-dasharray="2 2"`
	}
	return `fill="none" stroke="#` + r.ink + `"`
}

// runsOf cuts a line into runs. Letters and drawn lines are kept apart, because many
// fonts draw the second with the glyphs of another font, of another width; so are words
// with a wide gap between them.
func runsOf(em *vt.Emulator, y, wide int, p palette) []*run {
	var runs []*run
	kind, gap := rune(0), 0
	for x := 0; x < wide; x++ {
		c := em.CellAt(x, y)
		if c == nil {
			c = &uv.EmptyCell
		}
		text, cells := c.Content, max(c.Width, 1)
		if text == "" {
			text = " "
		}
		l, k := lookOf(p, &c.Style), kindOf(text)
		last := len(runs) - 1
		if text == " " {
			gap++
		}
		if last < 0 || runs[last].look != l && (text != " " || runs[last].ground != l.ground || l.underline || runs[last].underline) ||
			text != " " && (k != kind || gap > 1) {
			runs = append(runs, &run{look: l, x: x})
			last++
		}
		if text != " " {
			kind, gap = k, 0
		}
		runs[last].text.WriteString(text)
		runs[last].cells += cells
		x += cells - 1
	}
	return runs
}

// kindOf tells letters from drawn lines and from each other glyph that stands alone.
func kindOf(text string) rune {
	c, _ := utf8.DecodeRuneInString(text)
	if c < utf8.RuneSelf {
		return 0
	}
	return c
}

// lookOf is how a cell looks in this palette.
func lookOf(p palette, st *uv.Style) look {
	l := look{
		ink: hex(p, st.Fg, p.Ink), ground: hex(p, st.Bg, p.Ground),
		bold: st.Attrs&uv.AttrBold != 0, italic: st.Attrs&uv.AttrItalic != 0, underline: st.Underline != 0,
	}
	if st.Attrs&uv.AttrFaint != 0 {
		l.ink = p.Sixteen[8]
	}
	if st.Attrs&uv.AttrReverse != 0 {
		l.ink, l.ground = l.ground, l.ink
	}
	return l
}

// joined puts runs together that are the same in one respect; their texts are left out.
func joined(runs []*run, same func(a, b *run) bool) []*run {
	var out []*run
	for _, r := range runs {
		if n := len(out) - 1; n >= 0 && same(out[n], r) {
			out[n].cells += r.cells
			continue
		}
		out = append(out, &run{look: r.look, x: r.x, cells: r.cells})
	}
	return out
}

// palette is what a terminal makes of colours: six hexadecimal digits each.
type palette struct {
	Ink, Ground string
	Sixteen     [16]string
}

// dark returns the colours of a dark terminal.
func dark() palette {
	return palette{Ink: "d4d4d4", Ground: uitest.Ground, Sixteen: [16]string{
		"1b1d21", "d0404a", "5fa84a", "d3a431", "4f8fdc", "b070cf", "3ba7a7", "d4d4d4",
		"7d828a", "f0727b", "8cc97a", "ecc865", "82b4f2", "d09be8", "72cccc", "ffffff",
	}}
}

// light returns the colours of a light terminal.
func light() palette {
	return palette{Ink: "26282c", Ground: "fbfbf9", Sixteen: [16]string{
		"26282c", "c02633", "3d7a22", "9a6700", "1f63b8", "8a3fa8", "0f7378", "d9d9d6",
		"767b82", "d8434f", "4f9130", "b27d12", "3f7fd0", "a65cc2", "2c8f94", "ffffff",
	}}
}

// hex is the colour in this palette; nil is the one that stands for none.
func hex(p palette, c color.Color, none string) string {
	switch c := c.(type) {
	case nil:
		return none
	case ansi.BasicColor:
		return p.Sixteen[c&15]
	case ansi.IndexedColor:
		if c < 16 {
			return p.Sixteen[c]
		}
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("%02x%02x%02x", r>>8, g>>8, b>>8)
}

func TestAPictureHasWhatTheCellsHold(t *testing.T) {
	t.Parallel()
	s := uitest.NewScreen(t, 40, 3)
	if _, err := io.WriteString(s, "plain \x1b[1;31m<b&d>\x1b[0m\n\x1b[7mreversed\x1b[0m ━━━ ▄\n\x1b[48;5;2m  \x1b[0m"); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := writeSVG(&b, s, light()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`>plain</text>`, `fill="#` + light().Sixteen[1] + `" textLength="40" lengthAdjust="spacingAndGlyphs" font-weight="bold">&lt;b&amp;d&gt;</text>`,
		`<rect x="10" y="27" width="64" height="17" fill="#` + light().Ink + `"/>`, `fill="#` + light().Ground + `" textLength="64"`,
		`<path d="M82 35H106"`, `<path d="M114 44v-8.5h8V44z"`,
		`<rect x="10" y="44" width="16" height="17" fill="#` + light().Sixteen[2] + `"/>`,
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in\n%s", want, b.String())
		}
	}
	if err := xml.Unmarshal([]byte(b.String()), new(struct{})); err != nil {
		t.Error(err)
	}
}
