package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coordtop/internal/config"
	"coordtop/internal/ground/format"
	"coordtop/internal/headless"
	"coordtop/internal/history"
	reports "coordtop/internal/history/report"
	"coordtop/internal/objective"
	"coordtop/sources"
)

// stretch has the flags that select a part of a recording.
type stretch struct {
	since, until string
	at           string // instead of both: an instant
	file         string
	usual        time.Duration // the length without --since
}

// flags adds --since and --until.
func (s *stretch) flags(cmd *cobra.Command, usual time.Duration) {
	s.usual = usual
	cmd.Flags().StringVar(&s.since, "since", "", fmt.Sprintf("from this `TIME` on: %s; where left out %s before --until", format.InstantForms, length{&s.usual}))
	cmd.Flags().StringVar(&s.until, "until", "", "up to this `TIME`, written in the same way; where left out now")
}

// fileFlag adds --file. The times of the other flags then count from the end of the file.
func (s *stretch) fileFlag(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.file, "file", "", "read `FILE`, as coordtop record --export wrote it, instead of what this machine recorded: all of it without --since, and its end is now")
}

// span returns the selected part of what runs recorded.
func (s *stretch) span(now time.Time, runs []history.Run) (span history.Span, err error) {
	recorded := history.Bounds(runs, now)
	now = history.Present(runs, now)
	if s.file != "" {
		now = recorded.To.Add(1).Local()
	}
	flag, text := "--until", cmp.Or(s.until, "now")
	if s.at != "" {
		flag, text = "--at", s.at
	}
	if span.To, err = instantOf(flag, text, now); err != nil {
		return span, err
	}
	switch {
	case s.at != "":
		span.From = span.To.Add(-max(s.usual, 1))
	case s.since != "":
		span.From, err = instantOf("--since", s.since, now)
	case s.file != "":
		span.From = sources.Earlier(recorded.From, span.To.Add(-1))
	default:
		span.From = span.To.Add(-s.usual)
	}
	switch {
	case err != nil:
		return span, err
	case !span.From.Before(span.To):
		return span, usagef("--since must be before --until: they are %s and %s", span.From.Local().Format(time.DateTime), span.To.Local().Format(time.DateTime))
	case !recorded.From.Before(span.To) || !span.From.Before(recorded.To.Add(1)):
		return span, fmt.Errorf("%w, %s: what is recorded is %s", history.ErrNothing, fromTo(span), fromTo(recorded))
	}
	return span, nil
}

// fromTo returns a span, or an instant, for people.
func fromTo(span history.Span) string {
	if span.To.Sub(span.From) == 1 {
		return "at " + span.To.Local().Format(time.DateTime)
	}
	return "from " + span.From.Local().Format(time.DateTime) + " to " + span.To.Local().Format(time.DateTime+" MST")
}

// instantOf parses the time in the value of a flag.
func instantOf(flag, text string, now time.Time) (time.Time, error) {
	t, ok := format.ParseInstant(text, now, now)
	if !ok {
		return t, usagef("%s is no time: write %s", flag, format.InstantForms)
	}
	return t, nil
}

// sayClocks prints which times of a span are by a clock that differs from the store's or from ours.
func (p *program) sayClocks(runs []history.Run, span history.Span, now time.Time) {
	said := map[string]bool{}
	for _, run := range runs {
		if run.Live && !run.Now.IsZero() {
			fmt.Fprintf(p.env.Stderr, "coordtop: times are those of the recorder on %s, whose clock is %s this machine's\n", run.Host, format.Offset(run.Now.Sub(now)))
		}
		if by := run.Ahead; by != 0 && run.From.Before(span.To) && span.From.Before(run.To) && !said[run.Host] {
			said[run.Host] = true
			fmt.Fprintf(p.env.Stderr, "coordtop: the clock of the recorder on %s was %s the store's in run %d: the times that it recorded are wrong by that\n", run.Host, format.Offset(by), run.ID)
		}
	}
}

// ask calls answer with the selected part of a recording. names select primitives; without names refs is nil.
func (p *program) ask(
	ctx context.Context, s stretch, names []string,
	answer func(r pastReader, c config.Config, span history.Span, refs []sources.Ref) error,
) (err error) {
	var file []string
	now := time.Now()
	if s.file != "" {
		file = []string{s.file}
	} else if _, err := s.span(now, []history.Run{{Span: history.Span{To: now}}}); err != nil && !errors.Is(err, history.ErrNothing) {
		return err // the flags are wrong for any recording
	}
	store, c, err := p.recorded(ctx, file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	runs, err := recordedRuns(ctx, store)
	if err != nil {
		return err
	}
	span, err := s.span(now, runs)
	if err != nil {
		return err
	}
	p.sayClocks(runs, span, now)
	refs, err := named(ctx, store, span, names)
	if err != nil {
		return err
	}
	return answer(store, c, span, refs)
}

// named returns the recorded primitives that names select.
func named(ctx context.Context, r pastReader, span history.Span, names []string) ([]sources.Ref, error) {
	if len(names) == 0 {
		return nil, nil
	}
	all, err := r.Recorded(ctx, span)
	if err != nil {
		return nil, unread(err)
	}
	aliases, err := history.Aliases(ctx, r, all)
	if err != nil {
		return nil, unread(err)
	}
	var refs []sources.Ref
	var known []string
	for _, ref := range all {
		known = append(known, ref.Source+"/"+ref.Name, ref.Source, ref.Name, ref.FullName())
	}
	for i, name := range names {
		found := sources.Named(all, name, true, func(ref sources.Ref) (sources.Ref, string) {
			return ref, sources.AliasName(aliases[ref].Text, aliases[ref].How)
		})
		whole := slices.DeleteFunc(slices.Clone(all), func(ref sources.Ref) bool { return ref.Source != name })
		switch {
		case len(whole) > 0:
			refs = append(refs, whole...)
		case len(found) == 1:
			refs = append(refs, found[0])
		case len(found) > 1:
			return nil, fmt.Errorf("argument %d: %w: %s", i+1, headless.ErrAmbiguous, strings.Join(headless.FullNames(found), ", "))
		default:
			text := "`coordtop history` lists what there is"
			if near := headless.NearName(name, known...); near != "" {
				text = "did you mean " + format.Clean(near, 300) + "?"
			}
			return nil, fmt.Errorf("argument %d: %w: nothing of this name is recorded for this time: %s", i+1, headless.ErrNotFound, text)
		}
	}
	return slices.DeleteFunc(all, func(ref sources.Ref) bool { return !slices.Contains(refs, ref) }), nil
}

func historyCommand(p *program) *cobra.Command {
	var o output
	var s stretch
	var gaps bool
	cmd := &cobra.Command{
		Use: "history [SOURCE[/NAME] ...]", Short: "Print who owned what before, and when nobody did",
		Long: "Reads what coordtop recorded (see coordtop record); no server is asked. A time after ~ was seen between two looks, one\n" +
			"after ≤ was when it was first seen to be so, one after ≥ when it was last seen. Of what is not known it is said\n" +
			"why: the source did not answer (not observed), no coordtop recorded (not recorded), or it was too old (dropped).\n" +
			"The length of a gap is that of its part in the time that was asked for.\n\n" + headless.JSONHelp(headless.OfHistory),
		Example: "coordtop history leases/app:leader:billing --since 6h\ncoordtop history leases --gaps -o json\ncoordtop history --file outage.coordtop",
		RunE: p.run(func(cmd *cobra.Command, args []string) error {
			p.onlyReads.Store(true)
			return p.ask(cmd.Context(), s, args, func(r pastReader, c config.Config, span history.Span, refs []sources.Ref) error {
				lanes, err := r.Lanes(cmd.Context(), refs, span)
				if err != nil {
					return unread(err)
				}
				acts, err := history.Acts(cmd.Context(), r, span)
				if err != nil {
					return err
				}
				for i := range lanes {
					refs = append(refs, lanes[i].Ref)
				}
				aliases, err := history.Aliases(cmd.Context(), r, refs)
				if err != nil {
					return unread(err)
				}
				if s.file == "" {
					acts = append(acts, acted(cmd.Context(), p, p.settings.historyPlace(c))...)
				}
				options := headless.HistoryOptions{Format: o.format(), Gaps: gaps, Span: span, Past: s.until != "", Zone: time.Local, Acts: acts, Aliases: aliases}
				return cmp.Or(headless.History(p.env.Stdout, lanes, options), printed(p.env.Stdout))
			})
		}),
	}
	o.flag(cmd)
	s.flags(cmd, 6*time.Hour)
	s.fileFlag(cmd)
	cmd.Flags().BoolVar(&gaps, "gaps", false, "print the times without an owner instead of the terms")
	return cmd
}

func reportCommand(p *program) *cobra.Command {
	var s stretch
	var svg string
	cmd := &cobra.Command{
		Use: "report [SOURCE[/NAME] ...]", Short: "Write a piece of a post-mortem from what was recorded",
		Long: "Prints Markdown: in plain words what went wrong, then all of that, the worst first; numbers, the times without an\n" +
			"owner, locks that only took turns, who waited longest, actions and notes, and what was not recorded;\n" +
			"without names of all that changed or was in trouble. Actions are those of the audit too, without\n" +
			"--file. With --svg the timeline is drawn too, and the Markdown shows it.",
		Example: "coordtop report --since 2h --svg timeline.svg > report.md",
		RunE: p.run(func(cmd *cobra.Command, args []string) error {
			p.onlyReads.Store(true)
			return p.ask(cmd.Context(), s, args, func(r pastReader, c config.Config, span history.Span, refs []sources.Ref) error {
				text := reports.Report{Title: c.Title, Span: span, Zone: time.Local, Thresholds: c.Thresholds}
				if s.file == "" { // an audit says nothing of what others recorded
					text.Actions = acted(cmd.Context(), p, p.settings.historyPlace(c))
				}
				if err := text.Read(cmd.Context(), r, refs); err != nil {
					return unread(err)
				}
				if svg != "" {
					text.Picture = filepath.ToSlash(filepath.Base(svg))
					if err := draw(&text, svg); err != nil {
						return fmt.Errorf("drawing the timeline: %w", err)
					}
				}
				return cmp.Or(text.Markdown(p.env.Stdout), printed(p.env.Stdout))
			})
		}),
	}
	s.flags(cmd, 2*time.Hour)
	s.fileFlag(cmd)
	cmd.Flags().StringVar(&svg, "svg", "", "draw the timeline into FILE")
	return cmd
}

// acted returns the actions and notes in the audit of this machine, and in that of a team at a place, as events, also
// those that no coordtop has recorded yet.
func acted(ctx context.Context, p *program, at place) []sources.Event {
	log, unshared := p.sharedAudit(ctx, at)
	list, err := log.Entries()
	if err = errors.Join(err, unshared); err != nil {
		fmt.Fprintf(p.env.Stderr, "coordtop: only actions that are recorded are shown: %v\n", err)
	}
	var events []sources.Event
	for i := range list {
		e, ok := list[i].Event()
		if ok && !at.lacks(&list[i]) {
			events = append(events, e)
		}
	}
	return events
}

// draw writes the picture, and replaces a file of that name.
func draw(r *reports.Report, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(r.SVG(f), f.Close())
}

func sloCommand(p *program) *cobra.Command {
	var o output
	s := stretch{usual: objective.Longest}
	cmd := &cobra.Command{
		Use: "slo [SOURCE[/NAME] ...]", Short: "Print how well the objectives of the config are kept",
		Long: "Prints for each primitive that fits one of the `objectives` in the config how long nobody owned it, how much of\n" +
			"its budget (how long nobody may) is used up, and how fast that was used in the last hour (1x: it lasts just as long\n" +
			"as the objective). It reads what coordtop recorded (see coordtop record); no server is asked. Of two numbers the\n" +
			"lower one was observed, the higher one is possible: nobody may have owned it while it was not observed.\n\n" +
			"Exit code 0: all objectives are kept; 10: at least one is missed; 3: none is missed, but at least one is\n" +
			"not known: too much was not observed, or nothing that is recorded fits it.\n\n" + headless.JSONHelp(headless.OfSlo),
		Example: "coordtop slo\ncoordtop slo leases/app:leader:billing -o json\ncoordtop slo --at 'yesterday 22:00'",
		RunE: p.run(func(cmd *cobra.Command, args []string) error {
			p.onlyReads.Store(true)
			ctx := cmd.Context()
			return p.ask(ctx, s, args, func(r pastReader, c config.Config, span history.Span, refs []sources.Ref) error {
				if len(c.Objectives) == 0 {
					return usagef("there are no objectives: write them into the config, see `coordtop help slo`")
				}
				results, _, err := objective.Judge(ctx, r, objective.Input{Objectives: c.Objectives, Now: span.To})
				if err != nil {
					return unread(err)
				}
				if refs != nil {
					results = slices.DeleteFunc(results, func(x objective.Result) bool { return !slices.Contains(refs, x.Ref) })
				}
				if len(results) == 0 {
					return fmt.Errorf("%w: none of the objectives is for it", headless.ErrNotFound)
				}
				refs = nil
				for i := range results {
					refs = append(refs, results[i].Ref)
				}
				aliases, err := history.Aliases(ctx, r, refs)
				if err != nil {
					return unread(err)
				}
				return errors.Join(headless.Objectives(p.env.Stdout, results, headless.ObjectivesOptions{Format: o.format(), At: span.To, Aliases: aliases}), printed(p.env.Stdout))
			})
		}),
	}
	o.flag(cmd)
	cmd.Flags().StringVar(&s.at, "at", "", "judge the time up to this `TIME` of the recording instead of up to now: 03:12, 2026-03-01 03:12, -1h")
	s.fileFlag(cmd)
	p.schemaFlag(cmd, headless.OfSlo)
	return cmd
}
