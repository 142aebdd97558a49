package paint

import (
	"image/color"

	"charm.land/lipgloss/v2"
)

// Schemes are the themes that can be asked for.
func Schemes() []string { return []string{"auto", "dark", "light"} }

// Scheme is what decides over the colours beside what the person's terminal makes of the
// sixteen.
type Scheme struct {
	Asked    string // one of Schemes; "" is auto
	Plain    bool   // no colours
	Title    string // colour of the environment's name
	Told     bool   // the terminal has said what its background is
	Dark     bool
	Complete lipgloss.CompleteFunc // picks by how many colours the terminal has; nil: not known yet
}

// background is what the colours have to be read on; known false: nobody said.
func (p *Scheme) background() (dark, known bool) {
	switch p.Asked {
	case "dark":
		return true, true
	case "light":
		return false, true
	}
	return p.Dark, p.Told
}

// Theme makes the styles.
func (p *Scheme) Theme(ascii bool) Theme {
	th := newTheme(ascii, p.Plain, p.Title)
	if dark, known := p.background(); known && !p.Plain && p.Complete != nil {
		th.suit(dark, p.Complete)
	}
	return th
}

// Asks reports whether the terminal has to be asked for its background.
func (p *Scheme) Asks() bool { return !p.Plain && p.Asked != "dark" && p.Asked != "light" }

// suit takes greys, and on light ground also other colours, that are easier to read than
// those of the sixteen, where the terminal has more than sixteen. Nothing gets a
// background of ours.
func (t *Theme) suit(dark bool, complete lipgloss.CompleteFunc) {
	plain := lipgloss.NewStyle()
	pick := func(basic color.Color, better string) Style {
		c := lipgloss.Color(better)
		return kept(plain.Foreground(complete(basic, c, c)))
	}
	if dark {
		t.Dim = pick(lipgloss.BrightBlack, "245")
		return
	}
	t.Dim = pick(lipgloss.BrightBlack, "242")
	t.Good, t.Warn = pick(lipgloss.Green, "28"), pick(lipgloss.Yellow, "130")
	t.Accent = pick(lipgloss.Cyan, "30")
	basic := ownerColors()
	for i, better := range []string{"26", "90", "30", "28", "62", "133", "37", "64"} {
		c := lipgloss.Color(better)
		c = complete(basic[i], c, c)
		t.owners[i], t.letters[i] = kept(plain.Foreground(c)), kept(plain.Bold(true).Foreground(c))
	}
}
