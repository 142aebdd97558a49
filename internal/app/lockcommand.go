package app

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"coordtop/coord"
	"coordtop/internal/action"
	"coordtop/internal/config"
	"coordtop/internal/foreground"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/format"
	"coordtop/internal/ground/glob"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/job"
	"coordtop/internal/operate"
	"coordtop/internal/underlease"
	"coordtop/sources"
)

// workOptions are the flags of lock and elect.
type workOptions struct {
	leaseFlags
	reason, data        string
	wait, grace         time.Duration
	conflictExit, error uint8 // exit codes
}

func (o *workOptions) flags(cmd *cobra.Command) {
	o.leaseFlags.flags(cmd)
	f := cmd.Flags()
	f.StringVar(&o.reason, "reason", "", "write TEXT to the audit; a protected source needs it")
	f.StringVar(&o.data, "data", "", "show TEXT to others behind our name")
	lengthVar(cmd, &o.wait, "wait", 0, "give up after so long, as 30s; 0: at once if it is taken; left out: never")
	lengthVar(cmd, &o.grace, "grace", 0, "if the lease cannot be kept, send TERM so long before KILL")
	f.Uint8Var(&o.conflictExit, "conflict-exit", exitTimeout, "end with this `CODE` if it is not ours within --wait; 0 also prints nothing then")
	f.Uint8Var(&o.error, "error-exit", 0, "end with this `CODE` at every other failure of coordtop itself")
}

const working = "The command is killed, with all that it started, before another can be the owner: if the lease cannot be\n" +
	"kept, if the server says that it is lost, and if coordtop dies. Standard input and output are its own. Its\n" +
	"environment has COORDTOP_NAME, COORDTOP_OWNER, COORDTOP_FENCE (where the server has one) and\n" +
	"COORDTOP_DEADLINE_FILE, which `coordtop lock --check` reads.\n\n" +
	"NAME is SOURCE/NAME or SOURCE/SPACE/NAME, and need not exist yet. A URL must name one primitive. A protected\n" +
	"source needs --reason. Exit code: that of the command, 128 + n if signal n ended it, 126 or 127 if it cannot\n" +
	"be run; 9: the lease was lost; 5, or --conflict-exit: not ours within --wait; else as coordtop help\n" +
	"exit-codes says, or --error-exit. `coordtop help lock` has the rest.\n"

// lockOptions are the flags of lock.
type lockOptions struct {
	workOptions
	shared, check  bool
	permits, limit uint64
}

func lockCommand(p *program) *cobra.Command {
	var o lockOptions
	cmd := &cobra.Command{
		Use:   "lock NAME | URL -- COMMAND [ARGUMENT ...]",
		Short: "Run a command while a mutex or permits are ours",
		Long: "Waits until a mutex, or permits of a semaphore, are ours, runs the command, and gives them back when it and\n" +
			"all that it started have ended. It is a semaphore with --permits, --limit or semaphore= in the URL.\n\n" + working,
		Example: "coordtop lock --wait 0 'redis://leases:6379/0?mutex=app:lock:nightly' -- ./nightly.sh\n" +
			"coordtop lock --wait 30s --grace 3s ledger/4242 -- ./compact --all\n" +
			"coordtop lock --permits 2 --limit 10 'dflockd://pool:6388?semaphore=imports' -- ./import.sh",
		RunE: p.run(func(cmd *cobra.Command, args []string) error {
			if o.check {
				return checkDeadline(&p.env, args)
			}
			return o.run(p, cmd, args)
		}),
	}
	o.flags(cmd)
	o.ephemeralFlag(cmd)
	cmd.Flags().BoolVar(&o.shared, "shared", false, "own it together with others, where the backend can")
	cmd.Flags().Uint64Var(&o.permits, "permits", 1, "own N permits of a semaphore")
	cmd.Flags().Uint64Var(&o.limit, "limit", 0, "the semaphore has N permits; only for dflockd, where each claim names it")
	cmd.Flags().BoolVar(&o.check, "check", false, "in a command under lock or elect: end with 0 while its lease can be trusted, else with 9")
	return cmd
}

// checkDeadline reads the deadline file of the command that we run under.
func checkDeadline(env *Environment, args []string) error {
	path, _ := env.Lookup(job.FileVariable)
	switch {
	case len(args) > 0:
		return usagef("--check takes no argument: it asks about the lease of the command that it runs under")
	case path == "":
		return usagef("--check is for a command under coordtop lock or elect: %s is not set", job.FileVariable)
	}
	if err := job.CheckDeadline(path); err != nil {
		return &ending{exitLost, err}
	}
	return nil
}

func (o *lockOptions) run(p *program, cmd *cobra.Command, args []string) error {
	if o.permits == 0 {
		return o.failure(usagef("--permits takes a whole number from 1 on"))
	}
	r := action.Request{Verb: action.Acquire, Permits: o.permits, Limit: o.limit, Ephemeral: o.ephemeral}
	if o.shared {
		r.Mode = sources.Shared
	}
	kind := sources.KindMutex
	if cmd.Flags().Changed("permits") || o.limit > 0 || o.ephemeral {
		kind = sources.KindSemaphore
	}
	w, err := newWork(p, cmd, args, &o.workOptions, r, kind)
	switch {
	case err != nil:
	case len(w.command) == 0:
		err = usagef("the command is missing: coordtop lock NAME -- COMMAND")
	default:
		return w.do(cmd.Context(), underlease.Lock)
	}
	return o.failure(err)
}

// electOptions are the flags of elect.
type electOptions struct {
	workOptions
	once, restart bool
	won, lost     string // command lines of sh
}

func electCommand(p *program) *cobra.Command {
	var o electOptions
	cmd := &cobra.Command{
		Use:   "elect NAME | URL [-- COMMAND [ARGUMENT ...]]",
		Short: "Run a command while we lead an election",
		Long: "Campaigns, runs the command while we lead, and resigns when it and all that it started have ended. If the\n" +
			"lead is lost, elect campaigns again until a signal ends it. --on-won and --on-lost are command lines of sh\n" +
			"for the beginning and the end of a term, also without a COMMAND: each is killed after 10 s.\n\n" + working,
		Example: "coordtop elect leases/app:leader:billing -- ./billing --serve\n" +
			"coordtop elect --restart --data \"$(hostname)\" 'grpc://ydb:2136/local?node=/local/app&election=primary' -- ./worker\n" +
			"coordtop elect --on-won 'ip address add 10.0.0.9/32 dev eth0' --on-lost 'ip address del 10.0.0.9/32 dev eth0' ledger/17",
		RunE: p.run(func(cmd *cobra.Command, args []string) error { return o.run(p, cmd, args) }),
	}
	o.flags(cmd)
	f := cmd.Flags()
	f.BoolVar(&o.once, "once", false, "do not campaign again after the lead was lost: end with 9")
	f.BoolVar(&o.restart, "restart", false, "campaign again when the command has ended, after 1s to 1m")
	f.StringVar(&o.won, "on-won", "", "run this `COMMAND` line of sh when we lead, before the command")
	f.StringVar(&o.lost, "on-lost", "", "run this `COMMAND` line of sh when the term is over, after the command")
	return cmd
}

func (o *electOptions) run(p *program, cmd *cobra.Command, args []string) error {
	w, err := newWork(p, cmd, args, &o.workOptions, action.Request{Verb: action.Campaign}, sources.KindElection)
	switch {
	case err != nil:
	case len(w.command) == 0 && o.won == "" && o.lost == "":
		err = usagef("the command is missing: coordtop elect NAME -- COMMAND; coordtop campaign leads without one")
	default:
		return w.do(cmd.Context(), func(ctx context.Context, u underlease.Options) (job.Result, error) {
			return underlease.Lead(ctx, u, w.terms(o))
		})
	}
	return o.failure(err)
}

// terms returns what happens at the beginning and the end of each term.
func (w *work) terms(o *electOptions) underlease.LeadOptions {
	hook := func(name, line string) *underlease.Hook {
		h := &underlease.Hook{Name: name, Line: line, Say: w.say}
		h.Output, _ = w.p.env.Stderr.(*os.File)
		return h
	}
	won, lost := hook("--on-won", o.won), hook("--on-lost", o.lost)
	return underlease.LeadOptions{
		Once: o.once, Restart: o.restart,
		OnWon: func(ctx context.Context, l *coord.Lease) { won.Run(ctx, l.Context(), w.environ(l)) },
		OnLost: func(ctx context.Context, l *coord.Lease, cause error) {
			lost.Run(ctx, context.WithoutCancel(ctx), append(w.environ(l), "COORDTOP_CAUSE="+underlease.CauseWord(cause)))
		},
	}
}

// showAfter is the length of a wait before its display connects to the service.
const showAfter = 500 * time.Millisecond

// waitDisplay shows on a terminal who owns the primitive that a claim waits for, and who is ahead.
type waitDisplay struct {
	p        *program
	config   config.Config // the one source, which selects the one primitive
	identity string        // our label for others
	say      func(text string)
	running  sync.WaitGroup

	mu      sync.Mutex
	place   int // our place in the queue when the claim joined it; 0: not reported
	told    string
	stopped bool
}

// newWaitDisplay returns nil if standard error is no terminal.
func (w *work) newWaitDisplay() *waitDisplay {
	if !isTerminal(w.p.env.Stderr) {
		return nil
	}
	s, t := w.source, w.request.Target
	s.Watch = []config.Watch{{Kind: t.Kind, Pattern: glob.Escape(t.Ref.Name)}}
	return &waitDisplay{p: w.p, config: config.Config{Sources: []config.Source{s}}, identity: w.backend.Label(w.request.Session), say: w.say}
}

// begin shows the owner until stop is called. A nil display shows nothing.
func (d *waitDisplay) begin(ctx context.Context) (stop func(owned bool)) {
	if d == nil {
		return func(bool) {}
	}
	began := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	d.mu.Lock()
	d.told, d.stopped = "", false
	d.mu.Unlock()
	spawn.Go(ctx, &d.running, func() { // an error is no error of the claim, which reports its own
		if backoff.Sleep(ctx, showAfter) != nil {
			return
		}
		_ = d.p.observe(ctx, d.config, func(ctx context.Context, hub *sources.Hub, _ *watched) error {
			news := hub.Subscribe(0)
			defer news.Close()
			for {
				d.show(hub.State())
				select {
				case <-news.Wake():
				case <-ctx.Done():
					return nil
				}
			}
		})
	})
	return func(owned bool) {
		cancel()
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.stopped = true; d.told != "" && owned {
			d.say("ours after " + format.Age(time.Since(began)))
		}
	}
}

// wait waits for the end of the display.
func (d *waitDisplay) wait() {
	if d != nil {
		d.running.Wait()
	}
}

// show prints the owner if that changed.
func (d *waitDisplay) show(s *sources.State) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped || len(s.Rows) != 1 || s.Rows[0] == nil || len(s.Rows[0].Owners) == 0 || !s.Rows[0].Fresh(s) {
		return
	}
	row := s.Rows[0]
	place, atMost := operate.PlaceIn(row, d.identity), false
	if place == 0 {
		place, atMost = d.place, d.place > 1
	}
	if text := foreground.WaitingText(row, place, atMost); text != d.told {
		d.told = text
		inTime(context.Background(), func() { fmt.Fprintf(d.p.env.Stderr, "coordtop: %s\n", text) })
	}
}

// onTrouble receives our place in the queue.
func (d *waitDisplay) onTrouble(t coord.Trouble) {
	if d == nil || t.Place == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.place = t.Place
}
