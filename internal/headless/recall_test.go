package headless_test

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/headless"
	"coordtop/sources"
	"coordtop/sources/sourcetest"
)

// knownNow is what a Hub knows whose source answers now.
func knownNow(t *testing.T) *sources.Keyframe {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	hub, script := sources.NewHub(ctx, sources.HubOptions{}), sourcetest.NewScript("main")
	defer hub.Close()
	done := make(chan error, 1)
	go func() {
		done <- sources.Run(ctx, hub, []sources.Spec{{Name: "a", Type: "redis", Source: script}})
	}()
	script.Push(sources.Change{Scope: "main", Relists: true, Synced: true, Alive: []string{"main"}})
	synctest.Wait()
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
	return hub.Keyframe()
}

// TestWhatWasRecordedIsAddedToNoOlderState has a recorder that knows more, when it is read, than the state then.
func TestWhatWasRecordedIsAddedToNoOlderState(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := func() *sources.State {
			s := live(named("0", "x"))
			s.At = time.Now()
			return s
		}
		old, began := at(), time.Now()
		time.Sleep(time.Second)
		recorded := knownNow(t)
		for name, tt := range map[string]struct {
			recall func() *sources.Keyframe
			want   time.Duration
		}{
			"nothing is recorded":            {nil, 0},
			"nothing could be read":          {func() *sources.Keyframe { return nil }, 0},
			"the recording is newer":         {func() *sources.Keyframe { return recorded }, 2 * time.Second},
			"it took a while to be read":     {func() *sources.Keyframe { time.Sleep(time.Second); return recorded }, 2 * time.Second},
			"the newer state came meanwhile": {func() *sources.Keyframe { time.Sleep(4 * time.Second); return recorded }, 4 * time.Second},
			"it took longer than allowed":    {func() *sources.Keyframe { time.Sleep(6 * time.Second); return recorded }, 6 * time.Second},
		} {
			feed, start := newScript(old), time.Now()
			told := time.AfterFunc(2*time.Second, func() { feed.tell(at()) })
			var out bytes.Buffer
			if err := headless.Get(t.Context(), feed, &out, &out, headless.GetOptions{Recall: tt.recall}); err != nil {
				t.Error(name, err)
			}
			if took := time.Since(start); took != tt.want {
				t.Errorf("%s: it took %v, want %v", name, took, tt.want)
			}
			told.Stop()
		}
		if !recorded.At().Wall.After(began) {
			t.Error("the recording is not newer than the state")
		}
	})
}
