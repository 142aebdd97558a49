package truth

import (
	"math/rand/v2"
	"time"

	"coordtop/internal/localserver"
)

// fault is one way in which the program loses its connections, or a part of what it is told.
type fault struct {
	name  string
	begin func()
	lasts bool // until the proxy resumes
	short bool // it does not last for longer than a second
}

// networkFaults are what a network does.
func networkFaults(p *localserver.Proxy) []fault {
	return []fault{
		{"all connections are reset", p.Reset, false, false},
		{"all connections are reset and new ones refused", p.Cut, true, false},
		{"no byte passes", p.BlackHole, true, false},
		{"no byte passes on the connections that are up", p.Freeze, false, false},
		{"the connections end towards the program, and the server is not told", p.HalfClose, false, false},
	}
}

// outages are the stretches in which the connections of the program are cut.
type outages struct {
	*trial
	begin map[int]fault // by step
	until time.Time
	down  bool
}

// shortest is how long a cut lasts at least that is no stall.
const shortest = 1500 * time.Millisecond

// outages draws when the cuts are. stalls: as many stalls, too short for the program to say that
// it saw nothing, come on top of them.
func (r *trial) outages(stalls bool) *outages {
	n := &outages{trial: r, begin: map[int]fault{}}
	for range *cuts {
		if stalls {
			n.begin[r.random.IntN(*steps)] = fault{"no byte passes for less than a second", r.proxy.BlackHole, true, true}
		}
	}
	faults := append(networkFaults(r.proxy), r.harm...)
	order := r.random.Perm(len(faults))
	for i := range *cuts {
		first, last := i**steps / *cuts, (i+1)**steps / *cuts
		n.begin[first+r.random.IntN(max(1, last-first))] = faults[order[i%len(order)]]
	}
	return n
}

// at does what is due before a step.
func (n *outages) at(step int) {
	if n.down && time.Now().After(n.until) {
		n.end()
	}
	f, ok := n.begin[step]
	if !ok {
		return
	}
	n.end()
	n.t.Logf("%s before step %d: %s", clock(time.Now()), step, f.name)
	f.begin()
	if f.lasts {
		n.down = true
		n.until = time.Now().Add(some(n.random, shortest, shortest+5*time.Second))
		if f.short {
			n.until = time.Now().Add(some(n.random, 0, time.Second))
		}
	}
}

func (n *outages) end() {
	if n.down {
		n.proxy.Resume()
		n.down = false
	}
}

// some draws a length.
func some(random *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(random.Int64N(int64(most-least)+1))
}
