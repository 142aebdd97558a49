package app

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coordtop/internal/action"
	"coordtop/internal/app/backends"
	"coordtop/internal/config"
	"coordtop/internal/foreground"
	"coordtop/internal/ground/format"
	"coordtop/internal/headless"
	"coordtop/sources"
)

// nodeOptions are the flags of the commands about a coordination node.
type nodeOptions struct {
	confirmation
	settings action.NodeSettings
	force    bool
	typed    string
}

const nodeNames = "NAME is SOURCE/PATH, where the path begins at the database or is relative to it; the config need not list\n" +
	"it. A URL must have exactly one node=. Only YDB has coordination nodes: on other backends the exit code is 7.\n\n"

const nodeEnd = "Standard error says what it does; standard output gets one JSON line with the result, as it was seen\n" +
	"afterwards, in the form of coordtop semaphore: event is create-node, alter-node or drop-node. The audit\n" +
	"(audit.jsonl in the state directory) gets a line before and one after it. --write --yes confirms%s; a\n" +
	"protected source needs --reason too.\n\n" + nodeNames +
	"Exit code 0: seen to be done; 1: error, or not seen to be done; 2: not confirmed; 3: a source did not\n" +
	"answer, or refused the login; 4: no such node; 6: its use changed just before, nothing was done; 7: not\n" +
	"possible, in use, or a right is missing for it; 8: the source is read_only."

func (p *program) nodeCommand() *cobra.Command {
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
	settings := func(cmd *cobra.Command, s *action.NodeSettings) {
		flags := cmd.Flags()
		lengthVar(cmd, &s.SelfCheckPeriod, "self-check-period", 0, "check so often that it still is the only one, as 1s")
		lengthVar(cmd, &s.SessionGracePeriod, "session-grace-period", 0, "keep sessions so much longer after a restart, as 10s")
		flags.StringVar(&s.ReadConsistency, "read-consistency", "", "of reads: `strict|relaxed`")
		flags.StringVar(&s.AttachConsistency, "attach-consistency", "", "of sessions that begin: `strict|relaxed`")
		flags.StringVar(&s.RateLimiterCounters, "rate-limiter-counters", "", "`aggregated|detailed`")
		for _, flag := range []string{"read-consistency", "attach-consistency"} {
			completeFlag(cmd, flag, "strict", "relaxed")
		}
		completeFlag(cmd, "rate-limiter-counters", "aggregated", "detailed")
	}
	var create, alter, drop nodeOptions
	settings(add(action.CreateNode, &create, "Create a coordination node", "Creates a coordination node, and the directories before it.\n"+fmt.Sprintf(nodeEnd, ""),
		"coordtop node create 'grpc://localhost:2136/local?node=/local/app' --write --yes"), &create.settings)
	typed := "; on a\nterminal the path can be typed instead"
	settings(add(action.AlterNode, &alter, "Change settings of a coordination node",
		"Changes the settings that are given, and leaves the others. YDB can give none back to the service.\n"+fmt.Sprintf(nodeEnd, typed),
		"coordtop node alter jobs/local/app --session-grace-period 20s --write --yes"), &alter.settings)
	cmd := add(action.DropNode, &drop, "Drop a coordination node with everything in it",
		"Drops a coordination node with all its semaphores and sessions: the service asks nobody. It refuses while\n"+
			"anything known in it is owned or awaited, which is read once more just before. YDB lists no semaphores: known\n"+
			"are those of the config and of the URL, and those that coordtop saw before on this machine. --force drops it\n"+
			"nevertheless, after its path was typed, or given with --typed.\n"+fmt.Sprintf(nodeEnd, typed),
		"coordtop node drop jobs/local/old --write --yes\ncoordtop node drop jobs/local/old --force --typed /local/old --write --yes")
	cmd.Flags().BoolVar(&drop.force, "force", false, "also while something in it is owned or awaited")
	cmd.Flags().StringVar(&drop.typed, "typed", "", "with --force: the `PATH` of the node, as if it was typed")
	all.AddCommand(p.describeNode())
	for _, c := range all.Commands() {
		c.ValidArgsFunction = p.settings.completeSources
	}
	return all
}

func (p *program) describeNode() *cobra.Command {
	var o output
	cmd := &cobra.Command{
		Use: "describe NAME | URL", Short: "Print the settings of a coordination node and how it is used", Args: one,
		Long: "Prints a coordination node: its settings, and how many of its known semaphores are owned or awaited, by how\n" +
			"many. It only reads.\n\n" + nodeNames +
			"In JSON: v, at, source, namespace (its path), owner (a user of the service), incarnation (another after it\n" +
			"was dropped and created again), settings (by name, without those that are left to the service), known (how\n" +
			"many semaphores), used (how many of them are owned or awaited), owners and waiters (their numbers).\n\n" +
			"Exit code 0; 1: error; 3: a source did not answer, or refused the login; 4: no such node; 7: not possible.",
		Example: "coordtop node describe jobs/local/app",
		RunE: p.run(func(cmd *cobra.Command, args []string) error {
			n, err := p.pickNode(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return p.onNode(cmd.Context(), n, func(ctx context.Context, on *nodeInView) error {
				if !on.exists {
					return on.missing()
				}
				d, err := p.backend(on.source, "").Nodes.Describe(ctx, on.path)
				if err != nil {
					return err
				}
				t, users := action.TargetOfNode(on.state, on.source.Name, on.path)
				node := headless.Node{Ref: t.Ref, Owner: d.Owner, Incarnation: d.Incarnation, Settings: d.Each(), Users: users}
				for _, row := range on.state.Rows {
					if row != nil && !row.Absent {
						node.Known, node.Owners, node.Waiters = node.Known+1, node.Owners+len(row.Owners), node.Waiters+row.Queue.Len
					}
				}
				return headless.WriteNode(p.env.Stdout, node, o.format())
			})
		}),
	}
	o.flag(cmd)
	return cmd
}

// nodeInView is a coordination node that our watch has read.
type nodeInView struct {
	source config.Source
	config config.Config
	path   string
	exists bool
	state  *sources.State
	hub    *sources.Hub
}

func (n *nodeInView) missing() error {
	return fmt.Errorf("%s: %w: there is no such coordination node", format.Clean(n.source.Name+n.path, 200), headless.ErrNotFound)
}

// onNode watches a coordination node while body runs.
func (p *program) onNode(ctx context.Context, n *nodeInView, body func(context.Context, *nodeInView) error) error {
	return p.observe(ctx, n.config, func(ctx context.Context, hub *sources.Hub, _ *watched) (err error) {
		if n.state, n.exists, err = headless.FindNode(ctx, headless.Over(hub), n.path, findFor); err != nil {
			return err
		}
		n.hub = hub
		return body(ctx, n)
	})
}

// pickNode finds the source and the path of the coordination node that arg names.
func (p *program) pickNode(ctx context.Context, arg string) (*nodeInView, error) {
	if err := notProvidedURL(arg); err != nil {
		return nil, err
	}
	c, names, err := p.settings.pick([]string{arg}, false)
	if err != nil {
		return nil, err
	}
	n := &nodeInView{source: slices.MaxFunc(c.Sources, func(a, b config.Source) int { return len(a.Name) - len(b.Name) }), config: c}
	if err := notProvided(backends.Of(n.source.Type)); err != nil {
		return nil, err
	}
	path := ""
	if len(names) == 1 {
		path = strings.TrimPrefix(strings.TrimPrefix(names[0], n.source.Name), "/")
	}
	prepared, _ := p.settings.prepared(n.source, c) // its error is reported when the source is made
	if n.source, n.path, err = prepared.Alone(ctx, path); err != nil {
		return nil, usageError{err}
	}
	n.config.Sources = []config.Source{n.source}
	return n, nil
}

// valid returns what is wrong with the settings.
func (o *nodeOptions) valid(verb action.Verb) error {
	s := o.settings
	word := func(flag, value string, words ...string) error {
		if value != "" && !slices.Contains(words, value) {
			return usagef("--%s takes %s", flag, strings.Join(words, " or "))
		}
		return nil
	}
	for flag, d := range map[string]time.Duration{"self-check-period": s.SelfCheckPeriod, "session-grace-period": s.SessionGracePeriod} {
		if d != 0 && (d%time.Millisecond != 0 || d < time.Millisecond || d > time.Hour) {
			return usagef("--%s takes whole milliseconds, as 10s, up to an hour", flag)
		}
	}
	for _, err := range []error{
		word("read-consistency", s.ReadConsistency, "strict", "relaxed"), word("attach-consistency", s.AttachConsistency, "strict", "relaxed"),
		word("rate-limiter-counters", s.RateLimiterCounters, "aggregated", "detailed"),
	} {
		if err != nil {
			return err
		}
	}
	if verb == action.AlterNode && s == (action.NodeSettings{}) {
		return usagef("no setting is given: see coordtop node alter --help")
	}
	return nil
}

// node creates, alters or drops the coordination node that arg names.
func (p *program) node(cmd *cobra.Command, verb action.Verb, arg string, o nodeOptions) error {
	if err := o.valid(verb); err != nil {
		return err
	}
	n, err := p.pickNode(cmd.Context(), arg)
	if err != nil {
		return err
	}
	later := action.Of(verb).Named && p.env.Keyboard() && p.env.Terminal()
	if err := o.check(n.source, cmd.CommandPath()+" changes what others use", later); err != nil {
		return err
	}
	switch {
	case o.typed != "" && !o.force:
		return usagef("--typed is for --force")
	case o.force && o.typed == "" && !later:
		return usagef("--force needs the path of the node, once more, in --typed")
	case o.force && o.typed == "":
		o.yes = false // so that it must be typed
	case o.force && o.typed != n.path:
		return usagef("--typed is not the path of the node, nothing was sent: it is %s", format.Clean(n.path, 200))
	}
	return p.onNode(cmd.Context(), n, func(ctx context.Context, on *nodeInView) error {
		if !on.exists && verb != action.CreateNode {
			return on.missing()
		}
		defer p.unfinished.begin()()
		op := p.operator(ctx, on.config, on.hub, true)
		defer p.giveBack(op)
		defer giveBackWith(ctx, op)()
		r := action.Request{Verb: verb, Node: o.settings, Force: o.force, Reason: o.reason}
		r.Target, _ = action.TargetOfNode(on.state, on.source.Name, on.path)
		if err := p.confirmed(ctx, op, on.source, &r, o.confirmation, "do this"); err != nil {
			return err
		}
		return foreground.Provision(ctx, op, on.hub, r, p.env.Stdout)
	})
}
