package ui

import (
	"image/color"
	"strings"

	"charm.land/lipgloss/v2"
)

// style is a ready SGR sequence; "" is the terminal's own look. Text is written as
// style + text + reset. Lip Gloss makes the sequences, once: rendering every cell with
// it was measured to cost ten times as much as writing a kept prefix.
type style string

const reset = "\x1b[0m"

// theme names styles and glyphs by what they mean. It knows 16 colours, which the
// person chose for their terminal, and never a background of its own: so it is right
// on light and on dark. In all of them the text alone says everything.
type theme struct {
	dim      style // labels, units, what is well or old
	strong   style // names that lead a pane, numbers that count
	good     style
	warn     style
	bad      style
	alarm    style // filled: trouble in a strip
	accent   style // what would happen next
	selected style // the cursor row
	badge    style // READ-ONLY
	notice   style // PAUSED and the like: filled, not dangerous
	title    style // the environment
	heading  style
	tab      style   // the screen that is shown, among the others
	owners   []style // lines of a strip, by hue
	letters  []style // the owner's letter, by hue

	glyphs
}

// glyphs are the characters that are not letters. Each is one cell wide.
type glyphs struct {
	ascii                                 bool
	cursor                                string               // in the first cell of the cursor row
	marked                                string               // behind the state of a row that the person marked
	marks                                 [sevBlind + 1]string // states, by severity
	up, connecting, down                  string               // health of a source
	rule, tee, upright                    string
	barFull, barEmpty                     string // a lease's or semaphore's bar
	run, idle, brk, dark, many, crisis    string // a strip; run "": the owner's letter; brk: a short gap
	dot, arrow, atLeast, atMost, ellipsis string
	about                                 string    // what is inferred, or lies somewhere between two looks
	corners                               [4]string // of a frame: top left, top right, bottom left, bottom right
	bullet, pending                       string    // a line of what would happen; a row that we are acting on
	eighths                               [8]string // of a cell: lease left
	levels                                [7]string // permits taken, while there are others
	full                                  string    // no permit was left
}

func unicodeGlyphs() glyphs {
	return glyphs{
		cursor: " ", marked: "+",
		marks: [...]string{sevBad: "!", sevWarn: "▲", sevWell: "●", sevFree: "○", sevBlind: "?"},
		up:    "●", connecting: "◌", down: "■",
		rule: "─", tee: "┬", upright: "│",
		barFull: "━", barEmpty: "┄",
		run: "━", idle: "─", brk: "╌", dark: "┄", many: "*", crisis: "!",
		dot: "·", arrow: "←", atLeast: "≥", atMost: "≤", ellipsis: "…", about: "~",
		corners: [4]string{"╭", "╮", "╰", "╯"}, bullet: "•", pending: "◌",
		eighths: [...]string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
		levels:  [...]string{"▁", "▂", "▂", "▃", "▄", "▄", "▅"}, full: "▆",
	}
}

func asciiGlyphs() glyphs {
	return glyphs{
		ascii:  true,
		cursor: ">", marked: "+",
		marks: [...]string{sevBad: "!", sevWarn: "^", sevWell: "o", sevFree: "-", sevBlind: "?"},
		up:    "o", connecting: ".", down: "x",
		rule: "-", tee: "+", upright: "|",
		barFull: "#", barEmpty: ".",
		run: "", idle: "_", brk: "~", dark: ".", many: "*", crisis: "!",
		dot: "-", arrow: "<-", atLeast: ">", atMost: "<", ellipsis: "$", about: "~",
		corners: [4]string{"+", "+", "+", "+"}, bullet: "*", pending: "%",
		eighths: [...]string{"1", "2", "3", "4", "5", "6", "7", "8"},
		levels:  [...]string{"1", "2", "3", "4", "5", "6", "7"}, full: "8",
	}
}

// newTheme returns the styles for a terminal of 16 colours, or of none.
func newTheme(ascii, noColor bool, titleColor string) theme {
	t := theme{glyphs: unicodeGlyphs()}
	if ascii {
		t.glyphs = asciiGlyphs()
	}
	if noColor {
		t.glyphs.cursor = ">"
		t.plain()
		return t
	}
	plain := lipgloss.NewStyle()
	bold := plain.Bold(true)
	filled := bold.Foreground(lipgloss.BrightWhite)
	note := plain.Foreground(lipgloss.Black)
	t.dim, t.strong, t.heading = kept(plain.Foreground(lipgloss.BrightBlack)), kept(bold), kept(bold)
	t.good, t.warn = kept(plain.Foreground(lipgloss.Green)), kept(plain.Foreground(lipgloss.Yellow))
	t.bad, t.accent = kept(bold.Foreground(lipgloss.Red)), kept(plain.Foreground(lipgloss.Cyan))
	t.alarm, t.title = kept(filled.Background(lipgloss.Red)), titleStyle(titleColor)
	t.selected, t.badge = kept(plain.Reverse(true)), kept(note.Background(lipgloss.White))
	t.notice, t.tab = kept(note.Background(lipgloss.Yellow)), kept(bold.Underline(true))
	for _, c := range ownerColors() {
		t.owners = append(t.owners, kept(plain.Foreground(c)))
		t.letters = append(t.letters, kept(bold.Foreground(c)))
	}
	return t
}

// ownerColors are the colours of owners, in the order of their hues. Red and yellow are
// never among them: those mean trouble.
func ownerColors() []color.Color {
	return []color.Color{
		lipgloss.Blue, lipgloss.Magenta, lipgloss.Cyan, lipgloss.Green,
		lipgloss.BrightBlue, lipgloss.BrightMagenta, lipgloss.BrightCyan, lipgloss.BrightGreen,
	}
}

// plain fills the styles for NO_COLOR, which leaves bold, faint and reverse.
func (t *theme) plain() {
	bold, reverse := lipgloss.NewStyle().Bold(true), lipgloss.NewStyle().Reverse(true)
	t.dim, t.strong, t.heading = kept(lipgloss.NewStyle().Faint(true)), kept(bold), kept(bold)
	t.warn, t.bad, t.accent = kept(bold), kept(bold), kept(bold)
	t.alarm, t.selected, t.badge = kept(reverse), kept(reverse), kept(reverse)
	t.title, t.notice = kept(bold.Reverse(true)), kept(bold.Reverse(true))
	t.tab = kept(bold.Underline(true))
	t.owners, t.letters = []style{""}, []style{kept(bold)}
}

// kept returns the sequence that begins text of this style.
func kept(s lipgloss.Style) style {
	prefix, _, _ := strings.Cut(s.Render("x"), "x")
	return style(prefix)
}

// titleStyle is the environment's name on its colour. A name that is no colour gives
// magenta: never red, which here means trouble, unless the person asked for it.
func titleStyle(name string) style {
	dark := map[string]color.Color{
		"black": lipgloss.Black, "red": lipgloss.Red, "green": lipgloss.Green, "yellow": lipgloss.Yellow, "blue": lipgloss.Blue,
		"magenta": lipgloss.Magenta, "cyan": lipgloss.Cyan, "gray": lipgloss.BrightBlack,
	}
	light := map[string]color.Color{
		"white": lipgloss.White, "bright-white": lipgloss.BrightWhite, "bright-red": lipgloss.BrightRed,
		"bright-green": lipgloss.BrightGreen, "bright-yellow": lipgloss.BrightYellow, "bright-blue": lipgloss.BrightBlue,
		"bright-magenta": lipgloss.BrightMagenta, "bright-cyan": lipgloss.BrightCyan,
	}
	s := lipgloss.NewStyle().Bold(true)
	name = strings.ToLower(name)
	if c, ok := light[name]; ok {
		return kept(s.Foreground(lipgloss.Black).Background(c))
	}
	c, ok := dark[name]
	if !ok {
		c = lipgloss.Magenta
	}
	return kept(s.Foreground(lipgloss.BrightWhite).Background(c))
}

// ownerLine is the style of an owner's run in a strip.
func (t *theme) ownerLine(hue uint8) style { return t.owners[int(hue)%len(t.owners)] }

// ownerLetter is the style of an owner's letter.
func (t *theme) ownerLetter(hue uint8) style { return t.letters[int(hue)%len(t.letters)] }

// letter is the letter of the owner with this hue: A for the first owner of a row.
func letter(hue uint8) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	i := int(hue) % len(letters)
	return letters[i : i+1]
}

// severity is the style of a state's mark.
func (t *theme) severity(s severity) style {
	switch s {
	case sevBad:
		return t.bad
	case sevWarn:
		return t.warn
	}
	return t.dim
}
