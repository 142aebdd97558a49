package history

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"coordtop/sources"
	"coordtop/sources/lane"
)

// Why a recording cannot be used, beside what the file system says.
var (
	ErrNewer   = errors.New("it was made by a newer coordtop")
	ErrDamaged = errors.New("it is damaged")
	ErrForeign = errors.New("it is not a recording of coordtop")
	ErrNothing = errors.New("nothing is recorded for this time")
	ErrMoved   = errors.New("it was renamed, replaced or removed; the recording goes on in another file")
	ErrBusy    = errors.New("another coordtop records into it")
	ErrDropped = errors.New("this part of it was dropped while it was read: try again")
)

// Span is a stretch of time: [From, To).
type Span = lane.Span

// Run is one process that recorded, and its time. To is the time of its last write: where it still writes, a
// second ago at most.
type Run struct {
	Span
	ID         int64 // 1, 2, 3 ... in the order of their beginnings
	Host       string
	PID        int
	Version    string
	Title      string // of the environment that it recorded, and TitleColor the colour of that; "": it has none
	TitleColor string
	Live       bool // it records now
}

// Bounds returns the time from the first to the last record of runs, one at least.
func Bounds(runs []Run, now time.Time) Span {
	all := runs[0].Span
	for _, run := range runs {
		if run.Live {
			run.To = now // it writes a moment later
		}
		all.To = sources.Later(all.To, run.To)
	}
	return all
}

// Reader answers questions about a recording. Its methods are safe for concurrent use, read
// from the disk, and end when ctx does; none keeps a transaction open after it has returned.
// Times are on the wall clock of the recorder.
type Reader interface {
	// Runs returns the processes that recorded, the oldest first.
	Runs(ctx context.Context) ([]Run, error)

	// Lanes returns the record of each of refs within span, in the order of refs; for one that was never
	// recorded a Lane with nothing but its Ref and Holes. nil: of all, in the order of their names.
	Lanes(ctx context.Context, refs []sources.Ref, span Span) ([]Lane, error)

	// Totals sums up span, up to now, for each primitive that is recorded in it. It is far
	// cheaper than Lanes of all. Of semaphores it has Changes and Unseen.
	Totals(ctx context.Context, span Span) ([]Total, error)

	EventReader
}

// EventReader is the part of a Reader that a Player uses.
type EventReader interface {
	// Dark returns the stretches of span that were not observed, also in part, in the order of their
	// beginnings: of single primitives, of whole scopes, and, without a Source, of all, when nobody recorded or
	// a record was lost or dropped. Each stretch of a lane is in its Dark.
	Dark(ctx context.Context, span Span) ([]DarkChange, error)

	// Events returns recorded events in the order of Event.Compare: at most before of them that
	// lie before at, and at most after of the others. Renewals are not among them, and Mono is zero. Some
	// thousand events are read together; where none of them can be asked for, they are passed over.
	Events(ctx context.Context, at time.Time, before, after int, of EventFilter) ([]Event, error)
}

// EventFilter chooses events. The zero EventFilter: all.
type EventFilter struct {
	Refs  []sources.Ref       // nil: of any primitive, and of none
	Kinds []sources.EventKind // nil: of any
}

// Lane is the record of one primitive in a span. A term whose run was over has an End that is Bound: nobody saw
// it end.
type Lane struct {
	Ref    sources.Ref
	Kind   sources.Kind
	Terms  []sources.Term  // that touch the span, oldest first; of a semaphore those of each of its owners, by their starts. Hues are of the whole recording
	Before *sources.Term   // the one that was over when the span began, where no other ran then; nil: there is none, or it is a semaphore
	Levels []sources.Level // of a semaphore, from the one that lasted when the span began
	Dark   []sources.Dark  // when it was not observed, nobody recorded, or a record was lost, oldest first
	Holes  []Hole          // the stretches without a record, of the whole recording, oldest first; they do not overlap
	Since  time.Time       // from when on there is a record of it; zero: there is none
}

// Hole is a stretch without a record: nobody recorded, or could write, or it was dropped since. To zero: it
// lasts.
type Hole struct {
	sources.Dark
	Dropped bool // there was a record, and it was too old or too much
}

// Total sums up a span of one primitive.
type Total struct {
	Ref      sources.Ref
	Kind     sources.Kind
	lane.Sum // without Owned
}

// Event is a recorded event, with its run: numbers begin anew with each.
type Event struct {
	sources.Event
	Run int64
}

// Compare orders events: by At, then as they were recorded. A clock that was set back makes
// that another order than the one of their numbers.
func (e *Event) Compare(o *Event) int {
	return cmp.Or(e.At.Compare(o.At), cmp.Compare(e.Run, o.Run), cmp.Compare(e.Seq, o.Seq))
}

// Log is a recording as a replay reads it. Its methods are safe for concurrent use.
type Log interface {
	Runs(ctx context.Context) ([]Run, error)

	// Cursor returns a Cursor at the last keyframe of a run at or before at; where there is none, at the
	// first one after it. Run 0 is the one that recorded then. With its number a run is reached also where
	// a later one recorded the same time: the clock may have been set back in between. An error wraps
	// ErrNothing where there is no keyframe.
	Cursor(ctx context.Context, run int64, at time.Time) (Cursor, error)
}

// Cursor reads one run of a Log forward. One goroutine uses it. It holds no file or
// transaction between two calls.
type Cursor interface {
	// Next returns the next Piece of the run. The first one has the Keyframe where the Cursor begins. At the
	// end it is empty, without an error (of a run that still records: after what there is by now).
	Next(ctx context.Context) (Piece, error)
}

// Piece is a part of a run: some of its Inputs.
type Piece struct {
	Run      int64
	Keyframe *sources.Keyframe // with which a replay begins anew; the zero Keyframe: the beginning of the Hub; nil: it goes on
	Inputs   []sources.Input   // behind Keyframe
	Thin     bool              // an earlier version left the renewals out of it
	Hole     bool              // something is missing before Keyframe
}

// Empty reports whether the run has no more.
func (p *Piece) Empty() bool { return p.Keyframe == nil && len(p.Inputs) == 0 }

// Known returns the lane for the computation of gaps and sums; for what several can own it has no terms.
func (l *Lane) Known() lane.Lane {
	known := lane.Lane{Terms: l.Terms, Since: l.Since, Dark: l.Dark}
	if l.Before != nil {
		known.Terms = slices.Insert(slices.Clone(l.Terms), 0, *l.Before)
	}
	if l.Leveled() {
		known.Terms = nil
	} else if n := len(known.Terms); n > 0 {
		known.Every = known.Terms[n-1].Every // how it was looked at since is not recorded
	}
	return known
}

// Gaps returns the gaps that were seen and lie in span, also in part; the one that lasts at its end is the
// last.
func (l *Lane) Gaps(span Span) (gaps []lane.Gap) {
	known := l.Known()
	for g := range known.Gaps(span) {
		if g.Seen {
			gaps = append(gaps, g)
		}
	}
	return gaps
}

// Leveled reports whether several can own the primitive: then it has no gaps.
func (l *Lane) Leveled() bool { return len(l.Levels) > 0 || l.Kind == sources.KindSemaphore }

// Batch is one write of a recorder: the inputs since the write before, some 300 ms ago, and what follows from
// them.
type Batch struct {
	Keyframe []byte    // begins a group, encoded; nil: the group of the last Batch goes on
	Inputs   []byte    // encoded, those of Seq first to last
	Seq      [2]uint64 // with a Keyframe the first is that of the last Input in it
	Count    int
	Thin     bool // the renewals were left out of the group that a Keyframe begins
	Follows  bool // it follows the one before without a hole
	Span     Span // from the first to the last Input, and where nothing happened up to now

	Lanes  []LaneChange
	Events []sources.Event // without renewals
	Dark   []DarkChange
	Lost   []Span // when events were missed: of no primitive is it known what happened then
}

// LaneChange is the news of one primitive.
type LaneChange struct {
	Ref    sources.Ref
	Kind   sources.Kind
	Scope  string          // under which it is
	Terms  []sources.Term  // begun, changed or ended since the last Batch
	Levels []sources.Level // begun or changed
	Gone   bool            // the row is gone: nothing is known of it from At on, and what still runs was over by then
	At     time.Time       // of Gone
}

// DarkChange is a stretch without observation of a scope, or of one row of it, that began or
// ended.
type DarkChange struct {
	Source, Scope string
	Ref           sources.Ref // of one row; with an empty Source: of the whole scope
	Dark          sources.Dark
}
