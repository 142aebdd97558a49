package sources

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
)

// t0 is when the tests' second look is made; the first was ten seconds before.
var (
	t0     = time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	before = t0.Add(-10 * time.Second)
)

// prim is an election that was read at `at`.
func prim(at time.Time, owners ...Owner) *Primitive {
	return &Primitive{Ref: Ref{Source: "s", Name: "app"}, Kind: KindElection, OwnersHow: Told, At: at, Owners: owners,
		ForgetAfter: time.Hour}
}

// with returns p changed.
func with(p *Primitive, change func(*Primitive)) *Primitive {
	change(p)
	return p
}

func owner(id string) Owner { return Owner{ID: id} }

// until is an owner whose lease ends at t.
func until(id string, t time.Time) Owner {
	return Owner{ID: id, Expires: Stamp{At: t, How: Told}}
}

// proved is an owner by the same grant in each look.
func proved(o Owner) Owner {
	o.Proof = 1
	return o
}

func semaphore(p *Primitive) { p.Kind, p.Limit = KindSemaphore, 3 }

func queue(ids ...string) func(*Primitive) {
	return func(p *Primitive) {
		p.Queue = Queue{How: Told, Len: len(ids)}
		for _, id := range ids {
			p.Queue.Waiters = append(p.Queue.Waiters, Waiter{ID: id})
		}
	}
}

// brief prints the parts of an event that differ from test to test.
func brief(e Event) string {
	s := e.Kind.String()
	if e.Previous != (OwnerRef{}) {
		s += " -" + e.Previous.ID
	}
	if e.Owner != (OwnerRef{}) {
		s += " +" + e.Owner.ID
	}
	if e.Cause != CauseUnknown {
		s += " " + e.Cause.String()
	}
	s += " " + e.How.String()
	if e.LeaseLeft != 0 {
		s += fmt.Sprintf(" left %v", e.LeaseLeft)
	}
	if !e.After.IsZero() {
		s += fmt.Sprintf(" within %v", e.At.Sub(e.After))
	}
	if e.Detail != "" {
		s += ": " + e.Detail
	}
	return s
}

type diffTest struct {
	name          string
	before, after *Primitive
	change        Change // At: t0
	want          []string
}

func (tt *diffTest) run(t *testing.T) {
	t.Helper()
	tt.change.At = t0
	var got []string
	for _, e := range Diff(tt.before, tt.after, tt.change) {
		got = append(got, brief(e))
		if e.At != t0 || e.Ref != refOf(tt.before, tt.after) || e.Seq != 0 {
			t.Errorf("event %+v has another At, Ref or number", e)
		}
	}
	if !reflect.DeepEqual(got, tt.want) {
		t.Errorf("Diff:\n got %q\nwant %q", got, tt.want)
	}
}

func runDiffs(t *testing.T, tests []diffTest) {
	t.Helper()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.run(t)
		})
	}
}

func TestDiffNamesFirstLooks(t *testing.T) {
	t.Parallel()
	byItself := func(p *Primitive) { p.ForgetAfter = 0 }
	unread := &Primitive{Ref: Ref{Source: "s", Name: "app"}}
	hidden := with(prim(before), func(p *Primitive) { p.OwnersHow = Unknown })
	runDiffs(t, []diffTest{
		{"an owner at start is present", nil, prim(t0, owner("a")), Change{Relists: true}, []string{"present +a at_least"}},
		{"nobody at start is told too", nil, prim(t0), Change{Relists: true}, []string{"present at_least: the server has nothing of this name: is it misspelt?"}},
		{"a free lock that was named may be misspelt", nil, with(prim(t0), func(p *Primitive) { p.Kind, p.ForgetAfter = KindMutex, math.MaxInt64 }), Change{Relists: true},
			[]string{"present at_least: free, or misspelt: nobody owns anything of this name"}},
		{"a free lock that was found is not", nil, with(prim(t0), func(p *Primitive) { p.Kind = KindMutex }), Change{Relists: true}, []string{"present at_least"}},
		{"every owner of a semaphore is present", nil, with(prim(t0, owner("a"), owner("b")), semaphore), Change{Relists: true},
			[]string{"present +a at_least", "present +b at_least"}},
		{"present is not dated by the poll", nil, prim(t0, owner("a")), Change{Relists: true, After: before}, []string{"present +a at_least"}},
		{"what was not read tells nothing", nil, unread, Change{Relists: true}, nil},
		{"what was configured and is read later was present", unread, prim(t0, owner("a")), Change{}, []string{"present +a at_least"}},
		{"what becomes unread again tells nothing", prim(before, owner("a")), unread, Change{}, nil},
		{"unknown owners are not nobody", nil, with(prim(t0), func(p *Primitive) { p.OwnersHow, p.Note = Unknown, "a list" }), Change{Relists: true}, []string{"present unknown: a list"}},
		{"owners that become known were present", hidden, prim(t0, owner("a")), Change{}, []string{"present +a at_least"}},
		{"owners that become unknown have not gone", prim(before, owner("a")),
			with(prim(t0), func(p *Primitive) { p.OwnersHow, p.Note = Unknown, "a list" }), Change{}, []string{"owner_unknown told: a list"}},
		{"a key that appears is acquired, not created", nil, prim(t0, owner("a")), Change{}, []string{"acquired +a told"}},
		{"what exists by itself is created", nil, with(prim(t0, owner("a")), byItself), Change{After: before},
			[]string{"created seen within 10s", "acquired +a seen within 10s"}},
		{"what exists by itself is deleted", with(prim(before, owner("a")), byItself), nil, Change{},
			[]string{"released -a deleted inferred", "deleted told"}},
		{"what exists only while owned is forgotten without an event", prim(before), nil, Change{}, nil},
		{"its owner ends all the same", prim(before, owner("a")), nil, Change{}, []string{"released -a deleted inferred"}},
		{"what was never read vanishes without an event", unread, nil, Change{}, nil},
		{"nothing on both sides", nil, nil, Change{}, nil},
	})
}

func TestDiffNamesChangesOfOwner(t *testing.T) {
	t.Parallel()
	fenced := func(id string, fence uint64) Owner { return Owner{ID: id, Fence: fence} }
	inc := func(name string) func(*Primitive) { return func(p *Primitive) { p.Incarnation = name } }
	shared := func(id string) Owner { return Owner{ID: id, Mode: Shared} }
	runDiffs(t, []diffTest{
		{"taken, as pushed", prim(before), prim(t0, owner("a")), Change{}, []string{"acquired +a told"}},
		{"taken, as polled", prim(before), prim(t0, owner("a")), Change{After: before}, []string{"acquired +a seen within 10s"}},
		{"the same owner is no event", prim(before, owner("a")), prim(t0, owner("a")), Change{}, nil},
		{"one owner replaces another", prim(before, owner("a")), prim(t0, owner("b")), Change{After: before},
			[]string{"owner_changed -a +b seen within 10s"}},
		{"another fence is another term", prim(before, fenced("a", 4)), prim(t0, fenced("a", 5)), Change{},
			[]string{"released -a told", "acquired +a told"}},
		{"a fence that becomes known is the same term", prim(before, owner("a")), prim(t0, fenced("a", 5)), Change{}, nil},
		{"a restart ends the term of an owner that stays", with(prim(before, owner("a")), inc("1")), with(prim(t0, owner("a")), inc("2")), Change{},
			[]string{"released -a restart inferred", "acquired +a told"}},
		{"a restart under another owner", with(prim(before, owner("a")), inc("1")), with(prim(t0, owner("b")), inc("2")), Change{},
			[]string{"owner_changed -a +b restart inferred"}},
		{"an incarnation that becomes known is no restart", with(prim(before, owner("a")), inc("")), with(prim(t0, owner("a")), inc("2")), Change{}, nil},
		{"in a semaphore nobody is replaced", with(prim(before, owner("a"), owner("b")), semaphore),
			with(prim(t0, owner("b"), owner("c")), semaphore), Change{}, []string{"released -a told", "acquired +c told"}},
		{"the order of owners means nothing", with(prim(before, owner("a"), owner("b")), semaphore),
			with(prim(t0, owner("b"), owner("a")), semaphore), Change{}, nil},
		{"shared owners do not replace each other", prim(before, shared("a")), prim(t0, shared("b")), Change{},
			[]string{"released -a told", "acquired +b told"}},
		{"a shared owner replaces an exclusive one", prim(before, owner("a")), prim(t0, shared("b")), Change{After: before},
			[]string{"owner_changed -a +b seen within 10s"}},
		{"an exclusive owner replaces a shared one", prim(before, shared("a")), prim(t0, owner("b")), Change{After: before},
			[]string{"owner_changed -a +b seen within 10s"}},
		{"a session that comes to share what it owned replaces nobody", prim(before, Owner{ID: "a", Session: "a"}),
			prim(t0, Owner{ID: "a shared", Session: "a", Mode: Shared}), Change{}, []string{"released -a told", "acquired +a shared told"}},
		{"a second owner is acquired beside the first", prim(before, owner("a")), prim(t0, owner("a"), owner("b")), Change{},
			[]string{"acquired +b told: while a owns it too"}},
	})
}

func TestDiffTellsReleasedFromExpired(t *testing.T) {
	t.Parallel()
	ending := func(cause Cause, how Known) Change {
		return Change{Ended: []Ending{{Ref: Ref{Source: "s", Name: "app"}, Owner: "a", Cause: cause, How: how}}}
	}
	between := Owner{ID: "a", Expires: StampBetween(t0.Add(-time.Millisecond), t0.Add(time.Millisecond), Told)}
	session := Owner{ID: "a", NoExpiry: true}
	runDiffs(t, []diffTest{
		{"before its lease ran out", prim(before, until("a", t0.Add(time.Second))), prim(t0), Change{},
			[]string{"released -a released inferred left 1s"}},
		{"at the end of its lease", prim(before, until("a", t0)), prim(t0), Change{}, []string{"expired -a expired inferred"}},
		{"after it", prim(before, until("a", t0.Add(-time.Second))), prim(t0), Change{}, []string{"expired -a expired inferred"}},
		{"within the doubt about its end", prim(before, between), prim(t0), Change{}, []string{"expired -a expired inferred"}},
		{"no lease is known", prim(before, owner("a")), prim(t0), Change{}, []string{"released -a told"}},
		{"bound to a session", prim(before, session), prim(t0), Change{After: before}, []string{"released -a seen within 10s"}},
		{"told to be deleted", prim(before, until("a", t0.Add(time.Second))), prim(t0), ending(CauseDeleted, Told),
			[]string{"released -a deleted told left 1s"}},
		{"told to be expired before we thought", prim(before, until("a", t0.Add(time.Second))), prim(t0), ending(CauseExpired, Told),
			[]string{"expired -a expired told"}},
		{"inferred by the source", prim(before, owner("a")), prim(t0), ending(CauseEvicted, Inferred),
			[]string{"released -a evicted inferred"}},
		{"told of another owner", prim(before, owner("b")), prim(t0), ending(CauseDeleted, Told), []string{"released -b told"}},
		{"replaced before its lease ran out", prim(before, until("a", t0.Add(time.Second))), prim(t0, owner("b")), Change{},
			[]string{"owner_changed -a +b told left 1s"}},
		{"replaced after its lease ran out", prim(before, until("a", t0.Add(-time.Second))), prim(t0, owner("b")), Change{},
			[]string{"owner_changed -a +b expired inferred"}},
		{"replaced, and told why", prim(before, until("a", t0.Add(time.Second))), prim(t0, owner("b")), ending(CauseReplaced, Told),
			[]string{"owner_changed -a +b replaced told left 1s"}},
		{"replaced, and released as the source infers", prim(before, owner("a")), prim(t0, owner("b")), ending(CauseReleased, Inferred),
			[]string{"owner_changed -a +b released inferred"}},
		{"gone in a gap, its lease still running", prim(before, until("a", t0.Add(time.Second))), prim(t0), Change{Relists: true, After: before},
			[]string{"released -a seen within 10s"}},
		{"gone in a gap in which its lease ended", prim(before, until("a", t0)), prim(t0), Change{Relists: true, After: before},
			[]string{"released -a seen within 10s"}},
		{"gone in a gap, its lease over before", prim(before.Add(-time.Second), until("a", before)), prim(t0), Change{Relists: true, After: before},
			[]string{"expired -a expired inferred within 10s"}},
		{"replaced in a gap", prim(before, until("a", t0.Add(time.Second))), prim(t0, owner("b")), Change{Relists: true, After: before},
			[]string{"owner_changed -a +b seen within 10s"}},
	})
}

func TestDiffNamesRenewalsAndProclamations(t *testing.T) {
	t.Parallel()
	doubt := func(from, to time.Time) Owner { return Owner{ID: "a", Expires: StampBetween(from, to, Told)} }
	says := func(text string) Owner {
		return Owner{ID: "a", Data: Blob{Head: text, Len: len(text), Sum: uint64(len(text))}}
	}
	told := func(at time.Time) Owner { return Owner{ID: "a", Renewed: Stamp{At: at, How: Told}} }
	data := func(n int) func(*Primitive) {
		return func(p *Primitive) { p.Data = Blob{Head: strings.Repeat("\x00", min(n, 3)), Len: n, Sum: uint64(n)} }
	}
	end := t0.Add(5 * time.Second)
	runDiffs(t, []diffTest{
		{"a later end is a renewal", prim(before, until("a", end)), prim(t0, until("a", end.Add(10*time.Second))), Change{},
			[]string{"renewed +a told left 5s"}},
		{"the noise of reading is none", prim(before, until("a", end)), prim(t0, until("a", end.Add(20*time.Millisecond))), Change{}, nil},
		{"an earlier end is none", prim(before, until("a", end)), prim(t0, until("a", end.Add(-time.Second))), Change{},
			[]string{"lease_changed +a told left 5s: it ends in 4.0 s; it had 5.0 s left"}},
		{"ends that may be the same are none", prim(before, doubt(end, end.Add(time.Second))),
			prim(t0, doubt(end.Add(900*time.Millisecond), end.Add(2*time.Second))), Change{}, nil},
		{"ends that cannot be the same are one", prim(before, doubt(end, end.Add(time.Millisecond))),
			prim(t0, doubt(end.Add(10*time.Millisecond), end.Add(12*time.Millisecond))), Change{}, []string{"renewed +a told left 5.001s"}},
		{"a renewal across a gap says nothing of what was left", prim(before, proved(until("a", end))), prim(t0, proved(until("a", end.Add(time.Hour)))),
			Change{Relists: true, After: before}, []string{"renewed +a seen within 10s"}},
		{"a deadline that moved in a gap is no renewal", prim(before, until("a", end)), prim(t0, until("a", end.Add(time.Hour))),
			Change{Relists: true, After: before}, nil},
		{"a told renewal", prim(before, told(before)), prim(t0, told(t0)), Change{}, []string{"renewed +a told"}},
		{"the same told renewal", prim(before, told(before)), prim(t0, told(before)), Change{}, nil},
		{"data of the owner", prim(before, says("x")), prim(t0, says("y\x1b[2J")), Change{}, []string{`proclaimed +a told: "y\x1b[2J"`}},
		{"data of the primitive, by its only owner", with(prim(before, owner("a")), data(1)), with(prim(t0, owner("a")), data(2)), Change{},
			[]string{`proclaimed +a told: "\x00\x00"`}},
		{"data of a primitive that nobody owns", with(prim(before), data(1)), with(prim(t0), data(9)), Change{},
			[]string{`proclaimed told: "\x00\x00\x00"... (9 bytes)`}},
		{"both are told once", with(prim(before, says("x")), data(1)), with(prim(t0, says("yy")), data(2)), Change{},
			[]string{`proclaimed +a told: "yy"`}},
		{"data that went with an ephemeral primitive", with(with(prim(before, owner("a")), data(1)), ephemeral), with(prim(t0), ephemeral), Change{},
			[]string{"released -a told"}},
		{"data of an ephemeral primitive that goes on", with(with(prim(before, owner("a")), data(1)), ephemeral), with(with(prim(t0, owner("a")), data(2)), ephemeral),
			Change{}, []string{`proclaimed +a told: "\x00\x00"`}},
		{"another owner's data is no proclamation", prim(before, owner("b")), prim(t0, says("x")), Change{}, []string{"owner_changed -b +a told"}},
	})
}

func ephemeral(p *Primitive) { p.Ephemeral = true }

// inSession puts all waiters into a session.
func inSession(id string) func(*Primitive) {
	return func(p *Primitive) {
		for i := range p.Queue.Waiters {
			p.Queue.Waiters[i].Session = id
		}
	}
}

// mode is a second ownership of a session, in another mode.
func mode(session string) Owner { return Owner{ID: session + " alone", Session: session} }

func incarnation(name string) func(*Primitive) { return func(p *Primitive) { p.Incarnation = name } }

func TestDiffNamesWaiters(t *testing.T) {
	t.Parallel()
	cut := func(p *Primitive) { p.Queue.Len = 9 }
	runDiffs(t, []diffTest{
		{"joined", with(prim(before, owner("a")), queue()), with(prim(t0, owner("a")), queue("w")), Change{}, []string{"waiter_joined +w told"}},
		{"left", with(prim(before, owner("a")), queue("w", "x")), with(prim(t0, owner("a")), queue("x")), Change{}, []string{"waiter_left +w told"}},
		{"who got it did not leave", with(prim(before, owner("a")), queue("w")), with(prim(t0, owner("w")), queue()), Change{},
			[]string{"owner_changed -a +w told"}},
		{"an owner that waited for more gives up waiting", with(prim(before, owner("a"), owner("b")), queue("a")), with(prim(t0, owner("a"), owner("b")), queue()),
			Change{}, []string{"waiter_left +a told"}},
		{"an owner that waited for more gets it", with(with(prim(before, Owner{ID: "a", Session: "a", Mode: Shared}), queue("a")), inSession("a")),
			with(prim(t0, Owner{ID: "a", Session: "a", Mode: Shared}, mode("a")), queue()),
			Change{}, []string{"acquired +a alone told"}},
		{"a queue that becomes known was there", prim(before, owner("a")), with(prim(t0, owner("a")), queue("w")), Change{}, []string{"waiter_joined +w at_least"}},
		{"a queue that is found", nil, with(prim(t0, owner("a")), queue("w")), Change{Relists: true, After: before}, []string{"present +a at_least", "waiter_joined +w at_least"}},
		{"a queue of what is created", nil, with(prim(t0, owner("a")), queue("w")), Change{After: before},
			[]string{"acquired +a seen within 10s", "waiter_joined +w seen within 10s"}},
		{"a queue of what is gone", with(prim(before, owner("a")), queue("w")), nil, Change{}, []string{"released -a deleted inferred", "waiter_left +w told"}},
		{"a queue across a restart", with(with(prim(before), queue("w")), incarnation("1")), with(with(prim(t0), queue("w")), incarnation("2")), Change{},
			[]string{"waiter_left +w told", "waiter_joined +w told"}},
		{"a cut queue names nobody", with(with(prim(before), queue("w")), cut), with(with(prim(t0), queue("x")), cut), Change{}, nil},
	})
}

// counts is a semaphore of which the server tells only numbers.
func counts(taken, limit uint64, waiting int) func(*Primitive) {
	return func(p *Primitive) {
		p.Kind, p.OwnersHow, p.LimitHow, p.Limit, p.Taken = KindSemaphore, Unknown, Told, limit, taken
		p.Queue = Queue{How: Told, Len: waiting}
		if limit == 0 {
			p.OwnersHow, p.LimitHow = Told, Unknown // nobody uses it
		}
	}
}

func TestDiffTellsCountsWhereOwnersAreNotTold(t *testing.T) {
	t.Parallel()
	shown := func(from, to func(*Primitive)) (*Primitive, *Primitive) {
		return with(prim(before), from), with(prim(t0), to)
	}
	test := func(name string, from, to func(*Primitive), want ...string) diffTest {
		was, is := shown(from, to)
		return diffTest{name, was, is, Change{After: before}, want}
	}
	runDiffs(t, []diffTest{
		test("a permit is taken", counts(1, 3, 0), counts(2, 3, 0), "count_changed seen within 10s: 2 of 3 taken; before 1 of 3 taken"),
		test("one is given back, and who waits leaves", counts(3, 3, 1), counts(2, 3, 0), "count_changed seen within 10s: 2 of 3 taken; before 3 of 3 taken, 1 waits"),
		test("more wait", counts(3, 3, 1), counts(3, 3, 2), "count_changed seen within 10s: 3 of 3 taken, 2 wait; before 3 of 3 taken, 1 waits"),
		test("another limit", counts(1, 3, 0), counts(1, 4, 0), "count_changed seen within 10s: 1 of 4 taken; before 1 of 3 taken"),
		test("used again", counts(0, 0, 0), counts(1, 3, 0), "count_changed seen within 10s: 1 of 3 taken; before 0 of 3 taken"),
		test("its limit is learned", counts(0, 0, 0), counts(0, 3, 0)),
		test("nothing", counts(1, 3, 1), counts(1, 3, 1)),
		{"a new one", nil, with(prim(t0), counts(1, 3, 0)), Change{After: before}, []string{"count_changed seen within 10s: 1 of 3 taken; before 0 of 3 taken"}},
		{"found", nil, with(prim(t0), counts(1, 3, 0)), Change{Relists: true}, []string{"present unknown: 1 of 3 taken"}},
		{"across a gap", with(prim(before), counts(1, 3, 0)), with(prim(t0), counts(0, 3, 0)), Change{Relists: true, After: before},
			[]string{"count_changed seen within 10s: 0 of 3 taken; before 1 of 3 taken"}},
		{"owners that are told are no counts", with(prim(before, owner("a")), semaphore), with(prim(t0, owner("a"), owner("b")), semaphore),
			Change{}, []string{"acquired +b told"}},
	})
}

func TestDiffComparesLongListsOfOwnersRightly(t *testing.T) {
	t.Parallel()
	const n = 3000
	var was, is []Owner
	for i := range n {
		was = append(was, Owner{ID: fmt.Sprint("a", i), Fence: 1})
		is = append(is, Owner{ID: fmt.Sprint("a", n-i), Fence: 1}) // backwards, one gone and one new
	}
	events := Diff(with(prim(before, was...), semaphore), with(prim(t0, is...), semaphore), Change{At: t0})
	var got []string
	for _, e := range events {
		got = append(got, brief(e))
	}
	want := []string{"released -a0 told", fmt.Sprintf("acquired +a%d told", n)}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestOwnershipsOfOneSessionAreToldApartByTheirNumber(t *testing.T) {
	t.Parallel()
	numbered := func(serial uint16) Owner { return Owner{ID: "a", Serial: serial} }
	runDiffs(t, []diffTest{
		{"taken again", with(prim(before, numbered(1)), semaphore), with(prim(t0, numbered(2)), semaphore), Change{},
			[]string{"released -a told", "acquired +a told"}},
		{"the same", with(prim(before, numbered(2)), semaphore), with(prim(t0, numbered(2)), semaphore), Change{}, nil},
		{"not numbered", with(prim(before, numbered(2)), semaphore), with(prim(t0, numbered(0)), semaphore), Change{}, nil},
	})
}
