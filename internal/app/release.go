package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"coordtop/internal/action"
	"coordtop/internal/config"
	"coordtop/internal/foreground"
	"coordtop/internal/ground/format"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/headless"
	"coordtop/internal/operate"
	"coordtop/sources"
)

// releaseOptions are the flags of release.
type releaseOptions struct {
	confirmation
	owner string
}

func releaseCommand(p *program) *cobra.Command {
	var o releaseOptions
	cmd := &cobra.Command{
		Use:   "release NAME | URL",
		Short: "End by force what another owns",
		Long: "Ends the ownership of the owner with the guard of --if-owner, if it still owns it just then: the server\n" +
			"compares. `coordtop get -o json` prints the guard of each owner, and why a release is not possible.\n" +
			"The owner may go on working until it notices; standard error says what else falls and who is next.\n" +
			"Standard output gets one JSON line with the result, as it was seen afterwards. The audit (audit.jsonl in\n" +
			"the state directory) gets a line before and one after it.\n\n" +
			"NAME is SOURCE/NAME or SOURCE/SPACE/NAME. A URL must name one primitive. --write --yes confirms; on a\n" +
			"terminal the name can be typed instead. A protected source needs --reason too.\n\n" +
			"Exit code 0: seen to be over; 1: error, or not seen to be over; 2: not confirmed, or no --if-owner; 3: a\n" +
			"source did not answer, or refused the login; 4: no such name; 6: the owner changed, or nobody owns it (a name\n" +
			"that the server knows nothing of may be misspelt), nothing was done; 7: not possible, or a right is missing\n" +
			"for it; 8: the source is read_only.\n\n" + headless.JSONHelp(headless.OfRelease),
		Example: "coordtop get leases/app:lock:export -o json | jq -r '.primitives[0].owners[0].guard'\n" +
			"coordtop release leases/app:lock:export --if-owner GUARD --reason 'its host is gone' --write --yes",
		Args: one,
		RunE: p.run(func(cmd *cobra.Command, args []string) error { return p.release(cmd.Context(), args[0], o) }),
	}
	o.flags(cmd)
	cmd.Flags().StringVar(&o.owner, "if-owner", "", "end the ownership of the owner with this `GUARD`, and of no other")
	return cmd
}

// release ends the ownership of the owner with the guard of --if-owner.
func (p *program) release(ctx context.Context, arg string, o releaseOptions) error {
	c, name, space, err := p.settings.pickOne(arg, false)
	if err != nil {
		return err
	}
	later := o.owner == "" || p.env.Keyboard() && p.env.Terminal() // without an owner nothing is sent anyway
	if err := o.check(c.Sources[0], "release ends what another owns", later); err != nil {
		return err
	}
	return p.actOn(ctx, c, name, space, func(ctx context.Context, hub *sources.Hub, row *sources.Row, op *operate.Operator) error {
		owner, err := ownerToEnd(op, row, o.owner)
		if err != nil {
			return err
		}
		r := action.Request{Verb: action.Release, Target: action.TargetOf(row, owner), Reason: o.reason}
		if err := p.confirmed(ctx, op, c.Sources[0], &r, o.confirmation, "end this ownership"); err != nil {
			return err
		}
		return foreground.Release(ctx, op, hub, r, p.env.Stdout)
	})
}

// confirmed prints what r will do, and lets the person confirm it, by the flags or by typing the name that r needs. It
// then arms writing on a protected source. doing is what the person is asked to confirm.
func (p *program) confirmed(ctx context.Context, op *operate.Operator, s config.Source, r *action.Request, o confirmation, doing string) error {
	effect, err := op.Describe(ctx, *r)
	if err != nil {
		return err
	}
	lines := append(effect.Lines, "It sends "+effect.Call+".")
	if effect.Next != "" {
		lines = append(lines, "Next: "+effect.Next+".")
	}
	for _, line := range lines {
		fmt.Fprintf(p.env.Stderr, "coordtop: %s\n", line)
	}
	r.Typed = effect.NeedsName
	if !o.write || !o.yes {
		names := effect.NeedsName
		if r.Target.Alias != "" {
			names += " or " + format.Clean(r.Target.Alias, 200)
		}
		r.Typed = typed(ctx, p.env, "Type "+names+" to "+doing+": ")
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case !r.Target.GoesBy(r.Typed, effect.NeedsName):
		return usagef("not confirmed: nothing was sent")
	case s.Protect:
		return op.Arm(s.Name, s.Name)
	}
	return nil
}

// typed asks the person at the terminal, and returns the typed line; "": none. It waits until ctx has ended; the
// read then ends with the process.
func typed(ctx context.Context, env Environment, ask string) string {
	fmt.Fprint(env.Stderr, ask)
	line, err := spawn.Within(ctx, 0, func() (string, error) { return bufio.NewReader(env.Stdin).ReadString('\n') })
	if err != nil { // also for a line without its line break, which confirms nothing
		fmt.Fprintln(env.Stderr)
		return ""
	}
	return strings.TrimSpace(line)
}

// errUnowned reports that nobody owned the primitive.
var errUnowned = errors.New("nothing was released")

// unowned returns the error about a row that nobody owns. Like get, it tells if the name may be misspelt, and reports
// an absent primitive as not found.
func unowned(row *sources.Row) error {
	doubt := row.MaybeMisspelt()
	switch {
	case row.Absent:
		return fmt.Errorf("%w: %w: the server has none of this name", errUnowned, headless.ErrNotFound)
	case doubt != "" && len(row.Terms) == 0: // a name that had owners is right
		return fmt.Errorf("%w: %s", errUnowned, doubt)
	}
	return fmt.Errorf("%w: nobody owns it now", errUnowned)
}

// ownerToEnd finds the owner with a guard whose ownership can be ended.
func ownerToEnd(op *operate.Operator, row *sources.Row, guard string) (*sources.Owner, error) {
	var now, nots []string
	for i := range row.Owners {
		o := &row.Owners[i]
		switch not := op.NotEnded(row, action.TargetOf(row, o)); {
		case guard != "" && o.Guard == guard && not != "":
			return nil, fmt.Errorf("%w: %s", operate.ErrNotPossible, not)
		case guard != "" && o.Guard == guard:
			return o, nil
		case not != "":
			nots = append(nots, not)
		default:
			now = append(now, format.Clean(o.Guard, 200)+" ("+format.Label(o.Label, 100)+")")
		}
	}
	choices := op.Choices(row)
	not := choices[slices.IndexFunc(choices, func(c action.Choice) bool { return c.Verb == action.Release })].Not
	switch {
	case len(now) > 0 && guard == "":
		return nil, usagef("--if-owner is missing: say whose ownership is to end, now %s", strings.Join(now, ", "))
	case len(now) > 0:
		return nil, fmt.Errorf("%w: no owner has the guard of --if-owner; owned now by %s", operate.ErrChanged, strings.Join(now, ", "))
	case len(nots) > 0:
		return nil, fmt.Errorf("%w: %s", operate.ErrNotPossible, nots[0])
	case guard != "" && row.OwnersHow != sources.Unknown:
		return nil, unowned(row)
	}
	return nil, fmt.Errorf("%w: %s", operate.ErrNotPossible, not)
}
