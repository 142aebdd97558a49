package terminal

import (
	"context"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"
)

// The most of a terminal that is drawn on: a cell costs some 400 bytes. The rest stays blank.
const (
	mostColumns = 500
	mostRows    = 150
)

// The size of a terminal that tells none.
const (
	usualColumns = 80
	usualRows    = 24
)

// wholeScreen lets all lines scroll again, and leaves the cursor where it is: Bubble Tea
// sets the region that scrolls to what is drawn on.
const wholeScreen = "\x1b7\x1b[r\x1b8"

// drawn is the part of a terminal that is drawn on.
func drawn(width, height int) (w, h int) {
	if width <= 0 || height <= 0 {
		return usualColumns, usualRows
	}
	return min(width, mostColumns), min(height, mostRows)
}

// sizer follows the size of a terminal. Bubble Tea would take any size: that of the system,
// and what the terminal's own answers claim.
type sizer struct {
	f    term.File
	last atomic.Pointer[tea.WindowSizeMsg]
}

func newSizer(f term.File) *sizer {
	s := &sizer{f: f}
	s.look()
	return s
}

// look reads the size and reports whether it has changed.
func (s *sizer) look() (size tea.WindowSizeMsg, changed bool) {
	w, h, err := term.GetSize(s.f.Fd())
	if err != nil {
		w, h = 0, 0 // that it is gone, the gate and the keyboard notice
	}
	size.Width, size.Height = drawn(w, h)
	last := s.last.Swap(&size)
	return size, last == nil || *last != size
}

// follow sends each new size, and that the program was stopped and goes on, until ctx ends.
func (s *sizer) follow(ctx context.Context, send func(tea.Msg)) {
	changes := make(chan os.Signal, 1)
	signal.Notify(changes, syscall.SIGWINCH)
	defer signal.Stop(changes)
	resumed := make(chan os.Signal, 1)
	signal.Notify(resumed, syscall.SIGCONT)
	defer signal.Stop(resumed)
	for {
		if size, changed := s.look(); changed {
			send(size)
		}
		select {
		case <-ctx.Done():
			return
		case <-changes:
		case <-resumed: // also where Bubble Tea did not stop the program itself
			send(tea.ResumeMsg{})
		}
	}
}

// onlyTrue drops sizes that are not what was read last: a terminal's answer may claim any.
func (s *sizer) onlyTrue(_ tea.Model, msg tea.Msg) tea.Msg {
	if size, ok := msg.(tea.WindowSizeMsg); ok && size != *s.last.Load() {
		return nil
	}
	return msg
}
