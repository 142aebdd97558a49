package ui

import (
	"strings"
	"testing"

	"coordtop/ui/uitest"
)

func TestQuittingCanLeaveTheScreenAsText(t *testing.T) {
	t.Parallel()
	a, b, _ := three()
	s, _, done := running(t, newTestFeed(uitest.State(noon(), a, b)), 80, 24)
	s.Await(t, "worst first")
	s.Type(t, "Q")
	s.Await(t, "quit and leave this screen as text?  y quit; any other key stays")
	s.Type(t, "n?")
	s.Await(t, "SIGNS")
	s.Type(t, "qQy")
	if err := <-done; err != nil {
		t.Errorf("Run = %v", err)
	}
	text := s.Text()
	if s.AltScreen() || !strings.Contains(text, "prod-eu") || !strings.Contains(text, "host-1") || strings.Contains(text, "? help") {
		t.Errorf("what is left is\n%s", text)
	}
}

func TestWhoStaysLeavesNoTextBehindLater(t *testing.T) {
	t.Parallel()
	d, op, a := armedOne()
	holding(op, d, a, true)
	d.press("Q", "y")
	d.shows(t, "resign and quit")
	if d.acting.Kept == nil || strings.Contains(strings.Join(d.acting.Kept, ""), "any other key") {
		t.Errorf("kept %q", d.acting.Kept)
	}
	d.press("esc")
	if d.acting.Kept != nil {
		t.Error("it is kept though the person stays")
	}
}
