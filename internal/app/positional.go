package app

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"coordtop/internal/ground/format"
)

// The checks of the arguments. Those of cobra do not tell what to write instead, and repeat words that may be a part
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
		word = "such command"
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				near = append(near, c.Name())
			}
		}
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
