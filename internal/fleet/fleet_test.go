package fleet_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"coordtop/internal/diagnose"
	"coordtop/internal/fleet"
	"coordtop/sources"
	"coordtop/sources/origin"
	"coordtop/sources/verdict"
	"coordtop/ui/uitest"
)

func noon() time.Time { return uitest.Noon() }

// of joins rows by host, with what is found wrong with them.
func of(by origin.By, st *sources.State) []*fleet.Party {
	j := &verdict.Judge{State: st}
	found := diagnose.Find(&diagnose.Input{Judge: j, Rows: diagnose.ProblemRows(j, noon()), Now: noon()})
	return fleet.Parties(&fleet.Input{State: st, Now: noon(), By: by, Findings: found})
}

// named returns the party of a name; it fails the test if there is not exactly one.
func named(t *testing.T, list []*fleet.Party, name string) *fleet.Party {
	t.Helper()
	at := slices.IndexFunc(list, func(p *fleet.Party) bool { return p.Name == name })
	if at < 0 || slices.ContainsFunc(list[at+1:], func(p *fleet.Party) bool { return p.Name == name }) {
		t.Fatalf("%s is not one of %d parties", name, len(list))
	}
	return list[at]
}

// led is an election of a leader whose lease has so much left.
func led(name, owner string, left time.Duration) *sources.Primitive {
	p := uitest.Led(name, owner, noon())
	p.Owners[0].Expires.At = noon().Add(left)
	return p
}

// locked is a mutex of a source that tells its queue, owned by a session.
func locked(name, owner string, waiters ...string) *sources.Primitive {
	p := uitest.Led(name, owner, noon())
	o := &p.Owners[0]
	p.Kind, o.Session, o.Lease, o.Expires = sources.KindMutex, "s-"+owner, 0, sources.Stamp{}
	p.Queue = sources.Queue{How: sources.Told, Len: len(waiters)}
	for i, w := range waiters {
		p.Queue.Waiters = append(p.Queue.Waiters, sources.Waiter{ID: w, Label: w, Session: "s-" + w, Order: uint64(i + 1),
			Since: sources.Stamp{At: noon().Add(-time.Second), How: sources.Told}})
	}
	return p
}

// change changes a primitive.
func change(p *sources.Primitive, f func(p *sources.Primitive)) *sources.Primitive {
	f(p)
	return p
}

func TestTheSentenceSaysWhatFallsIfAPartyGoes(t *testing.T) {
	t.Parallel()
	const host = "host-1:7"
	endless := func(p *sources.Primitive) {
		p.Owners[0].NoExpiry, p.Owners[0].Session, p.Owners[0].Expires = true, "", sources.Stamp{}
	}
	for _, c := range []struct {
		what  string
		prims []*sources.Primitive
		want  string
		next  string // of the row that hurts most
	}{
		{"leases of different length", []*sources.Primitive{led("a", host, 19*time.Second), led("b", "host-1:8", 24*time.Second)},
			"if host-1 goes, these 2 fall, the longest in 24s; nobody else is known for any of them", "?"},
		{"one lease that is over", []*sources.Primitive{led("a", host, -time.Second)},
			"if host-1 goes, 1 falls at once: the lease is over; nobody else is known for it", "?"},
		{"a session, and the first in the queue is told", []*sources.Primitive{locked("a", host, "host-2:1", "host-3:1")},
			"if host-1 goes, 1 falls when its session ends", "host-2:1"},
		{"a queue whose order is inferred", []*sources.Primitive{change(locked("a", host, "host-2:1"), func(p *sources.Primitive) { p.Queue.How = sources.Inferred })},
			"if host-1 goes, 1 falls when its session ends", "probably host-2:1"},
		{"a queue of which only the length is told", []*sources.Primitive{change(locked("a", host), func(p *sources.Primitive) { p.Queue.Len = 3 })},
			"if host-1 goes, 1 falls when its session ends", "one of 3 that wait"},
		{"its own waiter is no next owner", []*sources.Primitive{locked("a", host, "host-1:9", "host-2:1")},
			"if host-1 goes, 1 falls when its session ends", "host-2:1"},
		{"nobody else waits", []*sources.Primitive{locked("a", host, "host-1:9")},
			"if host-1 goes, 1 falls when its session ends; nobody else is known for it", "nobody else waits"},
		{"sessions and leases", []*sources.Primitive{locked("a", host, "host-2:1"), led("b", host, 9*time.Second)},
			"if host-1 goes, these 2 fall: 1 in 9s; 1 when its session ends; nobody else is known for 1 of them", "?"},
		{"a lease of a session", []*sources.Primitive{change(led("a", host, 9*time.Second), func(p *sources.Primitive) { p.Owners[0].Session = "conn 7" })},
			"if host-1 goes, 1 falls in 9s at most; nobody else is known for it", "?"},
		{"no end", []*sources.Primitive{change(led("a", host, 0), endless)},
			"if host-1 goes, nothing falls: what only it owns has no end", "?"},
		{"its end is not told", []*sources.Primitive{change(led("a", host, 0), func(p *sources.Primitive) { p.Owners[0].Expires, p.Owners[0].Lease = sources.Stamp{}, 0 })},
			"if host-1 goes, 1 falls, nobody knows when; nobody else is known for it", "?"},
		{"others own it too", []*sources.Primitive{change(led("a", host, time.Second), func(p *sources.Primitive) {
			p.Kind, p.Limit = sources.KindSemaphore, 3
			p.Owners = append(p.Owners, sources.Owner{ID: "x", Label: "host-2:1"})
		})}, "if host-1 goes, nothing falls: others keep what it owns", "others keep it"},
		{"others own permits that are not told", []*sources.Primitive{change(led("a", host, time.Second), func(p *sources.Primitive) {
			p.Kind, p.Limit, p.Taken = sources.KindSemaphore, 3, 2
		})}, "if host-1 goes, nothing falls: others keep what it owns", "others keep it"},
		{"candidates race", []*sources.Primitive{change(led("a", host, time.Second), func(p *sources.Primitive) {
			p.Candidates = []sources.Waiter{{ID: "1", Label: "host-2:1"}, {ID: "2", Label: "host-1:9"}}
		})}, "if host-1 goes, 1 falls in 1s", "perhaps host-2:1"},
	} {
		p := named(t, of(origin.ByHost, uitest.State(noon(), c.prims...)), "host-1")
		if got := p.Sentence(noon()); got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
		if got := p.Owns[0].NextText(); got != c.next {
			t.Errorf("%s: next is %q, want %q", c.what, got, c.next)
		}
	}
}

func TestAPartyHasAllThatItOwnsLeadsAndAwaits(t *testing.T) {
	t.Parallel()
	st := uitest.State(noon(), led("a", "host-1:7", 9*time.Second), locked("b", "host-1:8", "host-2:1"), locked("c", "host-2:1", "host-3:1", "host-1:7"),
		change(led("d", "host-1:7", time.Minute), func(p *sources.Primitive) { p.Owners[0].Since.At = noon().Add(-time.Hour) }))
	st.Rows[0].Owners[0].Renewed = sources.Stamp{At: noon().Add(-3 * time.Second), How: sources.Seen}
	st.Rows[2].Source = "other"
	p := named(t, of(origin.ByHost, st), "host-1")
	if len(p.Owns) != 3 || p.Leads != 2 || len(p.Awaits) != 1 || p.Awaits[0].Place != 2 || !slices.Equal(p.Sources, []string{uitest.Redis, "other"}) {
		t.Errorf("owns %d, leads %d, awaits %v in %v", len(p.Owns), p.Leads, p.Awaits, p.Sources)
	}
	if p.Oldest.At != noon().Add(-time.Hour) || p.Seen.At != noon().Add(-time.Second) || !p.Unasked {
		t.Errorf("oldest %v, seen %v, unasked %v", p.Oldest, p.Seen, p.Unasked)
	}
	list := of(origin.BySession, st)
	if p := named(t, list, "host-1:7"); len(p.Owns) != 2 || len(p.Awaits) != 1 {
		t.Errorf("by session it owns %d and awaits %d", len(p.Owns), len(p.Awaits))
	}
	named(t, list, "host-1:8")
}

func TestOneNameOnTwoServersIsOneHostAndTwoSessions(t *testing.T) {
	t.Parallel()
	st := uitest.State(noon(), locked("a", "session 7"), locked("b", "session 7"), locked("c", "billing-7d9f8c6b5d-x2k4p"), locked("d", "billing-7d9f8c6b5d-zzzzz"))
	st.Rows[1].Source = "other"
	if p := named(t, of(origin.ByHost, st), "session 7"); len(p.Owns) != 2 {
		t.Errorf("%d rows", len(p.Owns))
	}
	count := 0
	for _, p := range of(origin.BySession, st) {
		if p.Name == "session 7" {
			count++
		}
	}
	if count != 2 {
		t.Errorf("%d sessions", count)
	}
	if p := named(t, of(origin.ByProgram, st), "billing"); len(p.Owns) != 2 {
		t.Errorf("a program owns %d", len(p.Owns))
	}
}

// lost is a row whose leader lost it so long ago.
func lost(st *sources.State, slot int, owner string, ago time.Duration) {
	row := st.Rows[slot]
	end := sources.Stamp{At: noon().Add(-ago), How: sources.Seen}
	row.Nobody = end
	row.Terms = []sources.Term{{Owner: sources.OwnerRef{ID: owner, Label: owner}, Start: sources.Stamp{At: noon().Add(-2 * time.Hour), How: sources.Seen},
		End: end, Cause: sources.CauseExpired, How: sources.Inferred}}
}

func TestAFormerOwnerStaysIfAFindingIsAboutIt(t *testing.T) {
	t.Parallel()
	st := uitest.State(noon(), uitest.Lost("a"), uitest.Lost("b"), uitest.Lost("c"), led("d", "host-1:1", time.Second))
	lost(st, 0, "host-22:4", 12*time.Minute)
	lost(st, 1, "host-22:4", 12*time.Minute)
	lost(st, 2, "host-9:4", 61*time.Minute)
	list := of(origin.ByHost, st)
	p := list[0]
	if p.Name != "host-22" || p.Severity != verdict.Bad || len(p.Owns) != 0 || len(p.Lost) != 2 || len(p.Findings) != 1 {
		t.Errorf("first is %+v", p)
	}
	if got := p.Sentence(noon()); got != "if host-22 goes, nothing falls: it lost 2, and nobody took over" {
		t.Error(got)
	}
	if len(list) != 2 {
		t.Errorf("%d parties: what was lost more than an hour ago is no party's", len(list))
	}
}

func TestThoseWhoOwnedItInTheLastHourMayTakeItAgain(t *testing.T) {
	t.Parallel()
	st := uitest.State(noon(), led("a", "host-1:1", time.Second))
	row := st.Rows[0]
	before := func(owner string, ago time.Duration) sources.Term {
		return sources.Term{Owner: sources.OwnerRef{ID: owner, Label: owner}, Start: sources.Stamp{At: noon().Add(-3 * time.Hour), How: sources.Seen}, End: sources.Stamp{At: noon().Add(-ago), How: sources.Seen}, Cause: sources.CauseReleased}
	}
	row.Terms = append([]sources.Term{before("host-8:1", 2*time.Hour), before("host-2:1", time.Minute), before("host-1:9", time.Second)}, row.Terms...)
	p := named(t, of(origin.ByHost, st), "host-1")
	if h := &p.Owns[0]; h.Next != fleet.Race || h.NextText() != "perhaps host-2:1" {
		t.Errorf("%v: %s", h.Next, h.NextText())
	}
}

func TestAFormerOwnerWhoseLabelNamesNoHostIsNoRival(t *testing.T) {
	t.Parallel()
	owned := func(label string) *sources.State {
		st := uitest.State(noon(), change(locked("a", label), func(p *sources.Primitive) {
			p.Owners[0].Attrs = []sources.Attr{{Key: "client", Value: "10.0.0.7:5123"}}
			p.Queue = sources.Queue{}
		}))
		row := st.Rows[0]
		row.Terms = append([]sources.Term{{Owner: sources.OwnerRef{ID: "x", Label: label + "2"}, End: sources.Stamp{At: noon().Add(-time.Minute), How: sources.Seen}}}, row.Terms...)
		return st
	}
	p := named(t, of(origin.ByHost, owned("billing pid ")), "10.0.0.7")
	if p.Owns[0].Next != fleet.Unseen {
		t.Errorf("next is %v of %q", p.Owns[0].Next, p.Owns[0].Names)
	}
	p = named(t, of(origin.BySession, owned("billing pid ")), "billing pid ")
	if p.Owns[0].Next != fleet.Race {
		t.Errorf("by session next is %v", p.Owns[0].Next)
	}
}

func TestWhatASilentSourceHadIsNotKnown(t *testing.T) {
	t.Parallel()
	st := uitest.State(noon(), led("a", "host-1:1", time.Second))
	st.Scopes[0].Health, st.Sources[0].Health = sources.HealthStale, sources.HealthStale
	p := named(t, of(origin.ByHost, st), "host-1")
	if p.Owns[0].Ends != fleet.EndUnknown || p.Severity != verdict.Blind || p.Owns[0].NextText() != "?" {
		t.Errorf("it ends %v, %+v, %v", p.Owns[0].Ends, p.Fall, p.Severity)
	}
}

func TestWhatHurtsMostComesFirst(t *testing.T) {
	t.Parallel()
	st := uitest.State(noon(), led("a", "host-1:1", time.Second), locked("b", "host-2:1", "host-9:1"), locked("c", "host-2:1", "host-9:1"),
		led("d", "host-3:1", time.Second), led("e", "host-3:1", time.Second))
	var got []string
	for _, p := range of(origin.ByHost, st) {
		got = append(got, p.Name)
	}
	if want := []string{"host-3", "host-1", "host-2", "host-9"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestHostileNamesAreCutAndEscapedInSentences(t *testing.T) {
	t.Parallel()
	evil := "\x1b]0;x\a" + strings.Repeat("long", 1<<18)
	st := uitest.State(noon(), locked("a\x1b[31m", evil, evil+"2"))
	for _, by := range []origin.By{origin.ByHost, origin.ByProgram, origin.BySession} {
		for _, p := range of(by, st) {
			for _, text := range []string{p.Sentence(noon()), p.Label()} {
				if len(text) > 500 || strings.ContainsAny(text, "\x1b\a") {
					t.Errorf("%.100q of %d bytes", text, len(text))
				}
			}
		}
	}
}

func BenchmarkParties(b *testing.B) {
	for _, n := range []int{10_000, 100_000} {
		st := uitest.State(noon(), uitest.Many(n, noon())...)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				fleet.Parties(&fleet.Input{State: st, Now: noon()})
			}
		})
	}
}
