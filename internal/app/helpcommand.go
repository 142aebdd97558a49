package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"coordtop/internal/app/manpage"
	"coordtop/internal/ground/address"
	"coordtop/internal/headless"
	"coordtop/internal/help"
	"coordtop/internal/history/postgres"
	"coordtop/internal/metrics"
)

// helpCommand shows the help of a command and the topics of package help.
func helpCommand(p *program, root *cobra.Command) *cobra.Command {
	var search, rules, dashboard bool
	cmd := &cobra.Command{
		Use: "help [TOPIC | COMMAND | -k WORD ...]", Short: "Show a topic, or the help of a command; -k searches all",
		Long: "Without an argument it lists topics and commands. On a terminal the text goes through $PAGER, or less;\n" +
			"in a pipe it is Markdown. -k prints every part of the topics, and of what commands say of themselves,\n" +
			"that has all the words.\n\nExit code 1: nothing has all the words; 2: no such topic or command.",
		Example:   "coordtop help rights\ncoordtop help get\ncoordtop help -k redisson",
		ValidArgs: known(root),
		RunE: p.run(func(cmd *cobra.Command, args []string) error {
			if rules || dashboard {
				text, topic := metrics.Rules, "metrics"
				if dashboard {
					if text = metrics.Dashboard; slices.Equal(args, []string{"team"}) {
						text, topic = postgres.Dashboard, "team"
					}
				}
				if search || rules && dashboard || !slices.Equal(args, []string{topic}) {
					return usagef("--rules and --dashboard print files: coordtop help metrics --rules, coordtop help metrics --dashboard, or coordtop help team --dashboard")
				}
				_, err := fmt.Fprint(p.env.Stdout, text)
				return err
			}
			w := p.helpWriter()
			var found []help.Block
			switch {
			case search:
				words := strings.Fields(strings.ToLower(strings.Join(args, " ")))
				if len(words) == 0 {
					return usagef("-k takes words to search for, as in coordtop help -k redisson")
				}
				for _, t := range searched(root, p.env.Example) {
					found = append(found, t.Search(words)...)
				}
				if len(found) == 0 {
					return errors.New("nothing in the help has all these words: try fewer or shorter ones; coordtop help lists all topics")
				}
			case len(args) == 0:
				found = contents(root)
			default:
				if err := w.show(root, args); err != nil {
					return err
				}
			}
			return p.page(cmd.Context(), w.text.String()+help.Screen(found, w.width, w.strong))
		}),
	}
	cmd.Flags().BoolVar(&rules, "rules", false, "of metrics: print alert rules for Prometheus")
	cmd.Flags().BoolVar(&dashboard, "dashboard", false, "of metrics, or of the past of a team: print a dashboard for Grafana")
	cmd.Flags().BoolVarP(&search, "search", "k", false, "search all topics and commands for the words")
	return cmd
}

// topics returns the topics of package help. The topic json gets the list of all fields.
func topics() []help.Topic {
	all := help.Topics()
	all[slices.Index(help.Names(), "json")].Text += "\n## Every field\n\n" + indented(headless.JSONHelp(""))
	return all
}

func indented(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n    ") + "\n"
}

// known returns the names of topics and commands.
func known(root *cobra.Command) []string { return append(help.Names(), available(root)...) }

// available returns the names of the commands below one.
func available(cmd *cobra.Command) (names []string) {
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// contents lists the commands and topics that have help.
func contents(root *cobra.Command) []help.Block {
	list := []help.Block{{Kind: help.Heading, Cells: []string{"Commands"}}}
	for _, c := range root.Commands() {
		if c.IsAvailableCommand() {
			list = append(list, help.Block{Kind: help.Row, Cells: []string{c.Name(), c.Short}})
		}
	}
	list = append(list, help.Block{Kind: help.Heading, Cells: []string{"Topics"}})
	for _, t := range help.Topics() {
		list = append(list, help.Block{Kind: help.Row, Cells: []string{t.Name, t.Title}})
	}
	return append(list, help.Block{Kind: help.Text, Cells: []string{"`coordtop help NAME` shows one of them, `coordtop help -k WORD` searches all."}})
}

// searched returns all texts that help -k searches: topics, the help of commands, and the example of a config
// file. Each has the name of the command that shows it.
func searched(root *cobra.Command, config string) []help.Topic {
	all := topics()
	for i := range all {
		all[i].Name = "coordtop help " + all[i].Name
	}
	for _, c := range manpage.Commands(root) {
		text := strings.ReplaceAll(manpage.OwnHelp(c), "\n    ", "\n") + "\n"
		c.NonInheritedFlags().VisitAll(func(f *pflag.Flag) { text += "\n- `--" + f.Name + "` " + f.Usage + "\n" })
		all = append(all, help.Topic{Name: c.CommandPath() + " --help", Text: text})
	}
	return append(all, help.Topic{Name: "coordtop config example", Text: indented(config)})
}

// helpWriter collects a text for the pager, or for a pipe. A writer can find the terminal behind it.
type helpWriter struct {
	*os.File // nil: no terminal, or that of a test
	text     strings.Builder
	markdown bool // for a pipe
	width    int
	strong   func(string) string // prints bold; nil: the terminal cannot
}

// Write appends to the text.
func (w *helpWriter) Write(b []byte) (int, error) { return w.text.Write(b) }

// WriteString appends to the text.
func (w *helpWriter) WriteString(s string) (int, error) { return w.text.WriteString(s) }

func (p *program) helpWriter() *helpWriter {
	w := &helpWriter{width: 100, markdown: !p.env.Terminal()}
	if w.markdown {
		return w
	}
	w.File, _ = p.env.Stdout.(*os.File)
	if columns, _, err := term.GetSize(w.Fd()); err == nil && columns > 0 {
		w.width = min(w.width, columns)
	}
	if name, _ := p.env.Lookup("TERM"); name != "dumb" {
		w.strong = func(text string) string { return lipgloss.NewStyle().Bold(true).Render(text) }
	}
	return w
}

// show writes the help of a command together with the topic about it, or a topic alone.
func (w *helpWriter) show(root *cobra.Command, args []string) error {
	name := args[len(args)-1]
	topic, isTopic := help.OfCommand(name)
	if i := slices.Index(help.Names(), name); i >= 0 && len(args) == 1 {
		topic, isTopic = topics()[i], true
	}
	found, rest, err := root.Find(args)
	switch isCommand := err == nil && len(rest) == 0; {
	case isCommand:
		found.SetOut(w)
		found.InitDefaultHelpFlag()
		if err := found.Help(); err != nil || !isTopic {
			return err
		}
		topic.Text += fmt.Sprintf("\n`coordtop help %s` has more.\n", topic.Name)
	case !isTopic || len(args) > 1:
		return usagef("there is no such command or topic%s: coordtop help lists them, coordtop help -k WORD searches them", meant(name, known(root)))
	}
	if w.markdown {
		w.text.WriteString(topic.Text)
	} else {
		w.text.WriteString(help.Screen(topic.Blocks(), w.width, w.strong))
	}
	return nil
}

// meant asks whether the person meant a name that resembles the typed one, or begins with it.
func meant(typed string, names []string) string {
	near := address.Near(typed, names...)
	for _, name := range names {
		if near == "" && len(typed) > 2 && strings.HasPrefix(name, strings.ToLower(typed)) {
			near = name
		}
	}
	if near == "" {
		return ""
	}
	return " (did you mean " + near + "?)"
}

// page shows a text on the terminal through $PAGER, or less. Without a terminal or a pager it prints the text.
func (p *program) page(ctx context.Context, text string) error {
	pager, set := p.env.Lookup("PAGER")
	if _, err := exec.LookPath("less"); !set && err == nil {
		pager = "less"
	}
	kind, _ := p.env.Lookup("TERM")
	if pager = strings.TrimSpace(pager); p.env.Terminal() && kind != "dumb" && pager != "" && pager != "cat" {
		cmd := exec.CommandContext(ctx, "/bin/sh", "-c", pager)
		cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
		cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = strings.NewReader(text), p.env.Stdout, p.env.Stderr, p.env.Environ
		if _, set := p.env.Lookup("LESS"); !set {
			cmd.Env = append(cmd.Env, "LESS=FRX") // as git: quits if all fits, shows styles, leaves the screen
		}
		if _, ok := p.env.Stdout.(*os.File); ok {
			signal.Ignore(os.Interrupt) // ctrl+c is for the pager
		}
		exit := new(exec.ExitError)
		// From 126 on the shell could not run the pager. A person may leave it before the end of the text.
		if err := cmd.Run(); err == nil || errors.As(err, &exit) && exit.ExitCode() < 126 {
			return nil
		}
	}
	_, err := fmt.Fprint(p.env.Stdout, text)
	return err
}
