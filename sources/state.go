package sources

import (
	"math"
	"time"
)

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

// Activity counts owner changes and losses by the minute for the last hour. It has a fixed
// size so that a row that flaps costs no more memory than a calm one.
type Activity struct {
	Minute  int32 // Unix minute of the newest count; 0: nothing counted yet
	Cut     bool  // a Keyframe left out the oldest terms of the row
	Changes perMinute
	Losses  perMinute
}

// noActivity stands for the counts of a row that has none. It must not be changed.
var noActivity Activity

// perMinute has the count of each Unix minute at its remainder; at most 255 each.
type perMinute [60]uint8

// add counts at t, unless t is more than an hour before the newest count.
func (a *Activity) add(t time.Time, change, loss bool) {
	m := int32(min(t.Unix()/60, math.MaxInt32-100))
	switch {
	case m <= a.Minute-60 || m < 0:
		return
	case m > a.Minute+60 || a.Minute == 0:
		*a = Activity{Minute: m, Cut: a.Cut}
	case m > a.Minute:
		for i := a.Minute + 1; i <= m; i++ {
			a.Changes[i%60], a.Losses[i%60] = 0, 0
		}
		a.Minute = m
	}
	if change {
		a.Changes.add(m)
	}
	if loss {
		a.Losses.add(m)
	}
}

func (p *perMinute) add(m int32) {
	if c := &p[m%60]; *c < 255 {
		*c++
	}
}

// since counts what happened in the minutes of the clock that within covers, rounded up, the
// running one included and an hour at most. newest is the minute of the newest count.
func (p *perMinute) since(newest int32, now time.Time, within time.Duration) int {
	last := now.Unix() / 60
	minutes := int64((min(within, time.Hour) + time.Minute - 1) / time.Minute)
	first := max(last-minutes+1, int64(newest)-59, 0)
	n := 0
	for m := first; m <= min(last, int64(newest)); m++ {
		n += int(p[m%60])
	}
	return n
}
