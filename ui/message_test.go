package ui

import (
	"strings"
	"testing"

	"coordtop/ui/uitest"
)

// A message stands beside the keys, is never cut, and is there also for a key that does nothing.
func TestMessagesStandBesideTheKeysAndAreNeverCut(t *testing.T) {
	t.Parallel()
	a, _, _ := three()
	d := drive(newTestFeed(uitest.State(noon(), a)), Options{Width: 80, Height: 24, Environ: []string{"TERM=tmux", "TMUX=x", "LANG=C.UTF-8"}})
	d.press("ctrl+x")
	last := func() string { return d.lines()[23] }
	if got := last(); !strings.HasPrefix(got, " no such key here: ctrl+x; ? lists them   ? help  q quit") {
		t.Errorf("an unknown key: %q", got)
	}
	d.press("0")
	if got := last(); !strings.HasPrefix(got, " 0 works in the past; :at TIME goes there ") {
		t.Errorf("a key of the past: %q", got)
	}
	d.press("esc", "s", "z") // any key closes a menu
	if got := last(); strings.Contains(got, "no such key here: z") {
		t.Errorf("a key that closed a menu: %q", got)
	}
	d.press("y", "n")
	exact(t, d)
	text := strings.Join(strings.Fields(strings.Join(d.lines()[22:], " ")), " ")
	if !strings.Contains(text, "it does not say whether it did; tmux needs set-clipboard on") || !strings.Contains(last(), "? help") {
		t.Errorf("a long message: %q", text)
	}
	d.press("/")
	if got := last(); !strings.Contains(got, "enter keep") {
		t.Errorf("while a filter is typed: %q", got)
	}
}
