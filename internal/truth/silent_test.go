package truth

import (
	"slices"
	"time"
)

// rig is how owners of a few rows change on one backend. Each call returns when it is done and
// written down.
type rig struct {
	rows, owners int
	take         func(row, owner int)
	giveUp       func(row int)
	renew        func(row int)       // nil: it has no leases
	restart      func() (lost []int) // of the server, or of a session: who loses all that it owns
	settle       func()
}

// silence is what a rig does while no byte passes: the owners of the rows change, and change back.
type silence struct {
	*trial
	*rig
	now      []int // who owns each row; nobody: -1
	silences []dark
}

const (
	nobody       = -1
	actsPerPhase = 8
	longest      = 6 * time.Second // twice as long as makes a source stale
)

// runSilent lets the owners change in the light and in silences of the proxy, and compares what
// the program says of them, also of how long, with the truth.
func (r *trial) runSilent(g *rig, url string, sampled bool, rules rules) {
	r.t.Helper()
	s := &silence{trial: r, rig: g, now: make([]int, g.rows)}
	for row := range s.now {
		s.now[row] = nobody
		s.change(row, row%g.owners)
	}
	for row := range r.history.rows {
		for i := range r.history.rows[row] {
			r.history.rows[row][i].first = true
		}
	}
	w, rules := r.begin(url, sampled, rules)
	for range max(3, *steps/60) {
		s.light(max(100*time.Millisecond, rules.interval))
		s.dark()
		r.pause(some(r.random, 0, 2*time.Second))
	}
	s.light(2 * max(100*time.Millisecond, rules.interval))
	s.change(0, (s.now[0]+1)%g.owners) // end waits for owners, and so for renewals before one
	rules.silences = s.silences
	r.end(w, g.settle, rules)
}

// change lets somebody own a row, or nobody.
func (s *silence) change(row, owner int) {
	if s.now[row] != nobody {
		s.giveUp(row)
	}
	if s.now[row] = owner; owner != nobody {
		s.take(row, owner)
	}
}

// light changes some rows under the eyes of the program, each once.
func (s *silence) light(pause time.Duration) {
	for _, row := range s.random.Perm(s.rows)[:s.rows/2] {
		switch owner := s.random.IntN(s.owners+1) - 1; {
		case s.renew != nil && s.now[row] != nobody && s.random.IntN(4) == 0:
			s.renew(row)
		case owner == s.now[row]:
			s.change(row, nobody)
		default:
			s.change(row, owner)
		}
		s.pause(some(s.random, 0, 2*pause))
	}
}

// dark changes rows, each as often as is drawn, while no byte passes. Every second of those that change
// has its old owner again in the end.
func (s *silence) dark() {
	length := some(s.random, 200*time.Millisecond, longest)
	s.t.Logf("%s no byte passes for %v", clock(time.Now()), length)
	begun := time.Now()
	s.proxy.BlackHole()
	before := slices.Clone(s.now)
	acts, restart := s.random.IntN(2*actsPerPhase), s.random.IntN(4) == 0
	for i := range acts {
		s.pause(some(s.random, 0, 2*length/time.Duration(acts+2)))
		if restart && i == acts/2 {
			s.bounce()
		}
		s.change(s.random.IntN(s.rows), s.random.IntN(s.owners+1)-1)
	}
	for row, owner := range before {
		if s.now[row] != owner && s.random.IntN(2) == 0 {
			s.change(row, owner)
		}
	}
	s.pause(some(s.random, 0, length/2))
	s.proxy.Resume()
	s.silences = append(s.silences, dark{from: begun, to: time.Now()})
}

func (s *silence) bounce() {
	s.t.Logf("%s the server restarts, or ends a session", clock(time.Now()))
	lost := s.restart()
	for row, owner := range s.now {
		if slices.Contains(lost, owner) {
			s.now[row] = nobody
		}
	}
}
