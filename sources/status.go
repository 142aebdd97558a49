package sources

import "time"

// Status is the state of a row in one word.
type Status uint8

// The states of a row.
const (
	StatusNotObserved  Status = iota // configured and never read
	StatusStale                      // an old snapshot: its scope is silent, or it was not read since continuity was lost
	StatusUnknown                    // read, but nobody can tell who owns it
	StatusLed                        // an election with a leader
	StatusLedLate                    // its leader's renewal is late
	StatusNoLeader                   // an election that nobody leads
	StatusNoCandidates               // and nobody campaigns either, where the queue and all candidates are known
	StatusFree                       // a mutex or semaphore that nobody owns
	StatusHeld                       // owned
	StatusHeldSilent                 // owned by somebody who has stopped renewing
	StatusFull                       // a semaphore without a permit left
	StatusConflict                   // two exclusive owners at a time
	StatusAbsent                     // configured, and the server reports that none of this name exists
)

// String returns the word for people, as "no leader".
func (s Status) String() string {
	return [...]string{"not observed yet", "stale", "unknown", "led", "led, renewal late", "no leader", "no candidates",
		"free", "held", "held, owner silent", "full", "conflict", "absent"}[s]
}

// Fresh reports whether the row can be believed: its scope's server answers, and it was read
// since continuity was last lost. s is the State that the row is from.
func (r *Row) Fresh(s *State) bool {
	if r.Scope >= len(s.Scopes) {
		return false
	}
	scope := &s.Scopes[r.Scope]
	return scope.Health == HealthLive && scope.Listing == r.Listing
}

// KnownAt is the latest instant up to now for which what the row says was true, as far as
// we can tell: now while its server answers, else when it was last heard. Nothing is
// known of the time since then, so ages end there.
func (r *Row) KnownAt(s *State, now time.Time) time.Time {
	known := now
	switch {
	case r.Scope >= len(s.Scopes):
		known = r.At
	case s.Scopes[r.Scope].Health != HealthLive:
		known = Later(r.At, s.Scopes[r.Scope].Alive)
	case s.Scopes[r.Scope].Listing != r.Listing:
		known = r.At
		if dark := s.Scopes[r.Scope].Dark; len(dark) > 0 {
			known = Later(r.At, dark[len(dark)-1].From)
		}
	}
	return Earlier(known, now)
}

// renewalsAt is the instant at which renewals can be judged: what a server that is silent
// for longer than the usual pause would have told is not known, so nobody is late by it.
func (r *Row) renewalsAt(s *State, now time.Time) time.Time {
	every := r.RenewEvery()
	if r.Scope >= len(s.Scopes) || every <= 0 {
		return now
	}
	if alive := s.Scopes[r.Scope].Alive; !alive.IsZero() && now.Sub(alive) > every {
		return alive
	}
	return now
}

// Status is StatusAt the instant of the publish. A renewal becomes late without any
// change being published, so a caller with a clock asks StatusAt.
func (r *Row) Status(s *State) Status { return r.StatusAt(s, s.At) }

// StatusAt names the state of the row at now. A row that was never read is not observed; else
// stale wins over everything.
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

// LastStatus is StatusAt but for staleness: the state in which the row was when it could last
// be believed, at now.
func (r *Row) LastStatus(s *State, now time.Time) Status {
	owned := len(r.Owners) > 0 || r.Taken > 0 // some backends tell only how many own it
	late := owned && r.late(now, s.Thresholds)
	countTold := r.Kind == KindSemaphore && r.LimitHow != Unknown // of 0 too
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
		return StatusNoCandidates // an empty queue is not enough where candidates may try without waiting in it
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

// conflict reports whether two own what only one can own: an election, whatever the mode, or
// another primitive that one of them owns exclusively. A session that owns in two modes is in
// no conflict with itself.
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

// OwnedAlone reports whether one owner has what only one can own at a time. Who that is may not be
// told: then it has no Owners.
func (p *Primitive) OwnedAlone() bool {
	if len(p.Owners) == 0 {
		return single(p) && p.Taken == 1 && p.OwnersHow == Unknown
	}
	return single(p) && len(p.Owners) == 1 && (p.Owners[0].Mode == Exclusive || p.Kind == KindElection)
}
