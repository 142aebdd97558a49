package sources

import "time"

// State is one published snapshot. Nothing in it is ever changed: it may be kept and
// read from any goroutine.
type State struct {
	Rev     uint64    // grows with every publish
	At      time.Time // of the publish
	LastSeq uint64    // of the newest event that is already in this state
	Rows    []*Row    // by slot; nil: the slot is free. A row keeps its slot for life
	Scopes  []Scope   // by Row.Scope
	Sources []SourceStatus

	Thresholds Thresholds // from when on a row is called late
}

// Row is a primitive and what the Hub derives for it.
type Row struct {
	*Primitive
	Slot    int
	Gen     uint32 // of the slot: together they are a handle that is never given to another row
	Listing uint32 // the Scope's count of listings when it was last read
	Rev     uint64 // of the publish that brought this version: equal Rev, equal row
	Scope   int    // index in State.Scopes
	Terms   []Term // oldest first, the running one last; at most MaxTerms; empty for semaphores with a limit other than 1
	Nobody  Stamp  // since when nobody owns it; zero where somebody does or nobody ever looked

	LowestLease time.Duration // lowest remainder seen at a look in the running term; 0: unknown. See LowestLeaseAt

	Counted       *Counted  // nil: no semaphore, or no count told; never changed once published
	Activity      *Activity // nil: no change counted; never changed once published
	OwnersUnknown *DarkList // when its owners could not be told; nil: never; never changed once published
}

// MaxTerms is how many terms a row keeps.
const MaxTerms = 64

// Health says how far a source or scope can be believed.
type Health uint8

// The states of health.
const (
	HealthConnecting Health = iota // never heard from yet
	HealthLive
	HealthStale // silent for longer than its limit, or its connection is closed
)

// String returns "connecting", "live" or "stale".
func (h Health) String() string {
	return [...]string{"connecting", "live", "stale"}[h]
}

// Scope is the unit that can be silent alone: a server, a cluster master, a node.
type Scope struct {
	Source  string
	Name    string
	Health  Health
	Synced  bool          // the last listing is complete
	Alive   time.Time     // when its server last answered; zero: never
	Silence time.Duration // the limit after which it is stale
	About   About
	Since   time.Time  // when its first listing was complete: nothing before was observed; zero: it never was
	Dark    []Dark     // when it was not observed since, oldest first, bounded by count and age
	Paces   []LookPace // of the looks, oldest first, bounded
	Listing uint32     // counts the listings: a row with an older count was not read since
}

// Whole reports whether the last listing is complete and leaves out nothing that may be owned.
func (c *Scope) Whole() bool { return c.Synced && c.About.Partial == Whole }

// SourceStatus is the health of one configured source.
type SourceStatus struct {
	Name    string
	Type    string    // "redis", "postgres", "ydb", "dflockd"
	Address string    // without user, password and query
	Health  Health    // the worst of its scopes; connecting until the first answer
	Err     error     // why it is not live; nil otherwise
	Retry   time.Time // when it is tried again; zero: no pause runs
	Rows    int
	Agree   int // not 0: a name is the same lock in all scopes of all sources with this number
}

// is reports whether both are of the same source: it has the same name, type and address.
func (s *SourceStatus) is(other *SourceStatus) bool {
	return s.Name == other.Name && s.Type == other.Type && s.Address == other.Address
}
