package app

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coordtop/internal/address"
	"coordtop/internal/app/backends"
	"coordtop/internal/config"
	"coordtop/sources"
	"coordtop/ui"
)

// boardOptions are the flags of the screen.
type boardOptions struct {
	ascii, plain, write bool
	theme               theme
}

// board is the command without a name: the screen.
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
	c, _, err := p.settings.pick(args)
	if err != nil {
		return err
	}
	return p.show(cmd.Context(), c, o)
}

// screen checks for a terminal to draw on, and for something to read keys from.
// What to do without is in instead.
func (env Environment) screen(instead string) error {
	switch {
	case !env.Terminal():
		return usagef("standard output is no terminal: %s", instead)
	case !env.Keyboard():
		return usagef("standard input is no terminal, and the keys come from it: %s", instead)
	}
	return nil
}

// show runs the screen over the sources of c. Being asked to end is no error.
func (p *program) show(ctx context.Context, c config.Config, o boardOptions) error {
	if err := p.env.screen("for scripts there are coordtop get and coordtop watch"); err != nil {
		return err
	}
	recording := p.recordingOf(c)
	return p.observeWith(ctx, c, recording.options(ctx), func(inner context.Context, hub *sources.Hub, beside *watched) error {
		recording.run(inner, hub, beside)
		past, closePast := recording.past()
		defer closePast()
		feed := newFeed(hub)
		defer feed.Close()
		player, closePlayer := recording.player(inner)
		defer closePlayer()
		defer p.unfinished.begin()()
		op := p.operator(inner, c, hub, o.write)
		defer p.giveBack(op)
		defer giveBackWith(inner, op)()
		recording.follow(inner, op.Audit(), hub, beside)
		err := ui.Run(inner, ui.Options{
			Feed: feed, Player: player, Operator: op, Title: c.Title, TitleColor: c.Color, Demo: p.crash != nil, ASCII: o.ascii, NoColor: o.plain,
			Theme: string(o.theme), Keys: c.Keys, Export: export, ExportTable: exportTable, AuditEntries: op.AuditEntries, Note: recording.noter(op), Command: p.settings.commandFor(c), Abort: abortOurselves, Recording: recording.status, History: past,
			Input: p.env.Stdin, Output: p.env.Stdout, Environ: p.env.Environ,
		})
		if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
			return nil
		}
		return err
	})
}

// feed is what the screen sees of a Hub: the present, on the clock of the wall.
type feed struct {
	*sources.Hub
	*sources.Subscription
}

func newFeed(hub *sources.Hub) *feed { return &feed{hub, hub.Subscribe(0)} }

// Close ends the reading; the Hub goes on.
func (f *feed) Close() { f.Subscription.Close() }

// Now is the local time.
func (f *feed) Now() time.Time { return time.Now() }

// Refresh asks all sources to look again now.
func (f *feed) Refresh() { f.Hub.Refresh("") }
