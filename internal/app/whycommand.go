package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"coordtop/internal/config"
	"coordtop/internal/headless"
	"coordtop/internal/history"
	"coordtop/sources"
)

func whyCommand(p *program) *cobra.Command {
	var o headless.WhyOptions
	var format output
	var at, file string
	var unacknowledged bool
	cmd := &cobra.Command{
		Use:   "why [URL | SOURCE[/NAME] ...]",
		Short: "Explain what is wrong, and what to do next",
		Long: selecting() + "Prints each problem with its likely cause, what it means for others, and what to do next. One cause\n" +
			"of many problems is printed once. It reads the servers, and what was recorded here; with --at only the\n" +
			"recording. The words are those of `coordtop help why`.\n\n" +
			"Exit code 0: nothing is wrong; 10: something is, also if it is acknowledged or muted, unless\n" +
			"--unacknowledged leaves that out; else as of get.\n\n" +
			headless.JSONHelp(headless.OfWhy),
		Example: "coordtop why\n" +
			"coordtop why leases/app:leader:billing -o json\n" +
			"coordtop why --at 03:12",
		RunE: p.run(func(cmd *cobra.Command, args []string) error {
			o.Format, o.Unacknowledged = format.format(), unacknowledged
			err := p.why(cmd.Context(), args, at, file, o)
			p.said = errors.Is(err, headless.ErrFound) && err.Error() == headless.ErrFound.Error() // it was printed
			return err
		}),
	}
	format.flag(cmd)
	lengthVar(cmd, &o.Timeout, "timeout", 5*time.Second, "print what arrived after so long")
	cmd.Flags().BoolVar(&unacknowledged, "unacknowledged", false, "leave out what is acknowledged or muted")
	fromFlag(p, cmd)
	cmd.Flags().StringVar(&at, "at", "", "explain this `TIME` of the recording instead of the present: 03:12, 2026-03-01 03:12, -1h")
	cmd.Flags().StringVar(&file, "file", "", "with --at, read `FILE`, as coordtop record --export wrote it; without --at, its end")
	return cmd
}

// why explains what is wrong now, or was at an instant of a recording.
func (p *program) why(ctx context.Context, args []string, at, file string, o headless.WhyOptions) error {
	if at != "" || file != "" {
		return p.whyThen(ctx, args, at, file, o)
	}
	return p.look(ctx, args, true, o.Timeout, func(ctx context.Context, on *looked) error {
		o.Names, o.Runbooks, o.Recall = on.names, on.config.Runbooks, on.recall
		o.Past, o.Acts = recordedPast(ctx, on.reader, headless.Now(on.feed))
		o.URL, o.Muting = urlOf(on.config), p.muting(ctx, on.place, o.Unacknowledged)
		return headless.Why(ctx, on.feed, p.env.Stdout, p.env.Stderr, o)
	})
}

// looked is what a command looks at: a Hub over what its arguments name, and what was recorded of that.
type looked struct {
	*recording
	names  []string
	hub    *sources.Hub
	feed   headless.Feed            // of hub
	recall func() *sources.Keyframe // see headless.GetOptions
}

// look calls print with what args name; see pickReadable.
func (p *program) look(ctx context.Context, args []string, peers bool, timeout time.Duration, print func(context.Context, *looked) error) error {
	if timeout == 0 {
		return usagef("--timeout must be longer than nothing, as 5s")
	}
	return p.withPresent(ctx, args, func() error {
		c, names, err := p.settings.pickReadable(ctx, args, peers)
		if err != nil {
			return err
		}
		r := p.recordingOf(c)
		defer r.close()
		return p.observe(ctx, c, func(ctx context.Context, hub *sources.Hub, beside *watched) error {
			return print(ctx, &looked{r, names, hub, headless.Over(hub), r.recall(ctx, beside, timeout, p.env.Stderr)})
		})
	}, func(ctx context.Context, c config.Config, f *followed) error {
		recall := func() *sources.Keyframe { return nil } // the recorder knows what it recorded
		return print(ctx, &looked{&recording{config: c, place: f.place, reader: f.store}, args, f.Hub(), f, recall})
	})
}

// recordedPast returns what was recorded of former owners before now, see diagnose.Input. Where it cannot be read, less
// is known: recording.recall reports that.
func recordedPast(ctx context.Context, r pastReader, now time.Time) (func(sources.Ref) []sources.Term, []sources.Event) {
	if r == nil {
		return nil, nil
	}
	span := history.Span{From: now.Add(-time.Hour), To: now}
	ctx, cancel := context.WithTimeout(ctx, resumeWithin)
	defer cancel()
	lanes, _ := r.Lanes(ctx, nil, span)
	acts, _ := history.Acts(ctx, r, span)
	past := map[sources.Ref][]sources.Term{}
	for i := range lanes {
		past[lanes[i].Ref] = lanes[i].Terms
		if len(lanes[i].Terms) == 0 && lanes[i].Before != nil {
			past[lanes[i].Ref] = []sources.Term{*lanes[i].Before}
		}
	}
	return func(ref sources.Ref) []sources.Term { return past[ref] }, acts
}

// whyThen explains what was wrong at an instant of a recording; at "": at its end.
func (p *program) whyThen(ctx context.Context, names []string, at, file string, o headless.WhyOptions) error {
	return p.ask(ctx, stretch{at: cmp.Or(at, "now"), file: file}, nil, func(store pastReader, c config.Config, span history.Span, _ []sources.Ref) error {
		player := history.NewPlayer(ctx, store, store)
		defer player.Close()
		if err := arrive(ctx, player, span.To); err != nil {
			return err
		}
		if pos := player.Position(); pos.InHole() {
			return fmt.Errorf("%w: %s", history.ErrNothing, pos.Hole.Why())
		}
		o.Names, o.Runbooks, o.URL = names, c.Runbooks, urlOf(c)
		o.Recall = func() *sources.Keyframe { return nil } // there is a recording
		o.Past, o.Acts = recordedPast(ctx, store, player.Now())
		o.Muting = p.muting(ctx, p.settings.historyPlace(c), o.Unacknowledged)
		return headless.WhyAt(p.env.Stdout, player.State(), player.Now(), o)
	})
}
