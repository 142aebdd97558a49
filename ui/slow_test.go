package ui

import (
	"io"
	"testing"
	"testing/synctest"
	"time"

	"coordtop/ui/uitest"
)

// sluggish is a terminal that takes its time over each write.
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

func TestASlowTerminalIsSaidInTheHeader(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	slow := true
	d := drive(uitest.NewFeed(uitest.State(noon(), a)), Options{Width: 120, Height: 30, slow: func() bool { return slow }})
	d.shows(t, "slow terminal")
	slow = false
	d.pass(1)
	d.showsNot(t, "slow terminal")
}

func TestTheWindowIsRenamedAtMostOnceInFiveSeconds(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	d := drive(uitest.NewFeed(uitest.State(noon(), a)), Options{Width: 120, Height: 30})
	called := func(want string) {
		t.Helper()
		if got := d.View().WindowTitle; got != want {
			t.Errorf("the window is called %q, want %q", got, want)
		}
	}
	called("coordtop prod-eu: no problems")
	d.show(uitest.State(noon(), a, lost("b")))
	called("coordtop prod-eu: no problems")
	d.pass(4)
	called("coordtop prod-eu: no problems")
	d.pass(1)
	called("coordtop prod-eu: 1 problem")
	d.show(uitest.State(noon(), a))
	d.pass(1)
	called("coordtop prod-eu: 1 problem")
	d.pass(4)
	called("coordtop prod-eu: no problems")
}
