package ui

import "strings"

// style is a ready SGR sequence; "" is the terminal's own look. Text is written as
// style + text + reset.
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
	owners   []style // lines of a strip, by hue
	letters  []style // the owner's letter, by hue

	glyphs
}

// glyphs are the characters that are not letters. Each is one cell wide.
type glyphs struct {
	ascii                                 bool
	cursor                                string               // in the first cell of the cursor row
	marks                                 [sevBlind + 1]string // states, by severity
	up, connecting, down                  string               // health of a source
	rule, tee, upright                    string
	barFull, barEmpty                     string // a lease's or semaphore's bar
	run, idle, dark, many, crisis         string // a strip; run "": the owner's letter
	dot, arrow, atLeast, atMost, ellipsis string
}

func unicodeGlyphs() glyphs {
	return glyphs{
		cursor: " ",
		marks:  [...]string{sevBad: "!", sevWarn: "▲", sevWell: "●", sevFree: "○", sevBlind: "?"},
		up:     "●", connecting: "◌", down: "■",
		rule: "─", tee: "┬", upright: "│",
		barFull: "━", barEmpty: "┄",
		run: "━", idle: "─", dark: "┄", many: "*", crisis: "!",
		dot: "·", arrow: "←", atLeast: "≥", atMost: "≤", ellipsis: "…",
	}
}

func asciiGlyphs() glyphs {
	return glyphs{
		ascii:  true,
		cursor: ">",
		marks:  [...]string{sevBad: "!", sevWarn: "^", sevWell: "o", sevFree: "-", sevBlind: "?"},
		up:     "o", connecting: ".", down: "x",
		rule: "-", tee: "+", upright: "|",
		barFull: "#", barEmpty: ".",
		run: "", idle: "_", dark: ".", many: "*", crisis: "!",
		dot: "-", arrow: "<-", atLeast: ">", atMost: "<", ellipsis: "~",
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
	t.dim, t.strong, t.heading = sgr("90"), sgr("1"), sgr("1")
	t.good, t.warn, t.bad, t.accent = sgr("32"), sgr("33"), sgr("31;1"), sgr("36")
	t.alarm = sgr("1;97;41")
	t.selected, t.badge, t.notice = sgr("7"), sgr("30;47"), sgr("30;43")
	t.title = sgr("1;97;" + titleBackground(titleColor))
	for _, c := range []string{"34", "35", "36", "32", "94", "95", "96", "92"} {
		t.owners = append(t.owners, sgr(c))
		t.letters = append(t.letters, sgr("1;"+c))
	}
	return t
}

// plain fills the styles for NO_COLOR, which leaves bold, faint and reverse.
func (t *theme) plain() {
	t.dim, t.strong, t.heading = sgr("2"), sgr("1"), sgr("1")
	t.warn, t.bad, t.accent = sgr("1"), sgr("1"), sgr("1")
	t.alarm, t.selected, t.title = sgr("7"), sgr("7"), sgr("1;7")
	t.badge, t.notice = sgr("7"), sgr("1;7")
	t.owners, t.letters = []style{""}, []style{sgr("1")}
}

func sgr(codes string) style { return style("\x1b[" + codes + "m") }

// titleBackground returns the SGR code of a colour's name. Any other name is
// magenta: never red, which here means trouble, unless the person asked for it.
func titleBackground(name string) string {
	for i, n := range []string{"black", "red", "green", "yellow", "blue", "magenta", "cyan"} {
		if strings.EqualFold(n, name) {
			return "4" + string(rune('0'+i))
		}
	}
	return "45"
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
