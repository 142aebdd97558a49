package terminal

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/charmbracelet/x/term"

	"coordtop/internal/ground/spawn"
)

// slowWrite is how long a frame may take to be written, and quickWrites how many must
// have been quicker for the terminal to be no longer slow: at a frame a second some time,
// so that it does not go to and fro.
const (
	slowWrite   = 250 * time.Millisecond
	quickWrites = 10
)

// errGivenUp is what a write to a gate that was given up returns.
var errGivenUp = errors.New("the terminal does not read")

// gate is the terminal as Bubble Tea writes to it. A write(2) to a terminal that does not
// read lasts for ever, and while it lasts Bubble Tea can neither be asked to quit nor be
// killed. So one goroutine does all writes, and a write can be given up: that frees
// Bubble Tea, not the goroutine. A gate costs a copy and a hand-over per write. It also
// notices a terminal that takes its time.
type gate struct {
	term.File             // only its methods: by *os.File's others a writer could get past the gate
	gone      func(error) // told of each error of a terminal that is gone

	mu   sync.Mutex // held during a Write
	own  []byte     // what perform writes: Bubble Tea may reuse its own once Write has returned
	busy bool       // perform has own

	slow    atomic.Bool // the terminal took longer than slowWrite, and has not been quick since
	writing atomic.Bool // perform is in a write
	quick   int         // writes since then that were not slow; perform's

	work chan []byte
	done chan result // capacity 1: after a write that was given up nobody may be there
	end  chan struct{}

	once sync.Once
	shut chan struct{} // closed: given up
}

// result is what a write returned.
type result struct {
	n   int
	err error
}

// newGate starts the goroutine, which close joins; ctx only says who is told of a panic.
func newGate(ctx context.Context, f term.File, gone func(error)) *gate {
	g := &gate{File: f, gone: gone, work: make(chan []byte), done: make(chan result, 1), end: make(chan struct{}), shut: make(chan struct{})}
	spawn.Go(ctx, nil, func() { g.perform(ctx) })
	return g
}

// perform writes until close. A write that panics is an error: the program
// goes on and can restore the terminal.
func (g *gate) perform(ctx context.Context) {
	defer close(g.end)
	for b := range g.work {
		late := spawn.After(ctx, slowWrite, func() { g.slow.Store(true) })
		n := 0
		g.writing.Store(true)
		err := spawn.Call(ctx, func() (err error) {
			n, err = g.File.Write(b)
			return err
		})
		g.writing.Store(false)
		g.timed(late.Stop())
		if isGone(err) {
			g.gone(err)
		}
		g.done <- result{n, err}
	}
}

// timed counts writes that were in time: after some of them the terminal is no longer
// slow.
func (g *gate) timed(inTime bool) {
	if !inTime {
		g.quick = 0
		return
	}
	if g.quick++; g.quick >= quickWrites {
		g.slow.Store(false)
	}
}

// Write writes b to the terminal. It blocks while the terminal does not read, until the
// gate is given up.
func (g *gate) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.givenUp() {
		return 0, errGivenUp
	}
	g.own = append(g.own[:0], b...)
	g.work <- g.own
	select {
	case r := <-g.done:
		return r.n, r.err
	case <-g.shut:
		g.busy = true
		return 0, errGivenUp
	}
}

// giveUp makes the write under way return, and all later ones at once.
func (g *gate) giveUp() { g.once.Do(func() { close(g.shut) }) }

func (g *gate) givenUp() bool {
	select {
	case <-g.shut:
		return true
	default:
		return false
	}
}

// close ends the gate, when nobody writes any more. One that was given up first throws
// away what the terminal has not read, to bring Restoration through; when that takes too
// long, the goroutine is left in its write, which ends with the process, or when the
// terminal reads again or goes away.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.givenUp() {
		g.restore()
	}
	close(g.work)
	if !g.busy {
		<-g.end
	}
}

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
