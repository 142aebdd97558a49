package truth

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"coordtop/internal/emulator/dflocktest"
)

// counts are the numbers of a semaphore, as lines print them. Zero: nobody uses it.
type counts struct{ Taken, Limit, Waiting int }

// countsStretch is a time in which they were true: from a reading of the emulator's memory, before
// which they may have been so already, to the first that showed others.
type countsStretch struct {
	counts
	before, from, to time.Time // before: the last reading of others; to zero: they still are true
}

// countsActor is connections that take, await, renew and give back permits, and hang up.
type countsActor struct {
	*trial
	ticker
	server  *dflocktest.Server
	rows    []string
	limits  map[string]int
	clients []*permitClient

	mu     sync.Mutex
	last   time.Time
	truth  map[string][]countsStretch
	misses int // true numbers of which no line tells
}

// permitClient is a connection, and what it asked for.
type permitClient struct {
	*dflockdClient
	permits [][2]string // row and nonce
	waits   string      // the row in whose queue it stands; "": in none
}

// TestCountsOfDflockdSemaphoresAreTrue compares the counts of watch and get with what the server had. The
// cuts are as long as those of the other trials.
func TestCountsOfDflockdSemaphoresAreTrue(t *testing.T) {
	t.Parallel()
	server, err := dflocktest.Start(dflocktest.Options{ReadTimeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	a := &countsActor{trial: newTrial(t, server.Addr()), server: server, limits: map[string]int{}, truth: map[string][]countsStretch{}, last: time.Now()}
	t.Cleanup(a.quit)
	for i := range 6 {
		row := fmt.Sprintf("app:pool:%d", i)
		a.rows, a.limits[row] = append(a.rows, row), 2+i%4
	}
	for range 10 {
		a.clients = append(a.clients, a.open())
	}
	for range 10 {
		a.step()
	}
	a.start(2*time.Millisecond, a.record)
	a.compare("dflockd://" + a.proxy.Addr() + "?semaphore=app:pool:*")
}

func (a *countsActor) open() *permitClient {
	a.t.Helper()
	d := &dflockdActor{trial: a.trial, server: a.server}
	return &permitClient{dflockdClient: d.open()}
}

// record compares the numbers with those of the last reading.
func (a *countsActor) record() {
	a.mu.Lock()
	defer a.mu.Unlock()
	began, now := time.Now(), map[string]counts{}
	for _, e := range a.server.State().Entries {
		if len(e.Owners)+len(e.Waiters) > 0 {
			now[e.Key] = counts{len(e.Owners), e.Limit, len(e.Waiters)}
		}
	}
	to := time.Now()
	for _, row := range a.rows {
		list := a.truth[row]
		if n := len(list); n == 0 || list[n-1].counts != now[row] {
			if n > 0 {
				list[n-1].to = to
			}
			a.truth[row] = append(list, countsStretch{counts: now[row], before: a.last, from: began})
		}
	}
	a.last = began
}

func (a *countsActor) step() {
	a.record()
	defer a.record()
	i := a.random.IntN(len(a.clients))
	c, row := a.clients[i], a.rows[a.random.IntN(len(a.rows))]
	limit, lease := a.limits[row], 1+a.random.IntN(3)
	if a.random.IntN(3) == 0 {
		lease = 300
	}
	switch n := a.random.IntN(100); {
	case n < 6: // hangs up with all that it owns and waits for
		_ = c.Close()
		a.clients[i] = a.open()
	case n < 50:
		c.take(row, c.ask("sl", row, fmt.Sprintf("0 %d %d", limit, lease)))
	case n < 70 && c.waits == "":
		if answer := c.ask("se", row, fmt.Sprintf("%d %d", limit, lease)); answer == "queued" {
			c.waits = row
		} else {
			c.take(row, answer)
			c.ask("sw", row, "0")
		}
	case n < 70: // it is served, or gives up
		c.take(c.waits, c.ask("sw", c.waits, "0"))
		c.waits = ""
	case len(c.permits) > 0 && n < 80:
		p := c.permits[a.random.IntN(len(c.permits))]
		c.ask("sn", p[0], fmt.Sprintf("%s %d", p[1], lease))
	case len(c.permits) > 0:
		at := a.random.IntN(len(c.permits))
		c.ask("sr", c.permits[at][0], c.permits[at][1])
		c.permits = slices.Delete(c.permits, at, at+1)
	}
}

// take keeps the permit that an answer grants.
func (c *permitClient) take(row, answer string) {
	var word, nonce string
	if _, err := fmt.Sscan(answer, &word, &nonce); err == nil && (word == "ok" || word == "acquired") {
		c.permits = append(c.permits, [2]string{row, nonce})
	}
}

// countsLine is what these tests read of a line of watch.
type countsLine struct {
	Counts *struct{ Before, After *counts } `json:"counts"`
}

// compare lets the actor work under the eyes of the program, and compares each line and, some times, what
// get prints.
func (a *countsActor) compare(url string) {
	a.t.Helper()
	path := binary.programPath(a.t)
	interval := sampling(a.t, path, url)
	w := startWatch(a.t, path, url)
	if !w.await(func(lines []line) bool { return len(lines) > 0 && lines[len(lines)-1].Event == "synced" }) {
		a.t.Fatalf("the program never was synced: %s", w.errs.String())
	}
	outages, gets := a.outages(false), 0
	for i := range *steps {
		outages.at(i)
		a.step()
		a.pause(time.Duration(a.random.ExpFloat64() * float64(a.pace)))
		if i%50 == 25 && !outages.down {
			gets++
			a.get(path, "dflockd://"+a.server.Addr()+"?semaphore=app:pool:*")
		}
	}
	outages.end()
	for _, c := range a.clients { // what would end by itself
		_ = c.Close()
	}
	if !w.await(a.shown) {
		a.t.Error("the program does not show the true counts in the end")
	}
	a.quit()
	lines := w.stop()
	told := a.check(lines)
	a.missed(lines, interval)
	if a.t.Failed() {
		a.keep(lines)
	}
	a.t.Logf("%d lines of counts, %d looks with get, %d true numbers came and went between two looks or in darkness, sampling %v", told, gets, a.misses, interval)
	if told == 0 {
		a.t.Error("no line told of counts")
	}
}

// shown reports whether the last line of each row reports that nobody uses it.
func (a *countsActor) shown(lines []line) bool {
	left := map[string]counts{}
	for i := range lines {
		if c := countsOf(&lines[i]); c != nil {
			left[lines[i].row()] = *c.After
		}
	}
	for _, c := range left {
		if c.Taken+c.Waiting > 0 {
			return false
		}
	}
	st := a.server.State()
	return !slices.ContainsFunc(st.Entries, func(e dflocktest.Entry) bool { return len(e.Owners)+len(e.Waiters) > 0 })
}

func countsOf(l *line) *struct{ Before, After *counts } {
	var c countsLine
	_ = json.Unmarshal([]byte(l.text), &c) // it was read before
	return c.Counts
}

// check finds the true numbers of each line in the stretch in which it saw them, and has each line begin
// where the one before ended.
func (a *countsActor) check(lines []line) (told int) {
	was := map[string]counts{}
	for i := range lines {
		l := &lines[i]
		c := countsOf(l)
		if c == nil || l.Event != "count_changed" && l.Event != "present" {
			continue
		}
		told++
		row, now := l.row(), *c.After
		if before := c.Before; before != nil && (before.Taken != was[row].Taken || before.Waiting != was[row].Waiting) {
			a.t.Errorf("it was %+v in the line before: %s", was[row], l.text)
		}
		was[row] = now
		from := l.At.Add(-prompt - *slack)
		if l.After != nil {
			from = *l.After
		}
		if !a.was(row, now, from, l.At.Add(time.Millisecond)) {
			a.t.Errorf("these were not its counts then: %s", l.text)
		}
	}
	return told
}

// was reports whether a row had these numbers at some time between the two.
func (a *countsActor) was(row string, want counts, from, to time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.truth[row], func(s countsStretch) bool {
		same := s.Taken == want.Taken && s.Waiting == want.Waiting && (want.Limit == 0 || s.Limit == 0 || s.Limit == want.Limit)
		return same && !s.before.After(to) && (s.to.IsZero() || !s.to.Before(from))
	})
}

// missed has every number that was true for longer than a look takes, outside of darkness, stand in a line.
func (a *countsActor) missed(lines []line, interval time.Duration) {
	stretches := darkness(lines)
	for row, list := range a.truth {
		for i, s := range list {
			if i == 0 || s.Taken+s.Waiting == 0 && i == len(list)-1 {
				continue
			}
			end := s.to
			if end.IsZero() {
				end = lines[len(lines)-1].At
			}
			told := slices.ContainsFunc(lines, func(l line) bool {
				c := countsOf(&l)
				return l.row() == row && c != nil && c.After.Taken == s.Taken && c.After.Waiting == s.Waiting && !l.At.Before(s.before) && !l.At.After(end.Add(interval+*slack))
			})
			hidden := end.Sub(s.from) < 2*(interval+*slack)+time.Second || // looks come late on a loaded machine
				slices.ContainsFunc(stretches, func(d dark) bool {
					return s.from.Before(d.to.Add(interval+*slack)) && end.After(d.from.Add(-interval-*slack))
				})
			if !told && hidden {
				a.misses++
			} else if !told && s.before.After(lines[0].At) {
				a.t.Errorf("no line says that %s had %+v from %s to %s", row, s.counts, clock(s.from), clock(end))
			}
		}
	}
}

// get compares what get prints with the truth at some time while it ran.
func (a *countsActor) get(path, url string) {
	a.t.Helper()
	from := time.Now()
	out, err := command(a.t, path, "get", "-o", "json", url).Output()
	to := time.Now()
	if err != nil {
		a.t.Fatalf("get: %v", err)
	}
	var got struct {
		Primitives []struct {
			Name  string
			Taken *int
			Limit *int
			Queue struct{ Len *int }
		}
	}
	if err := json.Unmarshal(out, &got); err != nil {
		a.t.Fatal(err)
	}
	a.record()
	shown := map[string]bool{}
	for _, p := range got.Primitives {
		if p.Taken == nil || p.Queue.Len == nil {
			a.t.Errorf("get says of %s no counts", p.Name)
			continue
		}
		shown[p.Name] = true
		c := counts{Taken: *p.Taken, Waiting: *p.Queue.Len}
		if p.Limit != nil {
			c.Limit = *p.Limit
		}
		if !a.was(p.Name, c, from, to) {
			a.t.Errorf("get says of %s %+v, which it had not between %s and %s", p.Name, c, clock(from), clock(to))
		}
	}
	for _, row := range a.rows {
		if !shown[row] && !a.was(row, counts{}, from, to) {
			a.t.Errorf("get does not show %s, which was in use", row)
		}
	}
}
