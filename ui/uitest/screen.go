package uitest

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/charmbracelet/x/vt"
)

// Screen is a terminal for a running program: its Output, and its Input by Keys. What it
// shows is read as text.
type Screen struct {
	keys    *io.PipeWriter
	input   *io.PipeReader
	mu      sync.Mutex
	em      *vt.Emulator
	changed chan struct{} // capacity 1
}

// NewScreen returns a terminal of that size. It is closed when the test ends.
func NewScreen(t *testing.T, w, h int) *Screen {
	t.Helper()
	s := &Screen{em: vt.NewEmulator(w, h), changed: make(chan struct{}, 1)}
	s.input, s.keys = io.Pipe()
	drained := make(chan struct{})
	go func() { // joined in Cleanup: the emulator blocks when nobody takes its answers
		defer close(drained)
		_, _ = io.Copy(io.Discard, s.em)
	}()
	t.Cleanup(func() {
		_ = s.keys.Close()
		_ = s.em.InputPipe().(io.Closer).Close() // the emulator's own Close races with its Read
		<-drained
	})
	return s
}

// Input is what the program reads keys from.
func (s *Screen) Input() io.Reader { return s.input }

// Type sends bytes as a keyboard would.
func (s *Screen) Type(t *testing.T, keys string) {
	t.Helper()
	if _, err := io.WriteString(s.keys, keys); err != nil {
		t.Fatalf("typing %q: %v", keys, err)
	}
}

// Write draws. A terminal maps LF to CR LF; the emulator is none and is helped here.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.em.Write(bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	select {
	case s.changed <- struct{}{}:
	default:
	}
	return len(p), nil
}

// Text is what the screen shows, a line each.
func (s *Screen) Text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.em.String()
}

// AltScreen says whether the program has taken the screen.
func (s *Screen) AltScreen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.em.IsAltScreen()
}

// Await waits until the screen shows the text.
func (s *Screen) Await(t *testing.T, text string) {
	t.Helper()
	limit := time.NewTimer(20 * time.Second)
	defer limit.Stop()
	for !strings.Contains(s.Text(), text) {
		select {
		case <-s.changed:
		case <-limit.C:
			t.Fatalf("the screen never shows %q, but\n%s", text, s.Text())
		}
	}
}
