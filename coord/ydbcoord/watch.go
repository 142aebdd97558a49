package ydbcoord

import (
	"errors"
	"slices"
	"time"

	"coordtop/coord"
	"coordtop/internal/ground/spawn"
)

const (
	asksAtOnce = 64 // arming describes under way in a session

	// The service does not report that an absent semaphore was created. So such a semaphore is read repeatedly, as
	// after a failure.
	slowPace     = 50 * time.Millisecond // between two such reads: 20 a second in a session
	firstPause   = 50 * time.Millisecond // before the first read of one name; doubles each time
	longestPause = time.Second
)

// watches arms all watches of a session. The service keeps at most one watch of a session for a semaphore: it reports
// one change and forgets the watch. A second describe replaces the watch, and the service reports that as well, so that
// two independent users would wake each other endlessly. So each semaphore has one state here, shared by all followers.
// watches starts no goroutine. The session's mutex guards it.
type watches struct {
	s      *Session
	byName map[string]*watched
	armed  map[uint64]*watched // by the request that armed it
	queue  []*watched          // semaphores to read; those that we own come first
	asking int
	timer  *time.Timer // for the entries that are slow
	wakes  time.Time   // when timer fires; zero if nothing is slow
}

// watched is one semaphore that somebody follows.
type watched struct {
	name      string
	guards    int // grants
	followers []*Follower
	state     watchState
	request   uint64    // if armed: the describe that armed the watch
	asked     time.Time // when that, or the describe under way, was sent
	facts     uint64    // if armed: SemaphoreState.digest of the answer
	again     bool      // if asked: read once more after the answer
	since     time.Time // SemaphoreState.Since of a reported change that was not read yet; zero: all were read
	due       time.Time // if slow (absent or failed): when to read
	pause     time.Duration
}

type watchState uint8

const (
	atRest  watchState = iota // new, or the stream is gone
	waiting                   // in the queue
	beingAsked
	armed
	slow
)

func (w *watches) entryLocked(name string) *watched {
	e := w.byName[name]
	if e == nil {
		e = &watched{name: name}
		w.byName[name] = e
	}
	return e
}

// guardLocked watches a semaphore for a grant. A watch that is armed already is enough. If it was armed before the
// grant, it reports the grant and is armed again; else it reports the next change.
func (w *watches) guardLocked(name string) {
	e := w.entryLocked(name)
	e.guards++
	if e.state == atRest || e.state == slow {
		w.askLocked(e)
	}
}

func (w *watches) unguardLocked(name string) {
	if e := w.byName[name]; e != nil {
		e.guards--
		w.dropLocked(e)
	}
}

// followLocked adds a follower, which receives the present state.
func (w *watches) followLocked(f *Follower, name string) {
	e := w.entryLocked(name)
	if !slices.Contains(e.followers, f) {
		e.followers = append(e.followers, f)
	}
	w.askLocked(e)
}

func (w *watches) follows(f *Follower, name string) bool {
	e := w.byName[name]
	return e != nil && slices.Contains(e.followers, f)
}

func (w *watches) unfollowLocked(f *Follower, name string) {
	if e := w.byName[name]; e != nil {
		e.followers = slices.DeleteFunc(e.followers, func(o *Follower) bool { return o == f })
		w.dropLocked(e)
	}
}

// dropLocked forgets a semaphore that nobody follows. The service has no request to drop a watch, so that its notice is
// ignored.
func (w *watches) dropLocked(e *watched) {
	if e.guards == 0 && len(e.followers) == 0 && w.byName[e.name] == e {
		delete(w.byName, e.name)
		delete(w.armed, e.request)
	}
}

// askLocked reads the state and arms the watch.
func (w *watches) askLocked(e *watched) {
	switch e.state {
	case waiting:
		return
	case beingAsked:
		e.again = true
		return
	}
	delete(w.armed, e.request)
	w.queueLocked(e)
	w.sendLocked()
}

func (w *watches) queueLocked(e *watched) {
	e.state = waiting
	if e.guards > 0 {
		w.queue = slices.Insert(w.queue, 0, e)
	} else {
		w.queue = append(w.queue, e)
	}
}

// sendLocked sends describes from the queue, with at most asksAtOnce under way.
func (w *watches) sendLocked() {
	for w.s.stream != nil && w.s.end.err == nil && w.asking < asksAtOnce && len(w.queue) > 0 {
		e := w.queue[0]
		w.queue = w.queue[1:]
		if e.state == waiting && w.byName[e.name] == e {
			w.sendOneLocked(e)
		}
	}
}

func (w *watches) sendOneLocked(e *watched) {
	r := newDescribe(verbArm, e.name)
	since := e.since
	r.then = func() { w.answeredLocked(e, r, since) }
	e.state, e.again, e.since, e.asked = beingAsked, false, time.Time{}, time.Now()
	w.asking++
	w.s.addLocked(r)
}

// answeredLocked stores the answer to an arming describe. since is not zero if the describe followed a notice of a
// watch.
func (w *watches) answeredLocked(e *watched, r *request, since time.Time) {
	w.asking--
	if w.s.end.err != nil || errors.Is(r.err, errSuperseded) {
		return // the stream is gone, and attachedLocked starts again
	}
	defer w.sendLocked()
	if w.byName[e.name] != e {
		return // nobody follows the semaphore any more
	}
	state, err := w.s.stateLocked(r)
	state.Fired, state.Since = !since.IsZero(), since
	switch {
	case err != nil && !errors.Is(err, coord.ErrRefused):
		w.delayLocked(e)
	case err != nil:
		e.state = atRest
		w.notifyLocked(e, SemaphoreState{Name: e.name, Asked: state.Asked, At: state.At, Err: err})
		e.followers = nil
		w.dropLocked(e)
	default:
		if state.Absent {
			w.delayLocked(e)
		} else {
			e.state, e.request, e.pause, e.facts = armed, r.id, 0, state.digest()
			w.armed[r.id] = e
		}
		w.notifyLocked(e, state)
		if e.again && e.state == armed {
			w.askLocked(e)
		}
	}
}

// changedLocked handles the notice of a watch that has fired. It ignores watches that were replaced or
// dropped.
func (w *watches) changedLocked(request uint64) {
	if e := w.armed[request]; e != nil {
		if e.since.IsZero() {
			e.since = w.s.proof
		}
		w.askLocked(e)
	}
}

// untoldLocked compares a read with the answer that armed the watch. The service reports a change before it answers a
// later request. So if they differ without a notice, the notice was lost, and with it the watch, because that reports
// only once. untoldLocked then arms a new watch and returns the time since which notices may be lost. It returns zero
// if none is.
func (w *watches) untoldLocked(state SemaphoreState) time.Time {
	e := w.byName[state.Name]
	if e == nil || e.state != armed || state.request < e.request || state.digest() == e.facts {
		return time.Time{}
	}
	since := e.asked
	w.askLocked(e)
	return since
}

// unarmedLocked counts the names of a follower whose watch has not been armed for longer than limit, because the
// service did not answer.
func (w *watches) unarmedLocked(f *Follower, limit time.Duration) int {
	n := 0
	for _, e := range w.byName {
		if e.state == beingAsked && time.Since(e.asked) > limit && slices.Contains(e.followers, f) {
			n++
		}
	}
	return n
}

// delayLocked reads again after a pause. The pause is short at first, because a free mutex does not exist and may be
// acquired at any moment.
func (w *watches) delayLocked(e *watched) {
	e.pause = min(max(2*e.pause, firstPause), longestPause)
	e.state, e.due = slow, time.Now().Add(e.pause)
	if w.wakes.IsZero() || e.due.Before(w.wakes) {
		w.wakeLocked(e.pause)
	}
}

func (w *watches) wakeLocked(pause time.Duration) {
	pause = max(pause, slowPace)
	w.wakes = time.Now().Add(pause)
	if w.timer == nil {
		w.timer = spawn.After(w.s.life, pause, w.tick)
		return
	}
	w.timer.Reset(pause)
}

// tick reads the slow entry that has been due for longest, if any is due.
func (w *watches) tick() {
	w.s.mu.Lock()
	defer w.s.mu.Unlock()
	w.wakes = time.Time{}
	var next *watched
	for _, e := range w.byName {
		if e.state == slow && (next == nil || e.due.Before(next.due)) {
			next = e
		}
	}
	if next == nil || w.s.end.err != nil {
		return
	}
	w.wakeLocked(time.Until(next.due))
	if !next.due.After(time.Now()) {
		w.askLocked(next)
		w.s.flushLocked()
	}
}

// attachedLocked arms all watches again on a new stream, because those of the old stream are gone without notice and
// changes may have been missed.
func (w *watches) attachedLocked() {
	w.queue, w.asking = nil, 0
	clear(w.armed)
	for _, e := range w.byName {
		e.since = time.Time{}
		w.queueLocked(e)
	}
	w.sendLocked()
}

// notifyLocked passes a state to the followers, and compares it with our grants.
func (w *watches) notifyLocked(e *watched, state SemaphoreState) {
	if state.Err == nil && e.guards > 0 {
		for _, g := range slices.Clone(w.s.held.grants) {
			if g.params.name == e.name {
				g.seenLocked(state)
			}
		}
	}
	for _, f := range e.followers {
		f.notifyLocked(state)
	}
}
