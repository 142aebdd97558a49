package ydbcoord

import (
	"errors"
	"time"

	"coordtop/coord"
)

// overdue looks for the answers of a session that should have come. The session's mutex guards it.
type overdue struct {
	s      *Session
	timer  *time.Timer // nil: not attached yet
	newest time.Time   // sending of the latest request about a semaphore that was answered
}

// answerTime is how long the service has for an answer before it is looked for. The stream
// itself may live: its pings are answered by another part of the service.
func (o *overdue) answerTime() time.Duration { return o.s.ttl / 4 }

// lateness is when a request that was sent counts as overdue. A claim in the queue is not
// answered before its turn; it is only looked after.
func (o *overdue) lateness(r *request) time.Duration {
	if r.queued {
		return 2 * o.answerTime()
	}
	return o.answerTime() << min(r.repeats, 4)
}

// check looks for the answers that should have come. An answer that was lost would leave us an
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
func (o *overdue) check() {
	o.s.mu.Lock()
	defer o.s.mu.Unlock()
	if o.s.err != nil {
		return
	}
	o.timer.Reset(o.answerTime())
	if o.s.stream == nil {
		return
	}
	now := time.Now()
	var late []*request
	for _, r := range o.s.table.open {
		if !r.sent.IsZero() && now.Sub(r.sent) >= o.lateness(r) && now.Sub(r.checkedAt) >= o.lateness(r) {
			late = append(late, r)
		}
	}
	probed := false
	for _, r := range late {
		r.checkedAt = now
		switch {
		case r.verb == verbAcquire:
			o.describeForLocked(r)
		case r.verb == verbRelease, r.verb == verbDescribe, r.verb == verbArm && o.newest.After(r.sent):
			o.repeatLocked(r)
		case r.verb == verbArm && !probed:
			probed = true
			o.s.addLocked(newDescribe(verbDescribe, r.name))
		}
	}
}

// repeatLocked sends a request once more on its stream. Whichever answer comes first counts.
func (o *overdue) repeatLocked(r *request) {
	r.repeats++
	o.s.table.ready = append(o.s.table.ready, r)
	o.s.flushLocked()
}

// describeForLocked asks what became of an acquire. The service answers in the order in which it
// was asked: what it says now comes after the acquire.
func (o *overdue) describeForLocked(r *request) {
	describe := newDescribe(verbDescribe, r.name)
	describe.then = func() {
		if o.s.err != nil || o.s.table.open[r.id] != r || describe.err != nil && !errors.Is(describe.err, coord.ErrNotFound) || r.sent.After(describe.sent) {
			return
		}
		sem := decodeSemaphore(r.name, describe.reply.GetDescribeSemaphoreResult().GetSemaphoreDescription())
		for _, w := range sem.Waiters {
			if w.Session == o.s.id {
				o.s.table.pending(r.id)
				o.s.flushLocked()
				return
			}
		}
		o.repeatLocked(r)
	}
	o.s.addLocked(describe)
}
