package operate

import (
	"context"
	"fmt"
	"os"
	"time"

	"coordtop/internal/action"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/format"
	"coordtop/sources"
)

// missingEvery is the interval at which a follower checks for actions whose process is gone.
const missingEvery = 10 * time.Second

// Follow calls add once for each action and note of another coordtop that ended at since or later, if wanted returns
// true for it; wanted may change its event. Follow blocks until ctx ends. Once a second it reads the file if it has
// changed. After an error it tries again.
func (l *AuditLog) Follow(ctx context.Context, since time.Time, wanted func(*action.AuditEntry, *sources.Event) bool, add func(sources.Event)) error {
	told := map[string]bool{} // by ID
	var seen os.FileInfo
	var read time.Time
	open := false // an action had no end yet
	var newest TeamLine
	for {
		news := false
		if l.team != nil {
			lines := l.team.Lines()
			if news = len(lines) > 0 && lines[len(lines)-1] != newest; news {
				newest = lines[len(lines)-1]
			}
		}
		now, err := os.Lstat(l.file.path)
		changed := news || err == nil && (seen == nil || !os.SameFile(now, seen) || now.Size() != seen.Size() || !now.ModTime().Equal(seen.ModTime()))
		if changed || open && time.Since(read) >= missingEvery {
			seen, read, open = now, time.Now(), false
			entries, err := l.Entries()
			last := told
			if err == nil { // the Audit screen shows the error
				told = make(map[string]bool, len(last))
			}
			for i := range entries {
				e := &entries[i]
				event, ok := e.Event()
				open = open || e.Runs
				if e.Ours || !ok || e.Pending() || sources.Later(e.Ended, e.Written).Before(since) {
					continue
				}
				if told[e.ID] = true; !last[e.ID] && wanted(e, &event) {
					add(event)
				}
			}
		}
		if err := backoff.Sleep(ctx, backoff.UntilTurn(time.Now())); err != nil {
			return err
		}
	}
}

// Note adds a note about a moment to the Hub, and writes it to the audit, from which the recording coordtop reads it.
// It waits for the disk. If recording is "", it does not write the note.
func (o *Operator) Note(recording, text string, about time.Time) error {
	text, _ = format.UTF8([]byte(text))
	r := Record{Stage: Only, Action: action.NoteAction, Detail: text, About: about.UTC(), Recording: recording}
	entry := r.entry()
	if e, ok := entry.Event(); ok {
		o.view.AddEvent(e)
	}
	switch {
	case recording == "":
		return nil
	case o.options.Audit == nil:
		return fmt.Errorf("%w: there is nowhere to write it", ErrNoAudit)
	}
	r.ID = o.options.Audit.id()
	return o.options.Audit.Write(o.life, r)
}
