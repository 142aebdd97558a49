package terminal

import (
	"time"
)

// lastPatience is how long a terminal that was given up may take to accept Restoration.
const lastPatience = 100 * time.Millisecond

// dropEvery is the pause between two attempts to make room in the terminal's buffer, which
// takes some 10 kB at a time.
const dropEvery = time.Millisecond

// Restoration undoes what Bubble Tea does to a terminal for our View. It writes this itself
// unless the gate was given up. The output before it may have ended anywhere: ST ends a
// sequence that was cut off, and styles and a synchronized frame are ended too. A test
// holds it against what Bubble Tea turns on.
const Restoration = "\x1b\\\x1b[0m\x1b[?2026l" + // text
	"\x1b[>4m\x1b[<1u\x1b[?2004l" + // keys
	"\x1b[?1002l\x1b[?1003l\x1b[?1006l" + // mouse
	"\x1b[r\x1b[?1049l\x1b[?25h\x1b]2;\a\x1b[?2027l" // screen, cursor, title, graphemes

// restore makes room in a terminal that does not read and writes Restoration, for as long as lastPatience.
func (g *gate) restore() {
	bound := time.NewTimer(lastPatience)
	defer bound.Stop()
	again := time.NewTicker(dropEvery)
	defer again.Stop()
	for g.busy {
		drop(g.Fd())
		select {
		case <-g.done:
			g.busy = false
		case <-again.C:
		case <-bound.C:
			return
		}
	}
	drop(g.Fd()) // so that it fits in
	g.work <- []byte(Restoration)
	select {
	case <-g.done:
	case <-bound.C:
		g.busy = true
	}
}
