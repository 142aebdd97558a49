package sources

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"coordtop/internal/ground/spawn"
)

// Input is one thing that entered a Hub, or that time decided in it. The same Inputs in the
// same order make the same States and Events, whatever the time is then: see [Replayer].
// Nothing that an Input refers to is ever changed.
type Input struct {
	Seq    uint64 // 1, 2, 3 ... without holes, in the order of the Hub's lock
	At     Instant
	Kind   InputKind
	Source string // of what concerns one source: its name

	// The rest is what belongs to the Kind.
	Thresholds *Thresholds   // InputStarted
	Resume     *Keyframe     // InputStarted: HubOptions.Resume
	Added      []AddedSource // InputSources
	Change     Change        // InputChange, as completed: see the package comment
	Problem    *Problem      // InputDisconnected: why
	Retry      time.Time     // InputDisconnected: when it is tried again
	Expected   *Expected     // InputExpected
	Note       *Event        // InputNote
	Scope      string        // InputSilent
	Step       time.Duration // InputClockStep: how far the wall clock was put forward; negative: back
	Ref        Ref           // InputForgotten

	// State is what InputPublished published: all Inputs before this one, and none after it,
	// are in it. A Replayer makes its own.
	State *State
}

// InputKind says what an Input is.
type InputKind uint8

// The kinds of inputs. The last four are decided by time: an Input holds the decision, not
// the ticks at which nothing was decided.
const (
	InputStarted      InputKind = iota // the Hub was made: the first one
	InputSources                       // sources were added
	InputChange                        // a source told something
	InputConnected                     // a source was connected; it has not answered yet
	InputDisconnected                  // a source could not be connected, or its connection ended
	InputExpected                      // Hub.Expect: we are about to end an ownership
	InputNote                          // Hub.Note: an event that no source tells
	InputSilent                        // a scope was silent for its limit
	InputClockStep                     // the wall clock was set, or the machine slept
	InputForgotten                     // a row that nobody owned for its ForgetAfter was dropped
	InputPublished                     // a State was published
)

// String returns the name of the kind, as "clock_step".
func (k InputKind) String() string {
	return [...]string{"started", "sources", "change", "connected", "disconnected", "expected", "note",
		"silent", "clock_step", "forgotten", "published"}[k]
}

// AddedSource is what a Hub knows of a source before it was connected.
type AddedSource struct {
	Name, Type, Address string
	Silence             time.Duration // Spec.Silence
	Agree               int           // Spec.Agree
}

// Expected is an end that we are about to bring about, and for how long it counts.
type Expected struct {
	Ending
	Within time.Duration
}

// cost is about how many bytes of memory the Input keeps.
func (in *Input) cost() int {
	const input, primitive, member, row = 512, 400, 300, 8
	n := input
	if in.State != nil {
		n += row * len(in.State.Rows)
	}
	for _, p := range in.Change.Set {
		n += primitive + len(p.Data.Head) + member*(len(p.Owners)+len(p.Queue.Waiters)+len(p.Candidates))
		for i := range p.Owners {
			n += len(p.Owners[i].Data.Head)
		}
	}
	return n
}

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
