package terminal

import (
	"io"
	"testing"
	"testing/synctest"
	"time"
)

// sluggish is a terminal with slow writes.
type sluggish struct {
	sheet
	takes time.Duration
}

func (s *sluggish) Write(b []byte) (int, error) {
	time.Sleep(s.takes)
	return s.sheet.Write(b)
}

func TestAGateNoticesASlowTerminalAndItsRecovery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &sluggish{takes: 200 * time.Millisecond}
		g := newGate(t.Context(), s, func(error) {})
		frames := func(n int, takes time.Duration) {
			s.takes = takes
			for range n {
				if _, err := io.WriteString(g, "frame"); err != nil {
					t.Error(err)
				}
			}
		}
		if frames(3, slowWrite-time.Millisecond); g.slow.Load() {
			t.Error("slow, though each frame was in time")
		}
		if frames(1, slowWrite+time.Millisecond); !g.slow.Load() {
			t.Error("not slow after a frame that took too long")
		}
		if frames(quickWrites-1, time.Millisecond); !g.slow.Load() {
			t.Error("no longer slow after too few quick frames")
		}
		if frames(1, time.Millisecond); g.slow.Load() {
			t.Error("still slow")
		}
		g.close()
	})
}

func TestAFrameThatIsStillBeingWrittenIsSlowAlready(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &sheet{}
		g, ended := stuck(s)
		time.Sleep(slowWrite + time.Millisecond)
		synctest.Wait()
		if !g.slow.Load() {
			t.Error("nobody noticed")
		}
		close(s.held)
		<-ended
		g.close()
	})
}
