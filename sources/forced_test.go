package sources_test

import (
	"testing"
	"time"

	"coordtop/sources"
)

// TestATermKeepsThatItWasEndedByForceThoughThatIsToldLater reads another coordtop's audit after the end was seen.
func TestATermKeepsThatItWasEndedByForceThoughThatIsToldLater(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		owner  string
		before time.Duration // how long before the end it was sent
		cause  sources.Cause
		want   sources.Cause
	}{
		"it was that one":     {"a", time.Second, sources.CauseEvicted, sources.CauseEvicted},
		"at once":             {"a", 0, sources.CauseEvicted, sources.CauseEvicted},
		"after the end":       {"a", -time.Millisecond, sources.CauseEvicted, sources.CauseUnknown},
		"long before":         {"a", sources.ForcedWithin + 1, sources.CauseEvicted, sources.CauseUnknown},
		"another owner":       {"b", time.Second, sources.CauseEvicted, sources.CauseUnknown},
		"it was not released": {"a", time.Second, sources.CauseUnknown, sources.CauseUnknown},
		"before it began":     {"a", time.Minute, sources.CauseEvicted, sources.CauseUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inWorld(t, func(w *world) {
				w.start()
				w.list(election("leader"))
				time.Sleep(30 * time.Second)
				w.set(election("leader", sources.Owner{ID: "a", NoExpiry: true}))
				time.Sleep(20 * time.Second)
				w.set(election("leader"))
				w.settle()
				ended := w.row("leader").Terms[0].End.At
				w.hub.AddEvent(sources.Event{Kind: sources.EventAction, How: sources.Ours, At: ended.Add(-c.before), Ref: ref("leader"), Cause: c.cause, Previous: sources.OwnerRef{ID: c.owner}, Detail: "release by ana: done"})
				w.settle()
				if got := w.row("leader").Terms[0]; got.Cause != c.want || len(w.row("leader").Terms) != 1 {
					t.Errorf("it ended by %v, want %v", got.Cause, c.want)
				}
			})
		})
	}
}
