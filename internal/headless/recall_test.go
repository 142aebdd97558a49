package headless_test

import (
	"bytes"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/internal/headless"
	"coordtop/sources"
)

// TestWhatWasRecordedIsAddedToNoOlderState has a recorder that knows more, when it is read, than the state then.
func TestWhatWasRecordedIsAddedToNoOlderState(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		at := func() *sources.State {
			s := live(named("0", "x"))
			s.At = time.Now()
			return s
		}
		feed, began := newScript(at()), time.Now()
		go func() {
			time.Sleep(2 * time.Second)
			feed.tell(at())
		}()
		time.Sleep(time.Second)
		var out bytes.Buffer
		recalled := false
		err := headless.Get(t.Context(), feed, &out, &out, headless.GetOptions{Recall: func() (time.Time, func(*sources.State) *sources.State) {
			return began.Add(time.Second), func(s *sources.State) *sources.State {
				if recalled = true; s.At.Before(began.Add(time.Second)) {
					t.Errorf("added to a state of %v after the beginning", s.At.Sub(began))
				}
				return s
			}
		}})
		if err != nil || !recalled {
			t.Errorf("%v, recalled %v", err, recalled)
		}
	})
}
