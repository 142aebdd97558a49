package app

import (
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
	"coordtop/internal/ground/failure"
	"coordtop/internal/ground/format"
	"coordtop/internal/history"
	"coordtop/internal/history/sqlite"
	"coordtop/sources"
	"coordtop/ui"
)

// replayOptions are the flags of replay.
type replayOptions struct {
	boardOptions
	at    string
	speed int
}

func replayCommand(p *program) *cobra.Command {
	var o replayOptions
	cmd := &cobra.Command{
		Use: "replay [FILE]", Short: "Show what was recorded, on the same screens", Args: atMostOne,
		Long: "Shows the state as it was, and nothing can be done to it. space plays and stops, . and , go to the next event\n" +
			"and to the one before, > and < change the speed, :at 12:31 goes to a time. FILE is what `coordtop record --export`\n" +
			"wrote; without it what this machine recorded. It begins at --at, else where FILE begins, or 15\n" +
			"minutes before the end of what this machine recorded, and says from when to when there is a recording: an --at\n" +
			"outside of that goes to its end or beginning. In the board itself :at goes back, 0 to now.",
		Example: "coordtop replay --at 03:12\ncoordtop replay outage.coordtop --speed 10",
		RunE:    p.run(func(cmd *cobra.Command, args []string) error { return p.replay(cmd.Context(), args, o) }),
	}
	cmd.Flags().StringVar(&o.at, "at", "", "begin at this TIME: "+format.InstantForms)
	cmd.Flags().IntVar(&o.speed, "speed", 0, "play at once, N recorded seconds in one: one of "+speeds())
	o.flags(cmd)
	return cmd
}

// replay shows a recording.
func (p *program) replay(ctx context.Context, args []string, o replayOptions) error {
	if err := p.env.screen("for scripts there is coordtop history"); err != nil {
		return err
	}
	if o.speed != 0 && !slices.Contains(history.Speeds(), o.speed) {
		return usagef("--speed %d is no speed: write one of %s", o.speed, speeds())
	}
	store, c, err := p.recorded(ctx, args)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close() }() // nothing was written
	from, said, err := beginning(ctx, store, o.at, len(args) > 0)
	if err != nil {
		return err
	}
	player := history.NewPlayer(ctx, store, store)
	defer player.Close()
	begin := arrive
	if o.at == "" {
		begin = arriveAtRows
	}
	if err := begin(ctx, player, from); err != nil {
		return err
	}
	if o.speed != 0 {
		player.SetSpeed(o.speed)
		player.Play(true)
	}
	defer p.unfinished.begin()()
	return p.runBoard(ctx, ctx, c, o.boardOptions, ui.Options{Player: player, History: store, Greeting: said, Trouble: o.at == "" && o.speed == 0})
}

// speeds lists the values of --speed.
func speeds() string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(history.Speeds()), "[]"), " ", ", ")
}

// recorded opens the recording that an argument names, else that of this machine, and returns the config to show it
// with. A file may be a colleague's: then only our keys apply, and the title is that of the file.
func (p *program) recorded(ctx context.Context, args []string) (pastReader, config.Config, error) {
	readsMuch.Store(true)
	c, err := p.settings.found()
	if err != nil && !errors.Is(err, errNothing) {
		return nil, c, err
	}
	usual := p.settings.historyPlace(c)
	if usual.team != nil && len(args) == 0 {
		return usual.open(), c, nil
	}
	path := usual.Path
	if len(args) > 0 {
		path = args[0]
	}
	switch _, err := os.Stat(path); {
	case path == "":
		return nil, c, usagef("nothing is recorded here: name a FILE, or set history.file, and history.off to false")
	case err == nil || !errors.Is(err, os.ErrNotExist):
	case len(args) > 0:
		return nil, c, fmt.Errorf("there is no file %s: name one that `coordtop record --export` wrote", path)
	default:
		return nil, c, fmt.Errorf("nothing is recorded yet in %s: coordtop and `coordtop record` record what they watch; a demo keeps its recording to itself", path)
	}
	if len(args) == 0 {
		return sqlite.NewReader(path), c, nil
	}
	store := sqlite.NewReader(path)
	c = config.Config{Keys: c.Keys, Objectives: c.Objectives, Title: filepath.Base(path)}
	runs, _ := store.Runs(ctx) // reading on reports the error
	for _, r := range runs {
		if r.Title != "" {
			c.Title, c.Color = r.Title, r.TitleColor
		}
	}
	return store, c, nil
}

// recordedRuns returns the runs of a recording, at least one.
func recordedRuns(ctx context.Context, log history.Log) ([]history.Run, error) {
	runs, err := log.Runs(ctx)
	if err == nil && len(runs) == 0 {
		err = history.ErrNothing
	}
	return runs, unread(err)
}

// unread adds to the error of a recording that cannot be read what to do.
func unread(err error) error {
	if err == nil {
		return nil
	}
	hint := ""
	switch {
	case failure.Complete(err): // it says what to do
	case errors.Is(err, history.ErrForeign):
		hint = ": name a file that `coordtop record --export` wrote"
	case errors.Is(err, history.ErrNewer):
		hint = ": read it with that version"
	case errors.Is(err, history.ErrDamaged):
		hint = ": export it once more; in place of this machine's own, coordtop begins a new one when it records"
	}
	return fmt.Errorf("reading the recording: %w%s", err, hint)
}

// player returns the player of the recording of a live board; nil: nothing is recorded.
func (r *recording) player(ctx context.Context) (player *history.Player, closed func()) {
	if r.reader == nil {
		return nil, func() {}
	}
	player = history.NewPlayer(ctx, r.reader, r.reader)
	return player, player.Close
}

// The replay of this machine's recording begins lastMinutes before its end.
const lastMinutes = 15 * time.Minute

// beginning returns the time at which a replay begins: the time that text names, relative to the end of the recording.
// Without a text, a file begins at its start, and the recording of this machine shortly before its end. said is the
// board's sentence about it.
func beginning(ctx context.Context, log history.Log, text string, file bool) (from time.Time, said string, err error) {
	runs, err := recordedRuns(ctx, log)
	if err != nil {
		return from, "", err
	}
	recorded := history.Bounds(runs, time.Now())
	where := "15 minutes before its end"
	switch from = recorded.To.Add(-lastMinutes); {
	case text != "":
		from, where, err = atOf(text, recorded)
	case file || from.Before(recorded.From):
		from, where = recorded.From, "at its beginning"
	}
	return from, fmt.Sprintf("The recording is %s: the replay begins %s.", fromTo(recorded), where), err
}

// atOf returns the time of --at, moved into the recording, and words for its place there.
func atOf(text string, recorded history.Span) (from time.Time, where string, err error) {
	end := recorded.To.Local()
	if from, err = instantOf("--at", text, end); err != nil {
		return from, "", err
	}
	// A time of day after the end means the last day, not the day before the beginning.
	if t, ok := format.ParseInstant(text, end.AddDate(0, 0, 1), end); ok && from.Before(recorded.From) && t.After(recorded.To) {
		from = t
	}
	switch {
	case from.After(recorded.To):
		return recorded.To, "at its end, since --at is behind it", nil
	case from.Before(recorded.From):
		return recorded.From, "at its beginning, since --at is before it", nil
	}
	return from, "at the time of --at", nil
}

// The first rows of a recording are looked for within rowsWithin after its beginning.
const rowsWithin = 10 * time.Second

// arriveAtRows waits until a player shows the first rows at or after an instant; if none come soon, that instant.
func arriveAtRows(ctx context.Context, p *history.Player, t time.Time) error {
	for at := t; !at.After(t.Add(rowsWithin)); at = sources.Later(at, p.Now()).Add(100 * time.Millisecond) {
		if err := arrive(ctx, p, at); err != nil || len(p.State().Rows) > 0 {
			return err
		}
	}
	return arrive(ctx, p, t)
}

// arrive waits until a player shows an instant.
func arrive(ctx context.Context, p *history.Player, t time.Time) error {
	p.Seek(t)
	for {
		if at := p.Position(); !at.Moving {
			if at.Err != nil {
				return unread(at.Err)
			}
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-p.Wake():
		}
	}
}
