package ydbtest

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/ydb-platform/ydb-go-genproto/protos/Ydb"
	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
)

const forever = math.MaxUint64

// world is the model with a clock that the test moves, and a transcript: one line for
// each message, in the order in which the service sends them.
type world struct {
	t     *testing.T
	model *cluster
	names map[*stream]string
	now   time.Time
	pings bool // write pings into the transcript
}

const nodePath = "/local/n"

func newWorld(t *testing.T) *world {
	t.Helper()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var ping uint64
	w := &world{t: t, names: map[*stream]string{}, now: now}
	w.model = newCluster(now, []string{"local"}, Limits{}, func() uint64 { ping++; return ping })
	if err := w.model.createNode(nodePath, &pb.Config{}); err != nil {
		t.Fatal(err.text)
	}
	return w
}

// open opens a stream of front end 0 or 1 without a first message.
func (w *world) open(name string, frontEnd int) *stream {
	st := w.model.open(frontEnd, Read|Write|Erase)
	w.names[st] = name
	return st
}

// attach opens a stream and starts a session on it.
func (w *world) attach(name string, frontEnd int, start *pb.SessionRequest_SessionStart) *stream {
	st := w.open(name, frontEnd)
	w.do(st, sessionStart(start))
	return st
}

// session attaches a new session with a timeout of 30 s and forgets what it was told.
func (w *world) session(name string) *stream {
	w.t.Helper()
	st := w.attach(name, 0, &pb.SessionRequest_SessionStart{TimeoutMillis: 30_000})
	w.drop()
	return st
}

func (w *world) do(st *stream, reqs ...*pb.SessionRequest) {
	for _, r := range reqs {
		w.model.advance(w.now)
		w.model.receive(st, r)
	}
}

// after moves the clock and answers every ping on the way, unless pings are looked at.
func (w *world) after(d time.Duration) {
	end := w.now.Add(d)
	w.pong()
	for {
		due, ok := w.model.timers.next()
		if !ok || due.After(end) {
			break
		}
		w.now = due
		w.model.advance(due)
		w.pong()
	}
	w.now = end
	w.model.advance(end)
}

// pong answers the ping that each stream has outstanding.
func (w *world) pong() {
	if w.pings {
		return
	}
	for _, id := range sortedKeys(w.model.streams) {
		st := w.model.streams[id]
		w.do(st, pong(st.ping))
	}
}

func (w *world) drop() { w.lines() }

func (w *world) lines() []string {
	var lines []string
	for _, d := range w.model.drain() {
		if d.msg.GetPing() != nil && !w.pings {
			continue
		}
		lines = append(lines, w.names[d.to]+": "+render(d))
	}
	return lines
}

// expect compares what was sent since the last look, in order.
func (w *world) expect(want ...string) {
	w.t.Helper()
	got := w.lines()
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		w.t.Errorf("sent\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
}

func (w *world) tablet() *tablet { return w.model.find([]string{"local", "n"}).tablet }

// state is a semaphore in short: owners and queue as session*count#order.
func (w *world) state(name string) string {
	sem := w.tablet().semaphores[name]
	if sem == nil {
		return "none"
	}
	var parts []string
	for _, l := range sem.owners {
		parts = append(parts, fmt.Sprintf("%d*%d#%d", l.session.id, l.count, l.orderID))
	}
	parts = append(parts, "|")
	for _, l := range sem.waiters {
		parts = append(parts, fmt.Sprintf("%d*%d#%d", l.session.id, l.count, l.orderID))
	}
	return strings.Join(parts, " ")
}

func (w *world) expectState(name, want string) {
	w.t.Helper()
	if got := w.state(name); got != want {
		w.t.Errorf("%s is %q, want %q", name, got, want)
	}
}

func render(d delivery) string {
	if d.end != nil {
		return "end " + d.end.Code().String()
	}
	switch r := d.msg.GetResponse().(type) {
	case *pb.SessionResponse_Ping:
		return fmt.Sprintf("ping %d", r.Ping.GetOpaque())
	case *pb.SessionResponse_Pong:
		return fmt.Sprintf("pong %d", r.Pong.GetOpaque())
	case *pb.SessionResponse_Failure_:
		return "failure " + short(r.Failure.GetStatus())
	case *pb.SessionResponse_SessionStarted_:
		return fmt.Sprintf("started %d", r.SessionStarted.GetSessionId())
	case *pb.SessionResponse_SessionStopped_:
		return fmt.Sprintf("stopped %d", r.SessionStopped.GetSessionId())
	case *pb.SessionResponse_AcquireSemaphorePending_:
		return fmt.Sprintf("pending %d", r.AcquireSemaphorePending.GetReqId())
	case *pb.SessionResponse_AcquireSemaphoreResult_:
		a := r.AcquireSemaphoreResult
		return fmt.Sprintf("acquire %d %s %t", a.GetReqId(), short(a.GetStatus()), a.GetAcquired())
	case *pb.SessionResponse_ReleaseSemaphoreResult_:
		a := r.ReleaseSemaphoreResult
		return fmt.Sprintf("release %d %s %t", a.GetReqId(), short(a.GetStatus()), a.GetReleased())
	case *pb.SessionResponse_DescribeSemaphoreResult_:
		a := r.DescribeSemaphoreResult
		return fmt.Sprintf("describe %d %s %t", a.GetReqId(), short(a.GetStatus()), a.GetWatchAdded())
	case *pb.SessionResponse_DescribeSemaphoreChanged_:
		a := r.DescribeSemaphoreChanged
		return fmt.Sprintf("changed %d %t %t", a.GetReqId(), a.GetDataChanged(), a.GetOwnersChanged())
	case *pb.SessionResponse_CreateSemaphoreResult_:
		return fmt.Sprintf("create %d %s", r.CreateSemaphoreResult.GetReqId(), short(r.CreateSemaphoreResult.GetStatus()))
	case *pb.SessionResponse_UpdateSemaphoreResult_:
		return fmt.Sprintf("update %d %s", r.UpdateSemaphoreResult.GetReqId(), short(r.UpdateSemaphoreResult.GetStatus()))
	case *pb.SessionResponse_DeleteSemaphoreResult_:
		return fmt.Sprintf("delete %d %s", r.DeleteSemaphoreResult.GetReqId(), short(r.DeleteSemaphoreResult.GetStatus()))
	}
	return "nothing known"
}

func short(code Ydb.StatusIds_StatusCode) string { return code.String() }

func sessionStart(s *pb.SessionRequest_SessionStart) *pb.SessionRequest {
	if s.Path == "" {
		s.Path = nodePath
	}
	return &pb.SessionRequest{Request: &pb.SessionRequest_SessionStart_{SessionStart: s}}
}

func stop() *pb.SessionRequest {
	return &pb.SessionRequest{Request: &pb.SessionRequest_SessionStop_{SessionStop: &pb.SessionRequest_SessionStop{}}}
}

func pong(n uint64) *pb.SessionRequest {
	return &pb.SessionRequest{Request: &pb.SessionRequest_Pong{Pong: &pb.SessionRequest_PingPong{Opaque: n}}}
}

func ping(n uint64) *pb.SessionRequest {
	return &pb.SessionRequest{Request: &pb.SessionRequest_Ping{Ping: &pb.SessionRequest_PingPong{Opaque: n}}}
}

func acquire(id uint64, name string, count, timeoutMillis uint64, data ...string) *pb.SessionRequest {
	a := &pb.SessionRequest_AcquireSemaphore{
		ReqId: id, Name: name, Count: count, TimeoutMillis: timeoutMillis, Data: []byte(strings.Join(data, "")),
	}
	return &pb.SessionRequest{Request: &pb.SessionRequest_AcquireSemaphore_{AcquireSemaphore: a}}
}

func ephemeral(r *pb.SessionRequest) *pb.SessionRequest {
	r.GetAcquireSemaphore().Ephemeral = true
	return r
}

func release(id uint64, name string) *pb.SessionRequest {
	return &pb.SessionRequest{Request: &pb.SessionRequest_ReleaseSemaphore_{
		ReleaseSemaphore: &pb.SessionRequest_ReleaseSemaphore{ReqId: id, Name: name},
	}}
}

// describe asks for owners and waiters; flags: "data", "owners" arm a watch.
func describe(id uint64, name string, flags ...string) *pb.SessionRequest {
	d := &pb.SessionRequest_DescribeSemaphore{ReqId: id, Name: name, IncludeOwners: true, IncludeWaiters: true}
	for _, f := range flags {
		d.WatchData = d.WatchData || f == "data"
		d.WatchOwners = d.WatchOwners || f == "owners"
	}
	return &pb.SessionRequest{Request: &pb.SessionRequest_DescribeSemaphore_{DescribeSemaphore: d}}
}

func create(id uint64, name string, limit uint64, data ...string) *pb.SessionRequest {
	return &pb.SessionRequest{Request: &pb.SessionRequest_CreateSemaphore_{
		CreateSemaphore: &pb.SessionRequest_CreateSemaphore{
			ReqId: id, Name: name, Limit: limit, Data: []byte(strings.Join(data, "")),
		},
	}}
}

func update(id uint64, name, data string) *pb.SessionRequest {
	return &pb.SessionRequest{Request: &pb.SessionRequest_UpdateSemaphore_{
		UpdateSemaphore: &pb.SessionRequest_UpdateSemaphore{ReqId: id, Name: name, Data: []byte(data)},
	}}
}

func remove(id uint64, name string, force bool) *pb.SessionRequest {
	return &pb.SessionRequest{Request: &pb.SessionRequest_DeleteSemaphore_{
		DeleteSemaphore: &pb.SessionRequest_DeleteSemaphore{ReqId: id, Name: name, Force: force},
	}}
}
