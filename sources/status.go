package sources

import "time"

// Status is the state of a row in one word.
type Status uint8

// The states of a row.
const (
	StatusNotObserved  Status = iota // configured and not yet read
	StatusStale                      // an old snapshot: its scope is silent, or it was not read since a gap
	StatusUnknown                    // read, but this backend cannot tell who owns it
	StatusLed                        // an election with a leader
	StatusLedLate                    // its leader's renewal is late
	StatusNoLeader                   // an election that nobody leads
	StatusNoCandidates               // and nobody campaigns either, where the queue is known
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

// Fresh says whether the row can be believed.
func (r *Row) Fresh(s *State) bool { return s.Scopes[r.Scope].Health == HealthLive }

// Status is StatusAt the instant of the publish.
func (r *Row) Status(s *State) Status { return r.StatusAt(s, s.At) }

// StatusAt names the state of the row at now.
func (r *Row) StatusAt(s *State, now time.Time) Status { return StatusUnknown }

// Changes counts the changes of owner of the last `within`.
func (r *Row) Changes(now time.Time, within time.Duration) int { return r.activity.since(now, within) }

// Gaps sums up the times of the last `within` in which nobody owned the row.
func (r *Row) Gaps(now time.Time, within time.Duration) GapStats { return GapStats{} }

// Missed counts the renewals that are overdue.
func (r *Row) Missed(now time.Time) int { return 0 }
