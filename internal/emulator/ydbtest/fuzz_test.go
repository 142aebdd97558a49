package ydbtest

import (
	"encoding/binary"
	"testing"
	"time"

	pb "github.com/ydb-platform/ydb-go-genproto/protos/Ydb_Coordination"
	"google.golang.org/protobuf/proto"
)

// FuzzSession feeds the model with whatever decodes as requests, on two streams in turns.
func FuzzSession(f *testing.F) {
	var seed []byte
	for _, req := range []*pb.SessionRequest{
		create(1, "s", 1), acquire(2, "s", 1, forever), describe(3, "s", "data"), update(4, "s", "x"),
		release(5, "s"), remove(6, "s", true), ping(1), stop(), sessionStart(&pb.SessionRequest_SessionStart{}),
		ephemeral(acquire(7, "e", 1, 5)),
	} {
		raw, err := proto.Marshal(req)
		if err != nil {
			f.Fatal(err)
		}
		seed = binary.AppendUvarint(seed, uint64(len(raw)))
		seed = append(seed, raw...)
	}
	f.Add(seed)
	f.Fuzz(func(t *testing.T, input []byte) {
		w := newWorld(t)
		streams := []*stream{w.session("a"), w.session("b")}
		for turn := 0; len(input) > 0; turn++ {
			n, used := binary.Uvarint(input)
			if used <= 0 || n > uint64(len(input)-used) {
				return
			}
			var req pb.SessionRequest
			if proto.Unmarshal(input[used:used+int(n)], &req) == nil {
				w.do(streams[turn%2], &req)
				w.after(time.Duration(turn) * time.Millisecond)
			}
			input = input[used+int(n):]
		}
		for name, sem := range w.tablet().semaphores {
			if sem.taken > sem.limit || len(sem.waiters) > 0 && sem.fits(sem.waiters[0].count) {
				t.Errorf("%q has %d of %d taken and %d waiters", name, sem.taken, sem.limit, len(sem.waiters))
			}
		}
	})
}

// FuzzTicket gives the check of tickets whatever a client may send.
func FuzzTicket(f *testing.F) {
	tickets := newTickets(map[string]User{"ann": {}})
	now := time.Unix(1_000_000, 0)
	good := tickets.issue("ann", now)
	f.Add("")
	f.Add(good + "x")
	f.Add("a.b.c")
	f.Fuzz(func(t *testing.T, ticket string) {
		if user, ok := tickets.check(ticket, now); ok && ticket != good {
			t.Errorf("%q was taken for a ticket of %q", ticket, user)
		}
	})
}

func TestTicketIsGoodUntilItIsTooOld(t *testing.T) {
	t.Parallel()
	tickets := newTickets(map[string]User{"ann": {}})
	now := time.Unix(1_000_000, 0)
	ticket := tickets.issue("ann", now)
	if user, ok := tickets.check(ticket, now.Add(ticketLife-time.Second)); !ok || user != "ann" {
		t.Errorf("a new ticket is of %q, %t", user, ok)
	}
	if _, ok := tickets.check(ticket, now.Add(ticketLife)); ok {
		t.Error("an old ticket was accepted")
	}
	if _, ok := newTickets(map[string]User{"bob": {}}).check(ticket, now); ok {
		t.Error("another server's ticket was accepted")
	}
}

// FuzzPath gives the tree whatever a client may call a node.
func FuzzPath(f *testing.F) {
	f.Add("/local/n")
	f.Add("local//x/")
	f.Add("/local/n/below")
	f.Fuzz(func(t *testing.T, path string) {
		w := newWorld(t)
		err := w.model.createNode(path, nil)
		_, found := w.model.node(path)
		if (err == nil) != (found == nil) {
			t.Errorf("%q: creating gave %v, looking for it %v", path, err, found)
		}
		if err == nil && w.model.dropNode(path) != nil {
			t.Errorf("%q cannot be dropped", path)
		}
	})
}
