package manpage

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"coordtop/internal/headless"
	"coordtop/internal/help"
)

// Of returns the manual page of a command and those below it.
func Of(root *cobra.Command, version string) string {
	m := &page{}
	m.macro("TH", strings.ToUpper(root.Name()), "1", "", root.Name()+" "+version, "User Commands")
	m.macro("SH", "NAME")
	m.text(root.Name() + " - " + root.Short)
	m.macro("SH", "SYNOPSIS")
	all := Commands(root)
	for _, c := range all {
		m.bold(synopsis(c))
		m.macro("br")
	}
	m.macro("SH", "DESCRIPTION")
	m.text(root.Long)
	m.options(root)
	m.macro("SH", "COMMANDS")
	for _, c := range all[1:] {
		m.macro("SS", synopsis(c))
		m.text(OwnHelp(c))
		m.options(c)
	}
	for _, t := range help.Topics() {
		m.topic(t)
		if t.Name == "json" {
			m.document(headless.JSONHelp(""))
		}
	}
	m.macro("SH", "EXAMPLES")
	for _, c := range all {
		if c.Example != "" {
			m.literal(c.Example)
		}
	}
	return m.String()
}

// topic writes a topic of the help as a section.
func (m *page) topic(t help.Topic) {
	var code string
	for i, b := range t.Blocks() {
		text := roffCode(b.Cells[0])
		if code != "" && b.Kind != help.Code {
			m.literal(code)
			code = ""
		}
		switch b.Kind {
		case help.Heading:
			if i > 0 {
				m.macro("SS", strings.ReplaceAll(b.Under, "`", ""))
				break
			}
			name := strings.ToUpper(t.Name)
			m.macro("SH", cmp.Or(map[string]string{"EXIT-CODES": "EXIT STATUS"}[name], name)) // as man pages call it
		case help.Item:
			m.macro("IP", "-", "2")
			m.WriteString(text + "\n")
		case help.Row:
			m.macro("TP")
			m.WriteString(text + "\n" + roffCode(b.Rest()) + "\n")
		case help.Code:
			code += b.Cells[0] + "\n"
		default:
			m.macro("PP")
			m.WriteString(text + "\n")
		}
	}
	if code != "" {
		m.literal(code)
	}
}

// roffCode returns a text with its code in bold.
func roffCode(text string) string {
	var out strings.Builder
	for i, part := range strings.Split(roffText(text), "`") {
		if i > 0 {
			out.WriteString(map[bool]string{true: `\fB`, false: `\fR`}[i%2 == 1])
		}
		out.WriteString(part)
	}
	return out.String()
}

// Completion is the name of cobra's own command.
const Completion = "completion"

// Commands returns c and all documented commands below it that do something.
func Commands(c *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{c}
	for _, below := range c.Commands() {
		switch {
		case !below.IsAvailableCommand() || below.Name() == "help":
		case below.HasAvailableSubCommands() && below.Name() != Completion:
			list = append(list, Commands(below)[1:]...)
		default:
			list = append(list, below)
		}
	}
	return list
}

func synopsis(c *cobra.Command) string {
	if !c.HasParent() {
		return c.Use
	}
	arguments := strings.TrimPrefix(c.Use, c.Name())
	if c.Name() == Completion {
		arguments = " bash | fish | powershell | zsh"
	}
	return c.CommandPath() + arguments
}

// page collects the roff of a manual page.
type page struct{ strings.Builder }

// macro writes a roff request with its arguments.
func (m *page) macro(name string, args ...string) {
	m.WriteString("." + name)
	for _, a := range args {
		m.WriteString(` "` + strings.ReplaceAll(roffText(a), `"`, `\(dq`) + `"`)
	}
	m.WriteByte('\n')
}

// text writes paragraphs, which a blank line divides; roff wraps their lines.
func (m *page) text(text string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			m.macro("PP")
		}
		m.WriteString(roffText(strings.Join(strings.Fields(paragraph), " ")) + "\n")
	}
}

// literal writes lines that roff does not wrap.
func (m *page) literal(text string) {
	m.macro("PP")
	m.WriteString(".in 2n\n.nf\n") // so that 80 columns are wide enough for tables of 76
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		m.WriteString(roffText(strings.TrimRight(line, "\n")) + "\n")
	}
	m.WriteString(".fi\n.in\n")
}

// document writes a text in the form of a doc comment: paragraphs, lists with dashes and indented tables.
func (m *page) document(text string) {
	for paragraph := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		switch {
		case strings.HasPrefix(paragraph, "  - "):
			for item := range strings.SplitSeq("\n"+paragraph, "\n  - ") {
				if item != "" {
					m.macro("IP", "-", "2")
					m.text(item)
				}
			}
		case strings.HasPrefix(paragraph, "  "):
			m.literal(paragraph)
		default:
			m.macro("PP")
			m.text(paragraph)
		}
	}
}

func (m *page) bold(text string) { m.WriteString(`\fB` + roffText(text) + "\\fR\n") }

func (m *page) options(c *cobra.Command) {
	c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Name == "help" {
			return
		}
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		if f.Value.Type() != "bool" {
			name += " " + placeholder(f)
		}
		m.macro("TP")
		m.bold(name)
		m.text(strings.ToUpper(f.Usage[:1]) + f.Usage[1:] + ".")
	})
}

// placeholder returns the word for the value of a flag: the one that its description uses, else its type.
func placeholder(f *pflag.Flag) string {
	for _, word := range []string{"FILE", "TEXT", "PORT", "N"} {
		if slices.Contains(strings.Fields(f.Usage), word) {
			return word
		}
	}
	switch f.Value.Type() {
	case "uint64":
		return "N"
	case "duration":
		return "TIME"
	}
	return f.Value.Type()
}

// roffText escapes a text for roff: a request begins with a dot or a quote, an escape with a backslash. A minus
// is escaped so that it can be copied as one.
func roffText(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}

// OwnHelp returns the long help of a command, without the rules of the JSON that several commands repeat.
func OwnHelp(c *cobra.Command) string {
	long, _, _ := strings.Cut(c.Long, strings.TrimSpace(headless.JSONHelp(headless.Rules)))
	return cmp.Or(long, c.Short)
}
