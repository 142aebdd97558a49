package sources

import "time"

// Status is the state of a row in one word.
type Status uint8

// The states of a row.
const (
	StatusNotObserved  Status = iota // configured and never read
	StatusStale                      // an old snapshot: its scope is silent, or it was not read since a gap
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
)

// String returns the word for people, as "no leader".
func (s Status) String() string {
	return [...]string{"not observed yet", "stale", "unknown", "led", "led, renewal late", "no leader", "no candidates",
		"free", "held", "held, owner silent", "full", "conflict"}[s]
}

// Fresh says whether the row can be believed: its scope's server answers, and it was read
// since continuity was last lost. s is the State that the row is from.
func (r *Row) Fresh(s *State) bool {
	if r.Scope >= len(s.Scopes) {
		return false
	}
	scope := &s.Scopes[r.Scope]
	return scope.Health == HealthLive && scope.gap == r.gap
}

// Status is StatusAt the instant of the publish. A renewal becomes late without any
// change being published, so whoever has a clock asks StatusAt.
func (r *Row) Status(s *State) Status { return r.StatusAt(s, s.At) }

// StatusAt names the state of the row at now. What was never read is not observed; else
// stale wins over everything.
func (r *Row) StatusAt(s *State, now time.Time) Status {
	switch {
	case !read(r.Primitive):
		return StatusNotObserved
	case !r.Fresh(s):
		return StatusStale
	case r.conflict():
		return StatusConflict
	case r.Kind == KindSemaphore:
		return r.permits(now)
	case !r.owned() && !ownersKnown(r.Primitive):
		return StatusUnknown
	case r.Kind == KindElection:
		return r.leadership(now)
	case !r.owned():
		return StatusFree
	}
	return r.held(now)
}

// owned says whether somebody owns it; some backends tell no more than how many.
func (r *Row) owned() bool { return len(r.Owners) > 0 || r.Taken > 0 }

func (r *Row) leadership(now time.Time) Status {
	switch {
	case r.owned() && r.renewalLate(now):
		return StatusLedLate
	case r.owned():
		return StatusLed
	case r.nobodyCampaigns():
		return StatusNoCandidates
	}
	return StatusNoLeader
}

// nobodyCampaigns says so only where it is known: an empty queue is not enough where
// candidates may try without waiting in it.
func (r *Row) nobodyCampaigns() bool {
	return r.Queue.How != Unknown && r.Queue.Len == 0 && r.CandidatesHow != Unknown && len(r.Candidates) == 0
}

// permits judges a semaphore by its count, which some backends tell without its owners;
// a count of 0 is told where the limit is.
func (r *Row) permits(now time.Time) Status {
	switch {
	case !r.owned() && !ownersKnown(r.Primitive) && r.LimitHow == Unknown:
		return StatusUnknown
	case !r.owned():
		return StatusFree
	case r.LimitHow != Unknown && r.Limit > 1 && r.Taken >= r.Limit:
		return StatusFull
	}
	return r.held(now)
}

func (r *Row) held(now time.Time) Status {
	if r.silent(now) {
		return StatusHeldSilent
	}
	return StatusHeld
}

// conflict says whether two own exclusively what only one can own. A session that owns in
// two modes is in no conflict with itself.
func (r *Row) conflict() bool {
	if !single(r.Primitive) {
		return false
	}
	for i := range r.Owners {
		if r.Owners[i].Mode != Exclusive {
			continue
		}
		for j := range r.Owners {
			if s := r.Owners[j].Session; j != i && (s == "" || s != r.Owners[i].Session) {
				return true
			}
		}
	}
	return false
}
