package truth

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// rules are what the checker has to know of the run.
type rules struct {
	interval time.Duration // between two looks, as the program printed it; 0: pushes
	queue    time.Duration // the same for the queues
	slack    time.Duration // how late a push or a look may be on this machine
	proved   bool          // that an instant is prompt is proved: it has no slack
	special  map[string]special
	silences []dark // of the proxy, where what came and went in one need not be told
}

// special is what is so of one row and not of all.
type special struct {
	interval time.Duration // between two looks, where the others are pushed
	several  bool          // it may have several owners
}

// every is how much may come and go unseen at a row.
func (r *rules) every(row string) time.Duration {
	return max(r.interval, r.special[row].interval) + r.slack
}

// verdict is what the checker found.
type verdict struct {
	lies   []string
	counts map[string]int
	late   time.Duration // the longest between a change and a line with after null
}

func (v *verdict) lie(class string, l *line, format string, args ...any) {
	text := class + ": " + fmt.Sprintf(format, args...)
	if l != nil {
		text += "\n    " + l.text
	}
	v.lies = append(v.lies, text)
	v.counts["lie: "+class]++
}

func (v *verdict) String() string {
	var b strings.Builder
	keys := make([]string, 0, len(v.counts))
	for k := range v.counts {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		fmt.Fprintf(&b, "  %-60s %6d\n", k, v.counts[k])
	}
	fmt.Fprintf(&b, "  %-60s %6d ms\n", "latest line that says an instant, after the change", v.late.Milliseconds())
	return b.String()
}

// check compares the lines with the truth.
func check(lines []line, h *history, r rules) *verdict {
	v := &verdict{counts: map[string]int{}}
	c := &checker{verdict: v, rules: r, dark: darkness(lines), listed: listings(lines), lines: map[string][]*line{}, truth: h.rows,
		matched: map[*line]map[deed]*change{}, taken: map[*change]*line{}, hidden: map[*change]string{}}
	claims := map[place][]claim{}
	for i := range lines {
		l := &lines[i]
		v.counts["printed: "+l.Event]++
		c.lines[l.row()] = append(c.lines[l.row()], l)
		for _, claim := range l.claims() {
			c.seen = append(c.seen, l)
			p := placeOf(l.row(), claim.who.key(), claim.what, l.Detail)
			claims[p] = append(claims[p], claim)
		}
	}
	changes := map[place][]*change{}
	for row := range h.rows {
		for i := range h.rows[row] {
			t := &h.rows[row][i]
			if t.first {
				continue
			}
			v.counts["true: "+t.what.String()]++
			p := placeOf(row, t.id, t.what, &t.data)
			changes[p] = append(changes[p], t)
			if _, ok := claims[p]; !ok {
				claims[p] = nil
			}
		}
	}
	for turn := range 3 { // owners first: a waiter that is served, and what it wrote before that was seen, has no line of its own
		for p, list := range claims {
			if p.turn() == turn {
				c.align(changes[p], list)
			}
		}
	}
	for row, list := range c.lines {
		if row != "" {
			c.replay(row, list)
		}
	}
	if len(r.silences) > 0 {
		c.lengths(lines)
	}
	slices.Sort(v.lies)
	return v
}

// place is whose changes are compared with each other: those of one owner or waiter of a
// row, or the writing of the same data to it.
type place struct {
	row, who, data string
	waits          bool
}

func placeOf(row, who string, what deed, data *string) place {
	p := place{row: row, who: who, waits: what == joins || what == leaves}
	if what == proclaims && data != nil {
		p.who, p.data = "", *data
	}
	return p
}

func (p place) turn() int {
	switch {
	case p.waits:
		return 2
	case p.data != "":
		return 1
	}
	return 0
}

type checker struct {
	*verdict
	rules
	dark    []dark
	listed  []time.Time
	lines   map[string][]*line
	seen    []*line // all that tell of a change
	truth   map[string][]change
	matched map[*line]map[deed]*change // what each line tells of
	taken   map[*change]*line
	hidden  map[*change]string // why no line tells of it
}

// What it costs to say that something does not fit, in microseconds of lateness: the cheapest
// explanation of all lines is taken.
const (
	costHidden  = int64(10e6)
	costOutside = int64(1e9)
	costNothing = int64(10e9)
)

// align finds which change each claim tells of, in order, and judges what is left over.
func (c *checker) align(changes []*change, claims []claim) {
	pairs := cheapest(len(changes), len(claims), func(i, j int) (int64, bool) { return c.cost(changes[i], &claims[j]) })
	told := make([]bool, len(changes))
	for j, i := range pairs {
		cl := &claims[j]
		if i < 0 {
			c.lie("no such change", cl.line, "nothing like the %s by %s happened", cl.what, cl.who.ID)
			continue
		}
		if changes[i].what != cl.what {
			c.counts["came and went, told as a renewal"]++
		} else {
			told[i] = true
		}
		c.fits(changes[i], cl)
	}
	c.unprinted(changes, told)
}

// fits judges a claim that tells of a change.
func (c *checker) fits(t *change, cl *claim) {
	l := cl.line
	if c.matched[l] == nil {
		c.matched[l] = map[deed]*change{}
	}
	c.matched[l][cl.what], c.taken[t] = t, l
	if !l.within(t.from, t.to, c.lateness()) {
		c.lie("outside", l, "the %s by %s happened after %s and not after %s", cl.what, cl.who.ID, clock(t.from), clock(t.to))
		return
	}
	if l.After == nil {
		c.late = max(c.late, l.At.Sub(t.to))
	}
	switch {
	case t.what == proclaims:
		return
	case !c.called(t, cl):
		c.lie("wrong label", l, "it was called %s", t.who)
	case t.what == ends:
		c.ending(t, l)
	case t.what == begins && cl.what == begins && fenceOf(&cl.who) != t.fence:
		c.lie("wrong fence", l, "it was %q", t.fence)
	}
}

func fenceOf(o *ownerRef) string {
	if o.Fence == nil {
		return ""
	}
	return *o.Fence
}

// called reports whether an owner had the label that a line gives it at the time of the line.
func (c *checker) called(t *change, cl *claim) bool {
	from := cl.line.At.Add(-prompt)
	if cl.line.After != nil {
		from = *cl.line.After
	}
	from = from.Add(-c.every(t.row))
	had := false
	for i := range c.truth[t.row] {
		n := &c.truth[t.row][i]
		if n.id != t.id || n.who == "" || had && n.who == cl.who.Label {
			continue
		}
		if had && !n.to.Before(from) {
			return true
		}
		had = n.who == cl.who.Label && !n.from.After(cl.line.At.Add(prompt))
	}
	return had
}

// ending judges what a line says of how an ownership ended. A cause that follows from a lease or
// a session is no more than that: an owner that is gone when its lease is over has expired, one
// that is gone before has released it, and one whose session is gone too lost it with that.
func (c *checker) ending(t *change, l *line) {
	if l.Cause == nil {
		c.lie("wrong cause", l, "an end has no cause")
		return
	}
	if (l.Event == "expired") != (*l.Cause == "expired") && l.Event != "owner_changed" {
		c.lie("wrong cause", l, "the event and the cause say different things")
	}
	how := t.causeTold(l)
	if how == "" {
		c.lie("wrong cause", l, "it was %s", t.cause)
		return
	}
	c.counts["ends: cause "+how]++
}

// causeTold is in which way a line tells the true cause of an end; "": in none.
func (t *change) causeTold(l *line) string {
	if l.Cause == nil {
		return ""
	}
	gone := t.sessionEnds != nil && !t.sessionEnds.IsZero() && l.At.After(*t.sessionEnds)
	over := !t.leaseEnds.IsZero() && l.At.After(t.leaseEnds)
	switch {
	case *l.Cause == "unknown":
		return "unknown, was " + t.cause
	case t.cause == "" || *l.Cause == t.cause:
		return *l.Cause
	case l.Known == "inferred" && (*l.Cause == "expired" && over || *l.Cause == "released" && t.cause != "expired" && t.cause != "restart"):
		return *l.Cause + " by the lease, was " + t.cause
	case l.Known == "inferred" && (*l.Cause == "session_ended" || *l.Cause == "restart" && t.cause == "released") && gone:
		return *l.Cause + ", it gave it up just before"
	}
	return ""
}

// lateness is by how much more than promised an instant may be late.
func (c *checker) lateness() time.Duration {
	if c.proved {
		return 0
	}
	return c.slack
}

// cost is how badly a claim fits a change; false: not at all.
func (c *checker) cost(t *change, cl *claim) (int64, bool) {
	again := t.what == begins && cl.what == renews // who gave it up and took it again seems to have renewed it
	if t.what != cl.what && !again {
		return 0, false
	}
	if t.what == begins && !again && fenceOf(&cl.who) != t.fence {
		return 2 * costOutside, true
	}
	late := cl.line.At.Sub(t.to).Microseconds()
	if !cl.line.within(t.from, t.to, c.lateness()) {
		return costOutside + min(max(late, -late), costOutside), true
	}
	if again {
		return costHidden / 2, true
	}
	if t.what == ends && t.causeTold(cl.line) == "" {
		return costHidden / 2, true
	}
	return min(max(late, 0), costHidden/4), true
}

// cheapest pairs changes with claims in order: for each claim the change, or -1.
func cheapest(changes, claims int, cost func(i, j int) (int64, bool)) []int {
	sums := make([][]int64, changes+1)
	for i := range sums {
		sums[i] = make([]int64, claims+1)
	}
	step := func(i, j int) (int64, int) { // the best way on from here, and which: 0 both, 1 hidden, 2 nothing
		best, way := int64(-1), 0
		try := func(sum int64, w int) {
			if best < 0 || sum < best {
				best, way = sum, w
			}
		}
		if i < changes && j < claims {
			if n, ok := cost(i, j); ok {
				try(sums[i+1][j+1]+n, 0)
			}
		}
		if i < changes {
			try(sums[i+1][j]+costHidden, 1)
		}
		if j < claims {
			try(sums[i][j+1]+costNothing, 2)
		}
		return best, way
	}
	for i := changes; i >= 0; i-- {
		for j := claims; j >= 0; j-- {
			if i < changes || j < claims {
				sums[i][j], _ = step(i, j)
			}
		}
	}
	pairs := make([]int, claims)
	for i, j := 0, 0; i < changes || j < claims; {
		switch _, way := step(i, j); way {
		case 0:
			pairs[j] = i
			i, j = i+1, j+1
		case 1:
			i++
		default:
			pairs[j] = -1
			j++
		}
	}
	return pairs
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05.000000") }
