package lane

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestMain draws more stories than is usual: a wrong rule for what is rare needs some hundreds to be noticed.
func TestMain(m *testing.M) {
	checks := flag.Lookup("rapid.checks")
	if flag.Parse(); checks.Value.String() == checks.DefValue {
		n := "400"
		if testing.Short() {
			n = "1500" // of which rapid takes a fifth
		}
		if err := checks.Value.Set(n); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// The oracle's world is a line of cells, in each of which one thing is so; a look at a tick shows the
// cell that begins there.
type state = int

const nobody state = 0 // others are owners

// kind is that of a stretch between two looks.
type kind int

const (
	pushed kind = iota
	sampled
	darkness
	proved // darkness over which the same grant is proved
	anew   // darkness over which the same owner is known to have taken it anew, as behind a restart
)

// look is one, and how the stretch before it was observed.
type look struct {
	tick   int
	shows  state
	before kind
}

// story is what was seen, and what is made of it.
type story struct {
	looks []look
	now   int
	lane  Lane
	spans [][2]int // of each term: its first look, and its last one
}

var epoch = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

func tick(n int) time.Time { return epoch.Add(time.Duration(n) * time.Second) }

func ticks(n int) time.Duration { return time.Duration(n) * time.Second }

// drawStory draws a world, looks at it in stretches of each kind, and tells the lane as the Hub and a
// recording do.
func drawStory(t *rapid.T) story {
	const most = 22
	cells := make([]state, most+1)
	for i := range cells {
		cells[i] = nobody
		if i > 0 {
			cells[i] = cells[i-1]
		}
		if rapid.IntRange(0, 3).Draw(t, "change") == 0 {
			cells[i] = rapid.IntRange(0, 2).Draw(t, "state")
		}
	}
	var s story
	hidden := 0 // cells that the oracle has to enumerate
	at := rapid.IntRange(0, 2).Draw(t, "first look")
	s.looks = []look{{tick: at, shows: cells[at]}}
	for at < most-4 && hidden < 6 {
		k := kind(rapid.IntRange(0, 2).Draw(t, "kind"))
		next, looks := at+1, rapid.IntRange(1, 5).Draw(t, "looks")
		switch k {
		case sampled:
			next = at + rapid.IntRange(1, 3).Draw(t, "pace")
			looks = min(looks, 3)
		case darkness:
			next, looks = at+rapid.IntRange(1, 4).Draw(t, "dark"), 1
			same := !slices.ContainsFunc(cells[at:next+1], func(c state) bool { return c != cells[at] })
			if same && cells[at] != nobody && rapid.Bool().Draw(t, "proof") {
				k = proved
			}
			if !same && cells[at] == cells[next] && cells[at] != nobody && rapid.Bool().Draw(t, "restart") {
				k = anew
			}
		}
		for pace := next - at; looks > 0 && at+pace < most; looks-- {
			at += pace
			s.looks = append(s.looks, look{at, cells[at], k})
			if k != pushed {
				hidden += pace - 1
			}
		}
	}
	s.now = at
	if rapid.Bool().Draw(t, "silent now") {
		s.now = at + rapid.IntRange(1, 2).Draw(t, "silence")
	}
	s.tell(rapid.Bool().Draw(t, "forgetful"))
	return s
}

// tell makes the lane of the looks; forgetful: of a run that remembers nothing of the one before each
// darkness, as a recording shows it.
func (s *story) tell(forgetful bool) {
	l := &s.lane
	l.Since = tick(s.looks[0].tick)
	var every time.Duration
	begin := func(to look, start Stamp) {
		l.Terms = append(l.Terms, Term{Owner: OwnerRef{ID: fmt.Sprint(to.shows)}, Hue: uint8(to.shows), Start: start, Every: every})
		s.spans, every = append(s.spans, [2]int{to.tick, to.tick}), 0
	}
	if first := s.looks[0]; first.shows != nobody {
		begin(first, Stamp{At: tick(first.tick), How: AtLeast})
	} else {
		l.Nobody = Stamp{At: tick(first.tick), How: AtLeast}
	}
	for i, to := range s.looks[1:] {
		from, n := s.looks[i], len(l.Terms)-1
		stamp := StampBetween(tick(from.tick), tick(to.tick), Seen)
		var pace time.Duration
		switch to.before {
		case pushed:
			stamp = Stamp{At: tick(to.tick), How: Told}
		case sampled:
			pace = ticks(to.tick - from.tick)
		case darkness, proved, anew:
			l.Dark = append(l.Dark, Dark{From: tick(from.tick), To: tick(to.tick)})
		}
		every = max(every, pace)
		same := from.shows == to.shows && to.before != anew
		if from.shows != nobody {
			l.Terms[n].Every, every = max(l.Terms[n].Every, every), 0
			if !same {
				l.Terms[n].End = stamp
				if to.before == darkness && forgetful {
					l.Terms[n].End = Stamp{At: tick(from.tick), How: Bound}
				}
				l.Nobody, every = stamp, 0
			}
		}
		switch {
		case to.shows == nobody:
		case same:
			s.spans[n][1] = to.tick
			if to.before == darkness {
				l.Terms[n].Sure = tick(to.tick)
			}
		default:
			if to.before == darkness && forgetful {
				stamp = Stamp{At: tick(to.tick), How: AtLeast}
			}
			every = max(every, pace)
			begin(to, stamp)
			l.Nobody = Stamp{}
		}
	}
	l.Every = every
	if last := s.looks[len(s.looks)-1]; last.tick < s.now {
		l.Dark = append(l.Dark, Dark{From: tick(last.tick)})
	}
}

// worlds calls f with every one that agrees with what was seen; lawless: in which anything may come and go
// between two looks at a pace.
func (s *story) worlds(lawless bool, f func(cells []state)) {
	cells := make([]state, s.now+1) // the last one lies ahead
	var fill func(i int)
	anything := func(from, to int, then func()) {
		var each func(at int)
		each = func(at int) {
			if at >= to {
				then()
				return
			}
			for c := range 3 {
				cells[at] = c
				each(at + 1)
			}
		}
		each(from)
	}
	set := func(from, to int, c state) {
		for i := from; i < to; i++ {
			cells[i] = c
		}
	}
	fill = func(i int) {
		from := s.looks[i]
		if i+1 == len(s.looks) {
			cells[from.tick] = from.shows
			anything(from.tick+1, s.now, func() { f(cells) })
			return
		}
		to := s.looks[i+1]
		cells[from.tick] = from.shows
		a, b := from.tick+1, to.tick
		switch {
		case to.before == darkness, to.before == sampled && lawless:
			anything(a, b, func() { fill(i + 1) })
		case to.before == anew:
			anything(a, b, func() {
				if slices.ContainsFunc(cells[a:b], func(c state) bool { return c != to.shows }) {
					fill(i + 1)
				}
			})
		case from.shows == to.shows:
			set(a, b, from.shows)
			fill(i + 1)
		default: // one change, or an end and a beginning
			for end := a; end <= b; end++ {
				for start := end; start <= b; start++ {
					if from.shows == nobody || to.shows == nobody {
						if start > end {
							break
						}
					}
					set(a, end, from.shows)
					set(end, start, nobody)
					set(start, b, to.shows)
					fill(i + 1)
				}
			}
		}
	}
	set(0, s.looks[0].tick, 1) // what was so before the first look counts for nothing
	fill(0)
}

// run is the stretch of cells around one that say the same.
func run(cells []state, at int) (from, to int) {
	for from, to = at, at+1; from > 0 && cells[from-1] == cells[at]; from-- {
	}
	for to < len(cells) && cells[to] == cells[at] {
		to++
	}
	return from, to
}

// free counts the free cells of a stretch: all, the longest run of them, and the run before its end.
func free(cells []state, from, to int) (all, longest, last int) {
	for _, c := range cells[from:max(from, to)] {
		if last++; c != nobody {
			last = 0
			continue
		}
		all, longest = all+1, max(longest, last)
	}
	return all, longest, last
}

// TestBoundsHoldInEveryWorld enumerates all worlds that agree with what was seen: no lower bound lies above
// the least of them, and no upper bound below the greatest. Where anything may come and go between two looks,
// that holds for the bounds that do not say that they rest on looks.
func TestBoundsHoldInEveryWorld(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawStory(t)
		from := rapid.IntRange(s.looks[0].tick, s.now).Draw(t, "from")
		to := rapid.IntRange(from, s.now).Draw(t, "to")
		c := s.claims(from, to)
		for _, lawless := range []bool{false, true} {
			s.worlds(lawless, func(cells []state) { c.check(t, cells, lawless) })
		}
	})
}
