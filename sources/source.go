package sources

import (
	"context"
	"slices"
	"time"
)

// Source reads one backend. Connect, Next and Close never overlap; the runner calls Connect until it succeeds, then
// Next until it fails, then Close, then Connect again after a pause. Focus and Refresh, if implemented, may be called
// at any time.
type Source interface {
	// Connect reaches the backend. ctx bounds the connecting only and must not be kept. After an error that wraps
	// ErrRefused, the next try comes a few seconds later; see the package comment.
	Connect(ctx context.Context) error
	// Next blocks until there is a Change, but at most a second, so that the runner can act. Only Change.Alive is proof
	// of life. An error means that the connection has ended; the runner then calls Close and Connect. After Connect the
	// first Change of each scope has Relists set.
	Next(ctx context.Context) (Change, error)
	// Close frees the resources of Connect and joins every goroutine. It is called after
	// every successful or failed Connect, and may be called again.
	Close() error
}

// Focuser is implemented by a source that can read its rows on screen more often. Focus never blocks. See kit.Hints.
type Focuser interface {
	Focus(visible []Ref, selected Ref)
}

// Refresher is implemented by a source that can read everything again now. Refresh never
// blocks.
type Refresher interface{ Refresh() }

// Change is a message of a source: a part of the state, not an event.
type Change struct {
	Scope     string       // the unit that can be silent or restart alone; "" if there is one
	Set       []*Primitive // only those that differ; never changed after sending
	Gone      []Ref        // primitives that do not exist any more; a free one is not Gone
	Ended     []Ending     // only if the service told it or it follows
	Relists   bool         // continuity of Scope was lost: it was not observed until now, and everything is Set again
	Synced    bool         // once after each Relists: the listing is complete, and rows that were not Set since are gone
	Down      error        // why Scope cannot be read, although its server may answer; Scope is stale until it is Alive
	Alive     []string     // scopes whose server answered since the last Next, even if nothing changed
	Unseen    []Unseen     // rows that may have changed and changed back unseen
	After, At time.Time    // the changes happened in (After, At]; if After is zero, at At, as told; if At is zero, now
	About     *About       // if it differs from the last one

	// Decided has decisions by leases for a recording without the leases, because files before version 6 left renewals
	// out. A source leaves it empty.
	Decided []Event
}

// Unseen reports that a row, though it looks the same as before, may have been different for a stretch of time, because
// it was written to or not read when due. No gap is counted as unbroken across that stretch.
type Unseen struct {
	Ref      Ref
	From, To time.Time
}

// Ending gives the cause of an ownership's end, if it is known.
type Ending struct {
	Ref   Ref
	Owner string // Owner.ID
	Cause Cause
	How   Known // Told, or Inferred if it follows
}

// Partial is the reason why a listing leaves out primitives that may be owned.
type Partial uint8

// The reasons. Whole: the listing leaves out none. Reading: it is still running. TooMany: there are more than a source
// keeps. Refused: the server refuses to show whether they are owned.
const (
	Whole Partial = iota
	Reading
	TooMany
	Refused
)

// About has the facts of a source about itself and its scope's server.
type About struct {
	Mode        string        // in use: "tracking", "tracking RESP2", "keyspace events", "polling"
	Sampling    time.Duration // 0: pushed; else the pause between two looks
	Version     string        // of the server
	Incarnation string        // "" if a restart cannot be detected or keeps the state
	Became      string        // reason of a new Incarnation, for example "the node was made anew"; "": the server was restarted
	BecameHow   Known         // of Became: Told by the server, or Inferred; Unknown counts as Told
	Started     time.Time     // start of the server process, on our clock, or a little earlier; zero: unknown
	RoundTrip   time.Duration // of the last request; 0: not measured
	Role        string        // "master", "replica", "standby"; "" if unknown
	Absent      bool          // the scope's space does not exist at the server, nor does anything in it
	Warnings    []string      // sentences with what to do
	Partial     Partial       // of the listing, even if it is Synced
	LeftOut     string        // a sentence about Partial and what to do; "" if Whole
	Config      []Attr
}

// tripNoise bounds by how much a round trip may differ without a new About.
const tripNoise = 5 * time.Millisecond

// startNoise bounds by how much the start of one server process differs from look to look, because servers report an
// age in whole seconds.
const startNoise = 2 * time.Second

// Same reports whether b need not be sent after a; small differences of the round trip or of the pause between two
// looks do not count.
func (a *About) Same(b *About) bool {
	trips := (a.RoundTrip > 0) == (b.RoundTrip > 0) && similar(a.RoundTrip, b.RoundTrip, tripNoise)
	return trips && similar(a.Sampling, b.Sampling, 0) &&
		a.Mode == b.Mode && a.Version == b.Version && a.Role == b.Role && a.Absent == b.Absent &&
		a.Incarnation == b.Incarnation && a.Started.Sub(b.Started).Abs() <= startNoise && a.Became == b.Became && a.BecameHow == b.BecameHow &&
		a.Partial == b.Partial && a.LeftOut == b.LeftOut &&
		slices.Equal(a.Warnings, b.Warnings) && slices.Equal(a.Config, b.Config)
}

// Missed reports whether the pause between two looks is so long that one was left out. sampling is the usual pause.
func Missed(pause, sampling time.Duration) bool { return pause > 2*sampling }

// similar reports whether a and b are alike: they differ by at most slack, or neither is more than twice the other. A
// pause of twice the length is still within the silence limit, see silenceAfter.
func similar(a, b, slack time.Duration) bool {
	return (a-b).Abs() <= slack || a <= 2*b && b <= 2*a
}

// Selection selects primitives of a source to watch.
type Selection struct {
	Kind     Kind   // KindUnknown: the source finds the kind by the name, or from the service's listing
	Pattern  string // a name, or a pattern in the language of the backend
	Expected bool   // must always have an owner
	Node     string // only for YDB: the path of the coordination node; "" for each watched node
}
