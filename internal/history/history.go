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

// Reasons why a recording cannot be used, in addition to errors of the file system.
var (
	ErrNewer      = errors.New("it was made by a newer coordtop")
	ErrDamaged    = errors.New("it is damaged")
	ErrForeign    = errors.New("it is not a recording of coordtop")
	ErrNothing    = errors.New("nothing is recorded for this time")
	ErrMoved      = errors.New("it was renamed, replaced or removed; the recording goes on in another file")
	ErrBusy       = errors.New("another coordtop records into it")
	ErrSuperseded = errors.New("another recorder has taken over")
	ErrSetBack    = errors.New("it has lost what was written: it was restored, or failed over to a server that lacked it")
	ErrDropped    = errors.New("this part of it was dropped while it was read: try again")
)

// UsualKeep is the age up to which a recording is kept if the config does not name another.
const UsualKeep = 30 * 24 * time.Hour

// Span is a stretch of time: [From, To).
type Span = lane.Span

// Times after the last write of a run. They are long enough for a write that is slow.
const (
	WriteEvery = 1100 * time.Millisecond // the next one comes, even if nothing happens: a source reports each second that it is alive
	Silence    = 5 * time.Second         // the recorder counts as silent. Until then it is surely the only one
	Lease      = 8 * time.Second         // the lease of the run expires: whoever stands by may replace the recorder
)

// Run is one process that recorded, and its time. To is the time of its last write, which is at most a second ago if it
// still records.
type Run struct {
	Span
	ID         int64 // 1, 2, 3 ... in the order in which runs began
	Host       string
	PID        int
	Version    string
	Title      string // title of the recorded environment, with the colour TitleColor; "": it has no title
	TitleColor string
	Live       bool // it records now

	Ahead time.Duration // of its clock before that of the store; 0: less than SameClock, or not known
	Now   time.Time     // the present on its clock while it is Live; zero: less than SameClock from that of this machine, or not known
}

// SameClock is the difference below which two clocks count as one.
const SameClock = time.Second

// Present returns the present on the clock of the run that records now, by which that run's times are. now is that of
// this machine.
func Present(runs []Run, now time.Time) time.Time {
	if n := len(runs); n > 0 && !runs[n-1].Now.IsZero() {
		return runs[n-1].Now
	}
	return now
}

// Bounds returns the time from the first to the last record of runs. There must be at least one run.
func Bounds(runs []Run, now time.Time) Span {
	all := runs[0].Span
	for _, run := range runs {
		if run.Live {
			run.To = Present(runs, now) // it will write in a moment
		}
		all.From, all.To = sources.Earlier(all.From, run.From), sources.Later(all.To, run.To)
	}
	return all
}

// Reader answers queries about a recording. Its methods are safe for concurrent use, read from the disk, and end when
// ctx ends. No transaction stays open after a method has returned. Times are on the wall clock of the recorder.
type Reader interface {
	// Runs returns the processes that recorded, the oldest first.
	Runs(ctx context.Context) ([]Run, error)

	// Lanes returns the record of each of refs within span, in the order of refs. A ref that was never recorded has a
	// Lane with only its Ref and Holes. If refs is nil, it returns all lanes in the order of their names.
	Lanes(ctx context.Context, refs []sources.Ref, span Span) ([]Lane, error)

	// Totals sums up span, or its part before now, for each primitive that is recorded in it. It is far cheaper than
	// Lanes of all. For semaphores it sets only Changes and Unseen.
	Totals(ctx context.Context, span Span) ([]Total, error)

	EventReader
}

// EventReader is the part of a Reader that a Player uses.
type EventReader interface {
	// Dark returns the unobserved stretches that lie at least partly in span, in the order of their beginnings. A
	// stretch is that of one primitive, of a whole scope, or, without a Source, of everything, because nobody recorded
	// or a record was lost or dropped. Lane.Dark has all of these for one lane.
	Dark(ctx context.Context, span Span) ([]DarkChange, error)

	// Events returns recorded events in the order of Event.Compare: the last mostBefore events before at, and the first
	// mostAfter events from at on. It returns no renewals, and Mono is zero. Events are read in blocks of some
	// thousands; blocks in which no event can match are skipped.
	Events(ctx context.Context, at time.Time, mostBefore, mostAfter int, filter EventFilter) ([]Event, error)
}

// EventFilter selects events. The zero EventFilter selects all.
type EventFilter struct {
	Refs  []sources.Ref       // nil: events of any primitive, and those without one
	Kinds []sources.EventKind // nil: of any
}

// Lane is the record of one primitive in a span. A term that nobody saw end before its run ended has an End that is
// Bound.
type Lane struct {
	Ref    sources.Ref
	Kind   sources.Kind
	Terms  []sources.Term  // that touch the span, oldest first; of all owners of a semaphore, by start. Hues are of the whole recording
	Before *sources.Term   // the last term before the span, if none ran when the span began; else nil, as for semaphores
	Levels []sources.Level // of a semaphore, beginning with the level at the start of the span
	Dark   []sources.Dark  // when it was not observed, when nobody recorded, and when a record was lost, oldest first
	Holes  []Hole          // the stretches without a record in the whole recording, oldest first and without overlaps
	Since  time.Time       // the first recorded instant; zero: there is no record
}

// Hole is a stretch without a record: nobody recorded, the recorder could not write, or the record was dropped. It
// still lasts if To is zero.
type Hole struct {
	sources.Dark
	Dropped bool // there was a record, which was dropped because of its age or size
}

// Total sums up a span of one primitive.
type Total struct {
	Ref      sources.Ref
	Kind     sources.Kind
	lane.Sum // without Owned
}

// Event is a recorded event with its run. The numbers of events start again in each run.
type Event struct {
	sources.Event
	Run int64
}

// Compare orders events by At, and then as they were recorded. After a clock was set back, this is not the order of
// their numbers.
func (e *Event) Compare(o *Event) int {
	return cmp.Or(e.At.Compare(o.At), cmp.Compare(e.Run, o.Run), cmp.Compare(e.Seq, o.Seq))
}

// Log is a recording as a replay reads it. Its methods are safe for concurrent use.
type Log interface {
	Runs(ctx context.Context) ([]Run, error)

	// Cursor returns a Cursor at the last keyframe of a run that is not after at. If all are after at, it returns a
	// Cursor at the first one. Run 0 stands for the run that recorded at that time. If the clock was set back, two runs
	// can have the same time; then only the number of the earlier run selects it. An error wraps ErrNothing if there is
	// no keyframe.
	Cursor(ctx context.Context, run int64, at time.Time) (Cursor, error)
}

// Cursor reads one run of a Log forward. One goroutine uses it. It holds no file or
// transaction between two calls.
type Cursor interface {
	// Next returns the next Piece of the run. The first Piece has the Keyframe at which the Cursor begins. At the end
	// of the run, or of its recorded part if it still records, Next returns an empty Piece without an error.
	Next(ctx context.Context) (Piece, error)
}

// Piece is a part of a run: some of its Inputs.
type Piece struct {
	Run      int64
	Keyframe *sources.Keyframe // model with which a replay starts again; zero: the start of the Hub; nil: the replay continues
	Inputs   []sources.Input   // after Keyframe
	Thin     bool              // it has no renewals, because an earlier version left them out
	Hole     bool              // the Inputs before Keyframe are missing
	End      bool              // nothing more was written when it was read; false: Next must be called to know
}

// Empty reports whether the run has no more.
func (p *Piece) Empty() bool { return p.Keyframe == nil && len(p.Inputs) == 0 }

// Known returns the lane for the computation of gaps and sums. It has no terms if several can own the primitive at
// once.
func (l *Lane) Known() lane.Lane {
	known := lane.Lane{Terms: l.Terms, Since: l.Since, Dark: l.Dark}
	if l.Before != nil {
		known.Terms = slices.Insert(slices.Clone(l.Terms), 0, *l.Before)
	}
	if l.Leveled() {
		known.Terms = nil
	} else if n := len(known.Terms); n > 0 {
		known.Every = known.Terms[n-1].Every // how often it was polled since then is not recorded
	}
	return known
}

// Gaps returns the observed gaps that lie at least partly in span. The last one may last beyond the span.
func (l *Lane) Gaps(span Span) (gaps []lane.Gap) {
	known := l.Known()
	for g := range known.Gaps(span) {
		if g.Seen {
			gaps = append(gaps, g)
		}
	}
	return gaps
}

// Leveled reports whether several can own the primitive at once, so that it has no gaps.
func (l *Lane) Leveled() bool { return len(l.Levels) > 0 || l.Kind == sources.KindSemaphore }

// Batch is one write of a recorder: the inputs since the previous write, some 300 ms ago, and the data derived from
// them.
type Batch struct {
	Keyframe []byte    // encoded; begins a group. nil: continues the group of the last Batch
	Inputs   []byte    // encoded
	Seq      [2]uint64 // the first and the last Seq of Inputs; with a Keyframe the first is that of the last Input in the Keyframe
	Count    int
	Thin     bool // the group that Keyframe begins has no renewals
	Follows  bool // the group follows the previous one without a hole
	Span     Span // from the first to the last Input, or to now if nothing happened

	Lanes  []LaneChange
	Events []sources.Event // without renewals
	Dark   []DarkChange
	Lost   []Span // stretches in which events were lost, so that nothing is known of any primitive
}

// LaneChange is the news of one primitive.
type LaneChange struct {
	Ref    sources.Ref
	Kind   sources.Kind
	Scope  string          // that contains it
	Terms  []sources.Term  // begun, changed or ended since the last Batch
	Levels []sources.Level // begun or changed
	Gone   bool            // the row vanished at At: nothing is known of it since, and running terms had ended by then
	At     time.Time       // of Gone
}

// DarkChange is an unobserved stretch of a scope, or of one row in it, that began or ended.
type DarkChange struct {
	Source, Scope string
	Ref           sources.Ref // the row; zero: the whole scope
	Dark          sources.Dark
}
