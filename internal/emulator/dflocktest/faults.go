package dflocktest

import "time"

// faults are what a test wants to go wrong, and counts of the commands that arrived. Both are
// kept by command as it is on the wire; "" means any.
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

// fault is what happens to one request.
type fault struct {
	answer string // sent instead of executing it; "": it is executed
	lose   bool   // the connection is closed instead of answering
	slow   time.Duration
}

// faultFor counts a request and says what is to happen to it.
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

// Hang lets no byte pass in either direction, without closing anything, until it is called
// with false; then what was held back arrives in order. Meanwhile the server goes on: idle
// connections time out, leases end.
func (s *Server) Hang(on bool) { s.wire.Hold(on) }

// Cut closes every connection on the way: new ones are accepted, and the server notices as
// it notices that clients hang up.
func (s *Server) Cut() { s.wire.Cut() }

// Refuse cuts every connection and, until it is called with false, every new one as soon as it
// is made.
func (s *Server) Refuse(on bool) {
	s.wire.Refuse(on)
	if on {
		s.Cut()
	}
}

// Slow holds every reply back for d after the request was executed. Zero ends it.
func (s *Server) Slow(d time.Duration) {
	s.turns.Lock()
	defer s.turns.Unlock()
	s.faults.slow = d
}

// LoseReplies loses the replies to the next n requests of this command, as it stands on the
// wire; "" is any: each is executed, and the connection is closed instead of the reply.
func (s *Server) LoseReplies(command string, n int) {
	s.turns.Lock()
	defer s.turns.Unlock()
	s.faults.losses[command] = n
}

// Answer answers the next n requests of this command, "" is any, with a line of the test's
// choice instead of executing them. Zero ends it.
func (s *Server) Answer(command, line string, n int) {
	s.turns.Lock()
	defer s.turns.Unlock()
	s.faults.answers[command] = scripted{line, n}
}

// Restart ends the server as by SIGKILL and starts it again at the same address: all state is
// lost, every connection closed, and ids count from 1.
func (s *Server) Restart() {
	s.turns.Lock()
	s.model = newModel(s.options, time.Now())
	s.turns.Unlock()
	s.wire.CloseAll()
}

// Shutdown is SIGTERM: claims that wait are refused, no connection is accepted any more, and
// those that are open are served until ShutdownTimeout.
func (s *Server) Shutdown() {
	s.wire.Refuse(true)
	s.step(func(m *model) { m.shutDown() })
}
