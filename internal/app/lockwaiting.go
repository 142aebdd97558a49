package app

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/charmbracelet/x/term"

	"coordtop/coord"
	"coordtop/internal/config"
	"coordtop/internal/foreground"
	"coordtop/internal/ground/backoff"
	"coordtop/internal/ground/format"
	"coordtop/internal/ground/glob"
	"coordtop/internal/ground/spawn"
	"coordtop/internal/operate"
	"coordtop/sources"
)

// lookEvery is the pause between two looks at the owner that a claim waits for.
const lookEvery = 500 * time.Millisecond

// waitDisplay shows on a terminal who owns the primitive that a claim waits for, and who is ahead.
type waitDisplay struct {
	p        *program
	config   config.Config // the one source, which selects the one primitive
	identity string        // our label for others
	say      func(text string)
	running  sync.WaitGroup

	mu      sync.Mutex
	place   int // our place in the queue when the claim joined it; 0: not reported
	told    string
	stopped bool
}

// newWaitDisplay returns nil if standard error is no terminal.
func (w *work) newWaitDisplay() *waitDisplay {
	file, ok := w.p.env.Stderr.(*os.File)
	if !ok || !term.IsTerminal(file.Fd()) {
		return nil
	}
	s, t := w.source, w.request.Target
	s.Watch = []config.Watch{{Kind: t.Kind, Pattern: glob.Escape(t.Ref.Name)}}
	return &waitDisplay{p: w.p, config: config.Config{Sources: []config.Source{s}}, identity: w.backend.Label(w.request.Session), say: w.say}
}

// begin shows the owner until stop is called, which does not wait. A nil display shows nothing.
func (d *waitDisplay) begin(ctx context.Context) (stop func(owned bool)) {
	if d == nil {
		return func(bool) {}
	}
	began := time.Now()
	ctx, cancel := context.WithCancel(ctx)
	d.mu.Lock()
	d.told, d.stopped = "", false
	d.mu.Unlock()
	spawn.Go(ctx, &d.running, func() { // an error is no error of the claim, which reports its own
		_ = d.p.observe(ctx, d.config, func(ctx context.Context, hub *sources.Hub, _ *watched) error {
			for backoff.Sleep(ctx, lookEvery) == nil {
				d.show(hub.State())
			}
			return nil
		})
	})
	return func(owned bool) {
		cancel()
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.stopped = true; d.told != "" && owned {
			d.say("ours after " + format.Age(time.Since(began)))
		}
	}
}

// wait waits for the end of the display.
func (d *waitDisplay) wait() {
	if d != nil {
		d.running.Wait()
	}
}

// show prints the owner if that changed.
func (d *waitDisplay) show(s *sources.State) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stopped || len(s.Rows) != 1 || s.Rows[0] == nil || len(s.Rows[0].Owners) == 0 || !s.Rows[0].Fresh(s) {
		return
	}
	row := s.Rows[0]
	place, atMost := operate.PlaceIn(row, d.identity), false
	if place == 0 {
		place, atMost = d.place, d.place > 1
	}
	if text := foreground.WaitingText(row, place, atMost); text != d.told {
		d.told = text
		fmt.Fprintf(d.p.env.Stderr, "coordtop: %s\n", text)
	}
}

// onTrouble receives our place in the queue.
func (d *waitDisplay) onTrouble(t coord.Trouble) {
	if d == nil || t.Place == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.place = t.Place
}
