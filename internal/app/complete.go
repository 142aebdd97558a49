package app

import (
	"strings"

	"github.com/spf13/cobra"

	"coordtop/internal/app/backends"
	"coordtop/internal/config"
)

// completeSources completes what stands beside the flags of a command that looks: the
// beginnings of URLs and the sources of the config file. No server is asked.
func (p *program) completeSources(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	var words []string
	for _, b := range backends.All() {
		for _, s := range b.Schemes {
			if s.Shown != "" {
				words = append(words, s.Name+"://")
			}
		}
	}
	path := p.configFile
	if path == "" {
		path, _ = config.Locate(p.env.Lookup)
	}
	if c, err := backends.Config().Load(path, p.env.Lookup); err == nil { // whatever is wrong with it is told by the command
		for _, s := range c.Sources {
			words = append(words, s.Name+"/")
		}
	}
	var fit []string
	for _, w := range words {
		if strings.HasPrefix(w, typed) {
			fit = append(fit, w)
		}
	}
	return fit, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeFlag completes the value of a flag with one of words.
func completeFlag(cmd *cobra.Command, flag string, words ...string) {
	// It fails only for an unknown flag and for one that was completed before.
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}
