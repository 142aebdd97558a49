package sources

import (
	"time"

	"coordtop/internal/lane"
)

// What is known of times, owners and their terms: see package lane, which computes with them.
type (
	Known    = lane.Known
	Stamp    = lane.Stamp
	Interval = lane.Interval
	Dark     = lane.Dark
	GapStats = lane.GapStats
	Term     = lane.Term
	OwnerRef = lane.OwnerRef
	Program  = lane.Program
	Cause    = lane.Cause
)

// The ways of knowing.
const (
	Unknown  = lane.Unknown
	Told     = lane.Told
	Seen     = lane.Seen
	Inferred = lane.Inferred
	AtLeast  = lane.AtLeast
	Claimed  = lane.Claimed
	Bound    = lane.Bound
	Ours     = lane.Ours
)

// The causes.
const (
	CauseUnknown  = lane.CauseUnknown
	CauseReleased = lane.CauseReleased
	CauseExpired  = lane.CauseExpired
	CauseDeleted  = lane.CauseDeleted
	CauseEvicted  = lane.CauseEvicted
	CauseReplaced = lane.CauseReplaced
	CauseRestart  = lane.CauseRestart
	CauseSession  = lane.CauseSession
)

// Endless is the Max of an Interval that has no upper bound.
const Endless = lane.Endless

// StampBetween stamps an instant in (after, at]: see lane.StampBetween.
func StampBetween(after, at time.Time, how Known) Stamp { return lane.StampBetween(after, at, how) }

// Earlier returns the earlier of two instants.
func Earlier(a, b time.Time) time.Time { return lane.Earlier(a, b) }

// Later returns the later of two instants.
func Later(a, b time.Time) time.Time { return lane.Later(a, b) }
