package redissource

import (
	"context"
	"time"

	"coordtop/sources"
)

// survivors is how many keys are looked for after a restart.
const survivors = 100

// compareServers finds out what happened to the server that the last link led to.
func (w *watcher) compareServers(ctx context.Context) error {
	before := *w.before
	*w.before = w.server
	if before.runID == "" || w.server.runID == "" || before.runID == w.server.runID {
		return nil
	}
	if before.addr != w.server.addr {
		w.became, w.becameHow = "another server: "+w.server.addr, sources.Told
		return nil
	}
	gone, err := w.ownersGone(ctx)
	if w.dataLost = gone; gone {
		w.became, w.becameHow = "restarted, none of the owners is there any more", sources.Inferred
	}
	return err
}

// ownersGone reports whether none of the keys that should still be owned is there with its
// owner.
func (w *watcher) ownersGone(ctx context.Context) (bool, error) {
	var questions []question
	now := time.Now()
	for name, k := range w.keys {
		if len(questions) < survivors && k.shown != nil && len(k.shown.Owners) > 0 && (k.ends.after.IsZero() || k.ends.after.After(now)) {
			questions = append(questions, question{name: name})
		}
	}
	if len(questions) == 0 {
		return false, nil
	}
	readings, err := fetch(ctx, w.conn, w.refusals(), questions)
	if err != nil {
		return false, err
	}
	for i, r := range readings {
		k := w.keys[questions[i].name]
		if r == nil || r.shape == denied || r.shape == moved || sameIDs(k.shown.Owners, k.primitive(w.o, w.space, r).Owners) {
			return false, nil
		}
	}
	return true, nil
}
