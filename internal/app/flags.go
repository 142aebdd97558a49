package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coordtop/internal/action"
	"coordtop/internal/app/backends"
	"coordtop/internal/config"
	"coordtop/internal/ground/format"
	"coordtop/internal/headless"
)

// length is the value of a flag that takes a length of time.
type length struct{ d *time.Duration }

func (l length) String() string {
	if l.d == nil || *l.d == 0 {
		return ""
	}
	return strings.TrimSuffix(format.Age(*l.d), "00m")
}

func (l length) Set(s string) error {
	d, ok := format.ParseLength(s)
	if !ok {
		return errors.New("write a length of time with its unit, as " + format.LengthForms)
	}
	*l.d = d
	return nil
}

func (l length) Type() string { return "duration" }

// lengthVar adds a flag for a length of time to a command.
func lengthVar(cmd *cobra.Command, d *time.Duration, name string, usual time.Duration, usage string) {
	*d = usual
	cmd.Flags().Var(length{d}, name, usage)
}

// choice is the value of a flag that takes one of some words.
type choice struct {
	to    *string
	words []string
}

func (c choice) String() string { return *c.to }

func (c choice) Set(s string) error {
	if !slices.Contains(c.words, s) {
		return errors.New("write " + format.Series(c.words, " or "))
	}
	*c.to = s
	return nil
}

func (c choice) Type() string { return strings.Join(c.words, "|") }

// choiceVar adds a flag that takes one of some words to a command, and completes it. The first word is the
// default.
func choiceVar(cmd *cobra.Command, to *string, name, short, usage string, words ...string) {
	*to = words[0]
	cmd.Flags().VarP(choice{to, words}, name, short, usage)
	completeFlag(cmd, name, words...)
}

// output is the value of -o.
type output string

// flag adds -o to a command.
func (o *output) flag(cmd *cobra.Command) {
	choiceVar(cmd, (*string)(o), "output", "o", "print text or json", "text", "json")
}

// schemaFlag adds --schema to a command: with it the command prints the schema of its JSON and does nothing
// else.
func (p *program) schemaFlag(cmd *cobra.Command, part headless.Part) {
	act, print := cmd.RunE, p.prints(func(*cobra.Command) string { return headless.Schema(part) })
	only := cmd.Flags().Bool("schema", false, "print the JSON Schema of -o json, and read nothing")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *only {
			return print(cmd, args)
		}
		return act(cmd, args)
	}
}

func (o output) format() headless.Format {
	if o == "json" {
		return headless.JSON
	}
	return headless.Text
}

// The checks of the arguments. Those of cobra do not name the right form, and repeat words that may be a part
// of a URL with a password.

// none accepts no argument. Behind a command that has others below it, a word is a misspelt command.
func none(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case !cmd.HasAvailableSubCommands():
		return usagef("%s takes no argument; see %s --help", cmd.Name(), cmd.CommandPath())
	}
	cmd.SuggestionsMinimumDistance = 2 // the root does not hand its own down
	near, word := cmd.SuggestionsFor(args[0]), fmt.Sprintf("command %q", args[0])
	if len(near) == 0 {
		near, word = available(cmd), "such command"
	}
	return usagef("%s has no %s: did you mean %s?", cmd.Name(), word, format.Series(near, " or "))
}

// one accepts one argument, which the command's line of usage names.
func one(cmd *cobra.Command, args []string) error {
	if len(args) == 1 {
		return nil
	}
	_, wanted, _ := strings.Cut(cmd.Use, " ")
	got := fmt.Sprintf("%d were given", len(args))
	if len(args) == 0 {
		got = "none was given"
	}
	return usagef("%s takes one %s, %s; see %s --help", cmd.Name(), strings.ReplaceAll(wanted, " | ", " or "), got, cmd.CommandPath())
}

// atMostOne accepts one argument or none.
func atMostOne(cmd *cobra.Command, args []string) error {
	if len(args) <= 1 {
		return nil
	}
	return usagef("%s takes one file at most, %d were given; see %s --help", cmd.Name(), len(args), cmd.CommandPath())
}

// helpOnly runs a command that only has others below it. Without it cobra prints the help for a misspelt command
// too, and ends with success.
func helpOnly(cmd *cobra.Command, _ []string) error { return cmd.Help() }

// completeSources completes the arguments of a command that reads sources: the beginnings of URLs and the
// sources of the config file. It asks no server.
func (st *settings) completeSources(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	var words []string
	for _, b := range backends.All() {
		for _, s := range b.Schemes {
			if s.Shown != "" {
				words = append(words, s.Name+"://")
			}
		}
	}
	path, _ := st.locate()
	if c, err := backends.Config().Load(path, st.lookup); err == nil { // the command itself reports the error
		for _, s := range c.Sources {
			words = append(words, s.Name+"/")
		}
	}
	words = append(words, st.knownNames(typed)...)
	words = slices.DeleteFunc(words, func(w string) bool { return !strings.HasPrefix(w, typed) })
	return words, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// knownNames completes a URL that ends with the name of a primitive, if names are remembered.
func (st *settings) knownNames(typed string) []string {
	query := strings.LastIndexAny(typed, "?&")
	key, _, found := strings.Cut(typed[query+1:], "=")
	if _, selects := config.WatchKind(key); query < 0 || !found || !selects {
		return nil
	}
	t, err := backends.Config().ParseURL(typed[:query])
	if err != nil {
		return nil
	}
	s := config.Source{Name: "typed", Type: t.Type, URL: t.URL, Address: t.Address, Nodes: t.Nodes}
	prepared, err := st.prepared(s, config.Config{})
	if err != nil || prepared.Names == nil {
		return nil
	}
	var words []string
	for _, name := range prepared.Names(context.Background()) {
		words = append(words, typed[:query+1]+key+"="+name)
	}
	return words
}

// completeFlag completes the value of a flag with one of words.
func completeFlag(cmd *cobra.Command, flag string, words ...string) {
	// It fails only for an unknown flag, or one that has completions already.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// leaseFlags are the flags for the session and the lease of a claim.
type leaseFlags struct {
	session   action.Session
	recovery  time.Duration
	ephemeral bool // only with ephemeralFlag
}

func (o *leaseFlags) flags(cmd *cobra.Command) {
	lengthVar(cmd, &o.session.Lease, "lease", 0, "the service keeps it for so long after the last renewal (default: Redis 30s, dflockd 20s, Postgres 11s, YDB 10s)")
	lengthVar(cmd, &o.recovery, "recovery-window", 0, "the session, and all that it owns, outlives its connection for so long (YDB; there the same as --lease)")
	lengthVar(cmd, &o.session.RenewEvery, "renew-every", 0, "renew at least so often, less than half of the lease (default: by the backend)")
	lengthVar(cmd, &o.session.StartTimeout, "start-timeout", 0, "give each try to connect so long (default 10s)")
	lengthVar(cmd, &o.session.RetryDelay, "retry-delay", 0, "the longest pause between two tries (default: growing to 5s)")
	cmd.Flags().StringVar(&o.session.Description, "description", "", "name our session TEXT at the service: at most 40 ASCII characters, no blank (dflockd keeps no names)")
}

func (o *leaseFlags) ephemeralFlag(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.ephemeral, "ephemeral", false, "create the semaphore if it is absent; it vanishes with its last owner (YDB)")
}

// wishes returns what the flags ask of a session.
func (o *leaseFlags) wishes() (action.Session, error) {
	w := o.session
	if text := w.Description; len(text) > config.MaxIdentity || strings.ContainsFunc(text, func(r rune) bool { return !config.InIdentity(r) }) {
		return w, usagef("--description takes at most %d printable ASCII characters, none of them | or a blank", config.MaxIdentity)
	}
	if o.recovery > 0 && w.Lease > 0 && w.Lease != o.recovery {
		return w, usagef("--lease and --recovery-window are the same on YDB: give one of them")
	}
	if o.recovery > 0 {
		w.Lease, w.Recovers = o.recovery, true
	}
	return w, nil
}
