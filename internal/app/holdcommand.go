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
	"coordtop/internal/operate"
	"coordtop/sources"
)

// holdOptions are the flags of acquire and campaign.
type holdOptions struct {
	confirmation
	leaseFlags
	data    string
	wait    time.Duration
	shared  bool
	permits uint64
	limit   uint64
	reopen  bool
	enqueue bool
	listen  []string
	poll    time.Duration
}

const holding = "Waits for it. Standard error shows who owns it, and our place in the queue and who is before us if the\n" +
	"server tells that.\n" +
	"When it is ours, prints one JSON line, keeps it, and reads lines from standard input: `resign`\n" +
	"gives it up, or ends the wait%s. Each line is answered with one JSON line. The end of input\n" +
	"resigns too, and so does each signal that ends the program, within two seconds. Nothing that could\n" +
	"prove ownership is written to disk; the audit (audit.jsonl in the state directory) gets a line\n" +
	"before and one after each action.\n\n" +
	"NAME is SOURCE/NAME or SOURCE/SPACE/NAME. A URL must have exactly one of election=, mutex=\n" +
	"and semaphore=. --write --yes confirms the action; a protected source needs --reason too.\n\n" +
	"Exit code 0: resigned, also during the wait; 1: error, or a signal during the wait; 2: not confirmed,\n" +
	"or several primitives have that name; 3: the source did not answer or refused the login; 4: no such\n" +
	"name; 5: not ours within --wait; 6: with --wait 0, the owner changed just before anything was sent;\n" +
	"7: not possible; 8: the source is read_only; 9: the lease was lost, without --reopen.\n\n"

func acquireCommand(p *program) *cobra.Command {
	var o holdOptions
	cmd := &cobra.Command{
		Use:   "acquire NAME | URL",
		Short: "Own a mutex or a semaphore's permits in the foreground",
		Long:  fmt.Sprintf(holding, "; `wait`, after --enqueue, waits\nat the place that was taken") + headless.JSONHelp(headless.OfHold),
		Example: "coordtop acquire --write --yes 'redis://localhost:6379/0?mutex=app:lock:export'\n" +
			"coordtop acquire --write --yes --reason 'moving the disk' ledger/4242 --wait 30s",
		Args: one,
		RunE: p.run(func(cmd *cobra.Command, args []string) error { return p.hold(cmd, action.Acquire, args[0], o) }),
	}
	o.flags(cmd)
	o.ephemeralFlag(cmd)
	cmd.Flags().BoolVar(&o.enqueue, "enqueue", false, "take a place in the queue and print it; the line \"wait\" on standard input then waits there (YDB, dflockd)")
	cmd.Flags().BoolVar(&o.shared, "shared", false, "own it together with others, where the backend can")
	cmd.Flags().Uint64Var(&o.permits, "permits", 1, "own N permits of a semaphore")
	cmd.Flags().Uint64Var(&o.limit, "limit", 0, "the semaphore has N permits; only for dflockd, where nobody uses it (default: as the server says)")
	return cmd
}

func campaignCommand(p *program) *cobra.Command {
	var o holdOptions
	cmd := &cobra.Command{
		Use:   "campaign NAME | URL",
		Short: "Lead an election in the foreground",
		Long: "Leads an election, and does none of the leader's work.\n\n" +
			fmt.Sprintf(holding, "; `proclaim TEXT` replaces the data\nthat others see, and on Postgres `notify CHANNEL TEXT` notifies all who listen") + headless.JSONHelp(headless.OfHold),
		Example: "coordtop campaign --write --yes 'redis://localhost:6379/0?election=app:leader:billing'\n" +
			"coordtop campaign --write --yes leases/app:leader:billing --data draining --wait 1m",
		Args: one,
		RunE: p.run(func(cmd *cobra.Command, args []string) error { return p.hold(cmd, action.Campaign, args[0], o) }),
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&o.reopen, "reopen", false, "after a lost lease campaign again, in a new session, instead of ending with exit code 9")
	cmd.Flags().StringArrayVar(&o.listen, "listen", nil, "Postgres: print each notification on the CHANNEL while we lead; may be repeated")
	return cmd
}

func (o *holdOptions) flags(cmd *cobra.Command) {
	o.confirmation.flags(cmd)
	o.leaseFlags.flags(cmd)
	cmd.Flags().StringVar(&o.data, "data", "", "show TEXT to others behind our name")
	lengthVar(cmd, &o.poll, "poll", 0, "Postgres: try again after so long instead of standing in the server's queue")
	lengthVar(cmd, &o.wait, "wait", 0, "give up after so long, as 30s; 0: at once if it is taken; left out: never")
}

// confirmation has the flags with which a person confirms an action.
type confirmation struct {
	write, yes bool
	reason     string
}

func (o *confirmation) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.write, "write", false, "allow writing")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "do it without asking")
	cmd.Flags().StringVar(&o.reason, "reason", "", "write TEXT to the audit")
}

// check returns why a command may not act on s. what tells the effect of the command; later reports whether the
// command asks the person later.
func (o *confirmation) check(s config.Source, what string, later bool) error {
	asks, unsaid := !o.write || !o.yes, s.Protect && o.reason == ""
	switch {
	case s.ReadOnly:
		return fmt.Errorf("%w: the config says read_only for %s", operate.ErrReadOnly, s.Name)
	case asks && !later && unsaid:
		return usagef("%s: add --write --yes to mean it, and --reason TEXT: %s is protected", what, s.Name)
	case asks && !later:
		return usagef("%s: add --write --yes to mean it", what)
	case unsaid:
		return usagef("%s is protected: add --reason TEXT", s.Name)
	}
	return nil
}

// hold claims the primitive that arg names, and keeps it until somebody ends that.
func (p *program) hold(cmd *cobra.Command, verb action.Verb, arg string, o holdOptions) error {
	if cmd.Flags().Changed("permits") && o.permits == 0 {
		return usagef("--permits takes a whole number from 1 on")
	}
	if cmd.Flags().Changed("wait") && o.wait == 0 {
		verb = action.Try
		if o.enqueue {
			return usagef("--enqueue takes a place in the queue, which --wait 0 does not: leave one of them out")
		}
	}
	session, err := o.wishes()
	if err != nil {
		return err
	}
	c, name, space, err := p.settings.pickOne(arg, true)
	if err != nil {
		return err
	}
	if err := o.check(c.Sources[0], cmd.Name()+" keeps others from what it takes", false); err != nil {
		return err
	}
	source := c.Sources[0]
	if p.settings.claims, err = o.claims(source); err != nil {
		return err
	}
	notices := make(chan headless.Notice)
	p.settings.claims.Notified = func(ctx context.Context, channel, payload string, missed uint64) {
		select {
		case notices <- headless.Notice{Channel: channel, Payload: payload, Missed: missed}:
		case <-ctx.Done():
		}
	}
	mode := sources.Exclusive
	if o.shared {
		mode = sources.Shared
	}
	lines := foreground.Lines(cmd.Context(), p.env.Stdin)
	return p.actOn(cmd.Context(), c, name, space, func(ctx context.Context, hub *sources.Hub, row *sources.Row, op *operate.Operator) error {
		if doubt := row.MaybeMisspelt(); doubt != "" {
			fmt.Fprintf(p.env.Stderr, "coordtop: %s: %s\n", format.Clean(row.Name, 100), doubt)
		}
		if err := checkKind(row.Kind, cmd.Name() == "campaign", "campaign", "acquire"); err != nil {
			return err
		}
		if source.Protect {
			if err := op.Arm(source.Name, source.Name); err != nil {
				return err
			}
		}
		return foreground.Keep(ctx, foreground.Options{
			Operator: op, View: hub, Row: row,
			Lines: lines, Reopen: o.reopen, Enqueue: o.enqueue, Out: p.env.Stdout, Err: p.env.Stderr,
			Notices: notices, Notify: func(ctx context.Context, channel, payload string) error {
				return op.Notify(ctx, source.Name, channel, payload, o.reason)
			},
		}, action.Request{Verb: verb, Mode: mode, Permits: o.permits, Limit: o.limit, Wait: o.wait, Data: []byte(o.data), Reason: o.reason, Session: session, Ephemeral: o.ephemeral})
	})
}

// checkKind returns an error if a command that leads met no election, or another an election. leads and owns are the
// commands for the two.
func checkKind(kind sources.Kind, leading bool, leads, owns string) error {
	switch election := kind == sources.KindElection; {
	case election && !leading:
		return fmt.Errorf("%w: it is an election: coordtop %s leads it", operate.ErrNotPossible, leads)
	case leading && !election:
		return fmt.Errorf("%w: it is no election: coordtop %s owns it", operate.ErrNotPossible, owns)
	}
	return nil
}

// claims returns what the flags ask of a claim on Postgres, or why the source cannot do that.
func (o *holdOptions) claims(s config.Source) (backends.Claims, error) {
	b := backends.Of(s.Type)
	switch channels := slices.Contains(b.Traits, config.Channels); {
	case len(o.listen) > 0 && !channels:
		return backends.Claims{}, fmt.Errorf("%w: %s has no channels to listen to", operate.ErrNotPossible, b.Title)
	case o.poll > 0 && !channels:
		return backends.Claims{}, fmt.Errorf("%w: on %s a claim waits in its one way: --retry-delay paces its tries, if it has no queue", operate.ErrNotPossible, b.Title)
	}
	s.Channels = append(slices.Clone(s.Channels), o.listen...)
	if err := b.Check(s, nil); err != nil {
		return backends.Claims{}, usageError{err}
	}
	return backends.Claims{Listen: o.listen, Poll: o.poll}, nil
}

func notifyCommand(p *program) *cobra.Command {
	var o confirmation
	cmd := &cobra.Command{
		Use:   "notify SOURCE | URL CHANNEL [TEXT]",
		Short: "Notify all who listen to a channel of Postgres",
		Long: "Sends TEXT, else standard input, at most 7999 bytes, to all who listen to the channel in that database: a\n" +
			"leader with --listen, one of @platformatic/leader, any program. Postgres does not tell whether anybody\n" +
			"listens. The audit gets a line before and one after it.\n\n" +
			"Exit code 0: the server has it; 1: error; 2: not confirmed; 7: not possible; 8: the source is read_only.",
		Example: "coordtop notify --write --yes ledger jobs '{\"do\":\"reload\"}'\n" +
			"coordtop notify --write --yes 'postgres://ops@localhost/ledger' jobs < message.json",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 2 || len(args) == 3 {
				return nil
			}
			return usagef("notify takes a source or its URL, a channel, and the text or else standard input; see %s --help", cmd.CommandPath())
		},
		RunE: p.run(func(cmd *cobra.Command, args []string) error { return p.notify(cmd.Context(), args, o) }),
	}
	o.flags(cmd)
	return cmd
}

func (p *program) notify(ctx context.Context, args []string, o confirmation) error {
	c, names, err := p.settings.pick(args[:1], false)
	if err != nil {
		return err
	}
	s := c.Sources[0]
	if len(names) > 0 && names[0] != s.Name {
		return usagef("a channel is one of the whole source: coordtop notify %s CHANNEL", format.ShellWord(s.Name))
	}
	if err := o.check(s, "notify reaches every program that listens", false); err != nil {
		return err
	}
	var text string
	if len(args) == 3 {
		text = args[2]
	} else {
		all, err := readInput(ctx, p.env.Stdin)
		if err != nil {
			return err
		}
		text = strings.TrimSuffix(string(all), "\n")
	}
	hub := sources.NewHub(ctx, sources.HubOptions{})
	defer hub.Close()
	op := p.operator(ctx, c, hub, true)
	defer p.giveBack(op)
	return op.Notify(ctx, s.Name, args[1], text, o.reason)
}
