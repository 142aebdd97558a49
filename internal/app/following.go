package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"coordtop/internal/app/relayed"
	"coordtop/internal/config"
	"coordtop/internal/ground/format"
	"coordtop/internal/headless"
	"coordtop/internal/history/follow"
	"coordtop/internal/history/postgres"
	"coordtop/sources"
)

// fromFlag adds --from to a command that shows the present.
func fromFlag(p *program, cmd *cobra.Command) {
	cmd.Flags().StringVar(&p.settings.from, "from", "", "show what the recorder `NAME` sees, and ask no server: here, all, a group, or servers for none")
	completeFlag(cmd, "from", config.FromHere, config.FromAll, config.FromServers)
}

// recorder returns the name of the recorder that --from or the config selects; "": the servers are asked.
func (st *settings) recorder(c config.Config) string {
	if name := cmp.Or(st.from, c.Team); name != config.FromServers {
		return name
	}
	return ""
}

// followed is the present that a recorder of another process sees.
type followed struct {
	*follow.Follower
	place place
	store pastReader
	names []string // that a command was given; none: all
	told  bool     // a Listener tells of writes, if its session is one of the server
	stop  func()   // ends the Listener
}

// followRecorder opens the recording of a recorder and waits until its present is shown. The caller must call close.
func (p *program) followRecorder(ctx context.Context, c config.Config, name string) (*followed, error) {
	place, err := p.settings.recorderPlace(c, name)
	if err != nil {
		return nil, err
	}
	f := &followed{place: place, store: place.open(), stop: func() {}}
	o := follow.Options{Log: f.store}
	if place.team != nil {
		direct := *place.team
		direct.Address = cmp.Or(c.History.Direct, direct.Address)
		listener := postgres.Listen(ctx, direct)
		o.Written, f.told, f.stop = listener.Written, true, listener.Close
	}
	f.Follower = follow.New(ctx, o)
	if err := f.Ready(ctx); err != nil {
		f.close()
		return nil, fmt.Errorf("following the recorder %s: %w", format.Clean(name, 100), unread(err))
	}
	return f, nil
}

func (f *followed) close() {
	f.Follower.Close()
	f.stop()
	_ = f.store.Close() // nothing was written
}

// seen returns the board's words about who saw what is shown, see ui.Options.
func (f *followed) seen() (text string, old bool) {
	s := f.Status()
	switch {
	case s.Silent != "" && s.Err != nil:
		return "OLD: the recording cannot be read", true // the Sources screen has the reason
	case s.Silent != "":
		return "OLD: " + s.Silent, true
	}
	text = fmt.Sprintf("recorder %s, %.1fs ago", format.Clean(s.Run.Host, 40), s.Seen(time.Now()).Seconds())
	if s.Polled && f.told {
		text += ", polled"
	}
	return text, false
}

// recording returns the board's words about the recording that it reads: who makes it, and what is wrong.
func (f *followed) recording() (text string, stopped bool) {
	s := f.Status()
	text = fmt.Sprintf("recorded by process %d on %s since %s, run %d", s.Run.PID, s.Run.Host, s.Run.From.Local().Format(time.DateTime), s.Run.ID)
	switch {
	case s.Err != nil:
		return "the recording cannot be read, and is tried again: " + s.Err.Error(), false
	case s.Silent != "":
		return s.Silent, false
	case s.Polled && f.told:
		text += "; the store is polled five times a second, since nothing tells of a write: set history.direct to an address that is no pooler"
	}
	return text, false
}

// report prints when the recorder becomes silent, and when it writes again, until ctx ends.
func (f *followed) report(ctx context.Context, diag io.Writer) error {
	states := f.Hub().Subscribe(f.Hub().State().LastSeq)
	defer states.Close()
	for said := f.Status().Silent; ; {
		select {
		case <-ctx.Done():
			return nil
		case <-states.Wake():
			_, _ = states.Events(0) // only its Status matters
		}
		if text := f.Status().Silent; text != said {
			said = text
			fmt.Fprintf(diag, "coordtop: %s\n", cmp.Or(text, "the recorder writes again"))
		}
	}
}

// showRecorder runs the board over what a recorder sees. It asks a server only before it acts, and neither records nor
// notifies.
func (p *program) showRecorder(ctx context.Context, c config.Config, name string, o boardOptions) error {
	if err := p.env.screen("for scripts there are coordtop get and coordtop watch"); err != nil {
		return err
	}
	f, err := p.followRecorder(ctx, c, name)
	if err != nil {
		return err
	}
	defer f.close()
	specs, err := p.specs(c, p.logger())
	if err != nil {
		return err
	}
	sleepers := map[string]*relayed.Sleeper{}
	for i := range specs {
		s := &relayed.Sleeper{Source: specs[i].Source}
		specs[i].Source, sleepers[specs[i].Name] = s, s
	}
	p.settings.lasts = true
	return p.observeSpecs(ctx, specs, sources.HubOptions{Thresholds: c.Thresholds}, func(inner context.Context, own *sources.Hub, beside *watched) error {
		reading, cancel := context.WithTimeout(inner, resumeWithin)
		feed := relayed.NewFeed(reading, f.Follower, f.store, own, p.settings.recordingAt(c, place{}, p.logger()).selects)
		cancel()
		defer feed.Close()
		past := &recording{config: c, place: f.place, reader: f.store}
		player, closePlayer := past.player(inner)
		defer closePlayer()
		defer p.unfinished.begin()()
		op := p.operator(inner, c, feed.View(), o.write)
		defer p.giveBack(op)
		defer giveBackWith(inner, op)()
		u := past.uiOptions(op)
		u.Feed, u.Player, u.Operator = feed, player, relayed.NewOperator(op, feed, sleepers)
		u.Recording, u.Seen = f.recording, f.seen
		return p.runBoard(ctx, inner, c, o, u)
	})
}

// withPresent calls body with the present of what args name: of the recorder that --from or the config selects, whose
// Feed from then is, or else of the servers. Then from is nil, and servers is called instead.
func (p *program) withPresent(ctx context.Context, args []string, servers func() error, body func(ctx context.Context, c config.Config, from *followed) error) error {
	c, err := p.settings.found()
	name := p.settings.recorder(c)
	if name == "" {
		return servers()
	}
	for i, arg := range args {
		if strings.Contains(arg, "://") {
			if p.settings.from == "" { // a URL asks its server, whatever the config says
				return servers()
			}
			return usagef("argument %d is a URL, which asks its server, and --from asks none: name SOURCE/NAME", i+1)
		}
	}
	if err != nil && !errors.Is(err, errNothing) {
		return err
	}
	f, err := p.followRecorder(ctx, c, name)
	if err != nil {
		return err
	}
	defer f.close()
	var seen []config.Source
	for _, s := range f.Hub().State().Sources {
		seen = append(seen, config.Source{Name: s.Name})
	}
	for i, name := range args {
		if err := plausible(name, fmt.Sprintf("argument %d", i+1), seen); err != nil {
			return err
		}
	}
	f.names = args
	if text := f.Status().Silent; text != "" {
		fmt.Fprintf(p.env.Stderr, "coordtop: what is printed is old: %s\n", text)
	}
	return body(ctx, c, f)
}

// State returns the latest State of the recorder, of the sources that are named, and of those that agree with them.
func (f *followed) State() *sources.State {
	s := f.Hub().State()
	if len(f.names) == 0 {
		return s
	}
	out, only := *s, map[string]bool{}
	out.Sources = selected(s.Sources, f.names, true, func(src sources.SourceStatus) (string, int) { return src.Name, src.Agree })
	for i := range out.Sources {
		only[out.Sources[i].Name] = true
	}
	out.Rows = slices.Clone(s.Rows)
	for i, row := range out.Rows {
		if row != nil && !only[row.Source] {
			out.Rows[i] = nil
		}
	}
	return &out
}

// Subscribe makes a followed a Feed of package headless.
func (f *followed) Subscribe(from uint64) headless.Events {
	return &followedEvents{f.Hub().Subscribe(from), f, map[string]bool{}}
}

// followedEvents are the events that a recorder wrote, and those of the sources that nobody is seen to observe while it is
// silent: they are down.
type followedEvents struct {
	*sources.Subscription
	of     *followed
	unseen map[string]bool // by the name of a source
}

// Events adds what has changed of the recorder after all that it wrote.
func (e *followedEvents) Events(max int) (events []sources.Event, missed uint64) {
	if events, missed = e.Subscription.Events(max); missed > 0 || len(events) > 0 {
		return events, missed
	}
	s := e.of.Hub().State()
	for i := range s.Sources {
		src := &s.Sources[i]
		change := sources.Event{Seq: s.LastSeq, At: e.of.Now(), Kind: sources.EventSourceUp, Ref: sources.Ref{Source: src.Name}, How: sources.Seen, Detail: "the recorder writes again"}
		unseen := errors.Is(src.Err, sources.ErrUnseen)
		if unseen {
			status := e.of.Status()
			change.Kind, change.Detail, change.After = sources.EventSourceDown, src.Err.Error(), sources.Earlier(status.Run.To, change.At)
		}
		if unseen != e.unseen[src.Name] && (unseen || src.Health == sources.HealthLive) { // else the recorder has told of it
			events = append(events, change)
		}
		e.unseen[src.Name] = unseen
	}
	return events, 0
}

// sharedPlace returns the place of the recording that --from or the config selects, else the one of c: a store has the
// audit of its team.
func (st *settings) sharedPlace(c config.Config) place {
	if name := st.recorder(c); name != "" {
		if o, err := st.recorderPlace(c, name); err == nil {
			return o
		}
	}
	return st.historyPlace(c)
}

// recorderPlace returns the place of the recording of a recorder: the file of this machine, or a group's store.
func (st *settings) recorderPlace(c config.Config, name string) (place, error) {
	o := st.historyPlace(c)
	switch {
	case o.Path == "":
		return place{}, usagef("nothing is recorded here: set history.file, and history.off to false")
	case name == config.FromHere:
		o.team = nil
		return o, nil
	case o.team == nil:
		return place{}, usagef("--from takes here, the recorder of this machine: for another one set history.url to the store of the team")
	case name == config.FromAll:
		o.team.Schema = ""
	default:
		o.team.Schema = "coordtop_" + name
	}
	return o, nil
}
