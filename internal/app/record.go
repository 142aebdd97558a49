package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coordtop/internal/app/backends"
	"coordtop/internal/config"
	"coordtop/internal/ground/format"
	"coordtop/internal/headless"
	"coordtop/internal/history"
	"coordtop/internal/history/record"
	reports "coordtop/internal/history/report"
	"coordtop/internal/history/sqlite"
	"coordtop/internal/notify"
	"coordtop/sources"
	"coordtop/ui"
)

const historyName = "history.db"

// recording is the recording that a command reads and writes.
type recording struct {
	config  config.Config
	place   place                         // without a Path: nothing is recorded
	records bool                          // this process may record; else it only reads
	sources []sources.SourceStatus        // only their names, types and addresses
	without func(source string) bool      // reports whether the data of owners and waiters is not recorded
	selects func(*sources.Primitive) bool // reports whether a source still shows what was recorded
	logger  *slog.Logger
	inputs  *sources.InputBuffer
	known   time.Time // up to when an earlier run recorded these sources; zero: none did
	began   time.Time
	earlier []sources.Event // recorded before the start, as far as the board keeps them
	forgot  string          // the warning if the recording could not be read; "": it could
	reader  pastReader      // of the place; nil: nothing is recorded
	term    *recorderTerm   // in which this process records for a team; nil: it does not
	*record.Recorder
	forwarder *record.Forwarder // copies to the store of a team; nil: the team has no store
	notifier  *notify.Notifier  // nil: nobody is told
}

// historyPlace returns the place of the recording of c; without a Path nothing is recorded. Where c comes from
// arguments or the environment, the place is that of the config file, if there is one.
func (st *settings) historyPlace(c config.Config) place {
	h := c.History
	if path, _ := st.locate(); c.Path == "" && path != "" && st.demoState == "" {
		if usual, err := st.load(path, ""); err == nil {
			h = usual.History
		}
	}
	if h.Off {
		return place{}
	}
	return st.placeOf(h, cmp.Or(st.demoState, st.stateFolder()))
}

// recordingOf returns the recording of the board over c.
func (p *program) recordingOf(c config.Config) *recording {
	if !p.env.Record {
		return &recording{config: c}
	}
	r := p.settings.recordingAt(c, p.settings.historyPlace(c), p.logger())
	r.records = r.place.team == nil // only coordtop record writes to the store of a team
	return r
}

func (st *settings) recordingAt(c config.Config, place place, logger *slog.Logger) *recording {
	without := map[string]bool{}
	selects := map[string]func(*sources.Primitive) bool{}
	var read []sources.SourceStatus
	for _, s := range c.Sources {
		without[s.Name] = s.UnrecordedData
		read = append(read, sources.SourceStatus{Name: s.Name, Type: s.Type, Address: backends.Config().AddressWithoutLogin(&s)})
		prepared, _ := st.prepared(s, c) // its error is reported when the source is made
		selects[s.Name] = prepared.Selects
	}
	r := &recording{config: c, place: place, sources: read, without: func(source string) bool { return without[source] }, logger: logger,
		selects: func(p *sources.Primitive) bool { return selects[p.Source] == nil || selects[p.Source](p) }}
	if place.Path != "" {
		r.reader = place.open()
	}
	return r
}

// close closes the reader.
func (r *recording) close() {
	if r.reader != nil {
		_ = r.reader.Close() // nothing was written
	}
}

// resumeWithin bounds the time that the start waits for the recording.
const resumeWithin = 2 * time.Second

// options returns the options of the Hub that is recorded: it starts with the last state that an earlier run of these
// sources recorded.
func (r *recording) options(ctx context.Context) sources.HubOptions {
	if r.reader == nil {
		return sources.HubOptions{}
	}
	last, err := r.lastKnown(ctx, resumeWithin)
	if err != nil && !noRecording(err) {
		r.logger.Warn("reading what was recorded", "err", err)
		r.forgot = fmt.Sprintf("what was recorded cannot be read, so earlier owners and times are missing: %v", err)
	}
	if r.began = time.Now(); last != nil {
		r.known = last.At.Wall
	}
	if !r.records {
		return sources.HubOptions{Resume: last}
	}
	r.inputs = sources.NewInputBuffer(0, 0)
	return sources.HubOptions{Recorder: r.inputs, Resume: last}
}

// readEarlier reads the events from before the start, for the board. options reports a recording that cannot be read.
func (r *recording) readEarlier(ctx context.Context) {
	if r.reader == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, resumeWithin)
	defer cancel()
	r.earlier, _ = history.Earlier(ctx, r.reader, time.Now())
}

// lastKnown returns the last recorded state of these sources; see noRecording for its errors.
func (r *recording) lastKnown(ctx context.Context, within time.Duration) (*sources.Keyframe, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return history.LastKnown(ctx, r.reader, r.sources, r.selects)
}

// noRecording reports whether an error only tells that nothing was recorded.
func noRecording(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, history.ErrNothing)
}

// recall reads the last recorded state in a goroutine, and prints to diag if that cannot be read. The returned function
// waits for it: see headless.GetOptions. timeout is that of the command.
func (r *recording) recall(ctx context.Context, beside *watched, timeout time.Duration, diag io.Writer) func() *sources.Keyframe {
	if r.reader == nil {
		return nil
	}
	read := make(chan *sources.Keyframe, 1)
	beside.run(ctx, func() error {
		last, err := r.lastKnown(ctx, min(timeout, resumeWithin))
		if err != nil && !noRecording(err) && ctx.Err() == nil {
			fmt.Fprintf(diag, "coordtop: cannot read the recording, so earlier owners and times are missing: %v\n", err)
		}
		read <- last
		return nil
	})
	return func() *sources.Keyframe {
		select {
		case last := <-read:
			return last
		case <-ctx.Done():
			return nil
		}
	}
}

// run records hub until ctx ends; beside joins it.
func (r *recording) run(ctx context.Context, hub *sources.Hub, beside *watched) {
	switch {
	case r.reader == nil || !r.records:
	case r.place.team != nil:
		r.runTeam(ctx, hub, beside)
	default:
		r.Recorder = record.New(record.Options{Hub: hub, Inputs: r.inputs, WithoutData: r.without, Logger: r.logger, Note: r.forgot, Begin: r.begin})
		beside.run(ctx, func() error { return r.Recorder.Run(ctx) })
	}
}

// status returns the board's words about the recording, and whether it has stopped.
func (r *recording) status() (text string, stopped bool) {
	if r.Recorder == nil {
		return "", false
	}
	return r.Recording()
}

// recordOptions are the flags of record.
type recordOptions struct {
	export string
	stretch
	mask   bool
	listen listening
	status bool
	output
}

func recordCommand(p *program) *cobra.Command {
	var o recordOptions
	cmd := &cobra.Command{
		Use:   "record [URL | SOURCE ...]",
		Short: "Record without a screen, or write a stretch to a file",
		Long: "Records who leads, who owns and who waits until it is interrupted, as the board does while it is shown, into\n" +
			"history.db in the state directory, or what `history.file` of the config file names. One coordtop records at a\n" +
			"time; another waits, and takes over. Nothing is recorded that the board would not show.\n\n" +
			"With --export a stretch of what was recorded is written to FILE, which can be sent to somebody and replayed\n" +
			"there. --mask replaces every name, label and text in it by another one, the same everywhere; what an action was\n" +
			"and how it went stays.\n\n" +
			"With `history.url` it stands for election among all recorders of that store: one records, the others stand by,\n" +
			"ask no server, and take over when it ends (see coordtop help team). --status prints who records, who stands by,\n" +
			"and when nobody recorded since --since; no server but the store is asked. Exit code 0: somebody records; 10:\n" +
			"nobody does.\n\n" + headless.JSONHelp(headless.OfRecorder),
		Example: "coordtop record\ncoordtop record --status --since 24h\ncoordtop record --listen 127.0.0.1:9595\ncoordtop record --export outage.coordtop --since 2h --mask",
		RunE: p.run(func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("export") {
				if o.listen.address != "" {
					return usagef("--listen is for a recording, not for --export")
				}
				return p.exportRecording(cmd.Context(), args, o)
			}
			if o.mask {
				return usagef("--mask is for --export")
			}
			if o.status {
				p.onlyReads.Store(true)
				return recorderStatus(cmd.Context(), p, args, o)
			}
			return p.record(cmd.Context(), args, &o.listen)
		}),
	}
	cmd.Flags().StringVar(&o.export, "export", "", "write what was recorded to `FILE`")
	o.flags(cmd, 2*time.Hour)
	o.listen.flag(cmd)
	cmd.Flags().BoolVar(&o.status, "status", false, "print who records, and who stands by")
	o.output.flag(cmd)
	cmd.Flags().BoolVar(&o.mask, "mask", false, "replace names, labels and texts")
	return cmd
}

// record records without a screen, and prints its state to standard error.
func (p *program) record(ctx context.Context, args []string, listen *listening) error {
	c, names, err := p.settings.pickReadable(ctx, args, false)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.ContainsFunc(c.Sources, func(s config.Source) bool { return s.Name == name }) {
			return usagef("record takes sources, and %q is no whole one", name)
		}
	}
	place := p.settings.historyPlace(c)
	if place.Path == "" {
		return usagef("there is no place for the recording: set history.file, and history.off to false, or $HOME")
	}
	if place.team != nil {
		return recordForTeam(ctx, p, c, place, listen)
	}
	if err := listen.open(ctx); err != nil {
		return err
	}
	defer listen.close()
	r := p.settings.recordingAt(c, place, p.logger())
	r.records = true
	defer r.close()
	p.settings.lasts = true
	err = p.observeWith(ctx, c, r.options(ctx), func(inner context.Context, hub *sources.Hub, beside *watched) error {
		return p.recordHub(inner, r, hub, listen, beside)
	})
	if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return nil // asked to end
	}
	return err
}

// exportRecording writes a part of the recording to a file.
func (p *program) exportRecording(ctx context.Context, args []string, o recordOptions) error {
	if len(args) > 0 {
		return usagef("--export writes what was recorded of all sources: name none")
	}
	if o.export == "" {
		return usagef("--export needs the name of the file to write")
	}
	if _, err := os.Lstat(o.export); err == nil {
		return fmt.Errorf("%s exists: remove it, or name another file", o.export)
	}
	return p.ask(ctx, o.stretch, nil, func(r pastReader, _ config.Config, span history.Span, _ []sources.Ref) error {
		return p.exportTo(ctx, o, r, span)
	})
}

// exportTo writes a part of a recording to a new file.
func (p *program) exportTo(ctx context.Context, o recordOptions, from pastReader, span history.Span) (err error) {
	// The incomplete file has another name, in a folder of our own.
	folder, err := os.MkdirTemp(filepath.Dir(o.export), ".coordtop-export-")
	if err != nil {
		return fmt.Errorf("writing %s: %w", o.export, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	part := filepath.Join(folder, filepath.Base(o.export))
	err = sqlite.ErrOtherVersion
	if file, is := from.(*sqlite.Reader); is && !o.mask && o.until == "" {
		err = file.Extract(ctx, part, span)
	}
	if errors.Is(err, sqlite.ErrOtherVersion) {
		err = record.Copy(ctx, from, span, o.mask, func(r history.Run) (record.Output, error) {
			if o.mask {
				r.Host, r.PID, r.Title, r.TitleColor = "masked", 0, "", ""
			}
			return sqlite.Begin(context.WithoutCancel(ctx), sqlite.Options{Path: part, Alone: true}, r)
		})
	}
	if err != nil {
		return fmt.Errorf("exporting the recording: %w", err)
	}
	written := sqlite.NewReader(part)
	runs, err := recordedRuns(ctx, written)
	if err = errors.Join(err, written.Close()); err != nil {
		return err
	}
	if err := os.Rename(part, o.export); err != nil {
		return err
	}
	fmt.Fprintf(p.env.Stderr, "coordtop: wrote %s: what was recorded %s\n", o.export, fromTo(history.Bounds(runs, time.Now())))
	return nil
}

// export writes rows of the board in the forms of get.
func export(w io.Writer, f ui.Form, st *sources.State, rows []*sources.Row, now time.Time) error {
	return headless.Export(w, formatOf(f), st, rows, now)
}

func exportTable(w io.Writer, f ui.Form, table [][]string) error {
	return headless.ExportTable(w, formatOf(f), table)
}

// picture draws the lanes of the Timeline as the report command does.
func picture(title string) ui.Picture {
	return func(w io.Writer, lanes []history.Lane, events []sources.Event, span history.Span, zone *time.Location) error {
		r := reports.Report{Title: title, Span: span, Zone: zone}
		r.Have(lanes, events)
		return r.SVG(w)
	}
}

func formatOf(f ui.Form) headless.Format {
	return map[ui.Form]headless.Format{ui.FormJSON: headless.JSON, ui.FormCSV: headless.CSV, ui.FormMarkdown: headless.Markdown}[f] // else Text
}

// urlOf returns a function that makes the URL of a row of c, without a password; "": the row has a name in a config file.
func urlOf(c config.Config) func(*sources.Row) string {
	return func(r *sources.Row) string {
		i := slices.IndexFunc(c.Sources, func(s config.Source) bool { return s.Name == r.Source })
		if c.Path != "" || i < 0 {
			return ""
		}
		return backends.URL(c.Sources[i], r)
	}
}

// commandFor returns a function that makes the command line about a row of c that begins with words: with the name of
// its source if c is from a config file, else with a URL without a password.
func (st *settings) commandFor(c config.Config) func(*sources.Row, ...string) string {
	return func(r *sources.Row, words ...string) string {
		words = slices.Concat([]string{"coordtop"}, words)
		i := slices.IndexFunc(c.Sources, func(s config.Source) bool { return s.Name == r.Source })
		if i < 0 {
			return ""
		}
		if url := urlOf(c)(r); url != "" {
			return strings.Join(append(words, format.ShellWord(url)), " ")
		}
		if st.file != "" {
			words = append(words, "--config", format.ShellWord(st.file))
		}
		name := r.FullName()
		if name[0] == '-' {
			words = append(words, "--") // else it would be read as flags
		}
		return strings.Join(append(words, format.ShellWord(name)), " ")
	}
}
