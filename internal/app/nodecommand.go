package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"coordtop/internal/action"
	"coordtop/internal/foreground"
	"coordtop/internal/ground/format"
	"coordtop/internal/headless"
	"coordtop/internal/operate"
	"coordtop/sources"
)

// nodeOptions are the flags of the commands about a coordination node.
type nodeOptions struct {
	confirmation
	force bool
	typed string
}

// nodeSettings are the flags that set something of a coordination node, and what they say.
func nodeSettings() [][2]string {
	return [][2]string{
		{"self-check-period", "check so often that no other tablet serves the node, as `1s`"}, {"session-grace-period", "keep sessions so much longer after a restart, as `10s`"},
		{"read-consistency", "of reads: `strict|relaxed`"}, {"attach-consistency", "of sessions that begin: `strict|relaxed`"},
		{"rate-limiter-counters", "`aggregated|detailed`"},
	}
}

const nodeNames = "NAME is SOURCE/PATH, where the path begins at the database or is relative to it; the config need not list\n" +
	"it. A URL must have exactly one node=. Only YDB has coordination nodes: on other backends the exit code is 7.\n\n"

const nodeEnd = "Standard error says what it does; standard output gets one JSON line with the result, as it was seen\n" +
	"afterwards, in the form of coordtop semaphore: event is create-node, alter-node or drop-node. The audit\n" +
	"(audit.jsonl in the state directory) gets a line before and one after it.\n" +
	"--write --yes confirms%s; a protected source needs --reason too.\n\n" + nodeNames +
	"Exit code 0: seen to be done; 1: error, or not seen to be done; 2: not confirmed; 3: a source did not\n" +
	"answer, or refused the login; 4: no such node; 6: its use changed just before, nothing was done; 7: not\n" +
	"possible, in use, or a right is missing for it; 8: the source is read_only."

func nodeCommand(p *program) *cobra.Command {
	all := &cobra.Command{Use: "node", Short: "Create, alter, drop or describe a coordination node of YDB", Args: none, RunE: p.run(helpOnly)}
	add := func(verb action.Verb, o *nodeOptions, short, long, example string) *cobra.Command {
		use, _, _ := strings.Cut(verb.String(), "-")
		cmd := &cobra.Command{
			Use: use + " NAME | URL", Short: short, Long: long, Example: example, Args: one,
			RunE: p.run(func(cmd *cobra.Command, args []string) error { return p.node(cmd, verb, args[0], *o) }),
		}
		o.confirmation.flags(cmd)
		all.AddCommand(cmd)
		return cmd
	}
	settings := func(cmd *cobra.Command) {
		for _, flag := range nodeSettings() {
			cmd.Flags().String(flag[0], "", flag[1])
		}
	}
	var create, alter, drop nodeOptions
	settings(add(action.CreateNode, &create, "Create a coordination node", "Creates a coordination node, and the directories before it.\n"+fmt.Sprintf(nodeEnd, ""),
		"coordtop node create 'grpc://localhost:2136/local?node=/local/app' --write --yes"))
	const typed = ", or on a terminal the typed path"
	settings(add(action.AlterNode, &alter, "Change settings of a coordination node",
		"Changes the settings that are given, and leaves the others. YDB can give none back to the service.\n"+fmt.Sprintf(nodeEnd, typed),
		"coordtop node alter jobs/local/app --session-grace-period 20s --write --yes"))
	cmd := add(action.DropNode, &drop, "Drop a coordination node with everything in it",
		"Drops a coordination node with all its semaphores and sessions, whoever owns them. It refuses while anything\n"+
			"known in it is owned or awaited, which is read once more just before. YDB lists no semaphores: known\n"+
			"are those of the config and of the URL, and those that coordtop saw before on this machine. --force drops it\n"+
			"nevertheless, after its path was typed, or given with --typed.\n"+fmt.Sprintf(nodeEnd, typed),
		"coordtop node drop jobs/local/old --write --yes\ncoordtop node drop jobs/local/old --force --typed /local/old --write --yes")
	cmd.Flags().BoolVar(&drop.force, "force", false, "also while something in it is owned or awaited")
	cmd.Flags().StringVar(&drop.typed, "typed", "", "with --force: the `PATH` of the node, as if it was typed")
	all.AddCommand(describeNode(p))
	for _, c := range all.Commands() {
		c.ValidArgsFunction = p.settings.completeSources
	}
	return all
}

func describeNode(p *program) *cobra.Command {
	var o output
	cmd := &cobra.Command{
		Use: "describe NAME | URL", Short: "Print the settings of a coordination node and how it is used", Args: one,
		Long: "Prints a coordination node: its settings, and how many of its known semaphores are owned or awaited, by how\n" +
			"many. It only reads.\n\n" + nodeNames +
			"In JSON: v, at, source, namespace (its path), incarnation (another after it was dropped and created again),\n" +
			"settings (by name), known (how many semaphores), used (how many of them are owned or awaited), owners and\n" +
			"waiters (their numbers).\n\n" +
			"Exit code 0; 1: error; 3: a source did not answer, or refused the login; 4: no such node; 7: not possible.",
		Example: "coordtop node describe jobs/local/app",
		RunE: p.run(func(cmd *cobra.Command, args []string) error {
			c, space, err := p.pickProvided(cmd.Context(), args[0], true)
			if err != nil {
				return err
			}
			return p.observe(cmd.Context(), c, func(ctx context.Context, hub *sources.Hub, _ *watched) error {
				s, scope, err := headless.FindNode(ctx, headless.Over(hub), space, findFor)
				if err != nil {
					return err
				}
				_, users := action.TargetOfNode(s, scope.Source, space)
				return headless.WriteNode(p.env.Stdout, s, scope, users, o.format())
			})
		}),
	}
	o.flag(cmd)
	return cmd
}

// node creates, alters or drops the coordination node that arg names.
func (p *program) node(cmd *cobra.Command, verb action.Verb, arg string, o nodeOptions) error {
	c, space, err := p.pickProvided(cmd.Context(), arg, true)
	if err != nil {
		return err
	}
	source := c.Sources[0]
	var settings []sources.Attr
	for _, flag := range nodeSettings() {
		if f := cmd.Flags().Lookup(flag[0]); f != nil && f.Changed {
			settings = append(settings, sources.Attr{Key: strings.ReplaceAll(f.Name, "-", " "), Value: f.Value.String()})
		}
	}
	if err := p.backend(source, "").Nodes.Check(settings); err != nil {
		return usageError{err}
	}
	later := action.Of(verb).Named && p.env.Keyboard() && p.env.Terminal()
	if err := o.check(source, cmd.CommandPath()+" changes what others use", later); err != nil {
		return err
	}
	switch {
	case verb == action.AlterNode && len(settings) == 0:
		return usagef("no setting is given: see coordtop node alter --help")
	case o.typed != "" && !o.force:
		return usagef("--typed is for --force")
	case o.force && o.typed == "" && !later:
		return usagef("--force needs the path of the node, once more, in --typed")
	case o.force && o.typed == "":
		o.yes = false // so that it must be typed
	case o.force && o.typed != space:
		return usagef("--typed is not the path of the node, nothing was sent: it is %s", format.Clean(space, 200))
	}
	return p.observe(cmd.Context(), c, func(ctx context.Context, hub *sources.Hub, _ *watched) error {
		s, _, err := headless.FindNode(ctx, headless.Over(hub), space, findFor)
		if err != nil && !(verb == action.CreateNode && errors.Is(err, headless.ErrNotFound)) {
			return err
		}
		r := action.Request{Verb: verb, Settings: settings, Force: o.force, Reason: o.reason}
		r.Target, _ = action.TargetOfNode(s, source.Name, space)
		return p.acting(ctx, c, hub, func(op *operate.Operator) error {
			if err := p.confirmed(ctx, op, source, &r, o.confirmation, "do this"); err != nil {
				return err
			}
			return foreground.Provision(ctx, op, hub, r, p.env.Stdout)
		})
	})
}
