package redissource

import (
	"slices"
	"strings"
	"time"

	"coordtop/sources"
)

// swaps are the steps that replace everything at once and are pushed to nobody, which the server
// tells by the number of such commands: what changed in one is pushed at the next write to it.
type swaps struct {
	counts string    // as last told; "": never asked
	asked  time.Time // sending of that
	last   span      // in which the last one was; zero: there was none on this link
}

// countSwaps asks whether there was one. Events tell nothing of a flush either.
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

// doubtOwners makes a span of when owners changed who may have changed in a swap before the push.
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
