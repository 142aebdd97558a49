package app

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"coordtop/coord"
	"coordtop/internal/config"
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
		Terminal: func() bool { return term.IsTerminal(os.Stdout.Fd()) },
		Keyboard: func() bool { return keysFrom(os.Stdin) },
		Signals:  router.endOnSignal,
		HandOver: router.handOver,
		Loopback: func(port string) [2]string { return [2]string{"127.0.0.1:" + port, "[::1]:" + port} },
	}
}

// keysFrom reports whether keys can come from f: from a terminal, or from a program at the other end of a pipe. A
// file or /dev/null cannot wake a reader.
func keysFrom(f *os.File) bool {
	if term.IsTerminal(f.Fd()) {
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
