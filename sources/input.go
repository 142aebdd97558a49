package sources

import "time"

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
