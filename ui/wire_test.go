package ui

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/colorprofile"
	uv "github.com/charmbracelet/ultraviolet"

	"coordtop/internal/ground/raced"
	"coordtop/sources"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

// wire counts what Bubble Tea's renderer would write to a terminal for each frame.
type wire struct {
	out      bytes.Buffer
	renderer *uv.TerminalRenderer
	cells    uv.ScreenBuffer
}

func newWire(w, h int) *wire {
	s := &wire{cells: uv.NewScreenBuffer(w, h)}
	s.renderer = uv.NewTerminalRenderer(&s.out, []string{"TERM=xterm-256color"})
	s.renderer.SetColorProfile(colorprofile.ANSI256) // it finds none where nothing is a terminal
	s.renderer.SetFullscreen(true)
	s.renderer.SetScrollOptim(true)
	s.renderer.Erase()
	return s
}

// frame returns how many bytes it takes to show d's frame, after the frame before.
func (s *wire) frame(tb testing.TB, d *driver) int {
	tb.Helper()
	s.cells.Clear()
	uv.NewStyledString(d.View().Content).Draw(s.cells, s.cells.Bounds())
	s.out.Reset()
	s.renderer.Render(s.cells.RenderBuffer)
	if err := s.renderer.Flush(); err != nil {
		tb.Fatal(err)
	}
	return s.out.Len()
}

// renewing is a board by name with rows whose leases of 30 s are renewed every ten, a tenth
// of them each second, and that were first seen as the board began.
func renewing(rows int) (d *driver, second func()) {
	prims := uitest.Many(rows, noon())
	owned := func(i int, at time.Time) {
		p := uitest.Led(prims[i].Name, prims[i].Owners[0].ID, at)
		p.Owners[0].Since = sources.Stamp{At: noon(), How: sources.AtLeast}
		p.Owners[0].Lease, p.Owners[0].Expires.At = 30*time.Second, at.Add(30*time.Second)
		prims[i] = p
	}
	for i := range prims {
		owned(i, noon().Add(-time.Duration(i%10)*time.Second))
	}
	d = drive(newTestFeed(uitest.State(noon(), prims...)), Options{})
	d.press("s", "n")
	n := 0
	return d, func() {
		n++
		now := noon().Add(time.Duration(n) * time.Second)
		for i := range prims {
			if (i+n)%10 == 0 {
				owned(i, now)
			}
		}
		st := uitest.State(now, prims...)
		st.Rev += uint64(n)
		d.feed.Set(st)
		d.feed.Pass(time.Second)
	}
}

func TestAMinuteOfRenewalsCostsFewBytes(t *testing.T) {
	t.Parallel()
	raced.Alone(t, "it draws a hundred frames in one goroutine and counts bytes")
	d, second := renewing(100)
	w := newWire(160, 48)
	w.frame(t, d)
	const seconds = 60
	total, moves, most := 0, 0, 0
	for range seconds {
		second()
		d.send(terminal.SecondMsg{})
		total += w.frame(t, d)
		before := d.lines()
		d.send(terminal.ColumnMsg{})
		n := w.frame(t, d)
		total += n
		if strings.Join(before, "") != strings.Join(d.lines(), "") {
			moves, most = moves+1, max(most, n)
		}
	}
	rows := len(d.Locks.Visible())
	t.Logf("%d bytes in %d s, %d moves of %d rows, at most %d bytes each", total, seconds, moves, rows, most)
	if limit := 1500 * seconds; total > limit {
		t.Errorf("%d bytes in %d s, not %d at most", total, seconds, limit)
	}
	if limit := 40*rows + 200; moves < seconds/5-1 || most > limit {
		t.Errorf("%d moves of %d rows took up to %d bytes, not %d at most", moves, rows, most, limit)
	}
}
