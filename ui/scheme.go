package ui

import (
	"image/color"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
)

// schemes are the themes that can be asked for.
func schemes() []string { return []string{"auto", "dark", "light"} }

// paint is what decides over the colours beside what the person's terminal makes of the
// sixteen.
type paint struct {
	asked    string // one of schemes; "" is auto
	told     bool   // the terminal has said what its background is
	dark     bool
	complete lipgloss.CompleteFunc // picks by how many colours the terminal has; nil: not known yet
}

// background is what the colours have to be read on; known false: nobody said.
func (p *paint) background() (dark, known bool) {
	switch p.asked {
	case "dark":
		return true, true
	case "light":
		return false, true
	}
	return p.dark, p.told
}

// Init asks the terminal for its background where that is wanted. The answer comes later,
// or never. What else comes by itself comes from the pump.
func (m *model) Init() tea.Cmd {
	if m.plain || m.paint.asked == "dark" || m.paint.asked == "light" {
		return nil
	}
	return tea.RequestBackgroundColor
}

// setScheme takes another theme.
func (m *model) setScheme(name string) tea.Cmd {
	name = strings.ToLower(name)
	if !slices.Contains(schemes(), name) {
		m.say("themes: " + strings.Join(schemes(), ", "))
		return nil
	}
	m.paint.asked = name
	m.repaint()
	m.say("theme " + name)
	return m.Init()
}

// repaint makes the styles anew.
func (m *model) repaint() {
	m.th = newTheme(m.th.glyphs.ascii, m.plain, m.titleColor)
	if dark, known := m.paint.background(); known && !m.plain && m.paint.complete != nil {
		m.th.suit(dark, m.paint.complete)
	}
}

// suit takes greys, and on light ground also other colours, that are easier to read than
// those of the sixteen, where the terminal has more than sixteen. Nothing gets a
// background of ours.
func (t *theme) suit(dark bool, complete lipgloss.CompleteFunc) {
	plain := lipgloss.NewStyle()
	pick := func(basic color.Color, better string) style {
		c := lipgloss.Color(better)
		return kept(plain.Foreground(complete(basic, c, c)))
	}
	if dark {
		t.dim = pick(lipgloss.BrightBlack, "245")
		return
	}
	t.dim = pick(lipgloss.BrightBlack, "242")
	t.good, t.warn = pick(lipgloss.Green, "28"), pick(lipgloss.Yellow, "130")
	t.accent = pick(lipgloss.Cyan, "30")
	basic := ownerColors()
	for i, better := range []string{"26", "90", "30", "28", "62", "133", "37", "64"} {
		c := lipgloss.Color(better)
		c = complete(basic[i], c, c)
		t.owners[i], t.letters[i] = kept(plain.Foreground(c)), kept(plain.Bold(true).Foreground(c))
	}
}
