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

// A write that takes longer than slowWrite marks the terminal as slow; quickWrites quicker writes in a
// row end that. At a frame a second this takes some time, so that the state does not flap.
const (
	slowWrite   = 250 * time.Millisecond
	quickWrites = 10
)

// errGivenUp is returned by writes to a gate that was given up.
var errGivenUp = errors.New("the terminal does not read")

// gate is the output of Bubble Tea. A write(2) to a terminal that does not read blocks for ever, and
// while it blocks Bubble Tea can neither quit nor be killed. So one goroutine does all writes, and a write
// can be given up, which frees Bubble Tea, not the goroutine. A gate costs a copy and a hand-over per
// write. It also detects slow terminals.
type gate struct {
	term.File             // only its methods: others of *os.File would bypass the gate
	gone      func(error) // called with each error that means that the terminal is gone

	mu   sync.Mutex // held during a Write
	own  []byte     // what perform writes: Bubble Tea may reuse its own once Write has returned
	busy bool       // perform has own

	slow    atomic.Bool // see slowWrite
	writing atomic.Bool // perform is in a write
	quick   int         // quick writes since the last slow one; only perform uses it

	work chan []byte
	done chan result // capacity 1: after a write that was given up nobody may be there
	end  chan struct{}

	once sync.Once
	shut chan struct{} // closed: given up
}

type result struct {
	n   int
	err error
}

// newGate starts the goroutine, which close joins. Of ctx only the panic handler is used.
func newGate(ctx context.Context, f term.File, gone func(error)) *gate {
	g := &gate{File: f, gone: gone, work: make(chan []byte), done: make(chan result, 1), end: make(chan struct{}), shut: make(chan struct{})}
	spawn.Go(ctx, nil, func() { g.perform(ctx) })
	return g
}

// perform writes until close. A write that panics is an error: the program
// continues and can restore the terminal.
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
		if g.quick++; !late.Stop() {
			g.quick = 0
		} else if g.quick >= quickWrites {
			g.slow.Store(false)
		}
		if isGone(err) {
			g.gone(err)
		}
		g.done <- result{n, err}
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

// giveUp makes the current write and all later ones return at once.
func (g *gate) giveUp() { g.once.Do(func() { close(g.shut) }) }

func (g *gate) givenUp() bool {
	select {
	case <-g.shut:
		return true
	default:
		return false
	}
}

// close ends the gate. Nobody may write any more. A gate that was given up first discards the output
// that the terminal has not read, to make room for Restoration; if that takes too long, the goroutine
// is left in its write, which ends with the process, or when the terminal reads again or goes away.
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

const (
	// lastPatience bounds the time in which a terminal that was given up must accept Restoration.
	lastPatience = 100 * time.Millisecond
	// dropEvery is the pause between two attempts to make room in the terminal's buffer, which
	// takes some 10 kB at a time.
	dropEvery = time.Millisecond
)

// Restoration resets all modes of the terminal that Bubble Tea sets for our View, if the gate was given
// up and Bubble Tea cannot do it. The output before it may end anywhere: ST ends a sequence that was
// cut off; styles and a synchronized frame are ended too. A test compares it with the modes that
// Bubble Tea sets.
const Restoration = "\x1b\\\x1b[0m\x1b[?2026l" + // text
	"\x1b[>4m\x1b[<1u\x1b[?2004l" + // keys
	"\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1004l" + // mouse, focus
	"\x1b[r\x1b[?1049l\x1b[?25h\x1b]2;\a\x1b[?2027l" // screen, cursor, title, graphemes

// restore makes room in a terminal that does not read and writes Restoration, within lastPatience.
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
