package app

import (
	"cmp"
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coordtop/internal/app/backends"
	"coordtop/internal/config"
	"coordtop/internal/ground/address"
	"coordtop/internal/operate"
	"coordtop/sources"
	"coordtop/ui"
)

// boardOptions are the flags of the screen.
type boardOptions struct {
	ascii, plain, write bool
	theme               string
}

func (o *boardOptions) flags(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&o.ascii, "ascii", false, "draw with ASCII only")
	cmd.Flags().BoolVar(&o.plain, "plain", false, "use no colours (as $NO_COLOR does)")
	choiceVar(cmd, &o.theme, "theme", "", "draw for a dark or a light background; auto asks the terminal", "auto", "dark", "light")
}

// board is the root command: it shows the board.
func (p *program) board(cmd *cobra.Command, args []string, o boardOptions) error {
	for i, arg := range args {
		if strings.Contains(arg, "://") {
			continue
		}
		if near := cmd.SuggestionsFor(arg); len(near) > 0 {
			if best := address.Near(arg, near...); best != "" {
				near = []string{best}
			}
			return usagef("%q is neither a command nor a URL: did you mean %s?", arg, strings.Join(near, " or "))
		}
		return usagef("argument %d is neither a command (see coordtop --help) nor a URL, which begins with its scheme, %s", i+1, backends.Config().Schemes())
	}
	if c, err := p.settings.found(); len(args) == 0 && p.settings.recorder(c) != "" {
		if err != nil && !errors.Is(err, errNothing) {
			return err
		}
		return p.showRecorder(cmd.Context(), c, p.settings.recorder(c), o)
	} else if p.settings.from != "" && p.settings.from != config.FromServers {
		return usagef("argument 1 is a URL, which asks its server, and --from asks none: leave one of them out")
	}
	c, _, err := p.settings.pick(args, false)
	if errors.Is(err, errNothing) && !o.write { // with --write the person must name the server
		c, err = p.offer(cmd.Context(), err)
	}
	if err != nil {
		return err
	}
	return p.show(cmd.Context(), c, o)
}

// screen checks for a terminal to draw on, and for something to read keys from. instead is the advice in
// its error.
func (env Environment) screen(instead string) error {
	switch {
	case !env.Terminal():
		return usagef("standard output is no terminal: %s", instead)
	case !env.Keyboard():
		return usagef("standard input is no terminal, and the keys come from it: %s", instead)
	}
	return nil
}

// show runs the board over the sources of c. A signal that ends it is no error.
func (p *program) show(ctx context.Context, c config.Config, o boardOptions) error {
	if err := p.env.screen("for scripts there are coordtop get and coordtop watch"); err != nil {
		return err
	}
	recording := p.recordingOf(c)
	defer recording.close()
	p.settings.lasts = true
	recording.readEarlier(ctx)
	return p.observeWith(ctx, c, recording.options(ctx), func(inner context.Context, hub *sources.Hub, beside *watched) error {
		recording.run(inner, hub, beside)
		feed := newFeed(hub, recording.earlier)
		defer feed.Close()
		player, closePlayer := recording.player(inner)
		defer closePlayer()
		defer p.unfinished.begin()()
		op := p.operator(inner, c, hub, o.write)
		defer p.giveBack(op)
		defer giveBackWith(inner, op)()
		recording.notify(inner, p, op.Audit(), hub, beside)
		recording.followAudit(inner, op.Audit(), hub, beside)
		u := recording.uiOptions(op)
		u.Feed, u.Player, u.Operator, u.Demo = feed, player, op, p.crash != nil
		u.Recording, u.Notified = recording.status, recording.notifier.Trouble
		return p.runBoard(ctx, inner, c, o, u)
	})
}

// uiOptions returns the options of a board on which op acts, and whose past is r.
func (r *recording) uiOptions(op *operate.Operator) ui.Options {
	u := ui.Options{Start: firstScreen(r.config), AuditEntries: op.Audit().Entries, Note: r.noter(op), History: r.reader}
	if kept := operate.NewMutes(op.Audit()); kept != nil {
		u.Mutes = kept
	}
	return u
}

// firstScreen returns the first screen that a config asks for.
func firstScreen(c config.Config) ui.Start { return cmp.Or(ui.Start(c.Start), ui.StartAuto) }

// runBoard runs the board with u until inner ends. The end of ctx is no error.
func (p *program) runBoard(ctx, inner context.Context, c config.Config, o boardOptions, u ui.Options) error {
	u.Title, u.TitleColor, u.Keys, u.Runbooks, u.Objectives, u.Alert = c.Title, c.Color, c.Keys, c.Runbooks, c.Objectives, c.Alert
	u.ASCII, u.NoColor, u.Theme = o.ascii, o.plain, o.theme
	u.URL = urlOf(c)
	u.Export, u.ExportTable, u.Command, u.Abort = export, exportTable, p.settings.commandFor(c), abortOurselves
	u.Picture = picture(c.Title)
	u.Input, u.Output, u.Environ = p.env.Stdin, p.env.Stdout, p.env.Environ
	err := ui.Run(inner, u)
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return nil
	}
	return err
}

// feed gives the board the present of a Hub, by the wall clock.
type feed struct {
	*sources.Hub
	*sources.Subscription
	earlier []sources.Event // recorded before the start, and not read yet
}

func newFeed(hub *sources.Hub, earlier []sources.Event) *feed {
	f := &feed{hub, hub.Subscribe(0), earlier}
	f.SkipCalm() // the board reads every second anyway
	return f
}

// Close closes the Subscription, not the Hub.
func (f *feed) Close() { f.Subscription.Close() }

// Events returns the events that were recorded before the start, then those of the Hub.
func (f *feed) Events(max int) (events []sources.Event, missed uint64) {
	if max <= 0 {
		max = math.MaxInt
	}
	n := min(max, len(f.earlier))
	if events, f.earlier = f.earlier[:n:n], f.earlier[n:]; n == max {
		return events, 0
	}
	more, missed := f.Subscription.Events(max - n)
	return append(events, more...), missed
}

// Now returns the local time.
func (f *feed) Now() time.Time { return time.Now() }

// Refresh asks all sources to read again now.
func (f *feed) Refresh() { f.Hub.Refresh("") }
