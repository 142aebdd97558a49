package app

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/app/backends"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/history"
	"coordtop/internal/history/postgres"
	"coordtop/internal/operate"
	"coordtop/sources"
)

// A run that ended may not have written the actions of its last minute.
const notWritten = time.Minute

// followAudit adds to hub the actions of other coordtops of this user on the servers that it watches, and the notes
// for this recording: since the end of the last run, if that recorded, else from now on.
func (r *recording) followAudit(ctx context.Context, log *operate.AuditLog, hub *sources.Hub, beside *watched) {
	if log == nil {
		return
	}
	since := r.known.Add(-notWritten)
	if r.known.IsZero() {
		since = time.Now()
	}
	beside.run(ctx, func() error {
		r.awaitListings(ctx, hub)
		return log.Follow(ctx, since, func(a *action.AuditEntry, e *sources.Event) bool {
			if r.place.lacks(a) {
				return false
			}
			if e.Kind == sources.EventAction {
				if e.Ref.Source = r.sourceOf(a); e.Ref.Source == "" {
					return false
				}
			}
			return !(a.Written.Before(r.began) && r.has(ctx, e))
		}, hub.AddEvent)
	})
}

// The bound of the wait for the first listings, and the interval of its checks.
const (
	listedWithin = 10 * time.Second
	listedStep   = 100 * time.Millisecond
)

// awaitListings waits, where an earlier run recorded, until each source was listed: only then are the terms known
// that ended between the two runs, and an action can be their cause.
func (r *recording) awaitListings(ctx context.Context, hub *sources.Hub) {
	for !r.known.IsZero() && time.Since(r.began) < listedWithin && backoff.Sleep(ctx, listedStep) == nil {
		if s := hub.State(); len(s.Scopes) > 0 && !slices.ContainsFunc(s.Scopes, func(c sources.Scope) bool { return !c.Synced }) {
			return
		}
	}
}

// sourceOf returns our name of the source that an action is about: another config, or a URL, may give its server
// another name. "": it is not watched.
func (r *recording) sourceOf(a *action.AuditEntry) string {
	var same []string
	for i := range r.config.Sources {
		s := &r.config.Sources[i]
		if a.Address != "" && a.Address != backends.Config().AddressWithoutLogin(s) {
			continue
		}
		if s.Name == a.Ref.Source {
			return s.Name
		}
		same = append(same, s.Name)
	}
	if a.Address == "" || len(same) != 1 {
		return ""
	}
	return same[0]
}

// has reports whether an event is recorded already.
func (r *recording) has(ctx context.Context, e *sources.Event) bool {
	if r.reader == nil {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, resumeWithin)
	defer cancel()
	// An event that cannot be read counts as not recorded.
	found, _ := r.reader.Events(ctx, e.At, 0, 100, history.EventFilter{Kinds: []sources.EventKind{e.Kind}})
	return slices.ContainsFunc(found, func(f history.Event) bool { return f.At.Equal(e.At) && f.Ref == e.Ref && f.Detail == e.Detail })
}

// noter returns a function that writes a note. After an error only this board has the note.
func (r *recording) noter(op *operate.Operator) func(text string, about time.Time) error {
	return func(text string, about time.Time) error {
		err := op.Note(r.place.String(), text, about)
		switch {
		case r.place.Path == "":
			return fmt.Errorf("nothing is recorded")
		case err != nil && r.Recorder != nil && r.Active():
			return nil // this board records it
		}
		return err
	}
}

// teamAudit is the audit in the store of a team.
type teamAudit struct {
	*postgres.Audit
	place string
	diag  io.Writer // nil: nothing was put
}

// Put implements operate.Team. A note for another recording is not shared.
func (a teamAudit) Put(r operate.Record, who operate.Actor, line []byte) {
	if r.Action == action.NoteAction && r.Recording != a.place {
		return
	}
	a.Audit.Put(postgres.AuditLine{Said: who.String(), Source: r.Source, Space: r.Space, Name: r.Name, Action: r.Action, Reason: r.Reason, Outcome: cmp.Or(r.Result, r.Stage), Line: string(line)})
}

// Lines implements operate.Team.
func (a teamAudit) Lines() (lines []operate.TeamLine) {
	acts, _ := a.List() // a store that does not answer is reported by who follows it
	for _, act := range acts {
		lines = append(lines, operate.TeamLine{By: act.Who, Line: act.Line})
	}
	return lines
}

// Close implements operate.Team. It prints what others do not see.
func (a teamAudit) Close() {
	a.Audit.Close()
	if n, err := a.Unshared(); n > 0 && a.diag != nil {
		fmt.Fprintf(a.diag, "coordtop: the team does not see what you did, only the audit file of this machine has it (lines: %d): %v\n", n, err)
	}
}

// shareAudit shares an audit with the store of a team, if there are both. The caller must close log, which prints to diag
// what could not be shared.
func shareAudit(ctx context.Context, log *operate.AuditLog, at place, diag io.Writer) {
	if log != nil && at.team != nil {
		log.Share(teamAudit{postgres.ShareAudit(ctx, *at.team), at.String(), diag})
	}
}
