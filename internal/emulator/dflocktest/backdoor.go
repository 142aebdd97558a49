package dflocktest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// ErrNotFound reports that an entry does not exist, or has no owner.
var ErrNotFound = errors.New("not found")

// State is the state of the server, with its entries ordered by name.
type State struct {
	Connections []uint64 // ids
	Entries     []Entry
}

// Entry is one lock or semaphore.
type Entry struct {
	Key       string
	Semaphore bool // in the namespace of semaphores, if that is separate
	Limit     int
	Owners    []Owner  // by nonce
	Waiters   []uint64 // ids of connections, in the order of the queue
}

// Owner is one grant.
type Owner struct {
	Conn  uint64 // id of the connection that owns it; 0: made by Own
	Nonce string
	Left  time.Duration // negative: not yet swept
}

// State returns what the server knows now.
func (s *Server) State() State {
	var st State
	s.look(func(m *model) {
		st.Connections = slices.Sorted(maps.Keys(m.clients))
		for _, e := range m.entries {
			st.Entries = append(st.Entries, e.view(m.now))
		}
	})
	slices.SortFunc(st.Entries, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	return st
}

// Entry returns one entry, a lock before a semaphore of its name. It returns ErrNotFound if neither exists.
func (s *Server) Entry(key string) (Entry, error) {
	var v Entry
	err := on(s.look, key, func(m *model, e *entry) error { v = e.view(m.now); return nil })
	return v, err
}

// look lets f read the model at the present time.
func (s *Server) look(f func(*model)) {
	s.turns.Lock()
	defer s.turns.Unlock()
	s.model.advance(time.Now())
	f(s.model)
}

func (e *entry) view(now time.Time) Entry {
	v := Entry{Key: e.key.name, Semaphore: e.key.semaphore, Limit: e.limit}
	for _, nonce := range slices.Sorted(maps.Keys(e.owners)) {
		o := e.owners[nonce]
		v.Owners = append(v.Owners, Owner{Conn: o.client.id, Nonce: nonce, Left: o.ends.Sub(now)})
	}
	for _, w := range e.queue {
		v.Waiters = append(v.Waiters, w.client.id)
	}
	return v
}

func on(act func(func(*model)), key string, f func(*model, *entry) error) error {
	err := fmt.Errorf("entry %q: %w", key, ErrNotFound)
	act(func(m *model) {
		for _, k := range []entryKey{{false, key}, {true, key}} {
			if e := m.entries[k]; e != nil {
				err = f(m, e)
				return
			}
		}
	})
	return err
}

// Own grants a lock, or a permit of a semaphore of this limit, to connection 0, which no client has, and returns the
// nonce. It ignores the limits of the server.
func (s *Server) Own(key string, limit int, lease time.Duration) (nonce string, err error) {
	s.step(func(m *model) {
		k := entryKey{limit > 1 && m.options.Newer.Namespaces, key}
		e := m.entries[k]
		if e == nil {
			e = &entry{key: k, limit: limit, owners: map[string]*owner{}}
			m.entries[k] = e
		}
		if !e.free() || e.limit != limit {
			err = fmt.Errorf("entry %q: not free, or of another limit", key)
			return
		}
		nonce = m.grant(e, &client{}, lease)
	})
	return nonce, err
}

// Take takes a key away from all its owners, as if their leases had expired and been swept, and then serves the queue.
func (s *Server) Take(key string) error {
	return on(s.step, key, func(m *model, e *entry) error {
		if len(e.owners) == 0 {
			return fmt.Errorf("owner of %q: %w", key, ErrNotFound)
		}
		for _, nonce := range slices.Collect(maps.Keys(e.owners)) { // serve adds owners
			m.drop(e, nonce)
		}
		return nil
	})
}

// Endings begins to record the grants that end. The returned function lists the keys of the grants that ended since, in
// order; a Restart empties this list.
func (s *Server) Endings() (since func() []string) {
	before := 0
	s.look(func(m *model) { m.records, before = true, len(m.endings) })
	return func() (keys []string) {
		s.look(func(m *model) { keys = slices.Clone(m.endings[min(before, len(m.endings)):]) })
		return keys
	}
}

// Received returns how many requests of a command, named as on the wire, arrived since Start.
func (s *Server) Received(command string) int {
	s.turns.Lock()
	defer s.turns.Unlock()
	return s.faults.received[command]
}

// Await blocks until condition returns true. It calls condition at once and again after every event in the server;
// condition may call methods of the server. The error is the context's.
func (s *Server) Await(ctx context.Context, condition func() bool) error {
	return s.turns.Await(ctx, condition)
}

// faults holds the faults that a test ordered, and counts of the commands that arrived. The keys are commands as on the
// wire; "" means any.
type faults struct {
	received map[string]int
	losses   map[string]int
	answers  map[string]scripted
	slow     time.Duration
}

type scripted struct {
	line string
	left int
}

// fault is the fault of one request.
type fault struct {
	answer string // sent instead of executing the request; "": the request is executed
	lose   bool   // the connection is closed instead of answering
	slow   time.Duration
}

// faultFor counts a request and returns its fault.
func (s *Server) faultFor(command string) fault {
	s.turns.Lock()
	defer s.turns.Unlock()
	s.faults.received[command]++
	f := fault{slow: s.faults.slow}
	for _, c := range []string{command, ""} {
		if a := s.faults.answers[c]; a.left > 0 && f.answer == "" {
			f.answer = a.line
			s.faults.answers[c] = scripted{a.line, a.left - 1}
		}
		if s.faults.losses[c] > 0 && !f.lose {
			s.faults.losses[c]--
			f.lose = true
		}
	}
	return f
}

// Hang lets no byte pass in either direction, without closing anything, until it is called with false; then the bytes
// that were held back arrive in order. The server keeps running: idle connections time out, leases end.
func (s *Server) Hang(on bool) { s.wire.Hold(on) }

// Cut closes every connection at the network. New ones are accepted. The server notices this like clients that hang up,
// but not before all are closed; otherwise a grant of one connection could go to another that is about to be cut.
func (s *Server) Cut() {
	s.turns.Lock()
	defer s.turns.Unlock()
	s.wire.Cut()
}

// Refuse cuts every connection and, until it is called with false, every new one as soon as it
// is made.
func (s *Server) Refuse(on bool) {
	s.wire.Refuse(on)
	if on {
		s.Cut()
	}
}

// Slow delays every reply by d after the request was executed. Zero ends it.
func (s *Server) Slow(d time.Duration) {
	s.turns.Lock()
	defer s.turns.Unlock()
	s.faults.slow = d
}

// LoseReplies loses the replies to the next n requests of this command, named as on the wire; "" is any command. Each
// request is executed, and then the connection is closed without a reply.
func (s *Server) LoseReplies(command string, n int) {
	s.turns.Lock()
	defer s.turns.Unlock()
	s.faults.losses[command] = n
}

// Answer answers the next n requests of this command ("": any command) with line instead of executing them. An n of 0
// ends that.
func (s *Server) Answer(command, line string, n int) {
	s.turns.Lock()
	defer s.turns.Unlock()
	s.faults.answers[command] = scripted{line, n}
}

// Restart ends the server as SIGKILL does and starts it again at the same address. All state is lost, every connection
// is closed, and ids start at 1 again.
func (s *Server) Restart() {
	s.turns.Lock()
	s.model = newModel(s.options, time.Now())
	s.turns.Unlock()
	s.wire.CloseAll()
}

// Shutdown does what the server does on SIGTERM: it refuses claims that wait, accepts no more connections, and serves
// the open ones until ShutdownTimeout.
func (s *Server) Shutdown() {
	s.wire.Refuse(true)
	s.step(func(m *model) { m.shutDown() })
}
