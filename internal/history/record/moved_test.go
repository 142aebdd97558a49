package record

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/history"
	"coordtop/sources"
)

// details are those of the events in batches.
func details(t *testing.T, batches []*history.Batch) string {
	t.Helper()
	var list []string
	for _, b := range batches {
		for _, e := range b.Events {
			list = append(list, e.Detail)
		}
	}
	return strings.Join(list, " ")
}

// TestWhatHappensWhileAFileIsMovedOrDamagedIsWrittenOnce: of what one Write did not take all is in the next file, and
// what the last file has is not written again.
func TestWhatHappensWhileAFileIsMovedOrDamagedIsWrittenOnce(t *testing.T) {
	t.Parallel()
	tests := map[error]struct {
		within time.Duration
		text   string
	}{
		fmt.Errorf("history.db: %w", history.ErrMoved):   {2 * every, "history.db: it was renamed, replaced or removed; the recording goes on in another file (00:00:01)"},
		fmt.Errorf("history.db: %w", history.ErrDamaged): {retry + every, ""},
	}
	for err, test := range tests {
		synctest.Test(t, func(t *testing.T) {
			d := &disk{}
			r, hub, stop := recorded(t, d)
			happens := func(what string) {
				hub.AddEvent(sources.Event{Kind: sources.EventAction, Ref: sources.Ref{Source: "s", Name: "n"}, Detail: what})
			}
			happens("before")
			time.Sleep(time.Second + every/2)
			if got := details(t, d.written()); got != "before" {
				t.Fatalf("written: %q", got)
			}
			d.fails(nil, err)
			happens("untaken")
			time.Sleep(every)
			d.fails(nil, nil)
			happens("meanwhile")
			time.Sleep(test.within)
			b := d.written()
			if got := details(t, b); got != "untaken meanwhile" || b[0].Keyframe == nil || text(r) != test.text {
				t.Errorf("%v: written %q, says %q", err, got, text(r))
			}
			stop()
		})
	}
}

func TestWhatIsUnusualFromTheStartIsSaid(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hub := sources.NewHub(t.Context(), sources.HubOptions{})
		defer hub.Close()
		d := &disk{}
		r := New(Options{Hub: hub, Inputs: sources.NewInputBuffer(0, 0), Note: "the past is missing", Begin: func(context.Context) (Output, error) { return d.begin() }})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- r.Run(ctx) }() // received below
		time.Sleep(time.Second)
		if got := text(r); got != "the past is missing" {
			t.Errorf("it says %q", got)
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}
