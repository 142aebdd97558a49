package record

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

func TestWhatHappensBehindAPauseIsWrittenSoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		_, hub, stop := recorded(t, d)
		time.Sleep(10 * time.Second)
		if n := len(d.written()); n > 12 {
			t.Errorf("%d batches in ten seconds in which nothing happened", n)
		}
		hub.AddEvent(sources.Event{Kind: sources.EventAction, Ref: sources.Ref{Source: "s", Name: "n"}, Detail: "x"})
		time.Sleep(every)
		synctest.Wait()
		if b := d.written(); !slices.ContainsFunc(b, func(b *history.Batch) bool { return len(b.Events) == 1 }) {
			t.Errorf("%d batches without it", len(b))
		}
		stop()
	})
}
