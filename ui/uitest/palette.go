package uitest

import (
	"fmt"
	"image/color"

	"github.com/charmbracelet/x/ansi"
)

// Palette is what a terminal makes of colours: six hexadecimal digits each.
type Palette struct {
	Ink, Ground string
	Sixteen     [16]string
}

// Dark returns the colours of a dark terminal.
func Dark() Palette {
	return Palette{Ink: "d4d4d4", Ground: "1b1d21", Sixteen: [16]string{
		"1b1d21", "d0404a", "5fa84a", "d3a431", "4f8fdc", "b070cf", "3ba7a7", "d4d4d4",
		"7d828a", "f0727b", "8cc97a", "ecc865", "82b4f2", "d09be8", "72cccc", "ffffff",
	}}
}

// Light returns the colours of a light terminal.
func Light() Palette {
	return Palette{Ink: "26282c", Ground: "fbfbf9", Sixteen: [16]string{
		"26282c", "c02633", "3d7a22", "9a6700", "1f63b8", "8a3fa8", "0f7378", "d9d9d6",
		"767b82", "d8434f", "4f9130", "b27d12", "3f7fd0", "a65cc2", "2c8f94", "ffffff",
	}}
}

// ground is the palette's ground as a terminal tells it.
func (p Palette) ground() color.Color { return ansi.XParseColor("#" + p.Ground) }

// hex is the colour in this palette; nil is the one that stands for none.
func (p Palette) hex(c color.Color, none string) string {
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
