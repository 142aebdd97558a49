package ydbcoord

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
)

// verb is the kind of a request. It decides whether and how the request is repeated; see resend.
type verb uint8

const (
	verbPing verb = iota
	verbAcquire
	verbRelease
	verbDescribe
	verbArm // a describe that arms a watch
	verbCreate
	verbUpdate
	verbDelete
)

// claimParams is a claim in the service's terms.
type claimParams struct {
	name      string
	count     uint64
	ephemeral bool
	data      []byte
}

// request is one request to the service, until it is answered or given up. It outlives the stream on which it was sent.
// Its fields are guarded by the session's mutex until done is closed, and do not change after that.
type request struct {
	id      uint64
	verb    verb
	name    string
	message func(id uint64, now time.Time) *pb.SessionRequest
	then    func() // called once, with the session's mutex locked, when the request is over, before done is closed; may be nil

	sent   time.Time // first sending on the present stream; zero: not yet
	sends  int       // number of streams on which it was sent
	queued bool      // an acquire that the service has put into its queue

	checkedAt time.Time // of the last check for a lost answer; see checkOverdue
	repeats   int       // how often it was repeated on its stream

	ack   func()        // closes acked, once
	acked chan struct{} // closed when the service has acknowledged it: at pending, or at the end
	done  chan struct{}
	reply *pb.SessionResponse
	err   error // nil with a reply
}

func newRequest(v verb, name string, message func(id uint64, now time.Time) *pb.SessionRequest) *request {
	acked := make(chan struct{})
	ack := sync.OnceFunc(func() { close(acked) })
	return &request{verb: v, name: name, message: message, ack: ack, acked: acked, done: make(chan struct{})}
}

func (r *request) inLane() bool { return r.verb == verbAcquire || r.verb == verbRelease }

// table holds the requests that are not over. It has no clock, no lock and no goroutine.
//
// Acquires and releases of one name form a lane. Only the first in a lane is sent. The next follows when the service
// has answered the first (or reported that it is pending), because two such requests of one session change each other's
// meaning.
type table struct {
	last   uint64
	open   map[uint64]*request
	lanes  map[string][]*request
	newest map[string]*request // the last update of a name, while it is open
	ready  []*request          // to be sent, in this order
}

func (t *table) add(r *request) {
	t.last++
	r.id = t.last
	t.open[r.id] = r
	if r.verb == verbUpdate {
		t.newest[r.name] = r
	}
	t.line(r)
}

// line adds a request to the end of its lane, and makes it ready if it is the first there or has no lane.
func (t *table) line(r *request) {
	if r.inLane() {
		t.lanes[r.name] = append(t.lanes[r.name], r)
		if len(t.lanes[r.name]) > 1 {
			return
		}
	}
	t.ready = append(t.ready, r)
}

// readyAt returns the messages to send now on the present stream, and notes when they were sent.
func (t *table) readyAt(now time.Time) []*pb.SessionRequest {
	var messages []*pb.SessionRequest
	for _, r := range t.ready {
		if t.open[r.id] != r {
			continue // the request ended before it was sent
		}
		if r.sent.IsZero() { // else this is a repetition, and the first sending may still be answered
			r.sent = now
		}
		r.sends++
		messages = append(messages, r.message(r.id, now))
	}
	t.ready = nil
	return messages
}

// pending notes that the service has put an acquire into its queue.
func (t *table) pending(id uint64) *request {
	r := t.open[id]
	if r == nil || r.verb != verbAcquire {
		return nil
	}
	r.queued = true
	r.ack()
	t.leaveLane(r)
	return r
}

// answered ends a request with the service's answer and returns the request, or nil if there is no such request on this
// stream.
func (t *table) answered(id uint64, reply *pb.SessionResponse, err error) *request {
	r := t.open[id]
	if r == nil || r.sent.IsZero() {
		return nil
	}
	r.reply = reply
	t.end(r, err)
	return r
}

func (t *table) end(r *request, err error) {
	if t.open[r.id] != r {
		return
	}
	delete(t.open, r.id)
	if t.newest[r.name] == r {
		delete(t.newest, r.name)
	}
	t.leaveLane(r)
	r.err = err
	if r.then != nil {
		r.then()
	}
	close(r.done) // before ack, so that a refusal is not taken for a place in the queue
	r.ack()
}

// leaveLane removes r from its lane. If r was the first there, the next one becomes ready.
func (t *table) leaveLane(r *request) {
	lane := t.lanes[r.name]
	i := slices.Index(lane, r)
	switch {
	case i < 0:
	case len(lane) == 1:
		delete(t.lanes, r.name)
	default:
		t.lanes[r.name] = slices.Delete(lane, i, i+1)
		if i == 0 {
			t.ready = append(t.ready, t.lanes[r.name][0])
		}
	}
}

// errSuperseded ends a request that a later one of ours has made pointless.
var errSuperseded = errors.New("superseded by a later request")

// resend prepares the open requests for a new stream. The service may have executed them, so each verb is repeated in
// its own way:
//
//	acquire   with the rest of its wait. The service keeps the place, or answers at once if the
//	          semaphore is ours already. It is not repeated if a release was sent since: the
//	          release alone is enough
//	update    unless a newer update was sent since
//	others    as they are. If the service reports that something is created or deleted already, that
//	          may be our own work, see Session.Create and Session.Delete
//
// Arming describes are not repeated: the watches ended with the stream, and watches.attachedLocked
// arms them again.
func (t *table) resend() {
	t.ready = nil
	clear(t.lanes)
	all := slices.SortedFunc(maps.Values(t.open), func(a, b *request) int { return cmp.Compare(a.id, b.id) })
	released := map[string]uint64{} // the last release of a name
	for _, r := range all {
		if r.verb == verbRelease {
			released[r.name] = r.id
		}
	}
	for _, r := range all {
		r.sent, r.queued = time.Time{}, false
		switch {
		case r.verb == verbArm,
			r.verb == verbAcquire && released[r.name] > r.id,
			r.verb == verbUpdate && t.newest[r.name] != r:
			t.end(r, errSuperseded)
		default:
			t.line(r)
		}
	}
}
