package terminal

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestACommandThatPanicsIsKeptFromBubbleTea(t *testing.T) {
	t.Parallel()
	panics := 0
	s := &Recovering{Try: func(f func()) (whole bool) {
		defer func() {
			if recover() != nil {
				panics++
			}
		}()
		f()
		return true
	}}
	boom := func() tea.Msg { panic("boom") }
	fine := func() tea.Msg { return SecondMsg{} }
	if msg := s.tried(boom)(); msg != nil {
		t.Errorf("%v came of it", msg)
	}
	several := s.tried(tea.Batch(boom, fine))().(tea.BatchMsg)
	if got := []tea.Msg{several[0](), several[1]()}; got[0] != nil || got[1] != (SecondMsg{}) {
		t.Errorf("%v came of several", got)
	}
	if panics != 2 {
		t.Errorf("told of %d panics", panics)
	}
	if s.tried(nil) != nil {
		t.Error("no command became one")
	}
}
