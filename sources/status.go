package sources

import (
	"time"
)

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

// Missed counts the renewals of this owner that are overdue at now, by its own rhythm. Half
// a pause is granted before one counts. 0 also where too few were seen to know a rhythm.
func (o *Owner) Missed(now time.Time, t Thresholds) int {
	last, ok := lastRenewed(o)
	every := o.RenewEvery()
	if !ok || every <= 0 || int(o.Rhythm.seen) < t.LateSeen {
		return 0
	}
	return max(0, int((now.Sub(last)+every/2)/every)-1)
}

// lastRenewed is when the owner last proved that it lives: by a renewal, else by taking
// it, where that was not earlier than we could see.
func lastRenewed(o *Owner) (time.Time, bool) {
	if o.NoExpiry {
		return time.Time{}, false
	}
	if o.Renewed.How != Unknown {
		return o.Renewed.At, true
	}
	return o.Since.At, o.Since.How == Told || o.Since.How == Seen || o.Since.How == Ours
}

// lateAt is when a renewal of the owner is late if the owner stays as it is: its lease may be over,
// or it is short, or its rhythm is broken and much of the lease is gone. Of owners that were never
// seen to renew only a leader is expected to. Zero: never.
func (o *Owner) lateAt(leads bool, t Thresholds) time.Time {
	if !leaseKnown(o) {
		return time.Time{}
	}
	at := o.Expires.Earliest()
	if o.Lease <= 0 || !leads && o.Rhythm.seen == 0 {
		return at
	}
	at = Earlier(at, o.Expires.At.Add(1-share(o.Lease, t.LateLeft))) // less is left then
	if last, ok := lastRenewed(o); ok && o.RenewEvery() > 0 && int(o.Rhythm.seen) >= t.LateSeen {
		missed := last.Add(o.RenewEvery()*time.Duration(t.LateMissed) + o.RenewEvery()/2)
		at = Earlier(at, Later(missed, o.Expires.At.Add(1-share(o.Lease, t.LateWorn))))
	}
	return at
}

// share is a part of a lease.
func share(lease time.Duration, part float64) time.Duration {
	return time.Duration(float64(lease) * part)
}

// late reports whether the renewal of one of the owners is late.
func (r *Row) late(now time.Time, t Thresholds) bool {
	at := r.LateAt(t)
	return !at.IsZero() && !now.Before(at)
}

// LateAt is the instant from which on the renewal of an owner is late or its lease may be over;
// zero: never, as long as the row stays as it is. Until then StatusAt names no owner late or
// silent. From then on it does, or finds an excuse in a server that is silent.
func (r *Row) LateAt(t Thresholds) time.Time {
	var first time.Time
	for i := range r.Owners {
		at := r.Owners[i].lateAt(r.Kind == KindElection, t)
		if !at.IsZero() && (first.IsZero() || at.Before(first)) {
			first = at
		}
	}
	return first
}

// Thresholds says from when on something is called late, lost, flapping or a problem. It
// is the one place where these figures stand; the configuration may change them.
type Thresholds struct {
	NoLeader time.Duration `yaml:"no_leader"` // an election without a leader for so long needs a person

	LateLeft   float64 `yaml:"late_left"`   // less than this part of the lease left: a renewal is late
	LateMissed int     `yaml:"late_missed"` // or so many pauses of the owner's own rhythm missed ...
	LateWorn   float64 `yaml:"late_worn"`   // ... and less than this part of the lease left
	LateSeen   int     `yaml:"late_seen"`   // renewals that must have been seen before a rhythm counts

	LossGap time.Duration `yaml:"loss_gap"` // a change without a told cause is a loss if nobody owned for longer than this and the row's usual gap

	Gap     time.Duration `yaml:"gap"` // nobody owned it for longer than this, and than GapPart of a column: a block on the strip, else a break
	GapPart float64       `yaml:"gap_part"`

	FlapLosses int           `yaml:"flap_losses"` // more losses than this within FlapWithin is flapping
	FlapWithin time.Duration `yaml:"flap_within"` // at most an hour, counted by the minute

	Wait       time.Duration `yaml:"wait"`        // a first waiter that waits longer is worth a look
	WaitPerson time.Duration `yaml:"wait_person"` // and needs a person from here on
	Full       time.Duration `yaml:"full"`        // a semaphore without a free permit for so long while somebody waits
	Stale      time.Duration `yaml:"stale"`       // a source that is silent for so long needs a person
}

// DefaultThresholds are those in use where nothing else is configured.
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
