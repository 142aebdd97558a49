package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coordtop/internal/app/backends"
	"coordtop/internal/config"
	"coordtop/internal/demo"
	"coordtop/internal/ground/format"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/history/election"
	"coordtop/internal/localserver"
	"coordtop/sources"
)

// demoOptions are the flags of the demo.
type demoOptions struct {
	board boardOptions
	noUI  bool
	ports [4]int // of demoServers
	seed  uint64
	story string
	team  bool

	installing string // the log of a program that is installing servers
}

// demoServers are the flags for the ports of the demo's servers.
var demoServers = [4]struct{ flag, usage string }{
	{"redis-port", "let Redis listen on PORT"}, {"postgres-port", "let Postgres listen on PORT"},
	{"ydb-port", "let the first YDB node listen on PORT"}, {"dflockd-port", "let dflockd listen on PORT"},
}

// demoCommands returns the demo and the hidden command that its candidates run.
func demoCommands(p *program) []*cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Start local servers and candidates, and watch them",
		Long: "Starts a private Redis, a private Postgres and emulators of YDB's coordination service and of\n" +
			"dflockd on the loopback interface and candidates that contend for elections, locks and permits, each a\n" +
			"process of its own, and shows them on the board. Leaders are replaced now and then, as by a\n" +
			"deployment, which is no problem. One lock is never given back: the board shows that as a\n" +
			"problem after 30 s. Everything ends with the command. A server that is not installed is left\n" +
			"out. Writing is armed on the board: lead, resign, end a leader's process with X, and see who\n" +
			"follows. With --scenario story things go wrong by themselves, one after the other.\n\n" +
			"With --no-ui it prints a `name url` line for each server and, last, a line with the\n" +
			"command that shows them on the board, then serves until it is interrupted. Any client may use\n" +
			"them, SDKs of YDB too: the emulator stands for two YDB nodes.\n\n" +
			"With --team two recorders share a store on the private Postgres. It prints the commands with which several\n" +
			"people see the same, and kills the recorder that records: the other goes on. See coordtop help team.",
		Example: "coordtop demo\ncoordtop demo --no-ui --redis-port 7379 --postgres-port 7432 --ydb-port 7136 --dflockd-port 7388 --seed 1",
		Args:    none,
		RunE:    p.run(func(cmd *cobra.Command, _ []string) error { return p.demo(cmd.Context(), o) }),
	}
	cmd.Flags().BoolVar(&o.noUI, "no-ui", false, "print where the servers are and serve, without a screen")
	for i, s := range demoServers {
		cmd.Flags().IntVar(&o.ports[i], s.flag, 0, s.usage+" (default: any free port)")
	}
	cmd.Flags().Uint64Var(&o.seed, "seed", 0, "repeat the random pauses of an earlier demo (default: others each time)")
	choiceVar(cmd, &o.story, "scenario", "", "plain, or story: within two minutes a host dies, a lock leaks and a server restarts without its data", "plain", demo.Story)
	cmd.Flags().StringVar(&o.installing, "installing", "", "wait for the servers that this log says are being installed")
	cmd.Flags().BoolVar(&o.team, "team", false, "run two recorders on one store instead of the board, and kill one")
	_ = cmd.Flags().MarkHidden("installing") // it fails only for an unknown flag
	o.board.flags(cmd)
	return []*cobra.Command{cmd, demoCandidateCommand(p), demoRecorderCommand(p)}
}

// stopPatience bounds the end of the demo's servers; those that still run are killed then.
const stopPatience = 2 * time.Second

func (p *program) demo(ctx context.Context, o demoOptions) (err error) {
	for i, port := range o.ports {
		if port < 0 || port > 65535 {
			return usagef("--%s %d: a port is a number from 1 to 65535", demoServers[i].flag, port)
		}
	}
	if !o.noUI && !o.team {
		if err := p.env.screen("coordtop demo --no-ui serves without a screen"); err != nil {
			return err
		}
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding our own program: %w", err)
	}
	if err := localserver.RemoveDead(); err != nil {
		p.logger().Warn("folders of a demo that was killed are left", "err", err)
	}
	recording, err := localserver.TempFolder("demo")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, recording.Close()) }() // last of all: a recorder that was given up may still write
	world, err := demo.Start(ctx, demo.Options{
		Program: self, RedisPort: o.ports[0], PostgresPort: o.ports[1], YDBPort: o.ports[2], DflockdPort: o.ports[3], Installing: o.installing, Story: o.story == demo.Story, Seed: cmp.Or(o.seed, uint64(time.Now().UnixNano())), Log: p.logger(),
	})
	if err != nil {
		return fmt.Errorf("starting the demo: %w", err)
	}
	defer func() {
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
		defer cancel()
		err = errors.Join(err, world.Stop(stop))
	}()
	if o.team {
		return p.demoTeam(ctx, self, recording.Dir, world.Endpoints())
	}
	if o.noUI {
		return serve(ctx, p.env, world.Endpoints())
	}
	p.settings.demoState = recording.Dir
	p.crash = func(_ sources.Ref, owner sources.OwnerRef) error { return world.Crash(owner.Label, owner.ID) }
	return p.showDemo(ctx, world.Endpoints(), o.board)
}

// showDemo shows the demo's servers on the board.
func (p *program) showDemo(ctx context.Context, endpoints []demo.Endpoint, o boardOptions) error {
	c := config.Config{}
	p.settings.waits = map[string]func() error{}
	for _, e := range endpoints {
		if e.Err != nil {
			p.absent = append(p.absent, sources.Spec{Name: e.Name, Type: e.Name, Address: "not started", Source: unavailable{e.Err}, Logger: p.logger()})
			continue
		}
		one, err := backends.Config().FromURLs([]string{e.View})
		if err != nil {
			return fmt.Errorf("reading the demo's own address: %w", err)
		}
		one.Sources[0].Name = e.Name
		c.Sources = append(c.Sources, one.Sources...)
		if e.Waits != nil {
			p.settings.waits[e.Name] = e.Waits
		}
		if e.Names != nil {
			c.Names = map[string]map[string]string{e.Name: e.Names}
		}
	}
	c.Title, c.Color, c.Start = "demo", "cyan", "locks"
	o.write = true // these servers are for playing
	return p.show(ctx, c, o)
}

// serve prints where the servers are and waits to be interrupted. A reader that goes
// away does not end the servers: others may be using them.
func serve(ctx context.Context, env Environment, endpoints []demo.Endpoint) error {
	var views []string
	for _, e := range endpoints {
		if e.Err != nil {
			fmt.Fprintf(env.Stderr, "coordtop: %s: %v\n", e.Name, e.Err)
			continue
		}
		if _, err := fmt.Fprintf(env.Stdout, "%s %s\n", e.Name, e.URL); err != nil {
			return fmt.Errorf("printing the addresses: %w", err)
		}
		views = append(views, format.ShellWord(e.View))
	}
	if len(views) == 0 {
		return errors.New("no server could be started: nothing to serve")
	}
	if _, err := fmt.Fprintf(env.Stdout, "all coordtop %s\n", strings.Join(views, " ")); err != nil {
		return fmt.Errorf("printing the addresses: %w", err)
	}
	<-ctx.Done()
	return nil
}

// demoCandidateCommand runs one candidate until its standard input ends, which means that the demo is over or
// has died.
func demoCandidateCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use: demo.CandidateCommand, Hidden: true, Args: cobra.ExactArgs(1),
		RunE: p.run(func(cmd *cobra.Command, args []string) error {
			ctx, cancel := p.untilInputEnds(cmd.Context())
			defer cancel()
			return demo.RunCandidate(ctx, args[0], p.env.Stdout)
		}),
	}
}

// demoTeam runs two recorders of the demo's servers on a store on its Postgres, and prints how to look at them.
func (p *program) demoTeam(ctx context.Context, self, folder string, endpoints []demo.Endpoint) error {
	var c config.Config
	text := "title: demo\nsources:\n"
	for _, e := range endpoints {
		if e.Err == nil {
			text += fmt.Sprintf("  - {name: %q, url: %q}\n", e.Name, e.View)
		}
		if slices.Contains(backends.Of(e.Name).Traits, config.KeepsPast) {
			if c.History.URL = e.URL; e.Err != nil {
				return fmt.Errorf("the store of a team is on Postgres: %w", e.Err)
			}
		}
	}
	text += fmt.Sprintf("history: {url: %q}\n", c.History.URL)
	file := filepath.Join(folder, "team.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		return err
	}
	o := demo.TeamOptions{Program: self, Config: file, Folder: folder, Out: p.env.Stdout, Elected: func(ctx context.Context) (int, error) {
		present, err := election.Ask(ctx, electionOf(p, c, ""))
		if err != nil || !present.Recording() {
			return 0, err
		}
		return present.PID, nil
	}}
	said := "store    psql " + format.ShellWord(c.History.URL) + " -c 'select * from coordtop.runs'\n"
	for n := 1; n <= 2; n++ {
		port, err := localserver.FreePort()
		if err != nil {
			return err
		}
		o.Metrics = append(o.Metrics, fmt.Sprintf("127.0.0.1:%d", port))
		said += fmt.Sprintf("metrics  curl http://127.0.0.1:%d/metrics # of recorder %d\n", port, n)
	}
	with := "coordtop --config " + format.ShellWord(file)
	said += "status   " + with + " record --status\n" + "board    " + with + " --from all # in as many terminals as you like\npast     " + with + " history --since 5m\n"
	if _, err := io.WriteString(p.env.Stdout, said); err != nil {
		return fmt.Errorf("printing the commands: %w", err)
	}
	if err := demo.RunTeam(ctx, o); ctx.Err() == nil {
		return err
	}
	return nil
}

// demoRecorderCommand runs one recorder of the demo until its standard input ends.
func demoRecorderCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use: demo.RecorderCommand, Hidden: true, Args: cobra.ExactArgs(2),
		RunE: p.run(func(cmd *cobra.Command, args []string) error {
			ctx, cancel := p.untilInputEnds(cmd.Context())
			defer cancel()
			p.settings.file = args[0]
			return p.record(ctx, nil, &listening{address: args[1]})
		}),
	}
}

// untilInputEnds returns a context that ends with standard input.
func (p *program) untilInputEnds(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	// It ends with the process: a read of standard input cannot be interrupted.
	spawn.Go(ctx, nil, func() {
		_, _ = io.Copy(io.Discard, p.env.Stdin)
		cancel()
	})
	return ctx, cancel
}
