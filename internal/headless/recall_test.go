package headless_test

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/headless"
	"coordtop/sources"
)

// knownAt is a recording that reaches up to at.
func knownAt(t *testing.T, at time.Time) *sources.Keyframe {
	t.Helper()
	r, limits := sources.NewReplayer(sources.HubOptions{}), sources.DefaultThresholds()
	for i, in := range []sources.Input{
		{Kind: sources.InputStarted, Thresholds: &limits},
		{Kind: sources.InputSources, Added: []sources.AddedSource{{Name: "a", Type: "redis", Address: "redis://a"}}},
		{Kind: sources.InputChange, Source: "a", Change: sources.Change{At: at, Relists: true, Synced: true, Alive: []string{""}}},
		{Kind: sources.InputPublished},
	} {
		in.Seq, in.At = uint64(i+1), sources.Instant{Wall: at.Round(0), Mono: time.Duration(i)}
		if err := r.Apply(in); err != nil {
			t.Fatal(err)
		}
	}
	return r.Hub().Keyframe()
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
		recorded := knownAt(t, time.Now())
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
			if err := headless.Get(t.Context(), feed, &out, &out, headless.GetOptions{Recorded: headless.Recorded{Recall: tt.recall}}); err != nil {
				t.Error(name, err)
			}
			if took := time.Since(start); took != tt.want {
				t.Errorf("%s: it took %v, want %v", name, took, tt.want)
			}
			told.Stop()
		}
		if !recorded.At.Wall.After(began) {
			t.Error("the recording is not newer than the state")
		}
	})
}

// TestARefusedSourceIsNotWaitedFor has a recording that is ahead of a State after which none will come.
func TestARefusedSourceIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]time.Duration{"the clock was put back": time.Hour, "a recorder wrote meanwhile": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &sources.State{At: time.Now(), Sources: []sources.SourceStatus{{Name: "a", Type: "redis", Address: "redis://a", Health: sources.HealthConnecting, Err: fmt.Errorf("%w: no", sources.ErrRefused)}}}
				feed, began := newScript(s), time.Now()
				time.Sleep(50 * time.Millisecond)
				var out bytes.Buffer
				err := headless.Get(t.Context(), feed, &out, &out, headless.GetOptions{Recorded: headless.Recorded{Recall: func() *sources.Keyframe { return knownAt(t, time.Now().Add(ahead)) }}})
				if took := time.Since(began); took > time.Second {
					t.Errorf("printed after %v: %v", took, err)
				}
			})
		})
	}
}
