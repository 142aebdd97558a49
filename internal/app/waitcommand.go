package app

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"coordtop/internal/headless"
	"coordtop/sources"
	"coordtop/sources/verdict"
)

func (p *program) waitCommand() *cobra.Command {
	var o headless.WaitOptions
	var format output
	cmd := &cobra.Command{
		Use:   "wait NAME | URL",
		Short: "Wait until one primitive is led, free, absent or somebody's",
		Long: "Waits until the one primitive is as --for says, and then prints it as get does. Standard error says\n" +
			"what it waits for, and how that is now. It reads only, and goes on while the server does not answer.\n\n" +
			"led: somebody leads or owns it. free: nobody owns it. absent: the server has none of this name; on\n" +
			"Redis, Postgres and dflockd that is a lock that nobody owns. owner=NAME: NAME, which is a label or an\n" +
			"id as get prints it, leads or owns it; of a label of Postgres the pid at its end may be left out.\n\n" +
			"NAME is SOURCE/NAME or SOURCE/SPACE/NAME. A URL must name one primitive.\n\n" +
			"Exit code 0: it is so; 1: a signal ended the wait; 3: a source refused the login; 4: no such name, and\n" +
			"no pattern of the config that fits it, for a wait until it is free; 5: not within --timeout.\n",
		Example: "coordtop wait leases/app:leader:billing --for led --timeout 1m\n" +
			"coordtop wait 'redis://localhost:6379/0?mutex=app:lock:export' --for free && ./export\n" +
			"coordtop wait ledger/4242 --for owner=worker-7",
		Args: one,
		RunE: p.run(func(cmd *cobra.Command, args []string) error {
			if o.For == "" {
				return usagef("--for is missing: %w", o.For.Check())
			}
			if err := o.For.Check(); err != nil {
				return usagef("--for: %w", err)
			}
			if cmd.Flags().Changed("timeout") && o.Timeout == 0 {
				return usagef("--timeout must be longer than nothing, as 5s; without it there is no limit")
			}
			c, name, space, err := p.settings.pickOne(args[0], false)
			if err == nil {
				err = p.settings.secrets(cmd.Context(), c)
			}
			if err != nil {
				return err
			}
			o.Format, o.Name, o.Space, o.Watched = format.format(), name, space, fitsPattern(c.Sources, name)
			return p.observe(cmd.Context(), c, func(ctx context.Context, hub *sources.Hub, _ *watched) error {
				return headless.Wait(ctx, headless.Over(hub), p.env.Stdout, p.env.Stderr, o)
			})
		}),
	}
	cmd.Flags().StringVar((*string)(&o.For), "for", "", "wait until it is `led|free|absent|owner=NAME`")
	lengthVar(cmd, &o.Timeout, "timeout", 0, "give up after so long, as 30s; left out: never")
	format.flag(cmd)
	completeFlag(cmd, "for", "led", "free", "absent", "owner=")
	return cmd
}

// faults is the value of --fail-on.
type faults verdict.Faults

func (f *faults) String() string { return "" }

func (f *faults) Set(text string) error {
	on, err := headless.ParseFaults(text)
	*f = faults(on)
	return err
}

func (f *faults) Type() string { return strings.Join(headless.Faults(), "|") }
