package ydbcoord

import (
	"errors"
	"maps"
	"slices"
	"time"

	"coordtop/coord"
)

// answerTime returns after how long a request without an answer is checked. The stream itself may be alive, because
// another part of the service answers its pings.
func (s *Session) answerTime() time.Duration { return s.ttl / 4 }

// lateness returns how long after its sending a request counts as overdue. A claim in the queue is not answered before
// its turn, and is only checked.
func (s *Session) lateness(r *request) time.Duration {
	if r.queued {
		return 2 * s.answerTime()
	}
	return s.answerTime() << min(r.repeats, 4)
}

// checkOverdue handles requests whose answer is overdue, because it may be lost. Without this, we could be an owner
// without knowing it, or a name could stay blocked without limit:
//
//	acquire   the semaphore is described first. If the claim is in the queue, it keeps waiting. If we
//	          are the owner, or neither, it is sent again: an owner is answered at once. No other acquire
//	          or release waits behind it at the service, see table
//	release, describe  sent again: a second one changes nothing
//	arming describe    sent again once a later request is answered: a service
//	          that is slow with many of them is not asked for more. If there is no later request,
//	          a plain describe is sent
//
// Other requests end with their caller's context and its error.
func (s *Session) checkOverdue() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.end.err != nil {
		return
	}
	s.overdue.Reset(s.answerTime() / 4) // an overdue request waits no longer than that for its check
	if s.stream == nil {
		return
	}
	now := time.Now()
	probed := false
	for _, r := range slices.Collect(maps.Values(s.table.open)) { // a copy, because the loop adds requests
		if r.sent.IsZero() || now.Sub(r.sent) < s.lateness(r) || now.Sub(r.checkedAt) < s.lateness(r) {
			continue
		}
		r.checkedAt = now
		switch {
		case r.verb == verbAcquire:
			s.describeForLocked(r)
		case r.verb == verbRelease, r.verb == verbDescribe, r.verb == verbArm && s.newestAnswered.After(r.sent):
			s.repeatLocked(r)
		case r.verb == verbArm && !probed:
			probed = true
			s.addLocked(newDescribe(verbDescribe, r.name))
		}
	}
}

// watchTurn watches the semaphore of an acquire that waits in the queue, until the acquire is over. So a grant is
// noticed at once even if its answer is lost, see ownedLocked.
func (s *Session) watchTurn(r *request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.table.open[r.id] != r {
		return
	}
	s.watches.guardLocked(r.name)
	then := r.then
	r.then = func() {
		then()
		s.watches.unguardLocked(r.name)
	}
	s.flushLocked()
}

// ownedLocked sends an acquire again if a description that was requested later shows us as the owner. In that case the
// answer to the acquire was lost, because the service would have sent it before the description. It answers an owner at
// once.
func (s *Session) ownedLocked(describe *request, state SemaphoreState) {
	if _, ours := state.orderOf(s.id); !ours {
		return
	}
	for _, r := range s.table.open {
		if r.verb == verbAcquire && r.name == state.Name && !r.sent.IsZero() && r.id < describe.id && r.checkedAt.Before(describe.sent) {
			r.checkedAt = time.Now()
			s.repeatLocked(r)
			return
		}
	}
}

// repeatLocked sends a request once more on its stream. Whichever answer comes first counts.
func (s *Session) repeatLocked(r *request) {
	r.repeats++
	s.table.ready = append(s.table.ready, r)
	s.flushLocked()
}

// describeForLocked describes the semaphore of an acquire and acts on the answer. The service handles requests in
// order, so that the description is newer than the acquire.
func (s *Session) describeForLocked(r *request) {
	describe := newDescribe(verbDescribe, r.name)
	describe.then = func() {
		if s.end.err != nil || s.table.open[r.id] != r || describe.err != nil && !errors.Is(describe.err, coord.ErrNotFound) || r.sent.After(describe.sent) {
			return
		}
		if !slices.ContainsFunc(describe.semaphore().Waiters, func(w SemaphoreMember) bool { return w.Session == s.id }) {
			s.repeatLocked(r)
			return
		}
		s.table.pending(r.id)
		s.flushLocked()
	}
	s.addLocked(describe)
}
