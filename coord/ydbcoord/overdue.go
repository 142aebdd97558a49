package ydbcoord

import (
	"errors"
	"maps"
	"slices"
	"time"

	"coordtop/coord"
)

// answerTime is how long the service has for an answer before it is looked for. The stream
// itself may live: its pings are answered by another part of the service.
func (s *Session) answerTime() time.Duration { return s.ttl / 4 }

// lateness is when a request that was sent counts as overdue. A claim in the queue is not
// answered before its turn; it is only looked after.
func (s *Session) lateness(r *request) time.Duration {
	if r.queued {
		return 2 * s.answerTime()
	}
	return s.answerTime() << min(r.repeats, 4)
}

// checkOverdue looks for the answers that should have come. An answer that was lost would leave us an
// owner without our knowing, or a name that nothing more can be asked about:
//
//	acquire   first it is read. In the queue, it goes on waiting. Owner, or neither: it is
//	          asked again, which an owner is answered at once; nobody else stands behind it,
//	          because of one session about one semaphore only one is on its way
//	release, describe  asked again: a second one changes nothing
//	arming describe    asked again once something that was asked later is answered: a service
//	          that is slow with many of them is not asked for more. Where nothing was asked
//	          later, a plain describe is
//
// The others have a caller who bounds them and receives that it is not known.
func (s *Session) checkOverdue() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	s.overdue.Reset(s.answerTime() / 4) // what is overdue waits no longer than that
	if s.stream == nil {
		return
	}
	now := time.Now()
	probed := false
	for _, r := range slices.Collect(maps.Values(s.table.open)) { // to which requests are added below
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

// watchTurn watches the semaphore of an acquire that waits in the queue, until that is over. So a grant
// whose answer is lost is found out when the service gives it, see ownedLocked.
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

// ownedLocked asks again for what a description shows us to own already although the acquire of it, sent
// before, has not been answered: the answer was lost, because the service gives it before that of the
// description. An owner is answered at once.
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

// describeForLocked asks what became of an acquire. The service answers in the order in which it
// was asked: what it says now comes after the acquire.
func (s *Session) describeForLocked(r *request) {
	describe := newDescribe(verbDescribe, r.name)
	describe.then = func() {
		if s.err != nil || s.table.open[r.id] != r || describe.err != nil && !errors.Is(describe.err, coord.ErrNotFound) || r.sent.After(describe.sent) {
			return
		}
		sem := decodeSemaphore(r.name, describe.reply.GetDescribeSemaphoreResult().GetSemaphoreDescription())
		for _, w := range sem.Waiters {
			if w.Session == s.id {
				s.table.pending(r.id)
				s.flushLocked()
				return
			}
		}
		s.repeatLocked(r)
	}
	s.addLocked(describe)
}
