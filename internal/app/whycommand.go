package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"coordtop/internal/headless"
	"coordtop/internal/history"
	"coordtop/internal/history/sqlite"
	"coordtop/sources"
)

func (p *program) whyCommand() *cobra.Command {
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
			if o.Timeout == 0 {
				return usagef("--timeout must be longer than nothing, as 5s")
			}
			o.Format, o.Muting = format.format(), p.muting(unacknowledged)
			explain := func() error { return p.whyNow(cmd.Context(), args, o) }
			if at != "" || file != "" {
				explain = func() error { return p.whyThen(cmd.Context(), args, at, file, o) }
			}
			err := explain()
			p.said = errors.Is(err, headless.ErrFound) && err.Error() == headless.ErrFound.Error() // it was printed
			return err
		}),
	}
	format.flag(cmd)
	lengthVar(cmd, &o.Timeout, "timeout", 5*time.Second, "print what arrived after so long")
	cmd.Flags().BoolVar(&unacknowledged, "unacknowledged", false, "leave out what is acknowledged or muted")
	cmd.Flags().StringVar(&at, "at", "", "explain this `TIME` of the recording instead of the present: 03:12, 2026-03-01 03:12, -1h")
	cmd.Flags().StringVar(&file, "file", "", "with --at, read `FILE`, as coordtop record --export wrote it; without --at, its end")
	return cmd
}

// whyNow explains what is wrong now.
func (p *program) whyNow(ctx context.Context, args []string, o headless.WhyOptions) error {
	return p.look(ctx, args, true, func(ctx context.Context, names []string, hub *sources.Hub, beside *watched, r *recording) error {
		o.Names, o.Runbooks = names, r.config.Runbooks
		o.Recorded = r.recorded(ctx, beside, o.Timeout, p.env.Stderr)
		return headless.Why(ctx, headless.Over(hub), p.env.Stdout, p.env.Stderr, o)
	})
}

// look calls print with a Hub over what args name, and with the recording that belongs to it; see pickReadable.
func (p *program) look(
	ctx context.Context, args []string, judged bool,
	print func(ctx context.Context, names []string, hub *sources.Hub, beside *watched, r *recording) error,
) error {
	c, names, err := p.settings.pickReadable(ctx, args, judged)
	if err != nil {
		return err
	}
	r := p.recordingOf(c)
	defer r.close()
	return p.observe(ctx, c, func(ctx context.Context, hub *sources.Hub, beside *watched) error {
		return print(ctx, names, hub, beside, r)
	})
}

// recorded is recall, and what was recorded of former owners.
func (r *recording) recorded(ctx context.Context, beside *watched, timeout time.Duration, diag io.Writer) (has headless.Recorded) {
	if has.Recall = r.recall(ctx, beside, timeout, diag); has.Recall != nil {
		has.Past, has.Acts = recordedPast(ctx, r.reader, time.Now())
	}
	return has
}

// recordedPast returns what was recorded of former owners before now, see diagnose.Input. Where it cannot be read, less
// is known: recording.recall reports that.
func recordedPast(ctx context.Context, r *sqlite.Reader, now time.Time) (func(sources.Ref) []sources.Term, []sources.Event) {
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

// whyThen explains what was wrong at an instant of a recording.
func (p *program) whyThen(ctx context.Context, names []string, at, file string, o headless.WhyOptions) (err error) {
	var args []string
	if file != "" {
		args = []string{file}
	}
	store, c, err := p.recorded(ctx, args)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	runs, err := recordedRuns(ctx, store)
	if err != nil {
		return err
	}
	now := time.Now()
	recorded := history.Bounds(runs, now)
	if file != "" {
		now = recorded.To.Local()
	}
	then := now
	if at != "" {
		if then, err = instantOf("--at", at, now); err != nil {
			return err
		}
	}
	if then.Before(recorded.From) || then.After(recorded.To.Add(time.Second)) {
		return fmt.Errorf("%w, %s: what is recorded is %s", history.ErrNothing, then.Local().Format(time.DateTime), fromTo(recorded))
	}
	player := history.NewPlayer(ctx, store, store)
	defer player.Close()
	if err := arrive(ctx, player, then); err != nil {
		return err
	}
	if pos := player.Position(); pos.InHole() {
		return fmt.Errorf("%w: %s", history.ErrNothing, pos.Hole.Why())
	}
	o.Names, o.Runbooks = names, c.Runbooks
	o.Recall = func() *sources.Keyframe { return nil } // there is a recording
	o.Past, o.Acts = recordedPast(ctx, store, player.Now())
	return headless.WhyAt(p.env.Stdout, player.State(), player.Now(), o)
}
