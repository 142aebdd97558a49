package paint

import (
	"image/color"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"coordtop/sources/verdict"
)

// Style is a ready SGR sequence; "" is the terminal's own look. Text is written as
// style + text + reset. Lip Gloss makes the sequences, once: rendering every cell with
// it was measured to cost ten times as much as writing a kept prefix.
type Style string

// Reset ends text of a style.
const Reset = "\x1b[0m"

// Theme names styles and glyphs by meaning. It uses the 16 colours of the terminal and sets no
// background for ordinary text, so that it works on light and on dark terminals. No meaning is in
// a colour alone.
type Theme struct {
	Dim      Style // labels, units, everything normal or old
	Strong   Style // names at the top of a pane, important numbers
	Good     Style
	Warn     Style
	Bad      Style
	Alarm    Style // filled: trouble in a strip
	Accent   Style // what would happen next, what we hold
	Selected Style // the cursor row
	Badge    Style // READ-ONLY
	Notice   Style // PAUSED and the like: filled, not dangerous
	Title    Style // the environment
	Heading  Style
	Tab      Style   // the tab of the screen that is shown
	Over     Style   // if set, it replaces every style: everything on the screen is old
	owners   []Style // lines of a strip, by hue
	letters  []Style // the owner's letter, by hue

	Glyphs
}

// Glyphs are the characters that are not letters. Each is one cell wide.
type Glyphs struct {
	ASCII                                 bool
	Cursor                                string                    // in the first cell of the cursor row
	Marked                                string                    // behind the state of a row that the person marked
	Marks                                 [verdict.Blind + 1]string // states, by severity
	Up, Connecting, Down                  string                    // health of a source
	Rule, Tee, Upright                    string
	barFull, barEmpty                     string // a lease's or semaphore's bar
	Run, Idle, Break, Dark, Many, Crisis  string // a strip; Run "": the owner's letter; Break: a short gap
	RunLeft, RunRight                     string // a run that takes half of a cell
	Unread, Unknown                       string // what was not read of a recording; the first cell of it
	Two                                   string // two owners of what one may own
	Acted                                 string // an action of ours
	Dot, Arrow, AtLeast, AtMost, ellipsis string
	About                                 string    // what is inferred, or lies somewhere between two looks
	Corners                               [4]string // of a frame: top left, top right, bottom left, bottom right
	Bullet, Pending                       string    // a line of what would happen; a row that we are acting on
	Eighths                               [8]string // of a cell: lease left
	Levels                                [7]string // permits taken, while there are others
	Full                                  string    // no permit was left
	Outage                                string    // between the ends of a long trouble in a strip; ASCII has Crisis there
}

func unicodeGlyphs() Glyphs {
	return Glyphs{
		Cursor: " ", Marked: "+",
		Marks: [...]string{verdict.Bad: "!", verdict.Warn: "▲", verdict.Well: "●", verdict.Free: "○", verdict.Blind: "?"},
		Up:    "●", Connecting: "◌", Down: "■",
		Rule: "─", Tee: "┬", Upright: "│",
		barFull: "━", barEmpty: "┄",
		RunLeft: "╸", RunRight: "╺",
		Run: "━", Idle: "─", Break: "╌", Dark: "┄", Unread: "░", Unknown: "?", Many: "*", Crisis: "!", Two: "2", Acted: "X",
		Dot: "·", Arrow: "←", AtLeast: "≥", AtMost: "≤", ellipsis: "…", About: "~",
		Corners: [4]string{"╭", "╮", "╰", "╯"}, Bullet: "•", Pending: "◌",
		Eighths: [...]string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
		Levels:  [...]string{"▁", "▂", "▂", "▃", "▄", "▄", "▅"}, Full: "▆", Outage: "═",
	}
}

func asciiGlyphs() Glyphs {
	return Glyphs{
		ASCII:  true,
		Cursor: ">", Marked: "+",
		Marks: [...]string{verdict.Bad: "!", verdict.Warn: "^", verdict.Well: "o", verdict.Free: "-", verdict.Blind: "?"},
		Up:    "o", Connecting: ".", Down: "x",
		Rule: "-", Tee: "+", Upright: "|",
		barFull: "#", barEmpty: ".",
		Run: "", Idle: "_", Break: "~", Dark: ".", Unread: "?", Unknown: "?", Many: "*", Crisis: "!", Two: "2", Acted: "X",
		Dot: "-", Arrow: "<-", AtLeast: ">", AtMost: "<", ellipsis: "$", About: "~",
		Corners: [4]string{"+", "+", "+", "+"}, Bullet: "*", Pending: "%",
		Eighths: [...]string{"1", "2", "3", "4", "5", "6", "7", "8"},
		Levels:  [...]string{"1", "2", "3", "4", "5", "6", "7"}, Full: "8", Outage: "!",
	}
}

// newTheme returns the theme of a terminal with 16 colours, or with none.
func newTheme(ascii, noColor bool, titleColor string) Theme {
	t := Theme{Glyphs: unicodeGlyphs()}
	if ascii {
		t.Glyphs = asciiGlyphs()
	}
	if noColor {
		t.Glyphs.Cursor = ">"
		t.plain()
		return t
	}
	plain := lipgloss.NewStyle()
	bold := plain.Bold(true)
	filled := bold.Foreground(lipgloss.BrightWhite)
	note := plain.Foreground(lipgloss.Black)
	t.Dim, t.Strong, t.Heading = kept(plain.Foreground(lipgloss.BrightBlack)), kept(bold), kept(bold)
	t.Good, t.Warn = kept(plain.Foreground(lipgloss.Green)), kept(plain.Foreground(lipgloss.Yellow))
	t.Bad, t.Accent = kept(bold.Foreground(lipgloss.Red)), kept(plain.Foreground(lipgloss.Cyan))
	t.Alarm, t.Title = kept(filled.Background(lipgloss.Red)), titleStyle(titleColor)
	t.Selected, t.Badge = kept(plain.Reverse(true)), kept(note.Background(lipgloss.White))
	t.Notice, t.Tab = kept(note.Background(lipgloss.Yellow)), kept(bold.Underline(true))
	for _, c := range ownerColors() {
		t.owners = append(t.owners, kept(plain.Foreground(c)))
		t.letters = append(t.letters, kept(bold.Foreground(c)))
	}
	return t
}

// ownerColors returns the colours of owners, in the order of their hues. Red and yellow mean
// trouble and are not among them.
func ownerColors() []color.Color {
	return []color.Color{
		lipgloss.Blue, lipgloss.Magenta, lipgloss.Cyan, lipgloss.Green,
		lipgloss.BrightBlue, lipgloss.BrightMagenta, lipgloss.BrightCyan, lipgloss.BrightGreen,
	}
}

// plain sets the styles for NO_COLOR, which allows bold, faint and reverse.
func (t *Theme) plain() {
	bold, reverse := lipgloss.NewStyle().Bold(true), lipgloss.NewStyle().Reverse(true)
	t.Dim, t.Strong, t.Heading = kept(lipgloss.NewStyle().Faint(true)), kept(bold), kept(bold)
	t.Warn, t.Bad, t.Accent = kept(bold), kept(bold), kept(bold)
	t.Alarm, t.Selected, t.Badge = kept(reverse), kept(reverse), kept(reverse)
	t.Title, t.Notice = kept(bold.Reverse(true)), kept(bold.Reverse(true))
	t.Tab = kept(bold.Underline(true))
	t.owners, t.letters = []Style{""}, []Style{kept(bold)}
}

// kept returns the sequence that begins text of this style.
func kept(s lipgloss.Style) Style {
	prefix, _, _ := strings.Cut(s.Render("x"), "x")
	return Style(prefix)
}

// titleStyle returns the style of the environment's name on the named colour. An unknown colour
// gives magenta: never red, which means trouble, unless the person asked for it.
func titleStyle(name string) Style {
	const magenta, white, gray = 5, 7, 8
	ground := slices.Index(strings.Fields("black red green yellow blue magenta cyan white gray bright-red bright-green bright-yellow "+
		"bright-blue bright-magenta bright-cyan bright-white"), strings.ToLower(name))
	if ground < 0 {
		ground = magenta
	}
	ink := lipgloss.BrightWhite
	if ground == white || ground > gray {
		ink = lipgloss.Black
	}
	return kept(lipgloss.NewStyle().Bold(true).Foreground(ink).Background(ansi.BasicColor(ground)))
}

// ownerLine returns the style of an owner's run in a strip.
func (t *Theme) ownerLine(hue uint8) Style { return t.owners[int(hue)%len(t.owners)] }

// OwnerLetter returns the style of an owner's letter.
func (t *Theme) OwnerLetter(hue uint8) Style { return t.letters[int(hue)%len(t.letters)] }

// Letter returns the letter of the owner with this hue: A for the first owner of a row.
func Letter(hue uint8) string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	i := int(hue) % len(letters)
	return letters[i : i+1]
}

// Severity returns the style of a state's mark.
func (t *Theme) Severity(s verdict.Severity) Style {
	switch s {
	case verdict.Bad:
		return t.Bad
	case verdict.Warn:
		return t.Warn
	}
	return t.Dim
}

// Schemes lists the themes that a person can ask for.
func Schemes() []string { return []string{"auto", "dark", "light"} }

// Scheme holds the options and the facts about the terminal from which a Theme is made.
type Scheme struct {
	Asked    string // one of Schemes; "" is auto
	Plain    bool   // no colours
	Title    string // colour of the environment's name
	Told     bool   // the terminal has answered whether its background is Dark
	Dark     bool
	Complete lipgloss.CompleteFunc // chooses by the terminal's number of colours; nil: not known yet
}

// background reports whether the background is dark, and whether that is known.
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

// suit replaces grey, and on a light background also other colours, by ones that are easier to read,
// if the terminal has more than 16 colours. It sets no background.
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
