package terminal

import (
	"testing"

	tea "charm.land/bubbletea/v2"
)

func TestWhatIsDrawnOfATerminalIsBounded(t *testing.T) {
	t.Parallel()
	for in, want := range map[[2]int][2]int{
		{80, 24}: {80, 24}, {1, 1}: {1, 1}, {0, 0}: {80, 24}, {0, 50}: {80, 24}, {65535, 65535}: {mostColumns, mostRows}, {65535, 1}: {mostColumns, 1},
	} {
		if w, h := drawn(in[0], in[1]); [2]int{w, h} != want {
			t.Errorf("of %v is drawn %dx%d, want %v", in, w, h, want)
		}
	}
}

func TestASizeThatOnlyAnAnswerClaimsIsDropped(t *testing.T) {
	t.Parallel()
	var s sizer
	s.last.Store(&tea.WindowSizeMsg{Width: 80, Height: 24})
	if msg := s.onlyTrue(nil, tea.WindowSizeMsg{Width: 65535, Height: 65535}); msg != nil {
		t.Errorf("%v is taken", msg)
	}
	if s.onlyTrue(nil, tea.WindowSizeMsg{Width: 80, Height: 24}) == nil || s.onlyTrue(nil, WakeMsg{}) == nil {
		t.Error("what is true is dropped")
	}
}
