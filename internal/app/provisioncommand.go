package app

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"coordtop/internal/action"
	"coordtop/internal/app/backends"
	"coordtop/internal/config"
	"coordtop/internal/foreground"
	"coordtop/internal/ground/files"
	"coordtop/internal/ground/format"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/headless"
	"coordtop/internal/operate"
	"coordtop/sources"
)

// provisionOptions are the flags of the commands that create, change or delete a primitive itself.
type provisionOptions struct {
	confirmation
	limit      uint64
	ephemeral  bool
	text, file string
	was        string
	force      bool
	owners     []string
}

const provisionEnd = "NAME is SOURCE/NAME or SOURCE/NODE/NAME, which the config need not list. A URL must name one semaphore.\n" +
	"Only YDB has semaphores that exist without an owner: on other backends the exit code is 7.\n\n"

const provisioning = "Standard error says what it does; standard output gets one JSON line with the result, as it was seen\n" +
	"afterwards. The audit (audit.jsonl in the state directory) gets a line before and one after it.\n" +
	"--write --yes confirms%s; a protected source needs --reason too.\n\n" + provisionEnd +
	"Exit code 0: seen to be done; 1: error, or not seen to be done; 2: not confirmed; 3: a source did not\n" +
	"answer, or refused the login; 4: no such semaphore; 6: somebody else changed it just before, nothing was\n" +
	"done; 7: not possible, or a right is missing for it; 8: the source is read_only.\n\n"

func semaphoreCommand(p *program) *cobra.Command {
	all := &cobra.Command{Use: "semaphore", Short: "Create, update, delete or describe a semaphore of YDB", Args: none, RunE: p.run(helpOnly)}
	help := headless.JSONHelp(headless.OfProvision)
	add := func(verb action.Verb, o *provisionOptions, short, long, example string) *cobra.Command {
		cmd := &cobra.Command{
			Use: verb.String() + " NAME | URL", Short: short, Long: long + help, Example: example, Args: one,
			RunE: p.run(func(cmd *cobra.Command, args []string) error {
				return p.provision(cmd, verb, args[0], *o)
			}),
		}
		o.confirmation.flags(cmd)
		if verb != action.Delete {
			cmd.Flags().StringVar(&o.text, "data", "", "the data is `TEXT`")
			cmd.Flags().StringVar(&o.file, "data-file", "", "the data is the content of `FILE`; -: of standard input")
		}
		all.AddCommand(cmd)
		return cmd
	}
	var create, update, remove provisionOptions
	cmd := add(action.Create, &create, "Create a semaphore, with a limit and data",
		"Creates a semaphore. Nobody can change its limit later.\n"+fmt.Sprintf(provisioning, ""),
		"coordtop semaphore create 'grpc://localhost:2136/local?node=/local/app&semaphore=quota' --limit 5 --write --yes\n"+
			"coordtop semaphore create jobs/local/app/settings --limit 1 --data-file settings.json --write --yes")
	cmd.Flags().Uint64Var(&create.limit, "limit", 0, "it has `N` permits (an election: 1)")
	cmd.Flags().BoolVar(&create.ephemeral, "ephemeral", false, "it ends with its last owner")
	const typed = ", or on a terminal the typed name"
	cmd = add(action.Update, &update, "Replace the data of a semaphore",
		"Replaces the data of a semaphore itself, whoever owns it: programs that follow it act on it at once.\n"+
			"YDB cannot compare in an update. The data is read once more just before, and nothing is sent if it is not\n"+
			"what --if-data-sha says, or not what it was at the start of this command; of two updates in the same\n"+
			"instant both may be done, and one is lost.\n"+fmt.Sprintf(provisioning, typed),
		"coordtop semaphore update jobs/settings --data-file settings.json --write --yes\n"+
			"sha=$(coordtop semaphore describe jobs/settings -o json | jq -r .data_sha256)\n"+
			"coordtop semaphore update jobs/settings --data v2 --if-data-sha \"$sha\" --write --yes")
	cmd.Flags().StringVar(&update.was, "if-data-sha", "", "only if the `SHA-256` of its data is this, in hex, just before")
	cmd = add(action.Delete, &remove, "Delete a semaphore",
		"Deletes a semaphore that nobody owns or waits for. With --force it is deleted for all its owners and\n"+
			"waiters, who are listed first: the service tells owners nothing, so they go on working until they ask. Without\n"+
			"a terminal --force needs --if-owner for each owner; the owners are read once more just before.\n"+fmt.Sprintf(provisioning, typed),
		"coordtop semaphore delete jobs/quota --write --yes\n"+
			"coordtop semaphore delete jobs/quota --force --if-owner 5/3 --if-owner 7/4 --write --yes")
	cmd.Flags().BoolVar(&remove.force, "force", false, "also while somebody owns it or waits for it")
	cmd.Flags().StringArrayVar(&remove.owners, "if-owner", nil, "with --force: only if its owners have these `GUARD`s, as describe prints them")
	all.AddCommand(describeSemaphore(p, help))
	for _, c := range all.Commands() {
		c.ValidArgsFunction = p.settings.completeSources
	}
	return all
}

func describeSemaphore(p *program, help string) *cobra.Command {
	var o output
	cmd := &cobra.Command{
		Use: "describe NAME | URL", Short: "Print a semaphore with its owners, waiters and all of its data", Args: one,
		Long: "Prints one semaphore as get does, with all of its data and the SHA-256 of that. It only reads.\n\n" + provisionEnd +
			"Exit codes as of get.\n\n" + help,
		Example: "coordtop semaphore describe jobs/settings -o json | jq -r .data.text",
		RunE: p.run(func(cmd *cobra.Command, args []string) error {
			c, space, err := p.pickProvided(cmd.Context(), args[0], false)
			if err != nil {
				return err
			}
			return p.actOn(cmd.Context(), c, "", space, func(ctx context.Context, hub *sources.Hub, row *sources.Row, op *operate.Operator) error {
				if row.Absent {
					return absent(row)
				}
				d, err := op.Read(ctx, row)
				if err != nil {
					return err
				}
				return headless.WriteDescribed(p.env.Stdout, hub.State(), row, d, operate.SHA256(d.Data), o.format())
			})
		}),
	}
	o.flag(cmd)
	return cmd
}

// absent returns the error about a primitive that does not exist.
func absent(row *sources.Row) error {
	return fmt.Errorf("%s: %w: %s", format.Clean(row.FullName(), 200), headless.ErrNotFound, format.Clean(row.Note, 200))
}

// provision creates, updates or deletes the primitive that arg names.
func (p *program) provision(cmd *cobra.Command, verb action.Verb, arg string, o provisionOptions) error {
	c, space, err := p.pickProvided(cmd.Context(), arg, false)
	switch {
	case err != nil:
		return err
	case o.ephemeral:
		return fmt.Errorf("%w: an ephemeral semaphore exists while somebody owns it: coordtop acquire --ephemeral makes one", operate.ErrNotPossible)
	case cmd.Flags().Changed("data") && o.file != "":
		return usagef("--data or --data-file, not both")
	case verb == action.Update && !cmd.Flags().Changed("data") && o.file == "":
		return usagef("--data or --data-file is missing: say what its data is to be (--data '' for none)")
	case o.was != "" && (len(o.was) != 64 || strings.Trim(o.was, "0123456789abcdefABCDEF") != ""):
		return usagef("--if-data-sha takes the 64 hex digits of a SHA-256")
	}
	later := action.Of(verb).Named && o.file != "-" && p.env.Keyboard() && p.env.Terminal()
	if err := o.check(c.Sources[0], cmd.CommandPath()+" changes what others use", later); err != nil {
		return err
	}
	data, err := o.data(cmd.Context(), p.env.Stdin)
	if err != nil {
		return err
	}
	return p.actOn(cmd.Context(), c, "", space, func(ctx context.Context, hub *sources.Hub, row *sources.Row, op *operate.Operator) error {
		switch {
		case row.Absent && verb != action.Create:
			return absent(row)
		case verb == action.Create && o.limit == 0 && row.Kind != sources.KindElection:
			return usagef("--limit is missing: say how many permits it is to have; nobody can change that later")
		}
		if err := o.sameOwners(row, later); err != nil {
			return err
		}
		var first *sources.Owner
		if len(row.Owners) > 0 {
			first = &row.Owners[0]
		}
		r := action.Request{
			Verb: verb, Target: action.TargetOf(row, first), Limit: o.limit, Data: data, Reason: o.reason, Force: o.force, Was: strings.ToLower(o.was),
		}
		if err := p.confirmed(ctx, op, c.Sources[0], &r, o.confirmation, "do this"); err != nil {
			return err
		}
		return foreground.Provision(ctx, op, hub, r, p.env.Stdout)
	})
}

// mostData is more than any backend takes.
const mostData = 1 << 20

// data returns the data of --data, or of the file, or of standard input.
func (o *provisionOptions) data(ctx context.Context, stdin io.Reader) ([]byte, error) {
	switch o.file {
	case "":
		return []byte(o.text), nil
	case "-":
		return readInput(ctx, stdin)
	}
	data, _, err := files.Read(ctx, o.file, mostData)
	if err != nil {
		return nil, usagef("--data-file: %w", err)
	}
	return data, nil
}

// readInput reads standard input to its end, or a byte more than mostData.
func readInput(ctx context.Context, stdin io.Reader) ([]byte, error) {
	data, err := spawn.Within(ctx, 0, func() ([]byte, error) { return io.ReadAll(io.LimitReader(stdin, mostData+1)) })
	if err != nil {
		return nil, fmt.Errorf("reading standard input: %w", err)
	}
	return data, nil
}

// sameOwners returns why a deletion with --force may not end the ownerships of a row. asks reports whether the person
// sees the owners before typing the name, and then --if-owner may be missing.
func (o *provisionOptions) sameOwners(row *sources.Row, asks bool) error {
	var now []string
	for i := range row.Owners {
		now = append(now, row.Owners[i].Guard)
	}
	slices.Sort(now)
	slices.Sort(o.owners)
	switch {
	case !o.force && len(o.owners) > 0:
		return usagef("--if-owner is for --force")
	case !o.force, slices.Equal(now, o.owners), asks && len(o.owners) == 0:
		return nil
	case len(o.owners) == 0:
		return usagef("--if-owner is missing: say whose ownerships are to end, now %s", format.Clean(strings.Join(now, ", "), 2000))
	}
	return fmt.Errorf("%w: the owners have not the guards of --if-owner; now they have %s", operate.ErrChanged, format.Clean(strings.Join(now, ", "), 2000))
}

// pickProvided finds the one source of a NAME or URL of a primitive, or with node of a coordination node, which need not
// exist or be configured. The error wraps operate.ErrNotPossible if the backend has nothing that exists without an owner.
func (p *program) pickProvided(ctx context.Context, arg string, node bool) (c config.Config, space string, err error) {
	scheme, _, _ := strings.Cut(arg, "://")
	for _, b := range backends.All() {
		if slices.ContainsFunc(b.Schemes, func(s config.Scheme) bool { return s.Name == scheme }) {
			err = notProvided(b)
		}
	}
	var names []string
	name := ""
	if err == nil {
		c, names, err = p.settings.pick([]string{arg}, false)
	}
	if err != nil {
		return c, "", err
	}
	s := slices.MaxFunc(c.Sources, func(a, b config.Source) int { return len(a.Name) - len(b.Name) })
	if err := notProvided(backends.Of(s.Type)); err != nil {
		return c, "", err
	}
	if len(names) == 1 {
		name = strings.TrimPrefix(strings.TrimPrefix(names[0], s.Name), "/")
	}
	prepared, _ := p.settings.prepared(s, c) // its error is reported when the source is made
	switch {
	case node:
		s, space, err = prepared.Alone(ctx, name)
	case name == "":
		c, _, space, err = p.settings.pickOne(arg, true)
		return c, space, err
	default:
		s, space, err = prepared.Named(name)
	}
	if err != nil {
		return c, "", usageError{err}
	}
	c.Sources = []config.Source{s}
	return c, space, nil
}

func notProvided(b backends.Backend) error {
	if slices.Contains(b.Traits, config.Nodes) {
		return nil
	}
	return fmt.Errorf("%w: %s; coordtop get shows what is owned there", operate.ErrNotPossible, operate.NotProvided(b.Type))
}
