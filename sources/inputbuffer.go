package sources

import (
	"cmp"
	"slices"
	"sync"

	"coordtop/internal/spawn"
)

// InputBuffer keeps the Inputs of one Hub until one reader takes them. It never makes the Hub
// wait: it keeps a bounded number of them, and while it is full it drops those that come and
// counts them. Its methods are safe for concurrent use.
type InputBuffer struct {
	mostInputs, mostBytes int

	wake chan struct{}

	mu     sync.Mutex
	chunks [][]Input // so that adding one never copies the others
	count  int
	bytes  int
	lost   uint64
}

// The bounds of an InputBuffer where nothing else is said.
const (
	defaultInputs     = 64_000
	defaultInputBytes = 64 << 20
)

// chunkInputs is how many Inputs are allocated at once.
const chunkInputs = 32

// NewInputBuffer returns an InputBuffer for HubOptions.Recorder, of one Hub. It keeps so many Inputs
// at most (0: 64,000), of about so many bytes (0: 64 MB); a single larger one is kept where
// there is no other.
func NewInputBuffer(inputs, bytes int) *InputBuffer {
	inputs = cmp.Or(max(inputs, 0), defaultInputs)
	bytes = cmp.Or(max(bytes, 0), defaultInputBytes)
	return &InputBuffer{mostInputs: inputs, mostBytes: bytes, wake: make(chan struct{}, 1)}
}

// Wake returns the channel that receives after there is something to take; one wake-up stands
// for any number of Inputs. It is never closed.
func (r *InputBuffer) Wake() <-chan struct{} { return r.wake }

// Take returns the Inputs since the last call, the oldest first, and how many were dropped
// behind the last of them; the next Seq tells the same. It does not block. The slice belongs
// to the caller; what the Inputs refer to is shared with the Hub and its States and must not
// be changed.
func (r *InputBuffer) Take() (inputs []Input, lost uint64) {
	r.mu.Lock()
	chunks := r.chunks
	lost = r.lost
	r.chunks, r.count, r.bytes, r.lost = nil, 0, 0, 0
	r.mu.Unlock()
	return slices.Concat(chunks...), lost
}

// add keeps a copy of in, or counts it as lost. The Hub calls it under its lock.
func (r *InputBuffer) add(in *Input) {
	cost := in.cost()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost > 0 || r.count >= r.mostInputs || r.count > 0 && r.bytes+cost > r.mostBytes {
		r.lost++
		return
	}
	last := len(r.chunks) - 1
	if last < 0 || len(r.chunks[last]) == chunkInputs {
		r.chunks = append(r.chunks, make([]Input, 0, chunkInputs))
		last++
	}
	r.chunks[last] = append(r.chunks[last], *in)
	r.count++
	r.bytes += cost
	if r.count == 1 {
		spawn.Wake(r.wake)
	}
}
