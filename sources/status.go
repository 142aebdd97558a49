package sources

import (
	"time"
)

// Status is the state of a row in one word.
type Status uint8

// The states of a row.
const (
	StatusNotObserved  Status = iota // configured and never read
	StatusStale                      // an old snapshot, because its scope is silent or it was not read since continuity was lost
	StatusUnknown                    // read, but its owners are unknown
	StatusLed                        // an election with a leader
	StatusLedLate                    // its leader's renewal is late
	StatusNoLeader                   // an election that nobody leads
	StatusNoCandidates               // no leader, and nobody campaigns as far as queue and candidates are known
	StatusFree                       // a mutex or semaphore that nobody owns
	StatusHeld                       // owned
	StatusHeldSilent                 // its owner has stopped renewing
	StatusFull                       // a semaphore without a permit left
	StatusConflict                   // two exclusive owners at a time
	StatusAbsent                     // configured, and the server reports that none of this name exists
)

// String returns the word for people, for example "no leader".
func (s Status) String() string {
	return [...]string{"not observed yet", "stale", "unknown", "led", "led, renewal late", "no leader", "no candidates",
		"free", "held", "held, owner silent", "full", "conflict", "absent"}[s]
}

// Fresh reports whether the row can be believed: its scope's server answers, and the row was read since continuity was
// last lost. s is the State that the row is from.
func (r *Row) Fresh(s *State) bool {
	scope := s.scopeOf(r)
	return scope.Health == HealthLive && scope.Listing == r.Listing
}

// Watched reports whether the scope of the row is being read. If it is, nobody owns a row that its source would list
// but does not. s is the State that has, or would have, the row.
func (r *Row) Watched(s *State) bool {
	scope := s.scopeOf(r)
	return scope.Health == HealthLive && scope.Synced
}

// KnownAt returns the latest instant up to now at which the row is known to be true: now while its server answers, else
// the last answer. Nothing is known about the time after that, so that ages end there.
func (r *Row) KnownAt(s *State, now time.Time) time.Time {
	known, scope := now, s.scopeOf(r)
	switch {
	case scope.Health != HealthLive:
		known = Later(r.At, scope.Alive)
	case scope.Listing != r.Listing && len(scope.Dark) > 0:
		known = Later(r.At, scope.Dark[len(scope.Dark)-1].From)
	case scope.Listing != r.Listing:
		known = r.At
	}
	return Earlier(known, now)
}

// renewalsAt returns the instant at which renewals can be judged: while the server is silent for longer than the usual
// pause, renewals are unknown, and no owner counts as late.
func (r *Row) renewalsAt(s *State, now time.Time) time.Time {
	every, alive := r.RenewEvery(), s.scopeOf(r).Alive
	if every > 0 && !alive.IsZero() && now.Sub(alive) > every {
		return alive
	}
	return now
}

// Status returns StatusAt for the instant of the publish. A renewal becomes late without a new State, so that a caller
// with a clock should call StatusAt.
func (r *Row) Status(s *State) Status { return r.StatusAt(s, s.At) }

// StatusAt returns the state of the row at now. A row that was never read is not observed; otherwise stale comes before
// any other state.
func (r *Row) StatusAt(s *State, now time.Time) Status {
	now = r.renewalsAt(s, now)
	switch {
	case !read(r.Primitive):
		return StatusNotObserved
	case !r.Fresh(s):
		return StatusStale
	}
	return r.LastStatus(s, now)
}

// LastStatus returns the same as StatusAt but without staleness: the state at now by the last read of the row.
func (r *Row) LastStatus(s *State, now time.Time) Status {
	owned := len(r.Owners) > 0 || r.Taken > 0 // some backends report only the number of owners
	late := owned && r.late(now, s.Thresholds)
	countTold := counted(r.Primitive) // even a count of 0
	switch election := r.Kind == KindElection; {
	case r.Absent:
		return StatusAbsent
	case r.conflict():
		return StatusConflict
	case !owned && !ownersKnown(r.Primitive) && !countTold:
		return StatusUnknown
	case election && late:
		return StatusLedLate
	case election && owned:
		return StatusLed
	case election && r.Queue.How != Unknown && r.Queue.Len == 0 && r.Queue.CandidatesHow != Unknown && len(r.Candidates) == 0:
		return StatusNoCandidates // an empty queue alone is not enough if candidates may try without queueing
	case election:
		return StatusNoLeader
	case !owned:
		return StatusFree
	case countTold && r.Limit > 1 && r.Taken >= r.Limit:
		return StatusFull
	case late:
		return StatusHeldSilent
	}
	return StatusHeld
}

// conflict reports whether a primitive for a single owner has two: in an election in any mode, or in another primitive
// that one of them owns exclusively. Two modes of one session are no conflict.
func (p *Primitive) conflict() bool {
	if !single(p) {
		return false
	}
	for i := range p.Owners {
		if p.Owners[i].Mode != Exclusive && p.Kind != KindElection {
			continue
		}
		for j := range p.Owners {
			if s := p.Owners[j].Session; j != i && (s == "" || s != p.Owners[i].Session) {
				return true
			}
		}
	}
	return false
}

// OwnedAlone reports whether a primitive for a single owner has exactly one. If that owner is unknown, Owners is empty.
func (p *Primitive) OwnedAlone() bool {
	if len(p.Owners) == 0 {
		return single(p) && p.Taken == 1 && p.OwnersHow == Unknown
	}
	return single(p) && len(p.Owners) == 1 && (p.Owners[0].Mode == Exclusive || p.Kind == KindElection)
}

// Thresholds are the limits from which something counts as late, lost, flapping or a problem. The configuration may
// change them.
type Thresholds struct {
	NoLeader time.Duration `yaml:"no_leader"` // an election without a leader for so long needs a person

	LateLeft   float64 `yaml:"late_left"`   // a renewal is late if less than this part of the lease is left
	LateMissed int     `yaml:"late_missed"` // or if so many pauses of the owner's rhythm were missed ...
	LateWorn   float64 `yaml:"late_worn"`   // ... and less than this part of the lease is left
	LateSeen   int     `yaml:"late_seen"`   // renewals that must have been seen before a rhythm counts

	LossGap time.Duration `yaml:"loss_gap"` // a change whose cause is not told is a loss if nobody owned it for longer than this and the row's usual gap

	Gap     time.Duration `yaml:"gap"` // if nobody owned it for longer than this and GapPart of a column, the strip shows a block, else a break
	GapPart float64       `yaml:"gap_part"`

	FlapLosses int           `yaml:"flap_losses"` // more losses than this within FlapWithin count as flapping
	FlapWithin time.Duration `yaml:"flap_within"` // at most an hour, counted by the minute

	Wait       time.Duration `yaml:"wait"`        // a first waiter that waits longer is worth a look
	WaitPerson time.Duration `yaml:"wait_person"` // and needs a person if longer than this
	Full       time.Duration `yaml:"full"`        // a semaphore without a free permit for so long while somebody waits
	Stale      time.Duration `yaml:"stale"`       // a source that is silent for so long needs a person
}

// DefaultThresholds returns the thresholds used if none are configured.
func DefaultThresholds() Thresholds {
	return Thresholds{
		NoLeader: 5 * time.Second,
		LateLeft: 1.0 / 3, LateMissed: 2, LateWorn: 1.0 / 2, LateSeen: 3,
		LossGap: time.Second,
		Gap:     time.Second, GapPart: 1.0 / 4,
		FlapLosses: 2, FlapWithin: 10 * time.Minute,
		Wait: 30 * time.Second, WaitPerson: 10 * time.Minute,
		Full:  5 * time.Minute,
		Stale: time.Minute,
	}
}
