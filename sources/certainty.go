package sources

import (
	"slices"
	"time"

	"coordtop/sources/lane"
)

// The types of times, owners and terms are those of package lane, which computes with them.
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

// The values of Known.
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

// certainty ranks the values of Known for an owner's Since.
var certainty = [...]uint8{Unknown: 0, AtLeast: 1, Bound: 2, Claimed: 3, Inferred: 3, Seen: 4, Told: 5, Ours: 5}

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

// StampBetween returns the Stamp of an instant in (after, at]; see lane.StampBetween.
func StampBetween(after, at time.Time, how Known) Stamp { return lane.StampBetween(after, at, how) }

// Earlier returns the earlier of two instants.
func Earlier(a, b time.Time) time.Time { return lane.Earlier(a, b) }

// Later returns the later of two instants.
func Later(a, b time.Time) time.Time { return lane.Later(a, b) }

// Promptness is the maximum age of a push, or of the look before, with which a change counts as told at its instant.
const Promptness = 25 * time.Millisecond

// maxDark bounds the dark stretches that a scope or a row keeps.
const maxDark = 256

// darkAge is the age from which an ended stretch may be dropped, when the next one begins.
const darkAge = 24 * time.Hour

// DarkList is the stretches of one row, oldest first. A published list is never
// changed: each change makes a new one.
type DarkList struct{ List []Dark }

// stretches returns the stretches; l may be nil.
func (l *DarkList) stretches() []Dark {
	if l == nil {
		return nil
	}
	return l.List
}

// withDark returns the list with a new stretch that starts at the time from, unless one lasts already. Stretches are on
// the wall clock, because the monotonic clock may stop while this machine sleeps.
func withDark(list []Dark, from time.Time) []Dark {
	if lasts(list) {
		return list
	}
	first := max(0, len(list)-(maxDark-1))
	for first < len(list) && list[first].To.Before(from.Add(-darkAge)) {
		first++
	}
	return append(slices.Clone(list[first:]), Dark{From: from.Round(0)})
}

// withDarkEnd returns the list with the lasting stretch ended, or without that stretch if its length is zero.
func withDarkEnd(list []Dark, to time.Time) []Dark {
	n := len(list)
	if !lasts(list) {
		return list
	}
	if !to.After(list[n-1].From) {
		return list[:n-1]
	}
	list = slices.Clone(list)
	list[n-1].To = to.Round(0)
	return list
}

// lasts reports whether the last stretch of a list has no end yet.
func lasts(list []Dark) bool { return len(list) > 0 && list[len(list)-1].To.IsZero() }

// unseen adds a stretch that has ended, and joins it to the last one if they meet. It begins no earlier than the look
// that last showed the row to be free.
func (r *Row) unseen(from, to time.Time) {
	from = Later(from, r.Nobody.At)
	list := r.OwnersUnknown.stretches()
	n := len(list)
	switch {
	case lasts(list):
		return
	case n > 0 && !list[n-1].To.Before(from):
		from = list[n-1].From
		to = Later(to, list[n-1].To)
		list = list[:n-1]
	}
	r.OwnersUnknown = &DarkList{withDarkEnd(withDark(list, from), to)}
}

// wentDark reports whether a dark stretch began between from and to. An earlier stretch had ended when the row was read
// at the time from.
func wentDark(from, to time.Time, dark []Dark) bool {
	return slices.ContainsFunc(dark, func(d Dark) bool { return !d.From.Before(from) && d.From.Before(to) })
}

// beginDark begins a dark stretch, unless one lasts. Before the first answer, when from is zero, it begins none,
// because nothing can be missed.
func (sc *ScopeFacts) beginDark(from time.Time) {
	if !sc.InDark && !from.IsZero() {
		sc.InDark = true
		sc.Dark = withDark(sc.Dark, from)
	}
}

// endDark ends the stretch that lasts.
func (sc *ScopeFacts) endDark(to time.Time) {
	if sc.InDark {
		sc.InDark = false
		sc.Dark = withDarkEnd(sc.Dark, to)
	}
}

// Darkened returns s with more stale scopes and rows: those that were not observed then, which became known only later.
// The function since returns the start of the dark stretch of a scope (if row is nil) or of a row, or zero if it was
// observed. Dark stretches in s stay.
func (s *State) Darkened(since func(c *Scope, row *Row) time.Time) *State {
	out := *s
	out.Scopes, out.Sources, out.Rows = slices.Clone(s.Scopes), slices.Clone(s.Sources), slices.Clone(s.Rows)
	for i := range out.Scopes {
		c := &out.Scopes[i]
		from := since(c, nil)
		if from.IsZero() || c.Health != HealthLive || c.Since.IsZero() || lasts(c.Dark) {
			continue
		}
		c.Health, c.Dark = HealthStale, withDark(c.Dark, from)
		if at := slices.IndexFunc(out.Sources, func(f SourceStatus) bool { return f.Name == c.Source }); at >= 0 {
			out.Sources[at].Health = HealthStale
		}
	}
	for i, row := range out.Rows {
		if row == nil || !row.Fresh(&out) || lasts(row.OwnersUnknown.stretches()) {
			continue
		}
		if from := since(&out.Scopes[row.Scope], row); !from.IsZero() {
			dark := *row
			dark.Listing--
			dark.OwnersUnknown = &DarkList{withDark(row.OwnersUnknown.stretches(), from)}
			out.Rows[i] = &dark
		}
	}
	return &out
}
