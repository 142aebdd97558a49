package uitest

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

// Screen is a terminal for a running program: its Output, and its Input by Keys. Text reads
// what it shows.
type Screen struct {
	keys    *io.PipeWriter
	input   *io.PipeReader
	mu      sync.Mutex
	em      *vt.Emulator
	changed chan struct{} // capacity 1
	helped  bool          // no terminal stands before it that maps LF to CR LF
}

// NewScreen returns a terminal of that size, which answers no question. It is closed when
// the test ends.
func NewScreen(t testing.TB, w, h int) *Screen {
	t.Helper()
	s := NewAnswering(t, w, h, io.Discard)
	s.helped = true
	return s
}

// Ground is the ground of a screen: six hexadecimal digits.
const Ground = "1b1d21"

// NewAnswering returns a terminal of that size for what a program writes to a real one. Its
// answers to the program's questions go to keyboard. It is closed when the test ends.
func NewAnswering(t testing.TB, w, h int, keyboard io.Writer) *Screen {
	t.Helper()
	s := &Screen{em: vt.NewEmulator(w, h), changed: make(chan struct{}, 1)}
	s.em.SetDefaultBackgroundColor(ansi.XParseColor("#" + Ground))
	s.input, s.keys = io.Pipe()
	drained := make(chan struct{})
	go func() { // joined in Cleanup: the emulator blocks when nobody takes its answers
		defer close(drained)
		_, _ = io.Copy(keyboard, s.em)
	}()
	t.Cleanup(func() {
		_ = s.keys.Close()
		_ = s.em.InputPipe().(io.Closer).Close() // the emulator's own Close races with its Read
		<-drained
	})
	return s
}

// Input returns the input from which the program reads keys.
func (s *Screen) Input() io.Reader { return s.input }

// Type sends bytes as a keyboard would.
func (s *Screen) Type(t testing.TB, keys string) {
	t.Helper()
	if _, err := io.WriteString(s.keys, keys); err != nil {
		t.Fatalf("typing %q: %v", keys, err)
	}
}

// Write draws. To what is no terminal Bubble Tea writes as if LF were mapped to CR LF, as
// terminals do that are not raw.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	drawn := p
	if s.helped {
		drawn = bytes.ReplaceAll(p, []byte("\n"), []byte("\r\n"))
	}
	if _, err := s.em.Write(drawn); err != nil {
		return 0, err
	}
	select {
	case s.changed <- struct{}{}:
	default:
	}
	return len(p), nil
}

// Text returns the text on the screen, line by line.
func (s *Screen) Text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.em.String()
}

// Drawn calls f with what the screen shows, while nothing is drawn on it.
func (s *Screen) Drawn(f func(em *vt.Emulator)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(s.em)
}

// Selected is the line whose first cell is in reverse, from 0; -1: there is none.
func (s *Screen) Selected() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	for y := range s.em.Height() {
		if c := s.em.CellAt(0, y); c != nil && c.Style.Attrs&uv.AttrReverse != 0 {
			return y
		}
	}
	return -1
}

// AltScreen reports whether the program has taken the screen.
func (s *Screen) AltScreen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.em.IsAltScreen()
}

// Resize gives the terminal another size. The program is not told.
func (s *Screen) Resize(w, h int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.em.Resize(w, h)
}

// Await waits until the screen shows the text.
func (s *Screen) Await(t testing.TB, text string) {
	t.Helper()
	s.Until(t, text, 20*time.Second, func(shown string) bool { return strings.Contains(shown, text) })
}

// Settle waits until nothing has been drawn for a while, so that no frame is half drawn.
func (s *Screen) Settle() {
	quiet := time.NewTimer(settled)
	defer quiet.Stop()
	for {
		select {
		case <-s.changed:
			quiet.Reset(settled)
		case <-quiet.C:
			return
		}
	}
}

// settled is longer than it takes to bring a frame over.
const settled = 200 * time.Millisecond

// Until waits until the screen shows what is wanted, which what names in the failure after
// the limit.
func (s *Screen) Until(t testing.TB, what string, limit time.Duration, wanted func(shown string) bool) {
	t.Helper()
	bound := time.NewTimer(limit)
	defer bound.Stop()
	for !wanted(s.Text()) {
		select {
		case <-s.changed:
		case <-bound.C:
			t.Fatalf("the screen never shows %q, but\n%s", what, s.Text())
		}
	}
}
