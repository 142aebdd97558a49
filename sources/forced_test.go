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

// TestWhatWasEndedByForceInTheDarkEndedThen looks again 40 s after an owner was ended by force: nobody owns it, or
// another one does.
func TestWhatWasEndedByForceInTheDarkEndedThen(t *testing.T) {
	t.Parallel()
	for name, found := range map[string][]sources.Owner{"free": nil, "owned by another": {bound("b")}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inWorld(t, func(w *world) {
				w.start()
				lock := func(owners ...sources.Owner) *sources.Primitive {
					p := election("lock", owners...)
					p.Kind, p.ForgetAfter = sources.KindMutex, time.Hour
					return p
				}
				w.list(lock(bound("a")))
				time.Sleep(10 * time.Second)
				w.beat()
				lost := time.Now()
				if found == nil {
					w.dark(40 * time.Second)
				} else {
					w.dark(40*time.Second, lock(found...))
				}
				if got := w.row("lock"); got.Terms[0].Cause != sources.CauseUnknown || !got.Terms[0].End.Earliest().Equal(lost) {
					t.Errorf("before that is told it ended as %+v", got.Terms[0])
				}
				sent := lost.Add(5 * time.Second)
				w.hub.AddEvent(sources.Event{Kind: sources.EventAction, How: sources.Ours, At: sent, Ref: ref("lock"), Cause: sources.CauseEvicted, Previous: sources.OwnerRef{ID: "a"}, Detail: "release by ana: done"})
				w.settle()
				row := w.row("lock")
				if term := row.Terms[0]; term.Cause != sources.CauseEvicted || !term.End.Earliest().Equal(sent) || !term.End.At.Equal(sent.Add(sources.ForcedWithin)) {
					t.Errorf("it ended as %+v", term)
				}
				if found == nil && row.Nobody != row.Terms[0].End {
					t.Errorf("it is free since %+v", row.Nobody)
				}
				if found != nil && row.Terms[1].Start.Earliest().Before(sent) {
					t.Errorf("the next one owned it since %+v", row.Terms[1].Start)
				}
			})
		})
	}
}
