package app

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coordtop/internal/headless"
	"coordtop/sources"
	"coordtop/sources/origin"
)

func (p *program) ownersCommand() *cobra.Command {
	var o headless.OwnersOptions
	var format output
	var by string
	cmd := &cobra.Command{
		Use:   "owners [URL ...] [NAME ...]",
		Short: "List who owns what, or say what falls if a host goes",
		Long: "Prints what each host owns, leads and awaits over all sources, those with a problem first. With names it\n" +
			"answers for each of these hosts: if it goes now, which rows fall, when, and who is next. It only reads.\n\n" +
			"Which host a name belongs to follows from the rules under `owners:` of the config, what the server tells,\n" +
			"and the form of the name. Exit codes as of get; 4: a host of that name owns and awaits nothing.\n\n" +
			headless.JSONHelp(headless.OfOwners),
		Example: "coordtop owners\n" +
			"coordtop owners host-22 host-23\n" +
			"coordtop owners --by program billing -o json",
		RunE: p.run(func(cmd *cobra.Command, args []string) error {
			if o.Timeout == 0 {
				return usagef("--timeout must be longer than nothing, as 5s")
			}
			ok := false
			if o.By, ok = origin.ByNamed(by); !ok {
				return usagef("--by takes host, program or session")
			}
			o.Format = format.format()
			var urls []string
			for _, arg := range args {
				if strings.Contains(arg, "://") {
					urls = append(urls, arg)
				} else {
					o.Names = append(o.Names, arg)
				}
			}
			return p.owners(cmd.Context(), urls, o)
		}),
	}
	format.flag(cmd)
	lengthVar(cmd, &o.Timeout, "timeout", 5*time.Second, "print what arrived after so long")
	cmd.Flags().StringVar(&by, "by", origin.ByHost.String(), "what is one owner: `host`, program or session")
	return cmd
}

func (p *program) owners(ctx context.Context, urls []string, o headless.OwnersOptions) error {
	c, _, err := p.settings.pickReadable(ctx, urls, true)
	if err != nil {
		return err
	}
	recording := p.recordingOf(c)
	defer recording.close()
	return p.observe(ctx, c, func(ctx context.Context, hub *sources.Hub, beside *watched) error {
		if o.Recall = recording.recall(ctx, beside, o.Timeout, p.env.Stderr); o.Recall != nil {
			o.Past, o.Acts = recordedPast(ctx, recording.reader, time.Now())
		}
		return headless.Owners(ctx, headless.Over(hub), p.env.Stdout, p.env.Stderr, o)
	})
}
