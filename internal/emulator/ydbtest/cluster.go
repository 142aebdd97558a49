package ydbtest

import (
	"cmp"
	"time"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// cluster is the emulated service as a plain state machine: its methods change the state at the time now and append the
// resulting messages to out. It starts no goroutine, reads no clock and is not safe for concurrent use; Server drives
// it.
type cluster struct {
	now      time.Time
	timers   timers
	root     *entry
	database []string
	limits   Limits
	// ownersInOrder describes owners by order id, and not in an arbitrary order.
	ownersInOrder bool
	opaque        func() uint64      // returns numbers for pings; it is called again if it returns 0
	streams       map[uint64]*stream // Session calls open now
	lastStream    uint64
	created       uint64 // counts entries of the tree, for their created_at
	out           []delivery
}

// delivery is one message for one stream or, with end set, the end of the stream.
type delivery struct {
	to  *stream
	msg *pb.SessionResponse
	end *status.Status
}

func newCluster(now time.Time, database []string, limits Limits, opaque func() uint64) *cluster {
	c := &cluster{now: now, database: database, limits: limits.withDefaults(), opaque: opaque, streams: map[uint64]*stream{}}
	c.root = &entry{owner: superuser, children: map[string]*entry{}, permissions: map[string][]string{}}
	c.makeDirectories(database)
	return c
}

// advance fires, in order, every timer that is due by now. While a timer fires, c.now is its own time.
func (c *cluster) advance(now time.Time) {
	for {
		at, ok := c.timers.next()
		if !ok || at.After(now) {
			break
		}
		if at.After(c.now) {
			c.now = at
		}
		c.timers.pop().fire()
	}
	if now.After(c.now) {
		c.now = now
	}
}

// drain removes and returns the messages that have to be sent, in order.
func (c *cluster) drain() []delivery {
	out := c.out
	c.out = nil
	return out
}

func (c *cluster) send(to *stream, msg *pb.SessionResponse) {
	if to == nil || to.closed {
		return
	}
	c.out = append(c.out, delivery{to: to, msg: msg})
}

// reply sends m in the field of a SessionResponse that has m's type. It is not for a ping or a pong, whose type two
// fields have.
func (c *cluster) reply(to *stream, m proto.Message) {
	msg := &pb.SessionResponse{}
	fields := msg.ProtoReflect().Descriptor().Fields()
	for i := range fields.Len() {
		if f := fields.Get(i); f.Message() == m.ProtoReflect().Descriptor() {
			msg.ProtoReflect().Set(f, protoreflect.ValueOfMessage(m.ProtoReflect()))
		}
	}
	c.send(to, msg)
}

func (c *cluster) end(st *stream, code codes.Code, text string) {
	st.closed = true
	delete(c.streams, st.id)
	c.timers.stop(st.pingTimer)
	c.out = append(c.out, delivery{to: st, end: status.New(code, text)})
}

// Limits are the numbers above which the service refuses more; zero means the service's own number. Tests lower them to
// reach them.
type Limits struct {
	Streams    int // Session calls open at once in all front ends: 100,000
	Sessions   int // sessions of one coordination node: 1,000,000
	Semaphores int // semaphores of one coordination node, ephemeral ones included: 1,000,000
}

func (l Limits) withDefaults() Limits {
	l.Streams = cmp.Or(l.Streams, 100_000)
	l.Sessions = cmp.Or(l.Sessions, 1_000_000)
	l.Semaphores = cmp.Or(l.Semaphores, 1_000_000)
	return l
}
