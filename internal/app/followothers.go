package app

import (
	"context"
	"fmt"
	"slices"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/app/backends"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/history"
	"coordtop/internal/operate"
	"coordtop/sources"
)

// notWritten is how long before its end a run may not have written yet what was done.
const notWritten = time.Minute

// follow tells hub what other coordtops of this user do to the servers that it watches, and what was
// noted for this recording: from the end of the last run on, where that recorded.
func (r *recording) follow(ctx context.Context, log *operate.AuditLog, hub *sources.Hub, beside *watched) {
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
			if e.Kind == sources.EventNote && a.Recording != r.place.Path {
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

// The audit of others waits so long at most for the first listings, and looks so often whether they are complete.
const (
	listedWithin = 10 * time.Second
	listedStep   = 100 * time.Millisecond
)

// awaitListings waits, behind an earlier run, until each source was listed: only then is known what ended while nobody looked,
// and an action can be its cause.
func (r *recording) awaitListings(ctx context.Context, hub *sources.Hub) {
	for !r.known.IsZero() && time.Since(r.began) < listedWithin && backoff.Sleep(ctx, listedStep) == nil {
		if s := hub.State(); len(s.Scopes) > 0 && !slices.ContainsFunc(s.Scopes, func(c sources.Scope) bool { return !c.Synced }) {
			return
		}
	}
}

// sourceOf is the name here of the source that somebody acted on: another config, or a URL, may give
// its server another name. "": it is not watched.
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
	found, _ := r.reader.Events(ctx, e.At, 0, 100, history.EventFilter{Kinds: []sources.EventKind{e.Kind}}) // what cannot be read is not there
	return slices.ContainsFunc(found, func(f history.Event) bool { return f.At.Equal(e.At) && f.Ref == e.Ref && f.Detail == e.Detail })
}

// noter returns the function that writes a note. After an error the note is on this board only.
func (r *recording) noter(op *operate.Operator) func(text string, about time.Time) error {
	return func(text string, about time.Time) error {
		err := op.Note(r.place.Path, text, about)
		switch {
		case r.place.Path == "":
			return fmt.Errorf("nothing is recorded")
		case err != nil && r.Recorder != nil && r.Active():
			return nil // this board records it
		}
		return err
	}
}
