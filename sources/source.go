package sources

import (
	"context"
	"slices"
	"time"
)

// Source reads one backend. Connect, Next and Close never overlap; the runner calls
// Connect until it succeeds, then Next until it fails, then Close, then Connect
// again after a pause. Focus and Refresh, where implemented, may be called at any
// time.
type Source interface {
	// Connect reaches the backend. ctx bounds the connecting only and must not be kept.
	// An error that wraps ErrRefused is retried every few seconds; see the package comment.
	Connect(ctx context.Context) error
	// Next blocks until there is something to tell, at most a second, so that the
	// runner can act. Only Change.Alive is proof of life. An error means that the
	// connection is over: Close, then Connect, follow. After Connect the first Change of
	// each scope has Relists set.
	Next(ctx context.Context) (Change, error)
	// Close frees what Connect made and joins every goroutine. It is called after every
	// successful or failed Connect, and may be called again.
	Close() error
}

// Focuser is implemented by a source that reads faster what is on screen: rows of its own.
// Focus never blocks. See Hints.
type Focuser interface {
	Focus(visible []Ref, selected Ref)
}

// Refresher is implemented by a source that can look again now. Refresh never
// blocks.
type Refresher interface{ Refresh() }

// Change is what a source tells at a time: a part of the state, not an event.
type Change struct {
	Scope     string       // the unit that can be silent or restart alone; "" if there is one
	Set       []*Primitive // only those that differ; never changed after this
	Gone      []Ref        // does not exist any more; not "nobody owns it"
	Ended     []Ending     // only where the service told it or it follows
	Relists   bool         // continuity of Scope was lost before this: not observed until now; everything is Set anew
	Synced    bool         // once after each Relists: the listing is complete, what was not Set since is gone
	Down      error        // why Scope cannot be read although its server may answer: it is stale until it is Alive
	Alive     []string     // scopes whose server answered since the last Next, also where nothing changed
	Unseen    []Unseen     // rows that may have changed and changed back unseen
	After, At time.Time    // what is told here happened in (After, At]; After zero: at At, told. At zero: now
	About     *About       // if it differs from the last one

	// Decided is what leases decided that a recording does not have any more: versions before 6 of its file left renewals
	// out. A source leaves it empty.
	Decided []Event
}

// Unseen reports that a row, though it looks as before, may have been otherwise in a stretch of
// time: it was written to, or not looked at when it was due. From it on no unbroken gap is
// counted.
type Unseen struct {
	Ref      Ref
	From, To time.Time
}

// Ending says why an owner of Ref is gone, where that is known.
type Ending struct {
	Ref   Ref
	Owner string // Owner.ID
	Cause Cause
	How   Known // Told, or Inferred where it follows
}

// Partial is why a listing leaves out what may be owned.
type Partial uint8

// The reasons. Whole: it leaves out nothing; Reading: it goes on, and gets whole; TooMany: it
// stays so, as there is more than a source keeps; Refused: the server does not show whether
// something is owned.
const (
	Whole Partial = iota
	Reading
	TooMany
	Refused
)

// About is what a source says of itself and its scope's server.
type About struct {
	Mode        string        // "tracking", "tracking RESP2", "keyspace events", "polling": what is in use
	Sampling    time.Duration // 0: pushed; else the pause between two looks
	Version     string        // of the server
	Incarnation string        // "" where a restart cannot be told or keeps the state
	Became      string        // with another Incarnation than before: what happened to the server, as "the node was made anew"; "": it was restarted
	BecameHow   Known         // of Became: Told by the server, or Inferred; Unknown counts as Told
	Started     time.Time     // when the server process began, on our clock, or a little earlier; zero: not known
	RoundTrip   time.Duration // of the last request; 0: not measured
	Role        string        // "master", "replica", "standby"; "" if unknown
	Absent      bool          // the scope's space does not exist at the server, and so nothing in it
	Warnings    []string      // sentences that say what to do
	Partial     Partial       // whether what may be owned is left out, though Synced
	LeftOut     string        // a sentence about that and what to do; "": Whole
	Config      []Attr
}

// tripNoise is by how much a round trip may differ from the one told last without being told.
const tripNoise = 5 * time.Millisecond

// startNoise is by how much the beginning of one server process differs from look to look: it is
// told as an age in whole seconds.
const startNoise = 2 * time.Second

// Same reports whether b need not be told after a: a round trip or a pause between two looks
// that differs a little does not count.
func (a *About) Same(b *About) bool {
	trips := (a.RoundTrip > 0) == (b.RoundTrip > 0) && similar(a.RoundTrip, b.RoundTrip, tripNoise)
	return trips && similar(a.Sampling, b.Sampling, 0) &&
		a.Mode == b.Mode && a.Version == b.Version && a.Role == b.Role && a.Absent == b.Absent &&
		a.Incarnation == b.Incarnation && a.Started.Sub(b.Started).Abs() <= startNoise && a.Became == b.Became && a.BecameHow == b.BecameHow &&
		a.Partial == b.Partial && a.LeftOut == b.LeftOut &&
		slices.Equal(a.Warnings, b.Warnings) && slices.Equal(a.Config, b.Config)
}

// Missed reports whether a look was left out in a pause between two, where they are so far apart.
func Missed(pause, sampling time.Duration) bool { return pause > 2*sampling }

// similar reports whether a and b are alike: within slack, or none more than twice the other. A
// pause of twice the length is still within the silence limit, see silenceAfter.
func similar(a, b, slack time.Duration) bool {
	return (a-b).Abs() <= slack || a <= 2*b && b <= 2*a
}

// Selection says which primitives of a source are watched.
type Selection struct {
	Kind     Kind   // KindUnknown: the source tells it by the name, or as the service lists it
	Pattern  string // a name, or a pattern in the language of the backend
	Expected bool   // must always have an owner
	Node     string // of YDB alone: the path of the coordination node; "": each one that is watched
}
