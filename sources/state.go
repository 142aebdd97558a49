package sources

import (
	"math"
	"time"
)

// State is one published snapshot. It is immutable and may be kept and read from any goroutine.
type State struct {
	Rev     uint64    // grows with every publish
	At      time.Time // of the publish
	LastSeq uint64    // of the newest event that is already in this state
	Rows    []*Row    // by slot; nil if the slot is free. A row never changes its slot
	Scopes  []Scope   // by Row.Scope
	Sources []SourceStatus

	Thresholds Thresholds // with which this state was made
}

// Row is a primitive with the facts that the Hub derives for it.
type Row struct {
	*Primitive
	Slot    int
	Gen     uint32 // of the slot; no other row ever has the same slot and generation
	Listing uint32 // Scope.Listing at its last read
	Rev     uint64 // Rev of the State that first had this version; equal Rev means equal row
	Scope   int    // index in State.Scopes
	Terms   []Term // oldest first, the running one last; at most MaxTerms; empty for semaphores with a limit other than 1
	Nobody  Stamp  // start of the time without an owner; zero if it is owned or was never read

	LowestLease time.Duration // lowest remaining time seen at a look in the running term; 0: unknown; see LowestLeaseAt

	Counted       *Counted  // nil if it is no semaphore or no count is told; immutable once published
	Activity      *Activity // nil if no change was counted; immutable once published
	OwnersUnknown *DarkList // stretches with unknown owners; may be nil; immutable once published
}

// MaxTerms bounds the terms that a row keeps.
const MaxTerms = 64

// Health is the health of a source or scope.
type Health uint8

// The states of health.
const (
	HealthConnecting Health = iota // no answer yet
	HealthLive
	HealthStale // silent for longer than the limit, or the connection is closed
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
	Alive   time.Time     // the last answer of its server; zero: none
	Silence time.Duration // the limit after which the scope is stale
	About   About
	Since   time.Time  // end of its first listing, before which nothing was observed; zero if none was complete
	Dark    []Dark     // stretches since then that were not observed, oldest first, bounded by count and age
	Paces   []LookPace // of the looks, oldest first, bounded
	Listing uint32     // number of the listing; a row with an older number was not read since
}

// noScope is used if a state does not have the scope of a row. It must not be changed.
var noScope Scope

// scopeOf returns the scope of a row, or an empty scope if s does not have it.
func (s *State) scopeOf(r *Row) *Scope {
	if r.Scope < len(s.Scopes) {
		return &s.Scopes[r.Scope]
	}
	return &noScope
}

// Whole reports whether the last listing is complete and leaves out no primitive that may be owned.
func (c *Scope) Whole() bool { return c.Synced && c.About.Partial == Whole }

// SourceStatus is the health of one configured source.
type SourceStatus struct {
	Name    string
	Type    string    // "redis", "postgres", "ydb", "dflockd"
	Address string    // without user, password and query
	Health  Health    // the worst of its scopes; connecting until the first answer
	Err     error     // the reason if it is not live; else nil
	Retry   time.Time // of the next Connect; zero: no pause runs
	Rows    int
	Agree   int // if not 0, a name is the same lock in all scopes of all sources with this number
}

// is reports whether both describe the same source, by name, type and address.
func (s *SourceStatus) is(other *SourceStatus) bool {
	return s.Name == other.Name && s.Type == other.Type && s.Address == other.Address
}

// Activity counts owner changes and losses by the minute for the last hour. It has a fixed size, so that a row that
// changes often needs no more memory than another.
type Activity struct {
	Minute  int32 // Unix minute of the newest count; 0: nothing counted yet
	Cut     bool  // a Keyframe left out the oldest terms of the row
	Changes perMinute
	Losses  perMinute
}

// noActivity is used for a row without counts. It must not be changed.
var noActivity Activity

// perMinute has the count of each Unix minute at its remainder; at most 255 each.
type perMinute [60]uint8

// add counts a change or loss at the time t, unless t is more than an hour before the newest count.
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

// since returns the sum of the counts in the last minutes: within, rounded up to minutes, including the present one, at
// most an hour. newest is the minute of the newest count.
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
