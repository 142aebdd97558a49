package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"coordtop/sources"
	"coordtop/ui/paint"
	"coordtop/ui/terminal"
	"coordtop/ui/uitest"
)

func noLabels() []string { return nil }

// naive lists the handles that an index should have, from nothing.
func naive(x *index, now time.Time) []handle {
	var fresh index
	fresh.filter, fresh.sort, fresh.problems = x.filter, x.sort, x.problems
	fresh.update(x.st, now)
	fresh.rebuild()
	return fresh.order
}

func TestIndexIsAlwaysWhatARebuildWouldGive(t *testing.T) {
	t.Parallel()
	names := strings.Split("abcdefghijklmnop", "")
	rapid.Check(t, func(t *rapid.T) {
		var x index
		var st *sources.State
		now := noon()
		fresh := func() {
			next := uitest.State(now)
			if st != nil {
				next.Rows = slices.Clone(st.Rows)
				next.Scopes = slices.Clone(st.Scopes)
			}
			st = next
		}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			switch rapid.IntRange(0, 7).Draw(t, "what") {
			case 0, 1, 2: // some rows change, come or go
				fresh()
				for range rapid.IntRange(1, 6).Draw(t, "changes") {
					slot := rapid.IntRange(0, 9).Draw(t, "slot")
					for len(st.Rows) <= slot {
						st.Rows = append(st.Rows, nil)
					}
					name := rapid.SampledFrom(names).Draw(t, "name")
					switch rapid.IntRange(0, 2).Draw(t, "how") {
					case 0:
						st.Rows[slot] = nil
					case 1:
						st.Rows[slot] = uitest.Row(uitest.Led(name, "host", now), slot)
					case 2:
						st.Rows[slot] = uitest.Row(lost(name), slot)
					}
				}
			case 3:
				fresh()
				st.Scopes[0].Health = rapid.SampledFrom([]sources.Health{sources.HealthLive, sources.HealthStale}).Draw(t, "health")
			case 4:
				x.filter.take(rapid.SampledFrom([]string{"", "a", "host", "k", "owner=host", "since>10s"}).Draw(t, "filter"), noLabels)
				x.rebuild()
			case 5:
				x.sort = (x.sort + 1) % sortModes
				x.rebuild()
			case 6:
				x.problems = !x.problems
				x.rebuild()
			case 7:
				now = now.Add(time.Duration(rapid.IntRange(1, 20).Draw(t, "seconds")) * time.Second)
				if st != nil {
					x.sweep(now, nil)
				}
			}
			if st == nil {
				continue
			}
			x.update(st, now)
			x.sweep(now, nil)
			if want := naive(&x, now); !slices.Equal(x.order, want) {
				t.Fatalf("the order is %v, not %v", x.order, want)
			}
			rows := 0
			for _, row := range st.Rows {
				if row != nil {
					rows++
				}
			}
			total := 0
			for _, n := range x.bySev {
				total += n
			}
			if x.total != rows || total != rows {
				t.Fatalf("%d rows are counted as %d and %d", rows, x.total, total)
			}
		}
	})
}

func TestIndexTellsWhenNothingMoved(t *testing.T) {
	t.Parallel()
	var x index
	a, b, c := three()
	if !x.update(uitest.State(noon(), a, b, c), noon()) {
		t.Error("the first rows change nothing")
	}
	again := uitest.State(noon(), uitest.Led("a", "host-1", noon().Add(time.Second)), b, c)
	if x.update(again, noon()) {
		t.Error("a renewal moved a row")
	}
	if row, _ := x.at(x.order[0]); row != again.Rows[0] {
		t.Error("the index kept the old row")
	}
}

func TestAnOrderHandedOutIsNotWrittenOverByTheNext(t *testing.T) {
	t.Parallel()
	var x index
	a, b, c := three()
	x.update(uitest.State(noon(), a, b, c), noon())
	for round := range 6 {
		before, was := x.order, slices.Clone(x.order)
		if round%3 == 2 {
			x.filter.take(fmt.Sprint(round), noLabels)
			x.rebuild()
		} else {
			x.update(uitest.State(noon(), lost("c"), a, b, uitest.Led(fmt.Sprint("0", round), "o", noon())), noon())
		}
		if !slices.Equal(before, was) {
			t.Fatalf("round %d: the order before became %v", round, before)
		}
	}
}

func TestSilenceOfASourceReachesItsRowsAtOnce(t *testing.T) {
	t.Parallel()
	var x index
	a, b, c := three()
	st := uitest.State(noon(), a, b, c)
	x.update(st, noon())
	silent := *st
	silent.Scopes = slices.Clone(st.Scopes)
	silent.Scopes[0].Health = sources.HealthStale
	for _, c := range []struct {
		st   *sources.State
		want paint.Severity
	}{{&silent, paint.Blind}, {st, paint.Well}} {
		x.update(c.st, noon()) // the rows are the same values
		if _, v := x.at(x.order[0]); v.sev != c.want {
			t.Errorf("severity %d, not %d", v.sev, c.want)
		}
	}
}

func TestLeaseLeftIsNeverMoreThanTheLease(t *testing.T) {
	t.Parallel()
	// The second that ages are counted to may have begun before the renewal.
	o := &uitest.Led("a", "o", noon()).Owners[0]
	for ago, want := range map[time.Duration]time.Duration{-time.Second: 15 * time.Second, 5 * time.Second: 10 * time.Second, time.Minute: 0} {
		if got := leaseLeft(o, noon().Add(ago)); got != want {
			t.Errorf("%v after the renewal %v is left, not %v", ago, got, want)
		}
	}
}

func TestVisibleRowsAreJudgedEverySecondWhateverTheirNumber(t *testing.T) {
	t.Parallel()
	d := drive(uitest.NewFeed(uitest.State(noon(), uitest.Many(5*sweepRows, noon())...)), Options{Width: 80, Height: 24})
	d.press("s", "G") // by name, to the end: far from where the sweep begins
	d.showsNot(t, "▲")
	d.feed.Pass(12 * time.Second) // 3 s of 15 are left
	d.send(terminal.SecondMsg{})
	if n := strings.Count(d.text(), "▲"); n != d.lay.list {
		t.Errorf("%d of %d visible rows are seen to be late", n, d.lay.list)
	}
	d.pass(5)
	d.shows(t, "50,000 renewing late")
}

func TestJudgement(t *testing.T) {
	t.Parallel()
	late := uitest.Led("a", "o", noon().Add(-12*time.Second)) // 3 s of 15 left
	free := uitest.Leaderless("a", noon().Add(-time.Minute))
	free.Kind, free.Expected = sources.KindMutex, false
	expected := *free
	expected.Expected = true
	waits := func(d time.Duration) *sources.Primitive {
		p := uitest.Led("a", "o", noon())
		p.Kind = sources.KindMutex
		p.Queue = sources.Queue{How: sources.Told, Len: 1, Waiters: []sources.Waiter{{Since: sources.Stamp{At: noon().Add(-d), How: sources.Told}}}}
		return p
	}
	candidate := *waits(time.Hour)
	candidate.Kind = sources.KindElection
	idle := waits(40 * time.Second)
	idle.Owners[0].Attrs = []sources.Attr{{Key: "state", Value: "idle in transaction"}}
	endless := func(guessed bool) *sources.Primitive {
		p := uitest.Led("a", "o", noon())
		p.Kind = sources.KindMutex
		if guessed {
			p.LimitHow = sources.Inferred
		}
		p.Owners[0].NoExpiry, p.Owners[0].Session = true, ""
		return p
	}
	wanted := endless(false)
	wanted.Queue = sources.Queue{How: sources.Told, Len: 1}
	absent := func(expected bool) *sources.Primitive {
		p := uitest.Leaderless("a", noon())
		p.Absent, p.Expected = true, expected
		return p
	}
	unread := *uitest.Led("a", "o", time.Time{})
	for _, c := range []struct {
		name string
		p    *sources.Primitive
		sev  paint.Severity
		rank uint8
	}{
		{"led", uitest.Led("a", "o", noon()), paint.Well, 3},
		{"renewed late", late, paint.Warn, 2},
		{"free", free, paint.Free, 3},
		{"free and expected to be owned", &expected, paint.Bad, 0},
		{"a long wait for a mutex", waits(40 * time.Second), paint.Warn, 2},
		{"a very long wait", waits(11 * time.Minute), paint.Bad, 0},
		{"a long wait for an owner that is idle", idle, paint.Bad, 0},
		{"a candidate waits as long as it takes", &candidate, paint.Well, 3},
		{"not read yet", &unread, paint.Blind, 3},
		{"without any end", endless(false), paint.Warn, 2},
		{"without any end, and somebody waits", wanted, paint.Bad, 0},
		{"without any end, if it is a lock", endless(true), paint.Well, 3},
		{"absent", absent(false), paint.Warn, 2},
		{"absent and expected", absent(true), paint.Bad, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			st := uitest.State(noon(), c.p)
			if v := judge(st.Rows[0], st, noon()); v.sev != c.sev || v.rank != c.rank {
				t.Errorf("severity %d, rank %d, not %d and %d (%v)", v.sev, v.rank, c.sev, c.rank, v.status)
			}
		})
	}
}

func TestALeaderIsMissedWhereThereWasOneOrShouldBe(t *testing.T) {
	t.Parallel()
	had := []sources.Term{{Owner: sources.OwnerRef{ID: "o"}, Start: sources.Stamp{At: noon().Add(-time.Hour), How: sources.Seen}}}
	for _, c := range []struct {
		name     string
		how      sources.Known
		ago      time.Duration
		expected bool
		terms    []sources.Term
		want     paint.Severity
	}{
		{"a hand-over", sources.Seen, 4 * time.Second, false, had, paint.Free},
		{"nobody followed", sources.Seen, 5 * time.Second, false, had, paint.Bad},
		{"it should always have one", sources.Seen, 5 * time.Second, true, nil, paint.Bad},
		{"it should, and had none when we came", sources.AtLeast, 0, true, nil, paint.Bad},
		{"whether it had one is not known", sources.AtLeast, 0, false, nil, paint.Warn},
		{"it was made a moment ago", sources.Seen, 4 * time.Second, false, nil, paint.Free},
		{"it was made, and never had one", sources.Seen, time.Minute, false, nil, paint.Warn},
	} {
		p := uitest.Leaderless("a", noon())
		p.Expected = c.expected
		st := uitest.State(noon(), p)
		st.Rows[0].Nobody, st.Rows[0].Terms = sources.Stamp{At: noon().Add(-c.ago), How: c.how}, c.terms
		if v := judge(st.Rows[0], st, noon()); v.sev != c.want {
			t.Errorf("%s: severity %d, want %d", c.name, v.sev, c.want)
		}
	}
}

func TestTheHeaderCountsALeaderAsMissingOnlyWhereThatIsAProblem(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		ago  time.Duration
		want bool
	}{{4 * time.Second, false}, {6 * time.Second, true}} {
		st := uitest.State(noon(), uitest.Leaderless("a", noon()))
		st.Rows[0].Nobody = sources.Stamp{At: noon().Add(-c.ago), How: sources.Seen}
		d := drive(uitest.NewFeed(st), Options{Width: 160, Height: 48})
		d.send(terminal.SecondMsg{})
		if got := strings.Contains(d.text(), "1 without a leader"); got != c.want {
			t.Errorf("without a leader for %v: counted %v, want %v:\n%s", c.ago, got, c.want, d.text())
		}
	}
}

func TestProblemsOfASourceThatDiedAreStillCounted(t *testing.T) {
	t.Parallel()
	st := uitest.State(noon(), uitest.Led("a", "o", noon()), uitest.Led("late", "o", noon().Add(-12*time.Second)))
	st.Scopes[0].Health = sources.HealthStale
	var x index
	x.update(st, noon().Add(time.Hour))
	if x.problemRows() != 1 || x.blind != 2 {
		t.Errorf("%d problems and %d rows that cannot be judged, want the one that was late, and both", x.problemRows(), x.blind)
	}
	for _, row := range st.Rows {
		if v := judge(row, st, noon().Add(time.Hour)); v.sev != paint.Blind || v.rank != 1 {
			t.Errorf("%s: severity %d, rank %d, want right after what needs a person", row.Name, v.sev, v.rank)
		}
	}
}

func TestAVerdictHoldsAsLongAsItSays(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		now := noon()
		ago := func(name string) time.Time {
			return now.Add(-time.Duration(rapid.IntRange(0, 60_000).Draw(t, name)) * time.Millisecond)
		}
		p := uitest.Led("a", "host", ago("since"))
		if rapid.Bool().Draw(t, "leaderless") {
			p = uitest.Leaderless("a", ago("since"))
		}
		p.Kind = rapid.SampledFrom([]sources.Kind{sources.KindElection, sources.KindMutex, sources.KindSemaphore}).Draw(t, "kind")
		p.Expected = rapid.Bool().Draw(t, "expected")
		for i := range p.Owners {
			p.Owners[i].Expires = sources.StampBetween(ago("end").Add(25*time.Second), ago("end").Add(30*time.Second), sources.Told)
			p.Owners[i].Rhythm = sources.RhythmOf(time.Duration(rapid.IntRange(0, 20).Draw(t, "renewed every"))*time.Second, rapid.IntRange(0, 5).Draw(t, "renewals"))
			p.Owners[i].Renewed = sources.Stamp{At: ago("renewed"), How: rapid.SampledFrom([]sources.Known{sources.Unknown, sources.Seen}).Draw(t, "told")}
		}
		for range rapid.IntRange(0, 2).Draw(t, "waiters") {
			p.Queue.Waiters = append(p.Queue.Waiters, sources.Waiter{Since: sources.Stamp{At: ago("waits"), How: sources.Told}})
		}
		st := uitest.State(now, p)
		row := st.Rows[0]
		st.Scopes[0].Alive = ago("alive")
		v := judge(row, st, now)
		until := v.until(row, st, now)
		for range 50 {
			now = now.Add(time.Duration(rapid.IntRange(0, 2000).Draw(t, "pass")) * time.Millisecond)
			if rapid.Bool().Draw(t, "answers") {
				st.Scopes[0].Alive = now
			}
			got := judge(row, st, now)
			if got != v && (until.IsZero() || now.Before(until)) {
				t.Fatalf("%+v at %v, before %v; it was %+v", got, now.Sub(noon()), until.Sub(noon()), v)
			}
			v, until = got, got.until(row, st, now)
		}
	})
}

func TestASweepReachesEveryRowThatIsLate(t *testing.T) {
	t.Parallel()
	var x index
	prims := uitest.Many(3*sweepRows, noon())
	for _, p := range prims[:len(prims)-1] {
		p.Owners[0].NoExpiry = true
	}
	x.update(uitest.State(noon(), prims...), noon())
	if x.sweep(noon().Add(time.Minute), nil); x.byStatus[sources.StatusLedLate] != 1 {
		t.Errorf("%d rows are late, not the last one", x.byStatus[sources.StatusLedLate])
	}
}
