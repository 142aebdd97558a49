package record

import (
	"sync"
	"time"

	"coordtop/sources"
)

// Health has numbers about a recording, for metrics.
type Health struct {
	Active    bool      // this process has begun to record
	Stopped   bool      // it cannot write, and no other process records instead
	Written   time.Time // when all was written last; zero: never
	Unwritten uint64    // events that are not written yet
	Waiting   int       // Inputs that wait in memory
	Lost      uint64    // Inputs that this process should have written and dropped; a failed write may have written some
	Holes     uint64    // stretches of such Inputs
}

// health is the part of Health that the goroutine of Run writes.
type health struct {
	mu      sync.Mutex
	written time.Time
	seq     uint64 // of the last event that was written
	lost    uint64
	holes   uint64
	inHole  bool

	taken uint64 // Inputs since the last step began; only for the goroutine of Run
}

// drop counts Inputs that are not written, if this process should have written them.
func (h *health) drop(n uint64, should bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if n == 0 || !should {
		return
	}
	if h.lost += n; !h.inHole {
		h.inHole = true
		h.holes++
	}
}

// wrote notes that all events up to one are written.
func (h *health) wrote(at time.Time, seq uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.written, h.seq, h.inHole = at, seq, false
}

// take takes the Inputs that are to be written.
func (r *Recorder) take() ([]sources.Input, uint64) {
	inputs, lost := r.o.Inputs.Take()
	r.health.drop(lost, true)
	r.health.taken += uint64(len(inputs))
	return inputs, lost
}

// Health returns numbers about the recording. It is safe for concurrent use.
func (r *Recorder) Health() Health {
	_, stopped := r.Recording()
	r.health.mu.Lock()
	defer r.health.mu.Unlock()
	h := Health{Active: r.Active(), Stopped: stopped, Written: r.health.written, Waiting: r.o.Inputs.Len(), Lost: r.health.lost, Holes: r.health.holes}
	if newest := r.o.Hub.State().LastSeq; !h.Written.IsZero() && newest > r.health.seq {
		h.Unwritten = newest - r.health.seq
	}
	return h
}
