package truth

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"coordtop/internal/emulator/ydbtest"
)

// ydbRecorder writes down what happens to the semaphores of the emulator, as the emulator
// itself knows it: it looks before and after each command, and every few milliseconds for
// what happens by itself, as the end of a session or of a wait.
type ydbRecorder struct {
	ticker
	server  *ydbtest.Server
	history *history

	mu     sync.Mutex
	last   time.Time // before the last look
	before map[string]ydbtest.Semaphore
}

func newYDBRecorder(server *ydbtest.Server, h *history) *ydbRecorder {
	return &ydbRecorder{server: server, history: h, last: time.Now()}
}

// quiet waits until all sessions have a stream and nobody waits.
func (r *ydbRecorder) quiet(t testing.TB) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	err := r.server.Await(ctx, func() bool {
		for _, s := range r.server.Sessions(ydbNode) {
			if s.Waits > 0 || s.Owns > 0 && !s.Attached {
				return false
			}
		}
		return true
	})
	if err != nil {
		t.Fatalf("it never was quiet: %v", err)
	}
	r.record()
}

// record compares the semaphores with those of the last look.
func (r *ydbRecorder) record() {
	r.mu.Lock()
	defer r.mu.Unlock()
	began := time.Now()
	now := map[string]ydbtest.Semaphore{}
	for _, s := range r.server.Semaphores(ydbNode) {
		now[s.Name] = s
	}
	alive := map[uint64]bool{}
	for _, s := range r.server.Sessions(ydbNode) {
		alive[s.ID] = true
	}
	d := ydbDiff{from: r.last, to: time.Now(), alive: alive}
	for name, was := range r.before {
		is, ok := now[name]
		d.row, d.deleted, d.fenced = name, !ok && !was.Ephemeral, was.Limit == 1 || was.Ephemeral
		r.history.add(d.changes(&was, &is)...)
	}
	for name, is := range now {
		if _, ok := r.before[name]; !ok {
			d.row, d.deleted, d.fenced = name, false, is.Limit == 1 || is.Ephemeral
			r.history.add(d.changes(&ydbtest.Semaphore{}, &is)...)
		}
	}
	r.last, r.before = began, now
}

// ydbDiff is the difference of two looks at a row.
type ydbDiff struct {
	row      string
	deleted  bool
	fenced   bool
	from, to time.Time
	alive    map[uint64]bool // sessions
}

func (d *ydbDiff) changes(was, is *ydbtest.Semaphore) []change {
	var list []change
	for i := range was.Owners {
		if l := &was.Owners[i]; find(is.Owners, l) == nil {
			c := d.change(l, ends)
			switch c.cause = "released"; {
			case d.deleted:
				c.cause = "deleted"
			case !d.alive[l.SessionID]:
				c.cause = "session_ended"
			}
			list = append(list, c)
		}
	}
	for i := range was.Waiters {
		if l := &was.Waiters[i]; find(is.Waiters, l) == nil {
			c := d.change(l, leaves)
			c.granted = find(is.Owners, l) != nil
			list = append(list, c)
		}
	}
	for i := range is.Owners {
		l := &is.Owners[i]
		switch old := find(was.Owners, l); {
		case old == nil:
			c := d.change(l, begins)
			if d.fenced {
				c.fence = strconv.FormatUint(l.OrderID, 10)
			}
			list = append(list, c)
		case string(old.Data) != string(l.Data):
			c := d.change(l, proclaims)
			c.data = strconv.Quote(string(l.Data))
			list = append(list, c)
		}
	}
	if string(was.Data) != string(is.Data) {
		list = append(list, change{row: d.row, what: proclaims, from: d.from, to: d.to, data: strconv.Quote(string(is.Data)), mute: len(is.Data) == 0})
	}
	for i := range is.Waiters {
		if l := &is.Waiters[i]; find(was.Waiters, l) == nil {
			list = append(list, d.change(l, joins))
		}
	}
	return list
}

func (d *ydbDiff) change(l *ydbtest.Link, what deed) change {
	label, _, _ := strings.Cut(string(l.Data), " ")
	return change{row: d.row, who: label, id: fmt.Sprint(l.SessionID), what: what, from: d.from, to: d.to}
}

// find finds the same claim.
func find(list []ydbtest.Link, l *ydbtest.Link) *ydbtest.Link {
	for i := range list {
		if list[i].SessionID == l.SessionID && list[i].OrderID == l.OrderID {
			return &list[i]
		}
	}
	return nil
}
