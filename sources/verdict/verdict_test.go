package verdict

import (
	"testing"
	"time"

	"coordtop/sources"
	"coordtop/ui/uitest"
)

// ago is a stamp of something that was seen so long before noon.
func ago(d time.Duration) sources.Stamp {
	return sources.Stamp{At: uitest.Noon().Add(-d), How: sources.Seen}
}

// lock is a row with an owner, whose lease is whole, or without one since an hour, changed by with.
func lock(kind sources.Kind, owned bool, with ...func(*sources.Row)) *sources.State {
	p := uitest.Led("a", "host-1", uitest.Noon())
	if !owned {
		p = uitest.Leaderless("a", uitest.Noon().Add(-time.Hour))
	}
	p.Kind, p.Expected = kind, false
	st := uitest.State(uitest.Noon(), p)
	for _, w := range with {
		w(st.Rows[0])
	}
	return st
}

// term is one that is over: how long ago, how long it was, and how it ended.
func term(end, length time.Duration, cause sources.Cause, how sources.Known) sources.Term {
	return sources.Term{Owner: sources.OwnerRef{ID: "host-0", Label: "host-0"}, Start: ago(end + length), End: ago(end), Cause: cause, How: how}
}

// ended is the last term of a row that nobody owns.
func ended(end time.Duration, cause sources.Cause, how sources.Known) func(*sources.Row) {
	return func(r *sources.Row) { r.Terms, r.Nobody = []sources.Term{term(end, time.Minute, cause, how)}, ago(end) }
}

func expected(r *sources.Row) { r.Expected = true }
func missing(r *sources.Row)  { r.Absent, r.Nobody = true, sources.Stamp{} }
func endless(r *sources.Row)  { r.Owners[0].NoExpiry, r.Owners[0].Expires = true, sources.Stamp{} }
func guessed(r *sources.Row)  { r.LimitHow = sources.Inferred }
func byDesign(r *sources.Row) {
	r.Labels = []sources.Attr{sources.NoTTLLabel(), sources.FormatLabel("sidekiq-unique-jobs", sources.Told)}
}
func noCandidates(r *sources.Row) { r.Queue.How, r.Queue.CandidatesHow = sources.Told, sources.Told }
func idle(r *sources.Row)         { r.Owners[0].Idle = sources.IdleSession }
func full(r *sources.Row)         { r.Limit, r.Taken = 2, 2 }

// waits adds somebody who has waited for so long; 0: the backend only tells that somebody does.
func waits(d time.Duration) func(*sources.Row) {
	return func(r *sources.Row) {
		r.Queue = sources.Queue{How: sources.Told, Len: 1}
		if d > 0 {
			r.Queue.Waiters = []sources.Waiter{{Since: ago(d)}}
		}
	}
}

// nobody says since when nobody owns it.
func nobody(d time.Duration, how sources.Known) func(*sources.Row) {
	return func(r *sources.Row) { r.Nobody = sources.Stamp{At: uitest.Noon().Add(-d), How: how} }
}

// unseen is a row that nobody owns now, and of which it is not known for so long whether somebody did.
func unseen(d time.Duration) func(*sources.Row) {
	return func(r *sources.Row) {
		r.Nobody = sources.StampBetween(uitest.Noon().Add(-d), uitest.Noon(), sources.Seen)
	}
}

// usual is a lock whose owner before had it for so long, and whose owner has had it for held.
func usual(before, held time.Duration) func(*sources.Row) {
	return func(r *sources.Row) {
		r.Terms = []sources.Term{term(held+time.Second, before, sources.CauseReleased, sources.Told), {Owner: sources.OwnerRef{ID: "host-1"}, Start: ago(held)}}
	}
}

// shares adds another owner.
func shares(since sources.Stamp) func(*sources.Row) {
	return func(r *sources.Row) {
		r.Owners[0].Mode = sources.Shared
		r.Owners = append(r.Owners, sources.Owner{ID: "host-2", Label: "host-2", Mode: sources.Shared, Since: since})
	}
}

// left is what is left of the lease of the owner, of 15 s.
func left(d time.Duration) func(*sources.Row) {
	return func(r *sources.Row) { r.Owners[0].Expires.At = uitest.Noon().Add(d) }
}

func TestWhatIsAProblemAndHowGrave(t *testing.T) {
	t.Parallel()
	const election, mutex, semaphore = sources.KindElection, sources.KindMutex, sources.KindSemaphore
	const told, seen, inferred, atLeast = sources.Told, sources.Seen, sources.Inferred, sources.AtLeast
	second := func(r *sources.Row) { r.Owners = append(r.Owners, sources.Owner{ID: "host-2", Label: "host-2"}) }
	shared := func(r *sources.Row) { r.Owners[0].Mode, r.Owners[1].Mode = sources.Shared, sources.Shared }
	session := func(r *sources.Row) { r.Owners[0].Session = "4711" }
	for _, c := range []struct {
		name string
		st   *sources.State
		sev  Severity
		lead Fault
	}{
		{"led", lock(election, true), Well, None},
		{"held", lock(mutex, true), Well, None},
		{"free", lock(mutex, false), Free, None},
		{"not read yet", lock(mutex, true, func(r *sources.Row) { r.At = time.Time{} }), Blind, None},
		{"its owner cannot be told", lock(mutex, false, func(r *sources.Row) { r.OwnersHow = sources.Unknown }), Blind, None},

		{"an election after a hand-over", lock(election, false, ended(4999*time.Millisecond, sources.CauseReleased, inferred)), Free, None},
		{"and 5 s later", lock(election, false, ended(5*time.Second, sources.CauseReleased, inferred)), Bad, NoLeader},
		{"a cause that is not known", lock(election, false, ended(time.Second, sources.CauseUnknown, seen)), Free, None},
		{"it was deleted", lock(election, false, ended(time.Second, sources.CauseDeleted, told)), Free, None},
		{"expired", lock(election, false, ended(time.Millisecond, sources.CauseExpired, inferred)), Bad, NoLeader},
		{"evicted", lock(election, false, ended(time.Millisecond, sources.CauseEvicted, told)), Bad, NoLeader},
		{"the server was restarted", lock(election, false, ended(time.Millisecond, sources.CauseRestart, inferred)), Bad, NoLeader},
		{"its session is told to have ended", lock(election, false, ended(time.Millisecond, sources.CauseSession, told)), Bad, NoLeader},
		{"its session is thought to have ended", lock(election, false, ended(time.Millisecond, sources.CauseSession, inferred)), Free, None},
		{"an expected lock expired", lock(mutex, false, expected, ended(time.Millisecond, sources.CauseExpired, inferred)), Bad, NoLeader},
		{"an expected lock was handed over", lock(mutex, false, expected, ended(time.Second, sources.CauseReleased, told)), Free, None},
		{"another lock expired", lock(mutex, false, ended(time.Millisecond, sources.CauseExpired, inferred)), Free, None},
		{"nobody led it when we came", lock(election, false, nobody(0, atLeast)), Warn, NoLeader},
		{"nobody led it when we came back", lock(election, false, ended(0, sources.CauseUnknown, seen), unseen(5*time.Second)), Bad, NoLeader},
		{"soon after we had left", lock(election, false, ended(0, sources.CauseUnknown, seen), unseen(4*time.Second)), Free, None},
		{"nor was it owned as expected", lock(mutex, false, expected, nobody(0, atLeast)), Bad, NoLeader},
		{"an expected election never had a leader", lock(election, false, expected, nobody(0, atLeast)), Bad, NoLeader},
		{"an election was made a moment ago", lock(election, false, nobody(4*time.Second, seen)), Free, None},
		{"and never had a leader", lock(election, false, nobody(time.Minute, seen)), Warn, NoLeader},
		{"nobody campaigns a moment after a hand-over", lock(election, false, noCandidates, ended(time.Second, sources.CauseReleased, inferred)), Free, None},
		{"nor later", lock(election, false, noCandidates, ended(time.Minute, sources.CauseReleased, inferred)), Bad, NoLeader},
		{"an expected lock is free for long", lock(mutex, false, expected), Bad, NoLeader},

		{"an absent lock", lock(mutex, false, missing), Warn, Absent},
		{"an absent semaphore", lock(semaphore, false, missing), Warn, Absent},
		{"an absent election", lock(election, false, missing), Warn, NoLeader},
		{"an absent election that was led", lock(election, false, ended(time.Second, sources.CauseDeleted, told), missing), Bad, NoLeader},
		{"an absent lock that is expected", lock(mutex, false, missing, expected), Bad, NoLeader},

		{"two leaders", lock(election, true, second), Bad, TwoOwners},
		{"two owners of a mutex", lock(mutex, true, second), Bad, TwoOwners},
		{"two that share", lock(mutex, true, second, shared), Well, None},
		{"two owners of a semaphore", lock(semaphore, true, second, func(r *sources.Row) { r.Limit = 3 }), Well, None},

		{"without a TTL", lock(mutex, true, endless), Warn, NoTTL},
		{"without a TTL, one of two", lock(mutex, true, second, shared, endless), Warn, NoTTL},
		{"without a TTL, the other of two", lock(mutex, true, second, shared, session, func(r *sources.Row) { r.Owners[1].NoExpiry = true }), Warn, NoTTL},
		{"until its session ends", lock(mutex, true, endless, session), Well, None},
		{"without a TTL, if it is a lock", lock(mutex, true, endless, guessed), Well, None},
		{"also where somebody waits", lock(mutex, true, endless, guessed, waits(0)), Well, None},
		{"without a TTL, and somebody waits", lock(mutex, true, endless, waits(0)), Bad, NoTTL},
		{"without a TTL, as long as ever", lock(mutex, true, endless, usual(time.Minute, time.Minute)), Warn, NoTTL},
		{"without a TTL, for longer than ever", lock(mutex, true, endless, usual(time.Minute, time.Minute+1)), Bad, NoTTL},
		{"with one, for longer than ever", lock(mutex, true, usual(time.Minute, time.Hour)), Well, None},
		{"without a TTL by design", lock(mutex, true, endless, byDesign), Well, None},
		{"by design, and somebody waits", lock(mutex, true, endless, byDesign, waits(0)), Bad, NoTTL},
		{"by design, as long as ever", lock(mutex, true, endless, byDesign, usual(time.Minute, time.Minute)), Well, None},
		{"by design, for longer than ever", lock(mutex, true, endless, byDesign, usual(time.Minute, time.Minute+1)), Bad, NoTTL},

		{"a wait", lock(mutex, true, waits(30*time.Second)), Well, None},
		{"a long wait", lock(mutex, true, waits(30*time.Second+1)), Warn, LongWait},
		{"for a semaphore", lock(semaphore, true, waits(time.Minute)), Warn, LongWait},
		{"a very long one", lock(mutex, true, waits(10*time.Minute+1)), Bad, LongWait},
		{"up to then", lock(mutex, true, waits(10*time.Minute)), Warn, LongWait},
		{"a wait for an idle owner", lock(mutex, true, idle, waits(30*time.Second)), Well, None},
		{"a long wait for an idle owner", lock(mutex, true, idle, waits(30*time.Second+1)), Bad, LongWait},
		{"a long wait for several, one of them idle", lock(semaphore, true, full, second, idle, waits(30*time.Second+1)), Warn, LongWait},
		{"an idle owner", lock(mutex, true, idle), Well, None},
		{"a candidate waits as long as it takes", lock(election, true, waits(time.Hour)), Well, None},

		{"a third of the lease", lock(election, true, left(5*time.Second)), Well, None},
		{"less of it", lock(election, true, left(5*time.Second-1)), Warn, Late},
		{"a lock's lease is over", lock(mutex, true, left(-time.Second)), Warn, Late},

		{"full while somebody waits", lock(semaphore, true, full, waits(time.Second)), Well, None}, // it is not known since when
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			j := Judge{State: c.st}
			v, _ := j.Weigh(c.st.Rows[0], uitest.Noon())
			if v.Severity != c.sev || v.Lead != c.lead {
				t.Errorf("%v for %v, not %v for %v (%v)", v.Severity, v.Lead, c.sev, c.lead, v.Status)
			}
			list := j.Problems(c.st.Rows[0], uitest.Noon())
			if v.Problem() != (c.lead != None) || len(list) > 0 != (v.Faults != 0) || v.Problem() && (list[0].Fault != c.lead || list[0].Severity != c.sev || list[0].Sentence == "") {
				t.Errorf("its problems are %+v", list)
			}
		})
	}
}

func TestTheGravestOfSeveralProblemsLeads(t *testing.T) {
	t.Parallel()
	st := lock(sources.KindMutex, true, left(-time.Second), waits(11*time.Minute))
	j := Judge{State: st}
	if v, _ := j.Weigh(st.Rows[0], uitest.Noon()); v.Lead != LongWait || v.Faults != 1<<LongWait|1<<Late {
		t.Errorf("%v of %b leads", v.Lead, v.Faults)
	}
	list := j.Problems(st.Rows[0], uitest.Noon())
	if len(list) != 2 || list[0].Fault != LongWait || list[1].Fault != Late || list[1].Severity != Warn {
		t.Errorf("%+v", list)
	}
}

func TestASentenceSaysWhatIsWrongAndWithWhom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		st    *sources.State
		want  string
		since time.Duration // before noon; 0: not known
		told  bool
	}{
		{lock(sources.KindElection, false, ended(7*time.Second, sources.CauseExpired, sources.Inferred)), "nobody leads it, was host-0 (expired, inferred)", 7 * time.Second, true},
		{lock(sources.KindElection, false, ended(7*time.Second, sources.CauseSession, sources.Told)), "nobody leads it, was host-0 (session ended)", 7 * time.Second, true},
		{lock(sources.KindElection, false, ended(7*time.Second, sources.CauseUnknown, sources.Seen)), "nobody leads it, was host-0", 7 * time.Second, true},
		{lock(sources.KindMutex, false, expected), "nobody owns it", time.Hour, true},
		{lock(sources.KindElection, false, func(r *sources.Row) {
			r.Terms = []sources.Term{{Owner: sources.OwnerRef{ID: "o"}, Start: ago(time.Hour)}}
		}), "nobody leads it", time.Hour, true}, // its end is not known
		{lock(sources.KindElection, false, missing), "it does not exist", 0, true},
		{lock(sources.KindMutex, false, missing), "it does not exist", 0, true},
		{lock(sources.KindMutex, true, endless), "the lease of host-1 has no end", time.Minute, false},
		{lock(sources.KindMutex, true, endless, waits(0)), "the lease of host-1 has no end, and somebody waits", time.Minute, false},
		{lock(sources.KindMutex, true, endless, usual(time.Second, time.Minute)), "the lease of host-1 has no end, and it is owned for longer than ever before", time.Minute, false},
		{lock(sources.KindMutex, true, waits(time.Minute)), "somebody has waited for 1m00s", time.Minute, false},
		{lock(sources.KindMutex, true, waits(time.Minute), idle), "somebody has waited for 1m00s, and the owner is idle", time.Minute, false},
		{lock(sources.KindElection, true, left(time.Second)), "the renewal of host-1 is late", 4*time.Second - 1, true},
		{lock(sources.KindMutex, true, func(r *sources.Row) {
			r.Owners = append(r.Owners, sources.Owner{Label: "x\x1b[31m", Since: ago(time.Second)})
		}), `owned at once by host-1 and x\x1b[31m`, time.Second, true},
		{lock(sources.KindMutex, true, shares(ago(time.Second)), func(r *sources.Row) { r.Owners[1].NoExpiry = true }), "the lease of host-2 has no end", time.Second, false},
		{lock(sources.KindMutex, true, shares(ago(time.Second)), left(-time.Second)), "the renewal of an owner is late", time.Second, true},
		{lock(sources.KindMutex, true, func(r *sources.Row) {
			for _, name := range []string{"b", "c", "d"} {
				r.Owners = append(r.Owners, sources.Owner{Label: name, Since: ago(time.Second)})
			}
		}), `owned at once by host-1 and b and c`, time.Second, true},
		{lock(sources.KindMutex, true, func(r *sources.Row) { r.At = time.Time{} }), "not observed yet", 0, true},
	} {
		j := Judge{State: c.st}
		list := j.Problems(c.st.Rows[0], uitest.Noon())
		if len(list) != 1 {
			t.Fatalf("%s: %+v", c.want, list)
		}
		p := list[0]
		if p.Sentence != c.want || p.Told != c.told {
			t.Errorf("%q, told %v, not %q", p.Sentence, p.Told, c.want)
		}
		if got := uitest.Noon().Sub(p.Since.At); c.since > 0 && (got != c.since || p.Since.How == sources.Unknown) {
			t.Errorf("%s: since %v, not %v", c.want, got, c.since)
		}
	}
}

func TestEveryFaultHasAName(t *testing.T) {
	t.Parallel()
	if len(Names()) != FaultCount-1 {
		t.Errorf("%v", Names())
	}
	for i, name := range Names() {
		f := Fault(i + 1)
		c := &conditions[f]
		if Named(name) != f || f.String() != name || f.Chip() == "" || c.when == "" || c.grade == "" || !Any.Has(f) {
			t.Errorf("%d: %+v", f, c)
		}
	}
	if Named("led") != None || Any.Has(None) {
		t.Error("no fault is one")
	}
}

func TestAStaleRowIsJudgedAsOfWhenItWasKnown(t *testing.T) {
	t.Parallel()
	st := lock(sources.KindMutex, true, waits(time.Minute))
	st.Scopes[0].Health = sources.HealthStale
	j := Judge{State: st}
	v, until := j.Weigh(st.Rows[0], uitest.Noon().Add(time.Hour))
	if v.Severity != Blind || v.Known != Warn || v.Lead != LongWait || !v.Faults.Has(Stale) || !until.IsZero() {
		t.Errorf("%+v until %v", v, until)
	}
	list := j.Problems(st.Rows[0], uitest.Noon().Add(time.Hour))
	if len(list) != 2 || list[0].Sentence != "somebody has waited for 1m00s" || list[1].Sentence != "last known 1h00m ago" || list[1].Severity != Blind {
		t.Errorf("%+v", list)
	}
	if Silence(time.Minute, &st.Thresholds) != Bad || Silence(time.Minute-1, &st.Thresholds) != Warn {
		t.Error("a source needs a person from a minute on")
	}
}

func TestTheUsualHoldTimeIsTheLongestThatIsKnown(t *testing.T) {
	t.Parallel()
	running := sources.Term{Owner: sources.OwnerRef{ID: "b"}, Start: ago(0)}
	long, short := term(time.Minute, 12*time.Second, sources.CauseReleased, sources.Told), term(8*time.Second, 3*time.Second, sources.CauseReleased, sources.Told)
	unknown := short
	unknown.Start, unknown.End.How = sources.Stamp{}, sources.Bound
	for i, c := range []struct {
		terms []sources.Term
		want  time.Duration // after noon; 0: never
	}{
		{[]sources.Term{long, short, running}, 12 * time.Second},
		{[]sources.Term{short, running}, 3 * time.Second},
		{[]sources.Term{unknown, running}, 0},
		{[]sources.Term{running}, 0},
		{[]sources.Term{long, short}, 0}, // nobody owns it
	} {
		if got := overdueAt(&sources.Row{Terms: c.terms}); got.IsZero() != (c.want == 0) || c.want > 0 && !got.Equal(uitest.Noon().Add(c.want)) {
			t.Errorf("%d: overdue at %v", i, got)
		}
	}
}

func TestALeaderIsMissedWhereOneIsExpectedOrWas(t *testing.T) {
	t.Parallel()
	for i, c := range []struct {
		st   *sources.State
		want bool
	}{
		{lock(sources.KindElection, true), true},
		{lock(sources.KindElection, false), false},
		{lock(sources.KindElection, false, expected), true},
		{lock(sources.KindMutex, true), false},
		{lock(sources.KindMutex, false, expected), true},
	} {
		if got := LeaderMissed(c.st.Rows[0]); got != c.want {
			t.Errorf("%d: %v", i, got)
		}
	}
}

func TestALowerBoundMakesNoUsualHoldTime(t *testing.T) {
	t.Parallel()
	of := func(start sources.Known) *sources.Row {
		before := term(8*time.Second, 12*time.Second, sources.CauseReleased, sources.Inferred)
		before.Start.How = start
		return &sources.Row{Terms: []sources.Term{before, {Owner: sources.OwnerRef{ID: "b"}, Start: ago(0)}}}
	}
	if got, want := overdueAt(of(sources.Seen)), uitest.Noon().Add(12*time.Second); !got.Equal(want) {
		t.Errorf("overdue at %v, want %v", got, want)
	}
	if got := overdueAt(of(sources.AtLeast)); !got.IsZero() {
		t.Errorf("overdue at %v after a term of which nobody knows how long it was", got)
	}
}
