package app

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"coordtop/internal/headless"
	"coordtop/internal/help"
)

// manCommand prints the manual page. It is our own and not fang's, which leaves out what
// the commands say of themselves.
func manCommand(run runner) *cobra.Command {
	return &cobra.Command{
		Use: "man", Short: "Print the manual page: coordtop man | man -l -", Args: none,
		RunE: run(func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), manual(cmd.Root()))
			return err
		}),
	}
}

// manual is the manual page of a command and those below it, in the man macros of roff.
func manual(root *cobra.Command) string {
	m := &page{}
	m.macro("TH", strings.ToUpper(root.Name()), "1", "", root.Name()+" "+version(), "User Commands")
	m.macro("SH", "NAME")
	m.text(root.Name() + " - " + root.Short)
	m.macro("SH", "SYNOPSIS")
	all := commandsOf(root)
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
		m.text(ownHelp(c))
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

// topic writes a topic of the help: its title is that of a section.
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

// roffCode is a text whose code is bold.
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

// commandsOf are root and all commands below it that do something and that people are told of.
func commandsOf(c *cobra.Command) []*cobra.Command {
	list := []*cobra.Command{c}
	for _, below := range c.Commands() {
		switch {
		case !below.IsAvailableCommand() || below.Name() == "help":
		case below.HasAvailableSubCommands() && below.Name() != completionName:
			list = append(list, commandsOf(below)[1:]...)
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
	if c.Name() == completionName {
		arguments = " bash | fish | powershell | zsh"
	}
	return c.CommandPath() + arguments
}

// page is roff in the making.
type page struct{ strings.Builder }

// macro writes a request with its arguments.
func (m *page) macro(name string, args ...string) {
	m.WriteString("." + name)
	for _, a := range args {
		m.WriteString(` "` + strings.ReplaceAll(roffText(a), `"`, `\(dq`) + `"`)
	}
	m.WriteByte('\n')
}

// text writes paragraphs, which are filled anew; a blank line stands between two.
func (m *page) text(text string) {
	for i, paragraph := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			m.macro("PP")
		}
		m.WriteString(roffText(strings.Join(strings.Fields(paragraph), " ")) + "\n")
	}
}

// literal writes lines as they are.
func (m *page) literal(text string) {
	m.macro("PP")
	m.WriteString(".in 2n\n.nf\n") // so that 80 columns are wide enough for tables of 76
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		m.WriteString(roffText(strings.TrimRight(line, "\n")) + "\n")
	}
	m.WriteString(".fi\n.in\n")
}

// document writes what is written as a doc comment is: paragraphs, lists after dashes and
// tables that are further in.
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

// term writes a word and, indented, what it means.
func (m *page) term(word, meaning string) {
	m.macro("TP")
	m.bold(word)
	m.text(meaning)
}

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
		m.term(name, strings.ToUpper(f.Usage[:1])+f.Usage[1:]+".")
	})
}

// placeholder stands for the value of a flag: the word that its description uses.
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

// roffText keeps a text from being taken for requests: those begin with a dot or a quote,
// and a backslash begins an escape. A minus stays one that can be copied.
func roffText(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
