package app

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coordtop/internal/action"
	"coordtop/internal/config"
	"coordtop/internal/drill"
	"coordtop/internal/foreground"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/format"
	"coordtop/internal/headless"
	"coordtop/internal/history"
	reports "coordtop/internal/history/report"
	"coordtop/internal/operate"
	"coordtop/sources"
)

// drillOptions are the flags of drill.
type drillOptions struct {
	confirmation
	leaseFlags
	rounds, candidates int
	how                drill.Way
	owner, svg         string
	pause              time.Duration
	format             output
}

func drillCommand(p *program) *cobra.Command {
	var o drillOptions
	cmd := &cobra.Command{
		Use:   "drill NAME | URL",
		Short: "Measure how long an election has no leader when its leader ends",
		Long: "Starts candidates of its own for an election that nobody else uses, ends the leader again and again, and\n" +
			"prints how long there was no leader: a line for each round, then percentiles and a bar for each round.\n" +
			"`coordtop help drill` says what the numbers are made of, and what they were on four servers.\n\n" +
			"--how kill: its process is killed. stop: it is frozen. cut: its connections are closed and it can make\n" +
			"no other. resign: it resigns and ends. release: its ownership is ended by force, as by coordtop release.\n" +
			"Only processes that the drill started are killed, frozen or cut off. Where somebody else leads there is\n" +
			"only release, with no candidates of ours: each round is confirmed by typing the name, or one round by\n" +
			"--write --yes --if-owner GUARD.\n\n" +
			"A round begins only while the election is led and the source answers. The drill ends early if the source\n" +
			"does not answer, an owner or a waiter appears that is not its own, or nobody leads for two TTLs. At the\n" +
			"end its candidates resign, and what it created is deleted; so at each signal, within two seconds. The\n" +
			"audit gets a line before and one after it.\n\n" +
			"NAME is SOURCE/NAME or SOURCE/SPACE/NAME. A URL must have exactly one election=. --write --yes confirms;\n" +
			"a protected source needs --reason too.\n\n" +
			"Exit code 0: all rounds done; 1: error, or a signal; 2: not confirmed; 3: the source did not answer, also\n" +
			"in the middle; 4: no such name; 5: no leader for two TTLs; 6: an owner or waiter that is not the drill's;\n" +
			"7: not possible, as where somebody else leads, or where this way makes no sense on this server; 8: the\n" +
			"source is read_only.\n\n" + headless.JSONHelp(headless.OfDrill),
		Example: "coordtop drill --write --yes 'redis://localhost:6379/0?election=drill' --lease 10s\n" +
			"coordtop drill --write --yes ledger/drill --how cut --rounds 20 --svg drill.svg\n" +
			"coordtop drill leases/app:leader:billing --how release --rounds 3",
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("schema") {
				return nil
			}
			return one(cmd, args)
		},
		RunE: p.run(func(cmd *cobra.Command, args []string) error { return p.drill(cmd, args[0], o) }),
	}
	o.confirmation.flags(cmd)
	o.leaseFlags.flags(cmd)
	cmd.Flags().IntVar(&o.rounds, "rounds", 10, "end the leader N times")
	cmd.Flags().IntVar(&o.candidates, "candidates", 2, "start N candidates")
	choiceVar(cmd, (*string)(&o.how), "how", "", "end a leader in this way", "kill", "stop", "cut", "resign", "release")
	lengthVar(cmd, &o.pause, "pause", 2*time.Second, "let each leader lead for so long, and up to twice that")
	cmd.Flags().StringVar(&o.owner, "if-owner", "", "release the owner with this `GUARD`, and no other, in one round")
	cmd.Flags().StringVar(&o.svg, "svg", "", "draw the timeline of the last 60 rounds into `FILE`")
	o.format.flag(cmd)
	p.schemaFlag(cmd, headless.OfDrill)
	return cmd
}

// drill checks the guards, and runs a drill on the election that arg names.
func (p *program) drill(cmd *cobra.Command, arg string, o drillOptions) error {
	switch {
	case o.rounds < 1 || o.candidates < 2:
		return usagef("--rounds takes a number from 1 on, --candidates one from 2 on")
	case o.owner != "" && (o.how != drill.Release || o.rounds != 1):
		return usagef("--if-owner needs --how release --rounds 1: the next leader has another guard")
	case o.session.Description != "":
		return usagef("--description: the candidates of a drill have labels of its own")
	}
	wishes, err := o.wishes()
	if err != nil {
		return err
	}
	o.session = wishes
	c, name, space, err := p.settings.pickOne(arg, true)
	if err != nil {
		return err
	}
	later := o.how == drill.Release && p.env.Keyboard() && p.env.Terminal() // each release is confirmed
	if err := o.check(c.Sources[0], "drill ends leaders", later); err != nil {
		return err
	}
	recorded := p.recordingOf(c)
	defer recorded.close()
	return p.actOn(cmd.Context(), c, name, space, func(ctx context.Context, hub *sources.Hub, row *sources.Row, op *operate.Operator) error {
		var past []sources.Term
		if of, _ := recordedPast(ctx, recorded.reader, time.Now()); of != nil {
			past = slices.Clone(of(row.Ref))
		}
		d := drilling{p: p, hub: hub, op: op, source: c.Sources[0], row: row, o: o}
		return d.run(ctx, arg, othersOf(row, past))
	})
}

// drilling is one drill.
type drilling struct {
	p      *program
	hub    *sources.Hub
	op     *operate.Operator
	source config.Source
	row    *sources.Row
	o      drillOptions
}

// ownLabels begins the labels of the candidates of all drills.
const ownLabels = "drill-"

// run runs the drill, and prints its result. others is who else uses the election; "": nobody.
func (d *drilling) run(ctx context.Context, arg, others string) error {
	b := d.p.backend(d.source, ownLabels)
	wishes, err := b.SessionOptions(d.o.session)
	switch confirmed := d.o.write && d.o.yes; {
	case err != nil:
		return err
	case d.row.Kind != sources.KindElection:
		return fmt.Errorf("%w: it is no election: a drill ends leaders", operate.ErrNotPossible)
	case d.o.how == drill.Stop && b.KeepsFrozen:
		return fmt.Errorf("%w: this server keeps a frozen leader for as long as its connection is open, which may be for ever: nobody follows, and there is nothing to measure; --how cut closes the connection", operate.ErrNotPossible)
	case others != "" && (d.o.how != drill.Release || len(d.row.Owners) == 0):
		return fmt.Errorf("%w: %s: a drill starts and kills candidates only where nobody else does; use a name of its own, or --how release where somebody leads", operate.ErrNotPossible, others)
	case others == "" && !confirmed:
		return usagef("drill starts candidates and ends leaders: add --write --yes to mean it")
	case others != "" && confirmed && d.o.owner == "":
		return usagef("--if-owner is missing: say whose ownership is to end, or leave --yes out and type the name in each round")
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding our own program: %w", err)
	}
	ttl := cmp.Or(wishes.TTL, b.Lease)
	options := drill.Options{
		View: d.hub, Row: d.row, How: d.o.how, Rounds: d.o.rounds, Candidates: d.o.candidates, Pause: d.o.pause, TTL: ttl, Keeps: ttl * time.Duration(max(b.Doubts, 1)),
		Task: drill.Task{
			Argument: arg, Config: d.p.settings.file, Space: d.row.Space, Name: d.row.Name, Label: fmt.Sprintf("%s%d-", ownLabels, os.Getpid()), Data: b.Nameless,
			TTL: wishes.TTL, RenewEvery: d.o.session.RenewEvery, StartTimeout: wishes.StartTimeout, Retry: wishes.Retry,
		},
		Command: func() *exec.Cmd {
			return &exec.Cmd{Path: self, Args: []string{self, drill.CandidateCommand}, Env: d.p.env.Environ, Stderr: d.p.env.Stderr}
		},
		Release: d.release, Each: d.each, Say: d.say,
	}
	if others != "" {
		options.Candidates = 0
	}
	d.hub.Focus([]sources.Ref{d.row.Ref}, d.row.Ref) // it is read as often as possible
	call := fmt.Sprintf("%d rounds, %s, %d candidates of its own, labels %s", d.o.rounds, d.o.how, options.Candidates, options.Task.Label)
	end, err := d.op.Exercise(d.row, "drill", d.o.reason, call)
	if err != nil {
		return err
	}
	result, err := d.between(ctx, options)
	phase, detail := action.Seen, fmt.Sprintf("%d of %d rounds", len(result.Rounds), d.o.rounds)
	if err != nil {
		phase, detail = action.Failed, detail+": "+err.Error()
	}
	return errors.Join(err, d.print(&result, err), end(phase, detail))
}

// between creates the election if the server has elections that exist by themselves, and not this one, runs the drill,
// and deletes what it created.
func (d *drilling) between(ctx context.Context, o drill.Options) (result drill.Result, err error) {
	if d.row.Absent && d.p.backend(d.source, "").Provisions {
		if err := d.provision(ctx, action.Create); err != nil {
			return result, fmt.Errorf("creating the election: %w", err)
		}
		defer func() {
			if e := d.provision(context.WithoutCancel(ctx), action.Delete); e != nil {
				err = errors.Join(err, fmt.Errorf("the election that the drill created is left: %w", e))
			}
		}()
	}
	return drill.Run(ctx, o)
}

// unownedWithin bounds the time until our watch shows that our candidates have resigned.
const unownedWithin = time.Second

// provision creates or deletes the election, once our watch shows no owner and no waiter.
func (d *drilling) provision(ctx context.Context, verb action.Verb) error {
	d.hub.Refresh(d.row.Source)
	soon, cancel := context.WithTimeout(ctx, unownedWithin)
	defer cancel()
	row := d.now()
	for ; len(row.Owners)+row.Queue.Len > 0; row = d.now() {
		if err := backoff.Sleep(soon, unownedWithin/50); err != nil {
			return fmt.Errorf("somebody owns it or waits for it: %w", err)
		}
	}
	r := action.Request{Verb: verb, Target: action.TargetOf(row, nil), Reason: d.o.reason, Limit: 1}
	if err := d.p.confirmed(ctx, d.op, d.source, &r, d.o.confirmation, "do this"); err != nil {
		return err
	}
	return foreground.Provision(ctx, d.op, d.hub, r, io.Discard)
}

// now returns the row on our watch, or as it was at the start if our watch does not show it any more.
func (d *drilling) now() *sources.Row {
	return cmp.Or(d.hub.Row(d.hub.State(), d.row.Ref), d.row)
}

// othersOf returns what shows that somebody else leads an election, waits for it, or did; "": nothing does. past has
// its recorded terms.
func othersOf(r *sources.Row, past []sources.Term) string {
	if len(r.Owners) > 0 {
		return action.OwnersText(r.Owners) + " leads it"
	}
	for i := range r.Candidates {
		if l := r.Candidates[i].Label; !strings.HasPrefix(l, ownLabels) {
			return format.Label(l, 100) + " campaigns for it"
		}
	}
	for _, t := range append(past, r.Terms...) {
		if !strings.HasPrefix(t.Owner.Label, ownLabels) {
			return fmt.Sprintf("%s led it at %s", format.Label(t.Owner.Name(), 100), t.Start.At.Local().Format(time.DateTime))
		}
	}
	if r.Taken > 0 || r.Queue.Len > 0 {
		return "somebody leads it or waits for it"
	}
	return ""
}

// release ends the ownership of the present owner by force, once it is confirmed.
func (d *drilling) release(ctx context.Context) error {
	row := d.now()
	guard := d.o.owner
	if guard == "" && len(row.Owners) > 0 {
		guard = row.Owners[0].Guard
	}
	owner, err := ownerToEnd(d.op, row, guard)
	if err != nil {
		return err
	}
	r := action.Request{Verb: action.Release, Target: action.TargetOf(row, owner), Reason: d.o.reason}
	if err := d.p.confirmed(ctx, d.op, d.source, &r, d.o.confirmation, "end this ownership"); err != nil {
		return err
	}
	return foreground.Release(ctx, d.op, d.hub, r, io.Discard)
}

// say writes to standard error, if it is a terminal, what the drill waits for.
func (d *drilling) say(text string) {
	if isTerminal(d.p.env.Stderr) {
		fmt.Fprintf(d.p.env.Stderr, "coordtop: %s\n", text)
	}
}

// each prints one round, to standard error where standard output is JSON.
func (d *drilling) each(r *drill.Round) error {
	to := d.p.env.Stdout
	if d.o.format.format() == headless.JSON {
		to = d.p.env.Stderr
	}
	_, err := fmt.Fprintln(to, r.Text(d.o.how, d.o.rounds))
	return err
}

// pictured bounds the rounds of a timeline: a row keeps no more terms.
const pictured = sources.MaxTerms - 4

// print prints the result and draws the timeline. early is why the drill ended early.
func (d *drilling) print(result *drill.Result, early error) (err error) {
	if d.o.format.format() == headless.JSON {
		err = headless.WriteDrill(d.p.env.Stdout, result, early)
	} else if len(result.Rounds) > 0 {
		err = result.Write(d.p.env.Stdout)
	}
	if d.o.svg == "" || len(result.Rounds) == 0 {
		return err
	}
	s, row := d.hub.State(), d.now()
	first := result.Rounds[max(0, len(result.Rounds)-pictured)].Acted.At.Add(-d.o.pause)
	picture := reports.Report{Title: "drill, " + string(d.o.how), Span: history.Span{From: first, To: s.At}, Zone: time.Local}
	picture.Have([]history.Lane{{Ref: row.Ref, Kind: row.Kind, Terms: row.Terms, Since: row.RecordedSince(s)}}, nil)
	return errors.Join(err, draw(&picture, d.o.svg))
}

// drillCandidateCommand runs one candidate of a drill until its standard input ends.
func drillCandidateCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use: drill.CandidateCommand, Hidden: true, Args: none,
		RunE: p.run(func(cmd *cobra.Command, _ []string) error {
			in := bufio.NewReader(p.env.Stdin)
			t, err := drill.ReadTask(in)
			if err != nil {
				return err
			}
			p.settings.file = t.Config
			c, _, _, err := p.settings.pickOne(t.Argument, true)
			if err != nil {
				return err
			}
			driver, err := p.backend(c.Sources[0], t.Label).Open(cmd.Context(), t.Space)
			if err != nil {
				return err
			}
			return drill.RunCandidate(cmd.Context(), driver, t, in, p.env.Stdout)
		}),
	}
}
