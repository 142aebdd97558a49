package ydbcoord

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
)

// verb is what a request asks. It decides how the request is repeated; see resend.
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

// claimParams is what an acquire asks for, in the service's terms.
type claimParams struct {
	name      string
	count     uint64
	ephemeral bool
	data      []byte
}

// request is one thing asked of the service, from asking to its end. It survives the
// stream that it was sent on. Its fields are guarded by the session's mutex until done is
// closed, and do not change after that.
type request struct {
	id      uint64
	verb    verb
	name    string
	message func(id uint64, now time.Time) *pb.SessionRequest
	then    func() // called once with the session's mutex when it is over, before done; nil: nothing

	sent   time.Time // first on the present stream; zero: not yet
	sends  int       // on how many streams
	queued bool      // an acquire that the service has put into its queue

	checkedAt time.Time // when its answer was last looked for; see checkOverdue
	repeats   int       // how often it was sent once more on its stream

	acked chan struct{} // closed when the service has taken note: at pending, or at the end
	done  chan struct{}
	reply *pb.SessionResponse
	err   error // why the request failed; nil with a reply
}

func newRequest(v verb, name string, message func(id uint64, now time.Time) *pb.SessionRequest) *request {
	return &request{verb: v, name: name, message: message, acked: make(chan struct{}), done: make(chan struct{})}
}

func (r *request) inLane() bool { return r.verb == verbAcquire || r.verb == verbRelease }

func (r *request) ack() {
	select {
	case <-r.acked:
	default:
		close(r.acked)
	}
}

// table is what was asked of the service and is not over. It is a plain state machine: no
// clock, no lock, no goroutine.
//
// Acquires and releases of one name stand in a lane: only its first is on its way, the
// next follows when the service has answered (or said pending), because two of one
// session about one semaphore change the meaning of each other.
type table struct {
	last   uint64
	open   map[uint64]*request
	lanes  map[string][]*request
	newest map[string]*request // the last update of a name that is not over
	ready  []*request          // to be sent, in this order
}

func newTable() table {
	return table{open: map[uint64]*request{}, lanes: map[string][]*request{}, newest: map[string]*request{}}
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

// line makes a request ready, or puts it at the end of its lane.
func (t *table) line(r *request) {
	if r.inLane() {
		t.lanes[r.name] = append(t.lanes[r.name], r)
		if len(t.lanes[r.name]) > 1 {
			return
		}
	}
	t.ready = append(t.ready, r)
}

// readyAt hands over what is to be sent on the present stream at now.
func (t *table) readyAt(now time.Time) []*pb.SessionRequest {
	var messages []*pb.SessionRequest
	for _, r := range t.ready {
		if t.open[r.id] != r {
			continue // it ended before it was sent
		}
		if r.sent.IsZero() { // else it is sent once more, and the first may be answered yet
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

// answered ends a request with what the service said; nil if it is not one of ours, or
// was not sent on this stream.
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
	r.ack()
	close(r.done)
}

// leaveLane lets the next one of the lane go when r was its first.
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

// resend prepares what is not over to be sent again, on a new stream. What the service did
// with it before is not known, so each verb is repeated in its own way:
//
//	acquire   with what is left of its wait. The service keeps the place, or answers at
//	          once if it is ours already. Not if a release was asked for since: the
//	          release alone says all that the service needs to know
//	update    unless we have asked for a newer one since
//	others    as they are. What is released, created or deleted already may be our own work,
//	          see Session.Create and Session.Delete
//
// Arming describes are not repeated: watches died with the stream, and their manager
// begins anew.
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
