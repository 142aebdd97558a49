package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"coordtop/coord"
	"coordtop/internal/config"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/pgwire"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/headless"
	"coordtop/internal/history"
	"coordtop/internal/history/election"
	"coordtop/internal/history/postgres"
	"coordtop/internal/history/record"
	"coordtop/internal/history/sqlite"
	"coordtop/sources"
)

// team is the part of this process in the recording of a team: it stands by, or it records.
type team struct {
	p       *program
	elector *election.Elector
	place   place
	listen  *listening
	direct  bool         // history.direct is set
	seen    atomic.Int64 // the last run of this process; 0: none
	beside  *watched     // the goroutines of the command
}

// recorderTerm is a term in which this process is the recorder of its team. begin and the Writes that follow are called
// by one goroutine, which may end after the term.
type recorderTerm struct {
	*team
	own   atomic.Int64 // its last run
	first atomic.Int64 // its first run of the spool; 0: none yet
}

const (
	again   = 10 * time.Second // after a store could not be written to
	maxHost = 24               // letters of the name of a host that others see
)

// recorderName is the name of this process, as others see it.
func recorderName() (host, name string) {
	host, _ = os.Hostname() // without a name only the process id tells the run
	short := host
	if len(short) > maxHost {
		short = short[:maxHost]
	}
	return host, fmt.Sprintf("%s %d", short, os.Getpid())
}

// electionOf returns the election of the recorder of a store. name is that of this process.
func electionOf(p *program, c config.Config, name string) election.Options {
	store := p.settings.placeOf(c.History, "").team
	return election.Options{Direct: cmp.Or(c.History.Direct, c.History.URL), Password: store.Password, Schema: store.Name(), Name: name, Logger: p.logger()}
}

// recordForTeam stands for election as the recorder of the store, and records while it is elected.
func recordForTeam(ctx context.Context, p *program, c config.Config, place place, listen *listening) error {
	_, name := recorderName()
	elector, err := election.New(electionOf(p, c, name))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stand := &watched{cancel: func(error) { cancel() }}
	stand.run(ctx, func() error { return elector.Run(ctx) })
	t := &team{p: p, elector: elector, place: place, listen: listen, direct: c.History.Direct != "", beside: stand}
	for err == nil {
		if err = t.standBy(ctx, c); err == nil {
			err = t.record(ctx, c)
		}
	}
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		err = nil // asked to end
	}
	cancel()
	return errors.Join(err, stand.wait())
}

func (t *team) say(text string) { fmt.Fprintf(t.p.env.Stderr, "coordtop: %s\n", text) }

// standBy returns when this process may record.
func (t *team) standBy(ctx context.Context, c config.Config) error {
	if err := t.listen.open(ctx); err != nil {
		return err
	}
	defer t.listen.close()
	waiting, done := context.WithCancel(ctx)
	defer done()
	hub := sources.NewHub(waiting, sources.HubOptions{}) // it has no sources
	defer hub.Close()
	beside := &watched{cancel: func(error) { done() }}
	c.Objectives = nil // it knows nothing about them
	t.listen.serve(waiting, t.p, hub, &recording{config: c}, record.New(record.Options{Hub: hub, Inputs: sources.NewInputBuffer(0, 0)}), beside)
	beside.run(waiting, func() error {
		for said := ""; backoff.Sleep(waiting, time.Second) == nil; {
			if text := t.waiting(); text != said {
				said = text
				t.say(text)
			}
		}
		return nil
	})
	err := t.elector.Await(ctx)
	done()
	return errors.Join(err, beside.wait())
}

// waiting returns a sentence about why this process does not record.
func (t *team) waiting() string {
	if err := t.elector.Trouble(); err != nil {
		text := postgres.Explained(*t.place.team, err).Error()
		if _, replied := errors.AsType[*pgwire.Reply](err); !t.direct && !replied && errors.Is(err, coord.ErrRefused) { // a pooler
			text += " (history.direct is for the address of the server itself)"
		}
		return "cannot stand by as a recorder, and tries again: " + text
	}
	switch n := t.elector.Present(); {
	case n == nil:
		return "connecting to " + t.place.team.Place()
	case !n.Recording():
		return "standing by: nobody records into " + t.place.team.Place() + " at present"
	default:
		return fmt.Sprintf("standing by: process %d on %s records into %s", n.PID, n.Host, t.place.team.Place())
	}
}

// record observes and records until another recorder has taken over, or nothing can be written from the start.
func (t *team) record(ctx context.Context, c config.Config) error {
	run, note, err := postgres.Fence(ctx, t.claim(0))
	if err != nil {
		return t.resign(ctx, err)
	}
	if note != "" {
		t.say(note)
	}
	t.seen.Store(run)
	t.elector.Records(run)
	defer t.elector.Records(0)
	if err := t.listen.open(ctx); err != nil {
		return err
	}
	defer t.listen.close()
	r := t.p.settings.recordingAt(c, t.place, t.p.logger())
	r.term, r.records = &recorderTerm{team: t}, true
	r.term.own.Store(run)
	defer r.close()
	err = t.p.observeWith(ctx, c, r.options(ctx), func(inner context.Context, hub *sources.Hub, beside *watched) error {
		return t.p.recordHub(inner, r, hub, t.listen, beside)
	})
	if ctx.Err() == nil && errors.Is(err, history.ErrSuperseded) {
		own, refused := r.term.own.Load(), r.forwarder.Refused()
		ended := time.Now()
		t.beside.run(ctx, func() error { t.fill(ctx, ended, own, refused); return nil })
		return t.resign(ctx, err)
	}
	return errors.Join(err, ctx.Err())
}

// fill copies from the spool what this process saw between the end of its run and the beginning of the next one. It
// reports no error, since that time is then not recorded. It stopped to record at ended, when the store had refused so many
// Inputs.
func (t *team) fill(ctx context.Context, ended time.Time, own int64, refused int) {
	spool := sqlite.NewReader(t.place.Path)
	later, err := spawn.Within(ctx, drainWithin, func() (int, error) {
		defer func() { _ = spool.Close() }() // nothing was written
		return record.Fill(ctx, record.ForwardOptions{From: spool, Logger: t.p.logger()}, ended, func(ctx context.Context) (record.Filling, error) {
			f, err := postgres.Fill(ctx, *t.place.team, own)
			if err != nil {
				return nil, err
			}
			return f, nil
		})
	})
	if err == nil {
		refused = later
	}
	t.elector.Refused(refused)
	if err != nil {
		t.p.logger().Warn("the spool is not copied up to the next recorder", "run", own, "err", err)
	}
}

// claim returns the store with the claim of this process, which wrote the run own last; 0: none.
func (t *team) claim(own int64) postgres.Options {
	o := *t.place.team
	o.Claim = &postgres.Claim{Lock: t.elector.Lock(), Own: own, Seen: t.seen.Load()}
	return o
}

// resign says why this process does not record, and lets others lead.
func (t *team) resign(ctx context.Context, cause error) error {
	t.say(cause.Error())
	t.elector.Resign(context.WithoutCancel(ctx))
	switch {
	case errors.Is(cause, history.ErrSuperseded):
		return nil
	case errors.Is(cause, history.ErrBusy):
		return backoff.Sleep(ctx, time.Second)
	}
	return backoff.Sleep(ctx, again)
}

// begin begins a run, see record.ForwardOptions.
func (t *recorderTerm) begin(ctx context.Context, run history.Run) (record.Output, error) {
	w, err := postgres.Begin(ctx, t.claim(t.own.Load()), run)
	if err != nil {
		return nil, err
	}
	run = w.Run()
	t.own.Store(run.ID)
	t.seen.Store(run.ID)
	t.elector.Records(run.ID)
	return w, nil
}

// spooled notes that this term has begun a run of the spool. If the file is another one, its numbers are small again.
func (t *recorderTerm) spooled(run int64) {
	if first := t.first.Load(); first == 0 || run < first {
		t.first.Store(run)
	}
}

// since returns up to which time each run of the spool, by its number, is not copied to a store whose last run is last.
// What was recorded before another recorder has taken over is not copied, whatever the clocks say.
func (t *recorderTerm) since(last history.Run, spool []history.Run) map[int64]time.Time {
	since, first := map[int64]time.Time{}, t.first.Load()
	for _, run := range spool {
		if run.Host == last.Host && run.PID == last.PID && !run.From.After(last.From) && !last.From.After(run.To) {
			since[run.ID], first = last.To, run.ID // last has what was recorded of it
		}
	}
	for _, run := range spool {
		if first == 0 || run.ID < first {
			since[run.ID] = record.EndOfTime
		}
	}
	return since
}

// recordHub records and notifies until ctx ends, and returns the cause.
func (p *program) recordHub(ctx context.Context, r *recording, hub *sources.Hub, listen *listening, beside *watched) error {
	r.run(ctx, hub, beside)
	log := p.auditLog()
	shareAudit(ctx, log, r.place, p.env.Stderr)
	defer log.Close()
	r.followAudit(ctx, log, hub, beside)
	r.notify(ctx, p, log, hub, beside)
	listen.serve(ctx, p, hub, r, r.Recorder, beside)
	for said, told := "", ""; ; {
		text := r.recordingText()
		if text != said && text != "" {
			said = text
			fmt.Fprintf(p.env.Stderr, "coordtop: %s\n", text)
		}
		if text = r.notifier.Trouble(); text != told {
			told = text
			fmt.Fprintf(p.env.Stderr, "coordtop: %s\n", cmp.Or(text, "all notifications are delivered again"))
		}
		if backoff.Sleep(ctx, time.Second) != nil {
			return context.Cause(ctx)
		}
	}
}

// recorderNow returns who records at a place, and the runs there, from r.
func recorderNow(ctx context.Context, p *program, c config.Config, at place, r history.Reader) (*headless.RecorderStatus, []history.Run, error) {
	s := &headless.RecorderStatus{At: time.Now(), Place: at.String()}
	runs, err := r.Runs(ctx)
	if err != nil && !noRecording(err) {
		return nil, nil, unread(err)
	}
	if len(runs) > 0 {
		s.Run = runs[len(runs)-1]
		s.Lag = s.At.Sub(s.Run.To)
	}
	if at.team != nil {
		present, err := election.Ask(ctx, electionOf(p, c, ""))
		if err != nil {
			return nil, nil, postgres.Explained(*at.team, err)
		}
		s.Ahead, s.Measured, s.Lag, s.Refused = present.Ahead, present.Measured, present.Age, present.Refused
		for _, c := range present.Standby {
			s.Standby = append(s.Standby, c.Name)
		}
	}
	return s, runs, nil
}

// recorderStatus prints who records, and who stands by.
func recorderStatus(ctx context.Context, p *program, args []string, o recordOptions) error {
	if len(args) > 0 {
		return usagef("--status is about the recorder of all sources: name none")
	}
	r, c, err := p.recorded(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }() // nothing was written
	s, runs, err := recorderNow(ctx, p, c, p.settings.historyPlace(c), r)
	if err != nil {
		return err
	}
	if len(runs) > 0 {
		span, err := o.span(s.At, runs)
		if err != nil && !errors.Is(err, history.ErrNothing) { // who records is known then, too
			return err
		}
		refs, err := r.Recorded(ctx, span)
		if err != nil {
			return unread(err)
		}
		for _, ref := range refs {
			s.Sources = append(s.Sources, ref.Source)
		}
		slices.Sort(s.Sources)
		s.Sources = slices.Compact(s.Sources)
		for _, run := range runs {
			if hole := (headless.Hole{From: sources.Later(s.Last, span.From), To: sources.Earlier(run.From, span.To)}); !s.Last.IsZero() && hole.From.Before(hole.To) {
				s.Holes = append(s.Holes, hole)
			}
			s.Last = sources.Later(s.Last, run.To)
		}
	}
	return errors.Join(headless.Recorder(p.env.Stdout, s, o.format(), time.Local), printed(p.env.Stdout))
}
