package dflocksource

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"coordtop/coord/dflockcoord"
	"coordtop/coord/dflockwire"
	"coordtop/sources"
)

// listings are what one server says, one after the other, each a millisecond in the making.
type listings struct {
	*table
	began time.Time
}

func newListings(o Options) listings {
	o.Client = dflockcoord.ClientOptions{Servers: []string{"a:1"}}
	o, err := o.withDefaults()
	if err != nil {
		panic(err)
	}
	return listings{newTable(&o, "a:1"), time.Now()}
}

// at takes in a listing that was made so long after the beginning.
func (l listings) at(after time.Duration, fresh bool, list listing) (sources.Change, bool) {
	asked := l.began.Add(after)
	return l.between(asked, asked.Add(time.Millisecond), fresh, list)
}

func (l listings) between(asked, answered time.Time, fresh bool, list listing) (sources.Change, bool) {
	l.begin()
	for i := range list {
		l.list(&list[i])
	}
	return l.compare(&dflockwire.Stats{Asked: asked, Answered: answered}, fresh)
}

// listing is what a server lists.
type listing []dflockwire.Entry

func held(key string, owner uint64, left time.Duration) dflockwire.Entry {
	return dflockwire.Entry{Key: []byte(key), Limit: 1, Taken: 1, Owner: owner, Left: left}
}

func idleFor(key string, d time.Duration) dflockwire.Entry {
	return dflockwire.Entry{Key: []byte(key), Limit: 1, Idle: true, Unused: d}
}

func locks(list ...dflockwire.Entry) listing { return list }

func TestTheLengthOfALeaseIsToldOnceOnlyOneFits(t *testing.T) {
	t.Parallel()
	l := newListings(Options{})
	l.at(0, true, locks(held("k", 7, 12*time.Second)))
	length := func() time.Duration { return l.rows["k"].shown.Owners[0].Lease }
	if got := length(); got != 0 {
		t.Errorf("no beginning was seen, and it is %v", got)
	}
	l.at(2100*time.Millisecond, false, locks(held("k", 7, 19*time.Second))) // 19 s to 21.1 s
	if got := length(); got != 0 {
		t.Errorf("three lengths fit, and it is %v", got)
	}
	l.at(3*time.Second, false, locks(held("k", 7, 19500*time.Millisecond))) // 20 s
	if got := length(); got != 20*time.Second {
		t.Errorf("only 20 s fit, and it is %v", got)
	}
	l.at(4*time.Second, false, locks(held("k", 7, 4100*time.Millisecond))) // renewed for 5 s
	if got := length(); got != 5*time.Second {
		t.Errorf("it is shorter now, and it is %v", got)
	}
}

func TestALeaseThatRunsDownIsToldOnce(t *testing.T) {
	t.Parallel()
	l := newListings(Options{})
	l.at(0, true, locks(held("k", 7, time.Hour)))
	for i := range 3000 { // our clock and the server's drift apart
		after := time.Duration(i+1) * time.Second
		left := time.Hour - after - time.Duration(i)*100*time.Microsecond
		if c, _ := l.at(after, false, locks(held("k", 7, max(left, 0)))); len(c.Set) > 0 {
			t.Fatalf("after %v it is told again: %+v", after, c.Set[0].Owners)
		}
	}
	told := l.rows["k"].shown.Owners[0]
	last := l.rows["k"].lease.to.Sub(l.answered)
	c, _ := l.at(3001*time.Second, true, locks(held("k", 7, last-time.Second)))
	if o := c.Set[0].Owners[0]; o.Expires != told.Expires {
		t.Errorf("on another connection it ends at %v, before that at %v: it would look changed", o.Expires.At, told.Expires.At)
	}
}

func TestAnOwnerWhoseLeaseRanOutOwnsUntilItIsSwept(t *testing.T) {
	t.Parallel()
	l := newListings(Options{})
	l.at(0, true, locks(held("k", 7, 500*time.Millisecond)))
	ends := l.rows["k"].shown.Owners[0].Expires
	l.at(time.Second, false, locks(held("k", 7, 0)))
	if o := l.rows["k"].shown.Owners; len(o) != 1 || o[0].Expires != ends {
		t.Errorf("it is %+v, and ended at %v", o, ends)
	}
	l.at(1100*time.Millisecond, false, listing{idleFor("k", 0)})
	if o := l.rows["k"].shown; len(o.Owners) != 0 || o.OwnersHow != sources.Told {
		t.Errorf("it is swept, and %+v", o)
	}
}

func TestWhatIsARestart(t *testing.T) {
	t.Parallel()
	before := locks(held("a", 731, time.Minute), held("b", 900, time.Minute))
	awaited := slices.Clone(before)
	awaited[0].Waiters, awaited[1].Waiters = 1, 1
	idle := func(keys ...string) (list listing) {
		for _, key := range keys {
			list = append(list, idleFor(key, 0))
		}
		return list
	}
	both := func(a, b listing) listing { return slices.Concat(a, b) }
	used := listing{idleFor("c", 20*time.Second)}
	for name, c := range map[string]struct {
		before, after listing
		away          time.Duration
		want          bool
	}{
		"nothing is left":                   {before, listing{}, time.Second, true},
		"nothing was there":                 {listing{}, locks(held("a", 1, time.Minute)), time.Second, false},
		"one key is left":                   {before, locks(held("a", 731, 59*time.Second)), time.Second, false},
		"all was given back":                {before, idle("a", "b"), time.Second, false},
		"away for longer than it remembers": {before, listing{}, 2 * time.Minute, false},
		"owners from the beginning":         {before, locks(held("a", 2, time.Minute), held("b", 1, time.Minute)), time.Second, true},
		"waiters took both over":            {awaited, locks(held("a", 12, time.Minute), held("b", 13, time.Minute)), time.Second, false},
		"a waiter took one over":            {before, locks(held("a", 12, time.Minute), held("b", 900, time.Minute)), time.Second, false},
		"owners that came later":            {before, locks(held("a", 901, time.Minute), held("b", 902, time.Minute)), time.Second, false},
		"the same ids, and an unused key":   {both(before, idle("c")), locks(held("a", 731, 2*time.Minute), held("b", 900, 2*time.Minute)), time.Second, true},
		"an unused key, for too long":       {both(before, used), locks(held("a", 731, 2*time.Minute), held("b", 900, 2*time.Minute)), 41 * time.Second, false},
		"the same ids, and nothing else":    {before, locks(held("a", 731, 2*time.Minute), held("b", 900, 2*time.Minute)), time.Second, false},
		"what was idle still is":            {used, listing{idleFor("c", 21*time.Second)}, time.Second, false},
	} {
		l := newListings(Options{})
		l.at(0, true, c.before)
		l.at(c.away, true, c.after)
		if got := l.restarts == 1; got != c.want {
			t.Errorf("%s: a restart: %v", name, got)
		}
	}
}

func TestAServerThatForgetsSoonWasNotRestarted(t *testing.T) {
	t.Parallel()
	used := locks(held("a", 7, time.Minute))
	idle := listing{idleFor("b", 2*time.Second)}
	for name, c := range map[string]struct {
		before []listing // a second apart
		away   time.Duration
		want   bool
	}{
		"nothing was forgotten yet":          {[]listing{idle, used}, time.Second, true},
		"it forgot a key after 2 s":          {[]listing{idle, {}, used}, 3 * time.Second, false},
		"it forgot a key after 2 s, shortly": {[]listing{idle, {}, used}, time.Second, true},
		"it forgot a key between two looks":  {[]listing{used, {}, used}, time.Second, false},
	} {
		l, after := newListings(Options{}), time.Duration(0)
		for i, s := range c.before {
			l.at(after, i == 0, s)
			after += time.Second
		}
		l.at(after-time.Second+c.away, true, listing{})
		if got := l.restarts == 1; got != c.want {
			t.Errorf("%s: a restart: %v", name, got)
		}
	}
}

func TestOwnersThatWereOwnersBeforeAreNoRestart(t *testing.T) {
	t.Parallel()
	l := newListings(Options{})
	l.at(0, true, locks(held("a", 1, time.Minute), held("b", 2, time.Minute)))
	l.at(time.Second, false, locks(held("a", 3, time.Minute), held("b", 4, time.Minute)))
	l.at(3*time.Second, true, locks(held("a", 1, time.Minute), held("b", 2, time.Minute)))
	if l.restarts != 0 {
		t.Error("two old connections took their locks again, and it says that the server was restarted")
	}
}

func TestTheCauseOfAnEndIsUnknownWhereTheLeaseEndsBetweenTheSameLooks(t *testing.T) {
	t.Parallel()
	for left, want := range map[time.Duration]int{-100 * time.Millisecond: 0, 500 * time.Millisecond: 1, 5 * time.Second: 0} {
		l := newListings(Options{})
		other := held("b", 7, time.Hour) // it is alive
		l.at(0, true, locks(held("a", 7, 10*time.Second), other))
		l.at(10*time.Second-left, false, locks(held("a", 7, max(left, 0)), other))
		c, _ := l.at(11*time.Second-left, false, listing{idleFor("a", 0), other})
		if len(c.Ended) != want || want > 0 && (c.Ended[0].Owner != "conn 7" || c.Ended[0].Cause != sources.CauseUnknown) {
			t.Errorf("with %v left at the last look: %+v", left, c.Ended)
		}
	}
}

// TestAHangUpIsNoRelease is of owners that are gone before their leases ran out: only one whose
// connection is alive has surely released its lock.
func TestAHangUpIsNoRelease(t *testing.T) {
	t.Parallel()
	l := newListings(Options{})
	l.at(0, true, locks(held("a", 7, time.Minute), held("b", 8, time.Minute), held("c", 8, time.Minute), held("d", 9, time.Minute)))
	c, _ := l.at(time.Second, false, locks(held("c", 8, time.Minute-time.Second), held("d", 10, time.Minute), idleFor("a", 0), idleFor("b", 0)))
	unknown := map[string]bool{}
	for _, e := range c.Ended {
		unknown[e.Ref.Name+" "+e.Owner] = e.Cause == sources.CauseUnknown
	}
	if want := map[string]bool{"a conn 7": true, "d conn 9": true}; !maps.Equal(unknown, want) {
		t.Errorf("the cause is unknown of %v, want %v", unknown, want)
	}
}

func TestTheCauseIsUnknownWhereTheLeaseMayHaveEndedBeforeTheRestart(t *testing.T) {
	t.Parallel()
	l := newListings(Options{})
	l.at(0, true, locks(held("a", 7, time.Second), held("b", 8, time.Minute)))
	c, _ := l.at(3*time.Second, true, listing{})
	if l.restarts != 1 || len(c.Ended) != 1 || c.Ended[0].Owner != "conn 7" || c.Ended[0].Cause != sources.CauseUnknown {
		t.Errorf("after %d restarts: %+v", l.restarts, c.Ended)
	}
}

// TestAnEndThatIsKnownBetterIsTold is of a first listing that took long: the Hub judges an end by
// what it was told last.
func TestAnEndThatIsKnownBetterIsTold(t *testing.T) {
	t.Parallel()
	l := newListings(Options{})
	l.between(l.began, l.began.Add(2*time.Second), true, locks(held("k", 7, 3*time.Second)))
	c, moved := l.at(2500*time.Millisecond, false, locks(held("k", 7, 2500*time.Millisecond)))
	if len(c.Set) != 1 || moved {
		t.Fatalf("%d rows are told anew, moved %v", len(c.Set), moved)
	}
	if o := c.Set[0].Owners[0]; o.Expires.At.Sub(o.Expires.After()) > 50*time.Millisecond || o.Renewed.How != sources.Unknown {
		t.Errorf("it ends in (%v, %v], renewed %v", o.Expires.After(), o.Expires.At, o.Renewed.How)
	}
	if c, _ = l.at(3*time.Second, false, locks(held("k", 7, 2*time.Second))); len(c.Set) > 0 {
		t.Error("it is told again")
	}
}

func TestAKeyThatWasUsedBetweenTwoLooksWasNotObserved(t *testing.T) {
	t.Parallel()
	l := newListings(Options{})
	idle := func(d time.Duration) listing {
		return listing{idleFor("a", d)}
	}
	l.at(0, true, idle(3*time.Second))
	if c, _ := l.at(time.Second, false, idle(4*time.Second)); len(c.Unseen) > 0 {
		t.Errorf("nobody used it: %+v", c.Unseen)
	}
	c, _ := l.at(2*time.Second, false, idle(300*time.Millisecond))
	if len(c.Unseen) != 1 || c.Unseen[0].From != l.began.Add(time.Second) || c.Unseen[0].To.Sub(l.began).Round(10*time.Millisecond) != 1700*time.Millisecond {
		t.Errorf("somebody used it: %+v", c.Unseen)
	}
	l.at(3*time.Second, false, locks(held("a", 7, time.Minute)))
	if c, _ = l.at(4*time.Second, false, idle(300*time.Millisecond)); len(c.Unseen) > 0 {
		t.Errorf("its owner was seen: %+v", c.Unseen)
	}
}

func TestKeysThatAreForgottenAreDropped(t *testing.T) {
	t.Parallel()
	l := newListings(Options{Forget: time.Minute})
	for i := range 100 {
		l.at(time.Duration(i)*10*time.Second, i == 0, locks(held(fmt.Sprint("key", i), 7, time.Minute)))
	}
	if n := len(l.rows); n > 8 {
		t.Errorf("%d rows are kept of one key in use and six that were used in the last minute", n)
	}
}

// BenchmarkListing measures what a listing of so many keys costs, of which a hundredth was renewed.
func BenchmarkListing(b *testing.B) {
	for _, keys := range []int{1024, 10_000} {
		b.Run(fmt.Sprint(keys), func(b *testing.B) {
			var s listing
			for i := range keys {
				s = append(s, held(fmt.Sprintf("billing/shard-%05d", i), uint64(i+1), time.Minute))
			}
			l, after := newListings(Options{}), time.Duration(0)
			for b.Loop() {
				after += time.Second
				for i := range s {
					if s[i].Left -= time.Second; i%100 == int(after/time.Second)%100 {
						s[i].Left = time.Minute
					}
				}
				l.at(after, false, s)
			}
		})
	}
}
