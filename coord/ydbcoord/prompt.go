package ydbcoord

import "time"

// A notice that arrives within promptness of what it reports counts as reported at that
// instant. A service that is farther away than that may take three round trips, up to
// promptest.
const (
	promptness = 25 * time.Millisecond
	promptest  = 300 * time.Millisecond
)

// timedLocked takes the time of a request that was answered.
func (s *Session) timedLocked(r *request) {
	if r.verb != verbPing {
		return
	}
	s.trip = max(time.Since(r.sent), time.Microsecond)
	if pause := r.sent.Sub(s.pinged); !s.pinged.IsZero() && pause > 0 && (s.pause == 0 || pause < s.pause) {
		s.pause = pause
	}
	s.pinged = r.sent
}

// allowedLocked is how long an answer may take from a service that is prompt.
func (s *Session) allowedLocked() time.Duration { return min(max(promptness, 3*s.trip), promptest) }

// silentSinceLocked returns after when what arrives at now was sent: zero where the
// connection is prompt. While a ping waits for its answer, bytes may be held back on the way;
// but what was sent before the last request that was answered has arrived. Where the last
// proof is older than two pauses between pings, this program itself may have stood still, as
// when it is suspended, or the link did between two pings.
func (s *Session) silentSinceLocked(now time.Time) time.Time {
	if 3*s.trip > promptest || s.pause > 0 && now.Sub(s.proof) > 2*s.pause+s.allowedLocked() {
		return s.proof
	}
	for _, r := range s.table.pings {
		if !r.sent.IsZero() && now.Sub(r.sent) > s.allowedLocked() {
			return s.proof
		}
	}
	return time.Time{}
}

// firedSinceLocked is the Sight.Since of a watch that has fired: since as it was then, or, where
// the read that answers it took long, not after the sending of that read.
func (s *Session) firedSinceLocked(state *SemaphoreState, since time.Time) time.Time {
	if since.IsZero() && state.At.Sub(state.Asked) > s.allowedLocked() {
		return state.Asked.Add(-s.allowedLocked())
	}
	return since
}
