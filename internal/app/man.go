package app

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"coordtop/internal/app/backends"
	"coordtop/internal/config"
	"coordtop/internal/headless"
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
		long, _, _ := strings.Cut(c.Long, strings.TrimSpace(headless.JSONHelp(headless.Rules))) // it has a section of its own
		m.text(cmp.Or(long, c.Short))
		m.options(c)
	}
	m.macro("SH", "JSON")
	m.document(headless.JSONHelp(""))
	m.macro("SH", "EXIT STATUS")
	for code, text := range exitMeanings() {
		m.term(fmt.Sprint(code), text)
	}
	m.macro("SH", "ENVIRONMENT")
	m.variables()
	m.term(config.EnvPath, "The config file, instead of the usual one.")
	m.term("NO_COLOR", "Of any value: no colours.")
	m.macro("SH", "FILES")
	m.term("$XDG_CONFIG_HOME/coordtop/config.yaml", "The config file (~/.config/coordtop/config.yaml). coordtop config example explains every key.")
	m.term("$XDG_STATE_HOME/coordtop/ydb-names/", "Names of YDB semaphores that were seen, a file for each coordination node; names: off on a source keeps none.")
	m.term("$XDG_STATE_HOME/coordtop/"+auditName, "Who did what through coordtop (~/.local/state/coordtop/"+auditName+").")
	m.macro("SH", "EXAMPLES")
	for _, c := range all {
		if c.Example != "" {
			m.literal(c.Example)
		}
	}
	return m.String()
}

// variables are those that name servers.
func (m *page) variables() {
	var names []string
	var with []string
	for _, b := range backends.All() {
		for _, v := range b.Variables {
			if names = append(names, v.Name); v.With != "" {
				with = append(with, "with "+v.Name+" "+v.With)
			}
		}
	}
	m.term(strings.Join(names, ", "), "What to watch where neither a URL nor a config file says it; "+strings.Join(with, ", ")+".")
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
