package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"coordtop/internal/format"
	"coordtop/internal/headless"
	"coordtop/internal/history"
	reports "coordtop/internal/history/report"
	"coordtop/sources"
)

// stretch are the flags that say which part of a recording is meant.
type stretch struct {
	since time.Duration
	until string
	file  string
}

func (s *stretch) flags(cmd *cobra.Command, since time.Duration) {
	lengthVar(cmd, &s.since, "since", since, "so long before --until, as 90m or 7d")
	cmd.Flags().StringVar(&s.until, "until", "", "up to this TIME: "+format.InstantForms+"; without it now")
	cmd.Flags().StringVar(&s.file, "file", "", "read FILE, as `coordtop record --export` wrote it, instead of what this machine recorded")
}

// span is the stretch.
func (s *stretch) span(now time.Time) (history.Span, error) {
	to := now
	if s.until != "" {
		var ok bool
		if to, ok = format.ParseInstant(s.until, now); !ok {
			return history.Span{}, usagef("--until is no time: write %s", format.InstantForms)
		}
	}
	if s.since <= 0 {
		return history.Span{}, usagef("--since must be longer than nothing, as 6h")
	}
	return history.Span{From: to.Add(-s.since), To: to}, nil
}

// ask reads a stretch of a recording. names choose primitives; none: refs is nil.
func (p *program) ask(ctx context.Context, s stretch, names []string, answer func(r history.Reader, title string, span history.Span, refs []sources.Ref) error) error {
	span, err := s.span(time.Now())
	if err != nil {
		return err
	}
	var file []string
	if s.file != "" {
		file = []string{s.file}
	}
	store, c, err := p.recorded(file)
	if err != nil {
		return err
	}
	refs, err := named(ctx, store, span, names)
	if err == nil {
		err = answer(store, c.Title, span, refs)
	}
	if err != nil {
		err = fmt.Errorf("reading the recording: %w", err)
	}
	return errors.Join(err, store.Close())
}

// named are the recorded primitives that names choose.
func named(ctx context.Context, r history.Reader, span history.Span, names []string) ([]sources.Ref, error) {
	if len(names) == 0 {
		return nil, nil
	}
	totals, err := r.Totals(ctx, span)
	if err != nil {
		return nil, err
	}
	var refs []sources.Ref
	for i, name := range names {
		found := false
		for _, t := range totals {
			for _, form := range []string{t.Ref.Source, t.Ref.Name, t.Ref.Source + "/" + t.Ref.Name, t.Ref.Source + "/" + t.Ref.Space + "/" + t.Ref.Name} {
				if name == form {
					refs, found = append(refs, t.Ref), true
					break
				}
			}
		}
		if !found {
			return nil, fmt.Errorf("argument %d: %w: nothing of this name is recorded for this time; write SOURCE/NAME, or SOURCE for all of it", i+1, headless.ErrNotFound)
		}
	}
	return refs, nil
}

func (p *program) historyCommand() *cobra.Command {
	var o output
	var s stretch
	var gaps bool
	cmd := &cobra.Command{
		Use: "history [SOURCE[/NAME] ...]", Short: "Print who owned what before, and when nobody did",
		Long: "Reads what coordtop recorded (see coordtop record); no server is asked. A time after ~ was seen between two looks, one\n" +
			"after ≤ was when it was first seen to be so, one after ≥ when it was last seen. What was not observed, or not\n" +
			"recorded, is said.\n\n" + headless.JSONHelp(headless.OfHistory),
		Example: "coordtop history leases/billing --since 6h\ncoordtop history leases --gaps -o json",
		RunE: p.run(func(cmd *cobra.Command, args []string) error {
			return p.ask(cmd.Context(), s, args, func(r history.Reader, _ string, span history.Span, refs []sources.Ref) error {
				lanes, err := r.Lanes(cmd.Context(), refs, span)
				if err != nil {
					return err
				}
				return headless.History(p.env.Stdout, lanes, headless.HistoryOptions{Format: o.format, Gaps: gaps, Span: span, Zone: time.Local})
			})
		}),
	}
	o.flag(cmd)
	s.flags(cmd, 6*time.Hour)
	cmd.Flags().BoolVar(&gaps, "gaps", false, "print the times without an owner instead of the terms")
	return cmd
}

func (p *program) reportCommand() *cobra.Command {
	var s stretch
	var svg string
	cmd := &cobra.Command{
		Use: "report [SOURCE[/NAME] ...]", Short: "Write a piece of a post-mortem from what was recorded",
		Long: "Prints Markdown: numbers, the times without an owner, actions and notes, sources that did not answer, and what was\n" +
			"not recorded; without names of all that changed. With --svg the timeline is drawn too, and the Markdown shows it.",
		Example: "coordtop report --since 2h --svg timeline.svg > report.md",
		RunE: p.run(func(cmd *cobra.Command, args []string) error {
			return p.ask(cmd.Context(), s, args, func(r history.Reader, title string, span history.Span, refs []sources.Ref) error {
				text := reports.Report{Title: title, Span: span, Zone: time.Local}
				if err := text.Read(cmd.Context(), r, refs); err != nil {
					return err
				}
				if svg != "" {
					text.Picture = filepath.ToSlash(filepath.Base(svg))
					if err := draw(&text, svg); err != nil {
						return err
					}
				}
				return text.Markdown(p.env.Stdout)
			})
		}),
	}
	s.flags(cmd, 2*time.Hour)
	cmd.Flags().StringVar(&svg, "svg", "", "draw the timeline into FILE")
	return cmd
}

// draw writes the picture. A file of that name is replaced.
func draw(r *reports.Report, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(r.SVG(f), f.Close())
}
