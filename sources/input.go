package sources

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"coordtop/internal/ground/spawn"
)

// Input is one change of a Hub, from outside or decided by time. The same Inputs in the same order always produce the
// same States and Events, see [Replayer]. Everything that an Input refers to is immutable.
type Input struct {
	Seq    uint64 // 1, 2, 3 ... without holes, in the order of the Hub's lock
	At     Instant
	Kind   InputKind
	Source string // the name of the source, if the Input concerns one

	// The other fields belong to one Kind each.
	Thresholds *Thresholds   // InputStarted
	Resume     *Keyframe     // InputStarted: HubOptions.Resume
	Added      []AddedSource // InputSources
	Change     Change        // InputChange, as completed: see the package comment
	Problem    *Problem      // InputDisconnected: the reason
	Retry      time.Time     // InputDisconnected: time of the next Connect
	Expected   *Expected     // InputExpected
	Note       *Event        // InputNote
	Scope      string        // InputSilent
	Step       time.Duration // InputClockStep: of the wall clock; negative if it was set back
	Ref        Ref           // InputForgotten

	// State is the published State (InputPublished). It contains exactly the Inputs before this one. A Replayer makes
	// its own.
	State *State
}

// InputKind is the kind of an Input.
type InputKind uint8

// The kinds of inputs. The last four are decided by time. An Input has the decision; ticks without a decision are no
// Inputs.
const (
	InputStarted      InputKind = iota // the Hub was made: the first one
	InputSources                       // sources were added
	InputChange                        // a source sent a Change
	InputConnected                     // a source was connected; it has not answered yet
	InputDisconnected                  // a source could not be connected, or its connection ended
	InputExpected                      // Hub.Expect: we are about to end an ownership
	InputNote                          // Hub.AddEvent: an event that no source sends
	InputSilent                        // a scope was silent for its limit
	InputClockStep                     // the wall clock was set, or the machine slept
	InputForgotten                     // a row that nobody owned for its ForgetAfter was dropped
	InputPublished                     // a State was published
)

// String returns the name of the kind, for example "clock_step".
func (k InputKind) String() string {
	return [...]string{"started", "sources", "change", "connected", "disconnected", "expected", "note",
		"silent", "clock_step", "forgotten", "published"}[k]
}

// AddedSource has the facts about a source that is not connected yet.
type AddedSource struct {
	Name, Type, Address string
	Silence             time.Duration // Spec.Silence
	Agree               int           // Spec.Agree
}

// Expected is an end that we are about to bring about, and for how long to expect it.
type Expected struct {
	Ending
	Within time.Duration
}

// cost estimates the bytes of memory that the Input keeps.
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
// wait: it keeps a bounded number of Inputs, and while it is full it drops and counts new
// ones. Its methods are safe for concurrent use.
type InputBuffer struct {
	mostInputs, mostBytes int

	wake chan struct{}

	mu     sync.Mutex
	inputs chunked[Input]
	bytes  int
	lost   uint64
}

// The default bounds of an InputBuffer.
const (
	defaultInputs     = 64_000
	defaultInputBytes = 64 << 20
)

// NewInputBuffer returns an InputBuffer for HubOptions.Recorder, for one Hub. It keeps at most the given number of
// Inputs (0: 64,000) and about the given number of bytes (0: 64 MB). An empty buffer keeps an Input of any size.
func NewInputBuffer(inputs, bytes int) *InputBuffer {
	inputs = cmp.Or(max(inputs, 0), defaultInputs)
	bytes = cmp.Or(max(bytes, 0), defaultInputBytes)
	return &InputBuffer{mostInputs: inputs, mostBytes: bytes, wake: make(chan struct{}, 1)}
}

// Wake returns a channel that receives once there are Inputs to take; one wake-up stands for any
// number of Inputs. It is never closed.
func (r *InputBuffer) Wake() <-chan struct{} { return r.wake }

// Len returns the number of Inputs that wait.
func (r *InputBuffer) Len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.inputs.len()
}

// Take returns the Inputs since the last call, the oldest first, and the number of Inputs dropped after the last of
// them; the next Seq shows that as well. It does not block. The slice belongs to the caller; values that the Inputs
// refer to are shared with the Hub and its States and must not be changed.
func (r *InputBuffer) Take() (inputs []Input, lost uint64) {
	r.mu.Lock()
	chunks := r.inputs.chunks
	lost = r.lost
	r.inputs, r.bytes, r.lost = chunked[Input]{}, 0, 0
	r.mu.Unlock()
	return slices.Concat(chunks...), lost
}

// add keeps a copy of in, or counts it as lost. The Hub calls it under its lock.
func (r *InputBuffer) add(in *Input) {
	cost := in.cost()
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.lost > 0 || r.inputs.len() >= r.mostInputs || r.inputs.len() > 0 && r.bytes+cost > r.mostBytes {
		r.lost++
		return
	}
	r.inputs.push(in)
	r.bytes += cost
	if r.inputs.len() == 1 {
		spawn.Wake(r.wake)
	}
}
