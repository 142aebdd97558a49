package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/config"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/history"
	"coordtop/internal/history/postgres"
	"coordtop/internal/history/record"
	"coordtop/internal/history/sqlite"
	"coordtop/sources"
)

// pastReader reads a recording: a file, or the store of a team.
type pastReader interface {
	history.Reader
	history.Log

	// Recorded returns the primitives that are recorded in span, which costs far less than their Totals.
	Recorded(ctx context.Context, span history.Span) ([]sources.Ref, error)
	Close() error
}

// place names a recording: a file, or the store of a team. With a store, the file is the spool: records wait in it until
// the store has taken them.
type place struct {
	sqlite.Options                   // without a Path: nothing is recorded
	team           *postgres.Options // nil: there is only the file
}

// open returns a reader, which opens the recording at the first question.
func (p place) open() pastReader {
	if p.team != nil {
		return postgres.NewReader(*p.team)
	}
	return sqlite.NewReader(p.Path)
}

// String names the recording for people.
func (p place) String() string {
	if p.team != nil {
		return p.team.Place()
	}
	return p.Path
}

// lacks reports that a is a note for another recording.
func (p place) lacks(a *action.AuditEntry) bool {
	return a.Action == action.NoteAction && a.Recording != "" && a.Recording != p.String()
}

// spoolName is the file beside the usual recording in which waits what the store of a team does not take.
const spoolName = "spool.db"

// placeOf returns the place of the recording that h describes. The usual file is in folder.
func (st *settings) placeOf(h config.History, folder string) place {
	o := place{Options: sqlite.Options{Path: h.File, Group: h.GroupReads, Limits: sqlite.Limits{Keep: h.Keep, Size: h.Size}}}
	name := historyName
	if h.URL != "" {
		o.team = &postgres.Options{Address: h.URL, Keep: h.Keep, Full: h.Full, Size: h.Size}
		if name, o.Limits = spoolName, (sqlite.Limits{}); h.Group != "" {
			o.team.Schema, name = "coordtop_"+h.Group, h.Group+"-"+spoolName
		}
		if secret := h.Password(); !secret.IsZero() {
			o.team.Password = st.rarely(secret)
		}
	}
	if o.Path == "" && folder != "" {
		o.Ours, o.Path = true, filepath.Join(folder, name)
	}
	return o
}

// rarely returns a function that resolves a secret, and that runs its command at most every commandRest: a recorder
// connects to a store that is away again and again.
func (st *settings) rarely(secret config.Secret) func(context.Context) (string, error) {
	var mu sync.Mutex
	var text string
	var failed error
	var read time.Time
	return func(ctx context.Context) (string, error) {
		mu.Lock()
		defer mu.Unlock()
		if len(secret.Command) == 0 || read.IsZero() || time.Since(read) >= commandRest {
			text, failed = secret.Resolve(ctx, st.lookup)
			read = time.Now()
		}
		return text, failed
	}
}

// begin begins a run of the file.
func (r *recording) begin(ctx context.Context) (record.Output, error) {
	host, _ := recorderName()
	now := time.Now()
	w, err := sqlite.Begin(ctx, r.place.Options, history.Run{Span: history.Span{From: now, To: now}, Host: host, PID: os.Getpid(), Version: version(), Title: r.config.Title, TitleColor: r.config.Color})
	if err != nil {
		return nil, err
	}
	if r.term != nil {
		r.term.spooled(w.Run().ID)
	}
	return w, nil
}

// spooled is a file that tells the Forwarder of each write.
type spooled struct {
	record.Output
	wake chan struct{}
}

// Write implements record.Output.
func (s spooled) Write(b *history.Batch) error {
	err := s.Output.Write(b)
	spawn.Wake(s.wake)
	return err
}

// drainWithin bounds the time in which the recording ends and the store takes the rest.
const drainWithin = 4 * time.Second

// runTeam records hub into the spool, and copies that to the store of the team, until ctx ends.
func (r *recording) runTeam(ctx context.Context, hub *sources.Hub, beside *watched) {
	wake, done := make(chan struct{}, 1), make(chan struct{})
	spool := sqlite.NewReader(r.place.Path)
	r.Recorder = record.New(record.Options{Followed: true, Hub: hub, Inputs: r.inputs, WithoutData: r.without, Logger: r.logger, Note: r.forgot, Begin: func(ctx context.Context) (record.Output, error) {
		w, err := r.begin(ctx)
		if err != nil {
			return nil, err
		}
		return spooled{w, wake}, nil
	}})
	r.forwarder = record.NewForwarder(record.ForwardOptions{From: spool, Wake: wake, Done: done, Logger: r.logger,
		Begin: r.term.begin,
		Since: func(ctx context.Context, waiting []history.Run) (map[int64]time.Time, error) {
			runs, err := r.reader.Runs(ctx)
			if errors.Is(err, history.ErrNothing) || err == nil && len(runs) == 0 {
				return nil, nil
			}
			if err != nil {
				return nil, err
			}
			return r.term.since(runs[len(runs)-1], waiting), nil
		},
	})
	beside.run(ctx, func() error {
		defer close(done)
		return r.Recorder.Run(ctx)
	})
	beside.run(ctx, func() error {
		draining, stop := context.WithCancel(context.WithoutCancel(ctx))
		defer stop()
		_, err := spawn.Within(ctx, drainWithin, func() (struct{}, error) {
			return struct{}{}, r.forwarder.Run(draining) // done ends it
		})
		if ctx.Err() != nil { // what the store did not take is copied at the next start
			err = nil
		}
		return errors.Join(err, spool.Close())
	})
}

// recordingText returns what a recorder without a screen prints about itself; "" if it has not begun.
func (r *recording) recordingText() string {
	text, _ := r.Recording()
	if r.forwarder != nil && text == "" {
		said, active := r.forwarder.Status()
		if text = said; text == "" && active {
			text = "recording into " + r.place.String()
		}
		return text
	}
	if text == "" && r.Active() {
		text = "recording into " + r.place.String()
	}
	return text
}
