package redissource

import (
	"slices"
	"strings"
	"time"

	"coordtop/sources"
)

// swaps detects commands that replace all keys at once without a push, by the server's count of these commands. The
// server pushes a key that they changed only at its next write.
type swaps struct {
	counts string    // as last read; "" if never
	asked  time.Time // when that read was sent
	last   span      // of the last such command on this link; zero before the first
}

// countSwaps reads the counts. With keyspace events, which do not report a flush, flushes count too.
func (w *watcher) countSwaps() error {
	sent := time.Now()
	stats, err := w.link.info("commandstats")
	counts := "of"
	for _, command := range []string{"swapdb", "flushdb", "flushall"} {
		if calls, _, _ := strings.Cut(stats["cmdstat_"+command], ","); command == "swapdb" || w.link.push != nil && w.link.push.mode == modeEvents {
			counts += " " + calls
		}
	}
	if w.swaps.counts != "" && counts != w.swaps.counts {
		w.swaps.last = span{w.swaps.asked, time.Now()}
	}
	w.swaps.counts, w.swaps.asked = counts, sent
	return err
}

// doubtOwners widens the time of an owner's change if an earlier swap may have caused the change.
func (w *watcher) doubtOwners(told []finding) error {
	changed := func(f finding) bool { return !f.since.IsZero() }
	if !slices.ContainsFunc(told, changed) {
		return nil
	}
	if time.Since(w.swaps.asked) > w.link.heartbeat.now().tolerance() {
		if err := w.countSwaps(); err != nil {
			return err
		}
	}
	for i := range told {
		if f := &told[i]; changed(*f) && f.since.Before(w.swaps.last.at) {
			if after := sources.Later(f.since, w.swaps.last.after); f.when.after.IsZero() || after.Before(f.when.after) {
				f.when.after = after
			}
			if f.ended != nil {
				f.ended.Cause, f.ended.How = sources.CauseUnknown, sources.Inferred
			}
		}
	}
	return nil
}
