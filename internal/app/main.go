package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"charm.land/fang/v2"
	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"coordtop/coord"
	"coordtop/internal/app/backends"
	"coordtop/internal/app/logfile"
	"coordtop/internal/app/manpage"
	"coordtop/internal/config"
	"coordtop/internal/ground/address"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/job"
	"coordtop/sources"
)

// Environment has everything that the process gives the program.
type Environment struct {
	Args    []string // without the program's name
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Lookup  config.Lookup
	Environ []string
	// Terminal reports whether Stdout is one.
	Terminal func() bool
	// Keyboard reports whether keys can come from Stdin.
	Keyboard func() bool
	// Signals returns a context that ends with the first signal that asks the process to end; again
	// receives the later ones.
	Signals func(context.Context) (_ context.Context, again <-chan *signalled, stop context.CancelFunc)
	// HandOver gives the signals that job.Run handles to the caller until it calls back. Nil: job.Run receives them
	// itself.
	HandOver func() (signals <-chan os.Signal, back func())
	// Exit ends the process; only a command that cannot be stopped otherwise needs it.
	Exit func(code int)
	// Record makes the board record what it shows.
	Record bool
	// Loopback returns the IPv4 and the IPv6 address of a port of this machine. Nil: the program looks for no
	// servers of this machine.
	Loopback func(port string) [2]string
	// Example is the text of config.example.yaml.
	Example string

	// With these, tests wrap the backends. Nil: nothing is wrapped.
	wrapDriver func(coord.Driver) coord.Driver
	wrapSource func(sources.Source) sources.Source
}

// The GOGC of this program, unless the environment sets one. Go's own is 100: the first collection at 4 MB.
const (
	firstGCPercent = 400 // until the first collection, at 16 MB, which a short command never reaches
	gcPercent      = 50  // after it: less memory for more collections
	rareGCPercent  = 25  // after two that were rareAfter apart: where they are rare, more of them cost little
	rareAfter      = 20 * time.Second
)

// readsMuch is true once a recording is read. Then firstGCPercent stays: else half of the time goes to collections.
var readsMuch atomic.Bool

// tuneGC sets GOGC now and after each collection; last is the time of the last one. Nothing refers to its object,
// so the cleanup runs at the next collection. The object has 64 bytes because tiny objects share a block and may
// live longer.
func tuneGC(percent int, last time.Time) {
	if !readsMuch.Load() {
		debug.SetGCPercent(percent)
	}
	runtime.AddCleanup(new([64]byte), func(last time.Time) {
		now, next := time.Now(), gcPercent
		if now.Sub(last) >= rareAfter {
			next = rareGCPercent
		}
		tuneGC(next, now)
	}, last)
}

// OS returns the Environment of this process. From then on a write to a closed pipe is an error, and does not end
// the process.
func OS(example string) Environment {
	signal.Ignore(syscall.SIGPIPE)
	if os.Getenv("GOGC") == "" {
		tuneGC(firstGCPercent, time.Now())
	}
	if len(os.Args) > 1 && strings.HasPrefix(os.Args[1], cobra.ShellCompRequestCmd) {
		// When a shell completes a line, the library prints the words that it does not understand to
		// os.Stderr, and they may have a password.
		if null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0); err == nil {
			os.Stderr = null
		}
	}
	router := newSignalRouter()
	return Environment{
		Args: os.Args[1:], Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Lookup: os.LookupEnv, Environ: os.Environ(), Exit: os.Exit, Record: true, Example: example,
		Terminal: func() bool { return isTerminal(os.Stdout) },
		Keyboard: func() bool { return keysFrom(os.Stdin) },
		Signals:  router.endOnSignal,
		HandOver: router.handOver,
		Loopback: func(port string) [2]string { return [2]string{"127.0.0.1:" + port, "[::1]:" + port} },
	}
}

// isTerminal reports whether a stream of the program is a terminal.
func isTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(file.Fd())
}

// keysFrom reports whether keys can come from f: from a terminal, or from a program at the other end of a pipe. A
// file or /dev/null cannot wake a reader.
func keysFrom(f *os.File) bool {
	if isTerminal(f) {
		return true
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&(os.ModeNamedPipe|os.ModeSocket) != 0
}

// Main runs the program and returns its exit code. It may be a watchdog, see package job.
func Main(env Environment) int {
	if code, was := job.Watchdog(); was {
		return code
	}
	ctx, again, stop := env.Signals(context.Background())
	defer stop()
	p := newProgram(env)
	defer func() { p.log.Close() }() // opened later
	ctx, whole := p.guarded(ctx)
	defer spawn.OnDone(ctx, func() { p.abandon(ctx, again) })()
	defer close(p.over)
	err := whole(spawn.Call(ctx, func() error { return p.execute(ctx) }))
	return p.report(ctx, err)
}

// program is one run of the program.
type program struct {
	env        Environment
	settings   settings
	logging    sync.Mutex     // held while the log is opened
	logTo      *slog.Logger   // nil until logger is called
	log        *logfile.File  // behind logTo; nil where nothing is logged
	absent     []sources.Spec // shown beside the config's sources: what the demo could not start
	result     error          // of the command, see run
	said       bool           // result was printed already
	unfinished unfinished
	onlyReads  atomic.Bool   // the command writes nothing but its output: see readPatience
	over       chan struct{} // closed when the command has returned and its error is printed

	// crash kills the process of an owner in the demo; nil elsewhere.
	crash func(ref sources.Ref, owner sources.OwnerRef) error
}

func newProgram(env Environment) *program {
	p := &program{env: env, over: make(chan struct{})}
	p.settings = settings{lookup: env.Lookup, logger: p.logger}
	return p
}

// execute parses the arguments and runs the command that they name.
func (p *program) execute(ctx context.Context) error {
	root := p.root()
	root.SetArgs(append([]string{}, p.env.Args...)) // for nil it would read those of the process
	root.SetIn(p.env.Stdin)
	root.SetOut(p.env.Stdout)
	root.SetErr(p.env.Stderr)
	root.InitDefaultCompletionCmd() // it prints to what was set just now
	if completion, _, err := root.Find([]string{manpage.Completion}); err == nil {
		completion.Args, completion.RunE = none, p.run(helpOnly)
		for _, shell := range completion.Commands() {
			shell.Args = none
		}
		completion.Short = "Print what completes commands, flags and sources in a shell"
		completion.Long = completion.Short + ".\n\n`make install` puts it where the shell looks; by hand: source <(coordtop completion bash)"
	}
	root.SetHelpCommand(helpCommand(p, root))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w; see %s --help", flagError(cmd, p.env.Args, err), cmd.CommandPath())
	})
	quiet := fang.WithErrorHandler(func(io.Writer, fang.Styles, error) {}) // report prints the error
	if err := fang.Execute(ctx, root, fang.WithVersion(version()), fang.WithoutManpage(), quiet); err != nil {
		if _, ok := errors.AsType[usageError](err); ok {
			return err
		}
		return usagef("the arguments cannot be understood; see coordtop --help") // cobra's own checks repeat them
	}
	return p.result
}

// flagError returns err with the values that a flag takes, or with the flag that was probably meant. Of an unknown flag
// it gives only the position in args: in -pSECRET, as other programs take it, the text is a password.
func flagError(cmd *cobra.Command, args []string, err error) error {
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		for _, other := range cmd.Root().Commands() {
			if name := unknown.GetSpecifiedName(); other.Flags().Lookup(name) != nil {
				return fmt.Errorf("unknown flag: --%s is a flag of `%s`", name, other.CommandPath())
			}
		}
		var known []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		if near := address.Near(unknown.GetSpecifiedName(), known...); near != "" {
			return fmt.Errorf("%w (did you mean --%s?)", err, near)
		}
		written := "--" + unknown.GetSpecifiedName()
		if letters := unknown.GetSpecifiedShortnames(); letters != "" {
			written = "-" + letters
		}
		i := slices.IndexFunc(args, func(arg string) bool { return arg == written || strings.HasPrefix(arg, written+"=") })
		return fmt.Errorf("unknown flag: argument %d of the command line", i+1)
	}
	if invalid, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		takes := map[string]string{
			"int": "a whole number", "uint64": "a whole number from 0 on", "bool": "true or false", "uint8": "a whole number from 0 to 255",
		}[invalid.GetFlag().Value.Type()]
		if takes == "" { // a type of flags.go, whose error tells that
			return fmt.Errorf("--%s: %w", invalid.GetFlag().Name, invalid.Unwrap())
		}
		return fmt.Errorf("--%s takes %s", invalid.GetFlag().Name, takes)
	}
	if missing, ok := errors.AsType[*pflag.ValueRequiredError](err); ok {
		return fmt.Errorf("--%s needs a value", missing.GetFlag().Name)
	}
	return errors.New("a flag cannot be read")
}

// run wraps a command. Its error bypasses cobra and fang: after an error fang asks the terminal for its background
// colour, and a terminal that is gone never answers.
func (p *program) run(f func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		p.result = f(cmd, args)
		return nil
	}
}

// prints returns the function of a command that only prints a text.
func (p *program) prints(text func(cmd *cobra.Command) string) func(*cobra.Command, []string) error {
	return p.run(func(cmd *cobra.Command, _ []string) error {
		_, err := fmt.Fprint(cmd.OutOrStdout(), text(cmd))
		return err
	})
}

func (p *program) root() *cobra.Command {
	var o boardOptions
	variables, urls := backends.Help()
	root := &cobra.Command{
		Use:   "coordtop [URL ...]",
		Short: "top for coordination state",
		Long: "Shows live who leads, who owns, since when and for how much longer.\n\n" +
			"What to watch comes from the URLs, else from the config file, else from " + variables + ". " + urls + "\n\n" +
			"Exit codes: " + exitList() + "; 128 + n ended by signal n, with stacks, or by a second signal.\n\n" +
			"`coordtop help` lists the topics of the reference, coordtop help -k WORD searches them.",
		Example: "coordtop redis://localhost:6379/0\n" +
			"coordtop 'rediss://ops@leases:6380/0?election=app:leader:*'\n" +
			"coordtop 'postgres://ops@ledger/ledger?locks=4242'\n" +
			"coordtop 'grpc://ydb:2136/local?node=/local/app&election=primary&semaphore=quota'\n" +
			"coordtop demo",
		Args:                       cobra.ArbitraryArgs,
		SuggestionsMinimumDistance: 2,
		RunE:                       p.run(func(cmd *cobra.Command, args []string) error { return p.board(cmd, args, o) }),
	}
	o.flags(root)
	root.Flags().BoolVar(&o.write, "write", false, "arm writing from the start and without an end")
	fromFlag(p, root)
	root.PersistentFlags().StringVar(&p.settings.file, "config", "", "read FILE instead of the usual config file")
	reading := []*cobra.Command{ // they take URLs and names of sources, as root does
		getCommand(p), whyCommand(p), watchCommand(p), waitCommand(p), acquireCommand(p), campaignCommand(p), releaseCommand(p),
		lockCommand(p), electCommand(p), drillCommand(p),
		recordCommand(p), doctorCommand(p),
	}
	root.AddCommand(reading...)
	for _, c := range append(reading, root) {
		c.ValidArgsFunction = p.settings.completeSources
	}
	root.AddCommand(notifyCommand(p), semaphoreCommand(p), nodeCommand(p), ownersCommand(p), replayCommand(p), historyCommand(p), reportCommand(p), sloCommand(p), configCommand(p), &cobra.Command{
		Use: "man", Short: "Print the manual page: coordtop man | man -l -", Args: none,
		RunE: p.prints(func(cmd *cobra.Command) string { return manpage.Of(cmd.Root(), version()) }),
	}, &cobra.Command{
		Use: "version", Short: "Print the version", Args: none,
		RunE: p.prints(func(*cobra.Command) string {
			return fmt.Sprintf("coordtop %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
		}),
	})
	root.AddCommand(append(demoCommands(p), drillCandidateCommand(p))...)
	return root
}

// version returns the version that the go command stamped into the binary.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return versionOf(info)
}

// versionOf returns a tag, or the commit of a clone and whether it had changes.
func versionOf(info *debug.BuildInfo) string {
	text := cmp.Or(strings.Trim(info.Main.Version, "()"), "unknown")
	set := map[string]string{}
	for _, s := range info.Settings {
		set[s.Key] = s.Value
	}
	revision := set["vcs.revision"]
	revision = revision[:min(len(revision), 12)]
	switch changed := set["vcs.modified"] == "true"; {
	case revision == "" && text == "devel":
		return text + " (built without the revision: see go help buildvcs)"
	case revision == "", strings.Contains(text, revision): // the go command's own version of a clone has it
		return text
	case changed:
		return text + " (" + revision + " with changes)"
	default:
		return text + " (" + revision + ")"
	}
}
