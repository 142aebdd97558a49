package app

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"coordtop/internal/config"
	"coordtop/internal/headless"
	"coordtop/internal/history"
	"coordtop/internal/objective"
	"coordtop/sources"
)

func sloCommand(p *program) *cobra.Command {
	var o output
	s := stretch{usual: objective.Longest}
	cmd := &cobra.Command{
		Use: "slo [SOURCE[/NAME] ...]", Short: "Print how well the objectives of the config are kept",
		Long: "Prints for each primitive that fits one of the `objectives` in the config how long nobody owned it, which part\n" +
			"of the time that this may be is used up, and how fast it was used in the last hour (1x: it lasts just as long as\n" +
			"the objective). It reads what coordtop recorded (see coordtop record); no server is asked. Of two numbers the\n" +
			"lower one was observed, the higher one is possible: nobody may have owned it while it was not observed.\n\n" +
			"Exit code 0: all objectives are kept; 10: one is missed; 3: none is, but of one that is not known, because\n" +
			"too much was not observed, or nothing that is recorded fits it.\n\n" + headless.JSONHelp(headless.OfSlo),
		Example: "coordtop slo\ncoordtop slo leases/app:leader:billing -o json\ncoordtop slo --at 'yesterday 22:00'",
		RunE: p.run(func(cmd *cobra.Command, args []string) error {
			p.onlyReads.Store(true)
			ctx := cmd.Context()
			return p.ask(ctx, s, args, func(r pastReader, c config.Config, span history.Span, refs []sources.Ref) error {
				if len(c.Objectives) == 0 {
					return usagef("there are no objectives: write them into the config, see `coordtop help slo`")
				}
				results, _, err := objective.Judge(ctx, r, objective.Input{Objectives: c.Objectives, Now: span.To})
				if err != nil {
					return unread(err)
				}
				if refs != nil {
					results = slices.DeleteFunc(results, func(x objective.Result) bool { return !slices.Contains(refs, x.Ref) })
				}
				if len(results) == 0 {
					return fmt.Errorf("%w: none of the objectives is for it", headless.ErrNotFound)
				}
				refs = nil
				for i := range results {
					refs = append(refs, results[i].Ref)
				}
				aliases, err := history.Aliases(ctx, r, refs)
				if err != nil {
					return unread(err)
				}
				return errors.Join(headless.Objectives(p.env.Stdout, results, headless.ObjectivesOptions{Format: o.format(), At: span.To, Aliases: aliases}), printed(p.env.Stdout))
			})
		}),
	}
	o.flag(cmd)
	cmd.Flags().StringVar(&s.at, "at", "", "judge the time up to this `TIME` of the recording instead of up to now: 03:12, 2026-03-01 03:12, -1h")
	s.fileFlag(cmd)
	p.schemaFlag(cmd, headless.OfSlo)
	return cmd
}
