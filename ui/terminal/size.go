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

// Only this part of a terminal is drawn on, because a cell costs some 400 bytes. The rest stays blank.
const (
	mostColumns = 500
	mostRows    = 150
)

// The size that is assumed for a terminal that does not tell its own.
const (
	usualColumns = 80
	usualRows    = 24
)

// wholeScreen makes all lines scroll again and keeps the cursor's place: Bubble Tea restricts
// scrolling to the lines that are drawn on.
const wholeScreen = "\x1b7\x1b[r\x1b8"

// drawn returns the size of the part of a terminal that is drawn on.
func drawn(width, height int) (w, h int) {
	if width <= 0 || height <= 0 {
		return usualColumns, usualRows
	}
	return min(width, mostColumns), min(height, mostRows)
}

// sizer tracks the size of a terminal. Bubble Tea itself would accept any size, also one that an
// answer of the terminal claims.
type sizer struct {
	f    term.File
	last atomic.Pointer[tea.WindowSizeMsg]
}

// look reads the size and reports whether it has changed.
func (s *sizer) look() (size tea.WindowSizeMsg, changed bool) {
	w, h, err := term.GetSize(s.f.Fd())
	if err != nil {
		w, h = 0, 0 // the gate and the keyboard detect that a terminal is gone
	}
	size.Width, size.Height = drawn(w, h)
	last := s.last.Swap(&size)
	return size, last == nil || *last != size
}

// follow sends each new size, and a ResumeMsg after each stop of the process, until ctx ends.
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
		case <-resumed: // also after a stop by others than Bubble Tea
			send(tea.ResumeMsg{})
		}
	}
}

// onlyTrue drops sizes that differ from the one read last: an answer of the terminal may claim any.
func (s *sizer) onlyTrue(_ tea.Model, msg tea.Msg) tea.Msg {
	if size, ok := msg.(tea.WindowSizeMsg); ok && size != *s.last.Load() {
		return nil
	}
	return msg
}
