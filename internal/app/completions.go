package app

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"coordtop/internal/app/backends"
	"coordtop/internal/config"
)

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
