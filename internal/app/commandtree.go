package app

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coordtop/internal/app/backends"
	"coordtop/internal/config"
	"coordtop/internal/headless"
	"coordtop/sources"
	"coordtop/sources/origin"
	"coordtop/sources/verdict"
)

// selecting tells in the help what a command reads.
func selecting() string {
	variables, _ := backends.Help()
	return "What to read comes from the URLs, else from the config file, else from " + variables + ".\n" +
		"SOURCE/NAME or SOURCE/SPACE/NAME (space: the database of a Redis or Postgres server, the path\n" +
		"of a coordination node of YDB) selects a single primitive, SOURCE all of that source.\n\n"
}

func getCommand(p *program) *cobra.Command {
	var o output
	var timeout time.Duration
	var failOn faults
	var problems, unacknowledged bool
	cmd := &cobra.Command{
		Use:   "get [URL | SOURCE[/NAME] ...]",
		Short: "Print once who leads and who owns",
		Long: selecting() + "Exit code 3: a source did not answer or refused the login, the others are printed; 4: no such name;\n" +
			"5: a source was not read in full within --timeout (then a scope is not synced); 10: something is as --fail-on says, which standard\n" +
			"error tells: no-leader (an election, or an expected lock, that nobody owns), stale (a source does not\n" +
			"answer, or refused the login), late (an owner does not renew in time), no-ttl (a lock of no session that never ends), wait (somebody\n" +
			"has waited for a lock or semaphore for 30 s, or as `thresholds` says), two-owners, absent, full, flapping, any: what the board\n" +
			"counts as a problem, no more and no less. 10 goes before the others:\n" +
			"a source that does not answer is 10 with stale and any, else 3 where nothing else was found.\n\n" +
			headless.JSONHelp(headless.OfGet),
		Example: "coordtop get redis://localhost:6379/0\n" +
			"coordtop get 'postgres://ops@localhost/ledger?locks=4242,17:-4'\n" +
			"coordtop get leases/app:leader:billing -o json",
		RunE: p.run(func(cmd *cobra.Command, args []string) error {
			if unacknowledged && failOn == 0 && !problems {
				return usagef("--unacknowledged is for --fail-on and --problems")
			}
			judged := o.format() == headless.JSON || verdict.Faults(failOn).Has(verdict.TwoOwners) || problems
			err := p.look(cmd.Context(), args, judged, timeout, func(ctx context.Context, on *looked) error {
				options := headless.GetOptions{Format: o.format(), Names: on.names, Timeout: timeout, FailOn: verdict.Faults(failOn), Select: backends.Select, Problems: problems}
				options.Recall = on.recall
				if o.format() == headless.JSON || unacknowledged {
					options.Muting = p.muting(ctx, on.place, unacknowledged)
				}
				if len(options.Mutes) > 0 {
					options.Past, options.Acts = recordedPast(ctx, on.reader, headless.Now(on.feed))
				}
				if o.format() == headless.JSON {
					op := p.operator(ctx, on.config, on.hub, false)
					defer p.giveBack(op)
					options.Actions = func(r *sources.Row) headless.Actions { return actionsOn(op, r) }
				}
				return headless.Get(ctx, on.feed, p.env.Stdout, p.env.Stderr, options)
			})
			if err == nil && failOn == 0 { // with --fail-on the exit code may be all that the caller wants
				err = printed(p.env.Stdout)
			}
			return err
		}),
	}
	o.flag(cmd)
	cmd.Flags().Var(&failOn, "fail-on", "end with exit code 10 if something is so; several with commas")
	completeFlag(cmd, "fail-on", headless.Faults()...)
	cmd.Flags().BoolVar(&problems, "problems", false, "print only what has a problem")
	cmd.Flags().BoolVar(&unacknowledged, "unacknowledged", false, "with --fail-on and --problems, leave out what is acknowledged or muted on the board")
	lengthVar(cmd, &timeout, "timeout", 5*time.Second, "print what arrived after so long")
	fromFlag(p, cmd)
	p.schemaFlag(cmd, headless.OfGet)
	return cmd
}

func watchCommand(p *program) *cobra.Command {
	var o output
	var data bool
	var listen listening
	cmd := &cobra.Command{
		Use:   "watch [URL | SOURCE[/NAME] ...]",
		Short: "Print a line for every change",
		Long: selecting() + "Runs until it is interrupted or nobody reads its output any more. Without an answer of a source\n" +
			"it goes on trying. --data shows shared configuration (the data of a semaphore of YDB, of which each change\n" +
			"is a line) and registered services (what owners wrote): in quotes, and no more than its first 1000 bytes.\n" +
			"JSON always has the data.\n\n" + headless.JSONHelp(headless.OfWatch),
		Example: "coordtop watch redis://localhost:6379/0\n" +
			"coordtop watch -o json | jq 'select(.event == \"owner_changed\" or .event == \"acquired\")'\n" +
			"coordtop watch --data 'grpc://localhost:2136/local?node=/local/app&semaphore=settings'",
		RunE: p.run(func(cmd *cobra.Command, args []string) error {
			p.settings.lasts = true
			return p.watch(cmd.Context(), args, &listen, headless.WatchOptions{Format: o.format(), Diag: p.env.Stderr, Data: data})
		}),
	}
	o.flag(cmd)
	cmd.Flags().BoolVar(&data, "data", false, "show the data of primitives and owners in text too")
	listen.flag(cmd)
	fromFlag(p, cmd)
	p.schemaFlag(cmd, headless.OfWatch)
	return cmd
}

// watch prints the changes of what args name.
func (p *program) watch(ctx context.Context, args []string, listen *listening, o headless.WatchOptions) error {
	print := func(ctx context.Context, feed headless.Feed, beside *watched) error {
		beside.run(ctx, func() error { return whileRead(ctx, p.env.Stdout) })
		return headless.Watch(ctx, feed, p.env.Stdout, o)
	}
	return p.withPresent(ctx, args, func() error {
		c, names, err := p.settings.pickReadable(ctx, args, false)
		if err != nil {
			return err
		}
		if err := listen.open(ctx); err != nil {
			return err
		}
		defer listen.close()
		o.Names = names
		recorded := &recording{config: c}
		if listen.port != nil {
			recorded = p.recordingOf(c)
			defer recorded.close()
		}
		return p.observe(ctx, c, func(ctx context.Context, hub *sources.Hub, beside *watched) error {
			listen.serve(ctx, p, hub, recorded, nil, beside)
			return print(ctx, headless.Over(hub), beside)
		})
	}, func(ctx context.Context, c config.Config, f *followed) error {
		if listen.address != "" {
			return usagef("--listen is for a watch of servers: the recorder serves its own metrics, see coordtop record --listen")
		}
		o.Names, o.Present = args, true
		return p.observeSpecs(ctx, nil, sources.HubOptions{}, func(ctx context.Context, _ *sources.Hub, beside *watched) error {
			beside.run(ctx, func() error { return f.report(ctx, p.env.Stderr) })
			return print(ctx, f, beside)
		})
	})
}

func configCommand(p *program) *cobra.Command {
	cmd := &cobra.Command{Use: "config", Short: "Check the config file, or print an example or its schema", Args: none, RunE: p.run(helpOnly)}
	cmd.AddCommand(&cobra.Command{
		Use: "check [FILE]", Short: "Print all mistakes in the config file", Args: atMostOne,
		RunE: p.run(p.settings.checkConfig),
	}, &cobra.Command{
		Use: "example", Short: "Print a config file with every key explained", Args: none,
		RunE: p.prints(func(*cobra.Command) string { return p.env.Example }),
	}, &cobra.Command{
		Use: "schema", Short: "Print the JSON Schema of a config file, for editors", Args: none,
		Long: "Prints the JSON Schema (draft 2020-12) of a config file. Save it as schema.json beside that file, and make\n" +
			"this the first line there: an editor with yaml-language-server then checks and completes it.\n\n" +
			"  # yaml-language-server: $schema=schema.json\n\n" +
			"`coordtop config check` finds more mistakes.",
		Example: "coordtop config schema > ~/.config/coordtop/schema.json",
		RunE:    p.prints(func(*cobra.Command) string { return config.Schema() }),
	})
	return cmd
}

func waitCommand(p *program) *cobra.Command {
	var o headless.WaitOptions
	var format output
	cmd := &cobra.Command{
		Use:   "wait NAME | URL ...",
		Short: "Wait until something is led, free, absent, somebody's, a problem or calm",
		Long: "Waits until all that is named is as --for says at once, or with --any one of it, and then prints what is\n" +
			"so as get does. Standard error says what it waits for, who owns it, who is next, and how the wait ended.\n" +
			"It reads only, and goes on while the server does not answer.\n\n" +
			"led: somebody leads or owns it. free: nobody owns it. absent: the server has none of this name; on\n" +
			"Redis, Postgres and dflockd that is a lock that nobody owns. owner=NAME: NAME, which is a label or an\n" +
			"id as get prints it, leads or owns it; of a label of Postgres the pid at its end may be left out.\n" +
			"problem: it has a problem, as get --fail-on any; calm: it has none, and that is known now.\n\n" +
			"NAME is SOURCE/NAME or SOURCE/SPACE/NAME. A URL must name one primitive. For problem and calm it is as\n" +
			"for get: SOURCE is all of that source, nothing is all that the config has.\n\n" +
			"A name that the server does not have is free if a lock exists there only while somebody owns it and the\n" +
			"source would show it: the URL or a pattern of the config selects it, or, on Postgres and dflockd,\n" +
			"nothing is selected. Standard error then says that it may be misspelt, and no row is printed.\n\n" +
			"Exit code 0: it is so; 1: a signal ended the wait; 3: a source refused the login; 4: no such name, and\n" +
			"the source would not show it either, for a wait until it is free; 5: not within --timeout.\n",
		Example: "coordtop wait leases/app:leader:billing --for led --timeout 1m\n" +
			"coordtop wait 'redis://localhost:6379/0?mutex=app:lock:export' --for free && ./export\n" +
			"coordtop wait ledger/4242 ledger/4243 --any --for owner=worker-7\n" +
			"coordtop wait leases --for calm --unacknowledged --timeout 5m",
		RunE: p.run(func(cmd *cobra.Command, args []string) error {
			switch {
			case o.For == "":
				return usagef("--for is missing: %w", o.For.Check())
			case o.For.Check() != nil:
				return usagef("--for: %w", o.For.Check())
			case cmd.Flags().Changed("timeout") && o.Timeout == 0:
				return usagef("--timeout must be longer than nothing, as 5s; without it there is no limit")
			case o.Unacknowledged && !o.For.Judged():
				return usagef("--unacknowledged is for --for problem and --for calm")
			}
			o.Format = format.format()
			if !o.For.Judged() && len(args) == 0 {
				return usagef("wait takes a NAME or URL, none was given; see coordtop wait --help")
			}
			return p.withPresent(cmd.Context(), args, func() error { return p.wait(cmd.Context(), args, o) }, func(ctx context.Context, c config.Config, f *followed) error {
				o.Names, o.Watched = args, func(name string) bool { return wouldShow(c.Sources, name) }
				if o.Unacknowledged {
					o.Muting = p.muting(ctx, f.place, true)
					o.Past, o.Acts = recordedPast(ctx, f.store, f.Now())
				}
				return headless.Wait(ctx, f, p.env.Stdout, p.env.Stderr, o)
			})
		}),
	}
	cmd.Flags().StringVar((*string)(&o.For), "for", "", "wait until it is `led|free|absent|owner=NAME|problem|calm`")
	cmd.Flags().BoolVar(&o.Any, "any", false, "of several names one is enough")
	cmd.Flags().BoolVar(&o.Unacknowledged, "unacknowledged", false, "for problem and calm, leave out what is acknowledged or muted on the board")
	lengthVar(cmd, &o.Timeout, "timeout", 0, "give up after so long, as 30s; left out: never")
	format.flag(cmd)
	fromFlag(p, cmd)
	completeFlag(cmd, "for", "led", "free", "absent", "owner=", "problem", "calm")
	return cmd
}

// wait waits for what args name. Problems are judged with what was recorded, as on the board.
func (p *program) wait(ctx context.Context, args []string, o headless.WaitOptions) (err error) {
	var c config.Config
	var hub sources.HubOptions
	if !o.For.Judged() {
		if c, o.Names, o.Spaces, err = p.settings.pickEach(args, false); err == nil {
			err = p.settings.secrets(ctx, c)
		}
	} else if c, o.Names, err = p.settings.pickReadable(ctx, args, true); err == nil {
		r := p.recordingOf(c)
		defer r.close()
		hub.Resume = r.options(ctx).Resume
		if o.Unacknowledged {
			o.Muting = p.muting(ctx, r.place, true)
			o.Past, o.Acts = recordedPast(ctx, r.reader, time.Now())
		}
	}
	if err != nil {
		return err
	}
	o.Watched = func(name string) bool { return wouldShow(c.Sources, name) }
	return p.observeWith(ctx, c, hub, func(ctx context.Context, hub *sources.Hub, _ *watched) error {
		return headless.Wait(ctx, headless.Over(hub), p.env.Stdout, p.env.Stderr, o)
	})
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

func ownersCommand(p *program) *cobra.Command {
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
			return p.look(cmd.Context(), urls, true, o.Timeout, func(ctx context.Context, on *looked) error {
				o.Recall = on.recall
				o.Past, o.Acts = recordedPast(ctx, on.reader, headless.Now(on.feed))
				return headless.Owners(ctx, on.feed, p.env.Stdout, p.env.Stderr, o)
			})
		}),
	}
	format.flag(cmd)
	lengthVar(cmd, &o.Timeout, "timeout", 5*time.Second, "print what arrived after so long")
	fromFlag(p, cmd)
	cmd.Flags().StringVar(&by, "by", origin.ByHost.String(), "what is one owner: `host`, program or session")
	return cmd
}
